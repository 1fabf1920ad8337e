"""The engine in one process, without a JVM: every batch in its parts (cep.batch), shard after shard.

`cep eval`, `cep test`, `import cep` and the property tests run packs through a Session.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from alerts.raised import Raised
from alerts.stages.order import in_order
from cep.batch.clock import BEGINNING, BatchStart, Clock, Seen, clock_of, next_start
from cep.counters import Counts
from cep.events import Events
from cep.packs.compile import compile_plan
from cep.packs.succession import NOTHING_RAN, Standing, over, succession
from cep.plan.plan import Plan, RuleId, RuleName
from cep.resources.resource import Resources
from cep.routing.classify import classify
from cep.shard.advance import DEFAULTS, MatchOptions, match_shard
from cep.shard.memory import NOTHING, ShardMemory
from cep.shard.render import Part
from cep.shard.state_bytes import read, stored_parts, write
from rules.typed import Pack


class Session:
    """Packs over events, fed batch by batch. Results do not depend on the number of shards.

    `start` is where the next batch begins. `counts` are those of classification and matching together, `late`
    the events set aside so far. `resources` are what the packs look up; None: the session opens its own.
    """

    def __init__(
        self,
        plan: Plan,
        shards: int = 1,
        start: BatchStart = BEGINNING,
        resources: Resources | None = None,
        options: MatchOptions = DEFAULTS,
    ) -> None:
        observed = plan.observed or options.trace is None
        self.plan = plan if observed else compile_plan(plan.packs, True, plan.generations, plan.replaced)
        self.shards = shards
        self.start = start
        self.resources = Resources() if resources is None else resources
        self.options = options
        self.memories: dict[int, ShardMemory] = {}
        self.stored: dict[int, StoredShard] = {}
        self.counts = Counts()
        self.late: list[Events] = []

    @property
    def watermark(self) -> int:
        """The watermark after the last batch."""
        return self.start.watermark

    @property
    def runs(self) -> dict[RuleName, int]:
        """The live runs by pack and rule, of those that have some."""
        found: Counter[RuleName] = Counter()
        for memory in self.memories.values():
            for space in memory.spaces.values():
                found.update(space.runs())
        return dict(found)

    def feed(self, events: Sequence[Events], watermark: int | None = None) -> list[Raised]:
        """Take a batch of events; what it raises, in the documented order, before suppression.

        Without `watermark` it moves by the data as in the job; otherwise it stands there after the batch,
        or where it stood, if that is later.
        """
        return in_order(one for part in self.feed_parts(events, watermark) for one in part)

    def feed_parts(self, events: Sequence[Events], watermark: int | None = None) -> list[Part]:
        """The same in no particular order, very many alerts by column."""
        return self._advance(events, replace(self.start, forced=watermark))

    def drain(self) -> list[Raised]:
        """End time: settle everything that is still open."""
        parts = self._advance((), replace(self.start, drain=True))
        return in_order(one for part in parts for one in part)

    def deploy(self, packs: Sequence[Pack]) -> None:
        """Run other packs from the next batch on, as a job does: rules of the same structure go on, and what
        others left open is drained."""
        new = {pack.name: pack for pack in packs}
        old, now, before = {pack.name: pack for pack in self.plan.packs}, self.start, self.plan
        if now.number:
            standing = succession(
                Standing(now.since, before.generations), old, new, before.replaced, now.number, now.watermark
            )
        else:
            standing = NOTHING_RAN
        self.start = replace(now, since=standing.since)
        known = {pack.revision: pack for pack in (*before.replaced, *before.packs)}
        replaced = [known[revision] for revision in standing.generations.revisions]
        self.plan = compile_plan(packs, before.observed, standing.generations, replaced)

    def _close(self) -> None:
        """Let go of the rules that are closing and of which nothing is open any more."""
        if not self.plan.generations.closing:
            return
        kept: Counter[RuleId] = Counter()
        for memory in self.memories.values():
            for space in memory.spaces.values():
                kept.update(space.kept())
        left = self.plan.generations.without(over(self.plan, self.watermark, kept))
        if left != self.plan.generations:
            replaced = [pack for pack in self.plan.replaced if pack.revision in left.revisions]
            self.plan = compile_plan(self.plan.packs, self.plan.observed, left, replaced)

    def _advance(self, events: Sequence[Events], start: BatchStart) -> list[Part]:
        found = classify(self.plan, self.shards, events, start.watermark, self.resources)
        self.counts.update(found.counts)
        self.late.extend(found.late)
        clock = clock_of(start, self.plan, found.seen)
        raised: list[Part] = []
        for shard in sorted(self.memories.keys() | found.payloads.keys()):
            raised += self._in_shard(shard, found.payloads.get(shard), clock)
        self.start = next_start(start, clock, found.seen)
        self._close()
        return raised

    def _in_shard(self, shard: int, payload: memoryview | None, clock: Clock) -> list[Part]:
        if self.options.trace is not None:
            self.options.trace.shard = shard
        payloads = () if payload is None else (payload,)
        outcome = match_shard(self.plan, self.memories.get(shard, NOTHING), payloads, clock, self.options)
        # What is stored knows the numbers of its parts: they are not given away again meanwhile.
        if outcome.memory.spaces or shard in self.stored:
            self.memories[shard] = outcome.memory
        else:
            self.memories.pop(shard, None)
        self.counts.update(outcome.counts)
        return outcome.parts

    def store(self) -> int:
        """Bring `stored` up to what is remembered, as the job does after every batch; how many bytes were
        written."""
        count = 0
        for shard in sorted(self.memories.keys() | self.stored.keys()):
            stored = self.stored.setdefault(shard, StoredShard())
            count += stored.put(self.memories.get(shard, NOTHING))
            if stored.head is None:
                del self.stored[shard]
        return count

    def snapshot(self) -> bytes:
        """Everything that the session remembers but the plan and the counters."""
        self.store()
        greatest = self.start.seen.greatest
        content = {
            "batch": self.start.number,
            "watermark": self.start.watermark,
            "since": [[*name, time] for name, time in sorted(self.start.since.items())],
            "first": self.start.seen.first,
            "greatest": [[*partition, time] for partition, time in sorted(greatest.items())],
            "states": {str(shard): stored.as_dict() for shard, stored in sorted(self.stored.items())},
        }
        return json.dumps(content).encode()

    def restore(self, snapshot: bytes) -> None:
        """Go on from a snapshot, also one that a session with another plan took. Raises StateError."""
        content = json.loads(snapshot)
        greatest = {(stream, partition): time for stream, partition, time in content["greatest"]}
        seen = Seen(greatest, dict(content["first"]))
        since = {(pack, rule): time for pack, rule, time in content["since"]}
        self.start = replace(
            self.start, number=content["batch"], watermark=content["watermark"], seen=seen, since=since
        )
        self.stored = {int(shard): StoredShard.of(stored) for shard, stored in content["states"].items()}
        self.memories = {shard: stored.memory() for shard, stored in self.stored.items()}


@dataclass(slots=True)
class StoredShard:
    """The stored state of a shard: the head of its state, and its parts by number."""

    head: bytes | None = None
    parts: dict[int, bytes] = field(default_factory=dict)

    def put(self, memory: ShardMemory) -> int:
        """Store what a shard remembers in place of what it did; how many bytes were written."""
        written = write(memory, stored_parts(self.head))
        self.head = written.head
        self.parts.update(written.parts)
        for number in written.gone:
            del self.parts[number]
        return len(written.head or b"") + sum(map(len, written.parts.values()))

    def memory(self) -> ShardMemory:
        """The state that is stored. Raises StateError."""
        return read(self.head, lambda number, _: self.parts.get(number))

    @property
    def size(self) -> int:
        """The number of bytes."""
        return len(self.head or b"") + sum(map(len, self.parts.values()))

    def as_dict(self) -> dict[str, object]:
        """As a JSON object."""
        parts = {str(number): base64.b64encode(part).decode() for number, part in sorted(self.parts.items())}
        return {"head": base64.b64encode(self.head or b"").decode(), "parts": parts}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> StoredShard:
        """From what `as_dict` gave."""
        parts = {int(number): base64.b64decode(part) for number, part in value["parts"].items()}
        return cls(base64.b64decode(value["head"]), parts)
