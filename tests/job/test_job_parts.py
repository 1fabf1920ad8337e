"""The parts of a batch as the job runs them, on many machines, come to what they come to in one process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from duel import Program, plan_of, programs
from effort import examples
from event_tables import tables
from hypothesis import HealthCheck, given, settings

from alerts.raised import Raised
from alerts.stages.order import in_order
from cep.counters import Count, Counts
from cep.events import Events
from cep.inprocess.session import Session
from cep.job.clocks.running_time import Stretch
from cep.job.shipping.rows import Kind, pack
from cep.job.state_folder.manifest import Manifest, Result, following, parse, result, result_of
from cep.job.workers.outcome import BatchOutcome, put_together
from cep.job.workers.shard import ShardBatch
from cep.job.workers.shard_states import ShardStates
from cep.plan.plan import Plan
from cep.resources.resource import Resources
from cep.routing.classify import classify
from cep.shard.state_bytes import StoredPart, Written

QUIET: Any = {"deadline": None, "suppress_health_check": list(HealthCheck)}
SHARDS = 3


@dataclass(slots=True)
class Variables:
    """The state of a shard between batches, where Spark would have it."""

    stored: bytes | None = None
    parts: dict[int, bytes] = field(default_factory=dict)

    def head(self) -> bytes | None:
        return self.stored

    def part(self, number: int, length: int) -> bytes | None:
        found = self.parts.get(number)
        assert found is None or len(found) == length
        return found

    def store(self, written: Written, before: Mapping[int, StoredPart]) -> None:
        assert before.keys() == self.parts.keys()
        self.stored = written.head
        self.parts = {n: p for n, p in {**self.parts, **written.parts}.items() if n not in written.gone}


@dataclass(slots=True)
class Job:
    """A job without Spark: a mapper for each source partition and `SHARDS` shards."""

    plan: Plan
    before: Result | None = None
    number: int = 0
    counts: Counts = field(default_factory=Counts)
    shards: list[Variables] = field(default_factory=lambda: [Variables() for _ in range(SHARDS)])

    def batch(self, events: Sequence[Events], drain: bool = False) -> BatchOutcome:
        """One batch, in new processes: they have the manifest's text, and states as bytes."""
        first = Manifest(self.number, {}, SHARDS, 0, drain=drain)
        manifest = parse(following(first, self.before, self.plan, Stretch(0)).text())
        sent = [list(self._mapped(manifest, [part])) for part in events] or [list(self._mapped(manifest, []))]
        rows: list[tuple[Kind, bytes]] = []
        for number, variables in enumerate(self.shards):
            shard = ShardBatch(self.plan, manifest, number)
            rows += shard.sort(
                (kind, payload) for mapper in sent for to, kind, payload in mapper if to == number
            )
            rows += shard.match(ShardStates(), variables)
        outcome = put_together(rows, SHARDS)
        after = result(manifest, self.plan, outcome.seen, outcome.watermark, outcome.runs)
        self.before = result_of(after.as_dict())
        self.number += 1
        self.counts.update(outcome.counts)
        return outcome

    def _mapped(self, manifest: Manifest, events: Sequence[Events]) -> Iterator[tuple[int, Kind, bytes]]:
        found = classify(self.plan, SHARDS, events, manifest.watermark, Resources())
        for shard, payload in found.payloads.items():
            yield shard, Kind.EVENTS, payload
        for shard in range(SHARDS):
            yield shard, Kind.SEEN, pack(found.seen)
        yield 0, Kind.READ, pack((found.counts, {}))


def rows(raised: Sequence[Raised]) -> list[tuple[str, str]]:
    """Ids and bodies, each id once, as the outbox has them."""
    return list({one.id: one.body for one in in_order(raised)}.items())


def without_zeros(counts: Mapping[Count, int]) -> dict[Count, int]:
    return {counter: number for counter, number in counts.items() if number}


@pytest.mark.slow
@settings(max_examples=examples(40), **QUIET)
@given(programs())
def test_the_parts_of_a_job_come_to_what_one_process_does(program: Program) -> None:
    plan = plan_of(program.text)
    session, job = Session(plan, SHARDS), Job(plan)
    raised: list[Raised] = []
    told: list[Raised] = []
    offset = 0
    for batch in program.batches:
        events = tables(plan.packs[0], batch, offset)
        offset += len(batch)
        told += session.feed(events)
        outcome = job.batch(events)
        raised += outcome.raised
        assert outcome.watermark == session.watermark, f"{program}"
        assert outcome.runs == session.runs, f"{program}"
    told += session.drain()
    raised += job.batch([], drain=True).raised
    assert rows(raised) == rows(told), f"{program}"
    assert without_zeros(job.counts) == without_zeros(session.counts), f"{program}"
