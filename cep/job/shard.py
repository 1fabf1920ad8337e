"""Behind the shuffle: what a batch comes to in one shard, from the rows that it was sent and its state."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from cep.automata.plan import Plan
from cep.job.errors import ConfigurationError
from cep.job.manifest import Manifest, watermark_after
from cep.job.rows import PASSED_ON, Kind, pack, pack_raised, unpack
from cep.job.shard_states import ShardStates, Variables
from cep.matching.match import Clock, match_shard
from cep.matching.state import StateError
from cep.watermark import Partition, earliest, progress


@dataclass(slots=True)
class ShardBatch:
    """One shard's part of a batch: first `sort` the rows that came, then `match` them."""

    plan: Plan
    manifest: Manifest
    shard: int
    _payloads: list[bytes] = field(default_factory=list)
    _seen: list[dict[Partition, int]] = field(default_factory=list)
    _first: list[dict[str, int]] = field(default_factory=list)

    def sort(self, rows: Iterable[tuple[Kind, bytes]]) -> Iterator[tuple[Kind, bytes]]:
        """Takes in rows of (kind, payload); gives those that are for the driver."""
        for kind, payload in rows:
            if kind is Kind.EVENTS:
                self._payloads.append(payload)
            elif kind is Kind.SEEN:
                seen, first = unpack(payload)
                self._seen.append(seen)
                self._first.append(first)
            elif kind in PASSED_ON:
                yield kind, payload

    def match(self, states: ShardStates, variables: Variables) -> list[tuple[Kind, bytes]]:
        """Matches, and stores what is to be remembered; the rows for the driver.

        Raises ConfigurationError for a state that cannot be used.
        """
        begun = time.perf_counter()
        after = watermark_after(self.manifest, self.plan, self._seen)
        before = self.manifest
        first = earliest(before.first, self._first)
        clock = Clock(before.batch, before.watermark, after, before.since, first=first)
        try:
            held = states.open(self.shard, variables)
        except StateError as error:
            raise ConfigurationError(
                f"the state of shard {self.shard} cannot be used: {error}",
                "restore the state folder from a backup together with the outbox, or name a new [job] state",
            ) from error
        outcome = match_shard(self.plan, held.memory, self._payloads, clock)
        size = states.store(self.shard, held, outcome.memory, variables).size
        rows = [(Kind.RAISED, pack_raised(outcome.raised))] if outcome.raised else []
        told = (
            after,
            progress({}, self._seen),
            earliest({}, self._first),
            dict(outcome.counts),
            outcome.runs,
            size,
            time.perf_counter() - begun,
        )
        return [*rows, (Kind.SETTLED, pack(told))]
