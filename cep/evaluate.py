"""The engine in one process, without a JVM: classify, match and settle batch by batch, as the job does.

`cep eval`, `cep test`, `cep backtest` and the property tests run packs through a Session.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from alerts.raised import Raised
from alerts.suppress import in_order
from cep import watermark as marks
from cep.automata.plan import Plan, RuleName, compile_plan
from cep.counters import Counts
from cep.events import MIN_TIME, Events
from cep.matching.match import MERGING, Clock, match_shard
from cep.matching.memory import NOTHING, Merging, ShardMemory
from cep.matching.state import read, stored_parts, write
from cep.matching.trace import Trace
from cep.routing.classify import classify
from cep.told import Told

if TYPE_CHECKING:
    from cep.standing.hits import QuerySets


class Session:
    """Packs over events, fed batch by batch. Results do not depend on the number of shards.

    `counts` are those of classification and matching together, `late` the events set aside so far, `told` the
    matches that may be decided again. `one_partition`: the caller's offsets rise over all streams together,
    and decide the order of events of one instant within a feed.
    `compiled` chooses the kernel; None: by the number of events. `trace` collects what happens to every run
    (cep.matching.trace). `sets` opens standing queries, as `classify` takes it.
    `merging` says when segments of memory become one.
    """

    def __init__(
        self,
        plan: Plan,
        shards: int = 1,
        one_partition: bool = False,
        since: Mapping[RuleName, int] | None = None,
        compiled: bool | None = None,
        trace: Trace | None = None,
        sets: QuerySets | None = None,
        merging: Merging = MERGING,
    ) -> None:
        self.plan = plan if trace is None or plan.observed else compile_plan(plan.packs, observed=True)
        self.trace = trace
        self.shards = shards
        self.one_partition = one_partition
        self.since = dict(since or {})
        self.compiled = compiled
        self.sets = sets
        self.watermark = MIN_TIME
        self.batch = 0
        self.greatest: dict[marks.Partition, int] = {}
        self.first: dict[str, int] = {}
        self.merging = merging
        self.memories: dict[int, ShardMemory] = {}
        self.stored: dict[int, StoredShard] = {}
        self.counts = Counts()
        self.late: list[Events] = []
        self.told = Told.of(self.plan.packs)

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
        return self._advance(events, watermark, False)

    def drain(self) -> list[Raised]:
        """End time: settle everything that is still open."""
        return self._advance((), None, True)

    def _advance(self, events: Sequence[Events], forced: int | None, drain: bool) -> list[Raised]:
        classified = classify(self.plan, self.shards, events, self.watermark, self.sets)
        self.counts.update(classified.counts)
        self.late.extend(classified.late)
        self.greatest = marks.progress(self.greatest, [classified.greatest])
        lateness = {name: stream.lateness for name, stream in self.plan.streams.items()}
        after = marks.watermark(
            self.watermark, self.greatest, lateness, self.plan.read, forced=forced, drain=drain
        )
        self.first = marks.earliest(self.first, [classified.first])
        clock = Clock(self.batch, self.watermark, after, self.since, self.one_partition, self.first)
        raised: list[Raised] = []
        for shard in sorted(self.memories.keys() | classified.payloads.keys()):
            payloads = [classified.payloads[shard]] if shard in classified.payloads else []
            if self.trace is not None:
                self.trace.shard = shard
            outcome = match_shard(
                self.plan, self.memories.get(shard, NOTHING), payloads, clock, self.compiled, self.trace,
                self.merging,
            )  # fmt: skip
            # What is stored knows the numbers of its parts: they are not given away again meanwhile.
            if outcome.memory.spaces or shard in self.stored:
                self.memories[shard] = outcome.memory
            else:
                self.memories.pop(shard, None)
            raised.extend(outcome.raised)
            self.counts.update(outcome.counts)
        self.watermark = after
        self.batch += 1
        return self.told.fresh(in_order(raised), after)

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
        content = {
            "batch": self.batch,
            "watermark": self.watermark,
            "first": self.first,
            "told": dict(sorted(self.told.ids.items())),
            "greatest": [[*partition, time] for partition, time in sorted(self.greatest.items())],
            "states": {str(shard): stored.as_dict() for shard, stored in sorted(self.stored.items())},
        }
        return json.dumps(content).encode()

    def restore(self, snapshot: bytes) -> None:
        """Go on from a snapshot, also one that a session with another plan took. Raises StateError."""
        content = json.loads(snapshot)
        self.batch = content["batch"]
        self.watermark = content["watermark"]
        self.first = dict(content["first"])
        self.told.ids = dict(content["told"])
        self.greatest = {(stream, partition): time for stream, partition, time in content["greatest"]}
        self.stored = {int(shard): StoredShard.of(stored) for shard, stored in content["states"].items()}
        self.memories = {shard: stored.memory() for shard, stored in self.stored.items()}


@dataclass(slots=True)
class StoredShard:
    """What is stored of a shard: the head of its state, and its parts by number."""

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
        """What is remembered. Raises StateError."""
        return read(self.head, lambda number, _: self.parts.get(number))

    @property
    def size(self) -> int:
        """How many bytes there are."""
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
