"""The shards that a worker process holds are never taken for Spark's, unless they are exactly those."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

import pytest
from duel import pack_of
from event_tables import tables
from random_streams import SECOND, Arrival

from alerts.stages.order import in_order
from cep.batch.clock import Clock
from cep.inprocess.session import Session
from cep.job.workers.shard_states import ShardStates
from cep.packs.compile import compile_plan
from cep.resources.resource import Resources
from cep.routing.classify import classify
from cep.shard.advance import MatchOptions, match_shard
from cep.shard.memory import Merging
from cep.shard.state_bytes import StateError, StoredPart, Written

TEXT = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: long  id id_  time at }
rule pairs { by k  match a: e[v == 1] -> b: e[v == 2] within 40 seconds  skip none }
rule again { by k  match a: e[v == 1] -> absent e[v == 2 and k == a.k] for 7 seconds within 40 seconds }
"""
PLAN = compile_plan([pack_of(TEXT)])
LOOSE = Merging(small=0)


@dataclass
class Variables:
    """Stands for Spark's: what is stored counts when the batch is committed, and `read` parts are told."""

    committed: tuple[bytes | None, dict[int, bytes]] = (None, {})
    running: tuple[bytes | None, dict[int, bytes]] = (None, {})
    read: list[int] = field(default_factory=list)
    written: int = 0

    def begin(self) -> None:
        """A task begins: it sees what was committed."""
        self.running = (self.committed[0], dict(self.committed[1]))

    def commit(self) -> None:
        """Its batch is committed."""
        self.committed = self.running

    def head(self) -> bytes | None:
        return self.running[0]

    def part(self, number: int, length: int) -> bytes | None:
        self.read.append(number)
        part = self.running[1].get(number)
        assert part is None or len(part) == length
        return part

    def store(self, written: Written, before: Mapping[int, StoredPart]) -> None:
        assert before.keys() == self.running[1].keys()
        parts = {**self.running[1], **written.parts}
        for number in written.gone:
            del parts[number]
        self.running = (written.head, parts)
        self.written = len(written.head or b"") + sum(map(len, written.parts.values()))


def stream(seed: int, count: int, keys: int) -> list[Arrival]:
    random = Random(seed)
    return [
        Arrival(
            "e",
            "p",
            "f",
            {"id_": f"e{n}", "at": n * SECOND, "k": f"k{random.randrange(keys)}", "v": random.randrange(4)},
        )
        for n in range(count)
    ]


def task(
    states: ShardStates,
    variables: Variables,
    came: list[Arrival],
    offset: int,
    batch: int,
    before: int,
    after: int,
) -> list[str]:
    """One task of one batch; the ids of what it raised."""
    variables.begin()
    payloads = classify(PLAN, 1, tables(PLAN.packs[0], came, offset), before, Resources()).payloads
    held = states.open("shard", variables)
    clock = Clock(batch, before, after, first={"e": 0})
    outcome = match_shard(
        PLAN, held.memory, list(payloads.values()), clock, options=MatchOptions(merging=LOOSE)
    )
    states.store("shard", held, outcome.memory, variables)
    return [one.alert.as_dict()["id"] for one in in_order(outcome.raised)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_failed_tasks_and_changing_processes_change_no_alert(seed: int) -> None:
    random = Random(seed)
    events = stream(seed, 240, 12)
    processes = [ShardStates(), ShardStates(), ShardStates(most_bytes=0)]
    variables, raised, before = Variables(), [], -1
    for batch, first in enumerate(range(0, len(events), 6)):
        came = events[first : first + 6]
        after = came[-1].time
        # Attempts that are given up: of these events, of others, or of this batch as a replay sees it again.
        for _ in range(random.randrange(3)):
            other = came if random.random() < 0.5 else stream(random.randrange(99), 6, 12)
            task(random.choice(processes), variables, other, first, batch, before, after)
        raised += task(random.choice(processes), variables, came, first, batch, before, after)
        variables.commit()
        before = after
    session = Session(PLAN, options=MatchOptions(merging=Merging()))
    expected = [
        one
        for first in range(0, len(events), 6)
        for one in session.feed(
            tables(PLAN.packs[0], events[first : first + 6], first), events[min(first + 5, 239)].time
        )
    ]
    assert raised == [one.alert.as_dict()["id"] for one in expected]
    assert len(raised) > 20


def test_a_process_that_held_the_state_reads_nothing() -> None:
    states, variables, events = ShardStates(), Variables(), stream(1, 60, 6)
    for batch, first in enumerate(range(0, 60, 6)):
        task(
            states,
            variables,
            events[first : first + 6],
            first,
            batch,
            first * SECOND - 1,
            (first + 5) * SECOND,
        )
        variables.commit()
    assert variables.read == []


def test_another_process_reads_only_what_it_does_not_have() -> None:
    one, other, variables, events = ShardStates(), ShardStates(), Variables(), stream(2, 400, 100)
    head = events[:200]
    task(one, variables, head, 0, 0, -1, head[-1].time)
    variables.commit()
    task(other, variables, events[200:206], 200, 1, head[-1].time, events[205].time)
    variables.commit()
    base = set(variables.read)
    assert base, "the other process had nothing"
    variables.read.clear()
    task(one, variables, events[206:212], 206, 2, events[205].time, events[211].time)
    assert variables.read
    assert not base & set(variables.read), "what the first process wrote itself it need not read"


@pytest.mark.slow
def test_a_batch_writes_what_it_touches() -> None:
    """Ten times the state, and a batch of the same events writes the same bytes but for the head."""
    sizes = []
    for keys in (300, 3_000):
        states, variables = ShardStates(), Variables()
        begun = [
            Arrival("e", "p", "f", {"id_": f"e{n}", "at": n, "k": f"k{n:05}", "v": 1}) for n in range(keys)
        ]
        task(states, variables, begun, 0, 0, -1, keys - 1)
        variables.commit()
        few = [
            Arrival("e", "p", "f", {"id_": f"f{n}", "at": keys, "k": f"k{n:05}", "v": 1}) for n in range(5)
        ]
        task(states, variables, few, keys, 1, keys - 1, keys)
        sizes.append(variables.written)
    assert abs(sizes[1] - sizes[0]) < 100, sizes


def test_a_state_without_one_of_its_parts_is_refused() -> None:
    states, variables, events = ShardStates(), Variables(), stream(3, 12, 3)
    task(states, variables, events, 0, 0, -1, events[-1].time)
    variables.commit()
    variables.committed[1].popitem()
    variables.begin()
    with pytest.raises(StateError, match="of the state of a shard is missing"):
        ShardStates().open("shard", variables)


def test_what_a_process_holds_is_bounded() -> None:
    variables, events = Variables(), stream(4, 60, 6)
    states = ShardStates(most_bytes=20_000)
    task(states, variables, events, 0, 0, -1, events[-1].time)
    variables.commit()
    for shard in range(50):
        states.open(shard, variables)
    assert sum(held.size for held in states._held.values()) <= 20_000
