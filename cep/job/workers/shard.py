"""Behind the shuffle: what a batch comes to in one shard, from the rows that it was sent and its state."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, field

from alerts.masking import Mask
from cep.batch.clock import Clock, Seen, clock_of
from cep.counters import PoisonEvents
from cep.decode.letters import DeadLetter, without_secrets
from cep.errors import ConfigurationError
from cep.job.poison.events import poison_error
from cep.job.shipping.rows import PASSED_ON, Kind, pack, pack_raised, unpack
from cep.job.state_folder.manifest import Manifest
from cep.job.workers.outcome import Settled
from cep.job.workers.shard_states import Held, ShardStates, Variables
from cep.plan.plan import Plan
from cep.shard.advance import MatchOptions, match_shard
from cep.shard.memory import ShardMemory
from cep.shard.state_bytes import StateError, write


@dataclass(slots=True)
class ShardBatch:
    """One shard's part of a batch: first `sort` the rows that came, then `match` them."""

    plan: Plan
    manifest: Manifest
    shard: int
    mask: Mask | None = None
    _payloads: list[bytes] = field(default_factory=list)
    _seen: Seen = field(default_factory=Seen)

    def sort(self, rows: Iterable[tuple[Kind, bytes]]) -> Iterator[tuple[Kind, bytes]]:
        """Takes in rows of (kind, payload); gives those that are for the driver."""
        for kind, payload in rows:
            if kind is Kind.EVENTS:
                self._payloads.append(payload)
            elif kind is Kind.SEEN:
                self._seen = self._seen.joined([unpack(payload)])
            elif kind in PASSED_ON:
                yield kind, payload

    def match(
        self, states: ShardStates, variables: Variables, careful: bool = False
    ) -> list[tuple[Kind, bytes]]:
        """Matches, and stores what is to be remembered; the rows for the driver.

        Raises ConfigurationError for a state that cannot be used; if `careful`, PoisonError for events that
        cannot be matched.
        """
        begun = time.perf_counter()
        clock = clock_of(self.manifest.start(self.plan), self.plan, self._seen)
        try:
            held = states.open(self.shard, variables)
        except StateError as error:
            raise ConfigurationError(
                f"the state of shard {self.shard} cannot be used: {error}",
                "restore the state folder from a backup together with the outbox, or name a new [job] state",
            ) from error
        memory, payloads, letters = self._without_poison(held, clock, careful)
        outcome = match_shard(self.plan, memory, payloads, clock, MatchOptions(mask=self.mask))
        size = states.store(self.shard, held, outcome.memory, variables).size
        rows = [(Kind.RAISED, pack_raised(outcome.parts))] if outcome.parts else []
        if letters:
            letters = [self._kept(one) for one in letters]
            rows.append((Kind.DEAD, pack([astuple(letter) for letter in letters])))
            outcome.counts.update(PoisonEvents(letter.feed, "match") for letter in letters)
        spent = time.perf_counter() - begun
        settled = Settled(
            clock.watermark_after, self._seen, outcome.counts, outcome.runs, size, spent, outcome.kept,
            outcome.memory.next_due(clock.watermark_after),
        )  # fmt: skip
        return [*rows, (Kind.SETTLED, pack(settled))]

    def _kept(self, letter: DeadLetter) -> DeadLetter:
        stream = self.plan.streams.get(letter.feed)
        return letter if stream is None or self.mask is None else without_secrets(letter, stream, self.mask)

    def _without_poison(
        self, held: Held, clock: Clock, careful: bool
    ) -> tuple[ShardMemory, Sequence[bytes | memoryview], list[DeadLetter]]:
        """The memory and the payloads without poison, and the dead letters of that."""
        poison = [one for one in self.manifest.poison if one.shard == self.shard]
        if not (poison or careful):
            return held.memory, self._payloads, []
        from cep.job.poison.shard_poison import searched, without

        memory, payloads, letters = without(self.plan, held.memory, self._payloads, poison)

        def work(memory: ShardMemory, payloads: Sequence[bytes | memoryview]) -> None:
            outcome = match_shard(self.plan, memory, payloads, clock)
            pack_raised(outcome.parts)
            write(outcome.memory, held.stored)

        if careful and (more := searched(self.plan, memory, payloads, self.shard, work)):
            raise poison_error(more)
        return memory, payloads, letters
