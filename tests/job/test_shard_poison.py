"""A shard goes without some events, or begins some keys anew: as if these had never come."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Sequence

import pytest
from duel import pack_of
from effort import examples
from event_tables import tables
from hypothesis import given, settings
from hypothesis import strategies as st
from random_streams import SECOND, Arrival

from alerts.stages.order import in_order
from cep.batch.clock import Clock
from cep.events import MAX_TIME
from cep.inprocess.session import Session
from cep.job.poison.events import HELD, Poison
from cep.job.poison.held_keys import HeldKeys
from cep.job.poison.shard_events import ShardEvents
from cep.job.poison.shard_poison import searched, without
from cep.packs.compile import compile_plan
from cep.resources.resource import Resources
from cep.routing.classify import classify
from cep.shard.advance import match_shard
from cep.shard.memory import ShardMemory
from cep.shard.state_bytes import read, write

TEXT = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: long  t: string?  id id_  time at }
stream other { id_: string  at: timestamp  k: string  id id_  time at }
rule pairs { by k  match a: e[v == 1] -> b: e[v == 2] within 40 seconds  skip none  emit k, t = last(a.t) }
rule calm {
  by k  match a: e[v == 1] -> absent e[v == 2] for 7 seconds within 40 seconds  emit k, t = last(a.t)
}
rule two { by k  match a: e[v == 3] -> b: other within 30 seconds }
rule single { on e[v == 0]  emit k }
"""
PLAN = compile_plan([pack_of(TEXT)])
PACK = PLAN.packs[0]
FIRST = Arrival("e", "p", "f", {"id_": "first", "at": 0, "k": "none", "v": 9})
Events = list[tuple[int, int, bool]]
"""Of each event key, value, and whether it is of the other stream; its time is its place."""

EVENTS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.booleans()), min_size=1, max_size=60)


def arrivals(events: Events, begin: int = 0) -> list[Arrival]:
    found = []
    for n, (key, value, other) in enumerate(events, begin):
        values = {"id_": f"e{n}", "at": (n + 1) * SECOND, "k": f"k{key}"}
        more = {} if other else {"v": value, "t": f"t{n}"}
        found.append(Arrival("other" if other else "e", "p", "f", values | more))
    return found


def session(events: Sequence[Arrival], watermark: int) -> Session:
    """After these events, with time at a watermark. The place of each is its time in seconds."""
    found = Session(PLAN, shards=1)
    for place, one in enumerate(events):
        found.feed(tables(PACK, [one], one.time // SECOND), watermark if place == len(events) - 1 else -1)
    return found


def poison(events: Iterable[int], arrived: Sequence[Arrival]) -> list[Poison]:
    at = {one.time // SECOND: one.stream for one in arrived}
    return [Poison(at[n], "f", n, n + 1, 0, "was ended by SIGSEGV") for n in events]


def told(of: Session, events: Sequence[Arrival] = ()) -> list[str]:
    raised = of.feed([e for one in events for e in tables(PACK, [one], one.time // SECOND)], MAX_TIME - 1)
    return [one.body for one in in_order(raised)]


@pytest.mark.slow
@settings(max_examples=examples(50), deadline=None)
@given(EVENTS, EVENTS, st.data())
def test_without_waiting_events_it_is_as_if_they_had_never_come(
    waiting: Events, later: Events, data: st.DataObject
) -> None:
    before = [FIRST, *arrivals(waiting)]
    gone = data.draw(st.sets(st.integers(1, len(waiting)), min_size=1))
    given_ = session(before, 0)
    named = poison(gone, before)
    memory, payloads, letters = without(PLAN, given_.memories[0], [], named)
    given_.memories[0] = stored(memory)
    never = session([one for one in before if one.time // SECOND not in gone], 0)
    after = arrivals(later, len(waiting) + 1)
    assert told(given_, after) == told(never, after)
    there = ShardEvents.of(session(before, 0).memories[0], []).named(named).values()
    assert sorted((one.feed, one.file, one.offset, one.stage) for one in letters) == sorted(
        (one.stream, "f", one.first, "poison") for one in there
    )
    assert payloads == []


def stored(memory: ShardMemory) -> ShardMemory:
    """A memory as it comes back from where it is stored."""
    written = write(memory, {})
    return read(written.head, lambda number, _: written.parts.get(number))


@pytest.mark.slow
@settings(max_examples=examples(50), deadline=None)
@given(EVENTS, EVENTS, st.sets(st.integers(0, 4), min_size=1))
def test_a_key_that_is_forgotten_begins_anew(held: Events, later: Events, gone: set[int]) -> None:
    before = [FIRST, *arrivals(held)]
    given_ = session(before, len(before) * SECOND)
    if 0 not in given_.memories:
        return
    keys = HeldKeys.of(PLAN, given_.memories[0])
    shown = [keys.letter(n, keys.poison(n, 0, "")).data.splitlines()[0] for n in range(len(keys))]
    wanted = {f'{{"k0": "k{key}"}}'.encode() for key in gone}
    named = [keys.poison(n, 0, "was ended") for n, key in enumerate(shown) if key in wanted]
    memory, _, letters = without(PLAN, given_.memories[0], [], named)
    given_.memories[0] = stored(memory)
    assert [letter.data.splitlines()[0] in wanted for letter in letters] == [True] * len(named)
    never = session(
        [one if one.values["k"] not in {f"k{key}" for key in gone} else FIRST for one in before][
            : len(before)
        ],
        len(before) * SECOND,
    )
    after = arrivals(later, len(held) + 1)
    left, expected = given_.runs, never.runs
    assert left == expected
    assert told(given_, after) == told(never, after)


def dying(marked: set[int], how: int) -> object:
    def work(memory: ShardMemory, payloads: Sequence[bytes]) -> None:
        if marked & set(ShardEvents.of(memory, payloads).offsets.tolist()):
            os.kill(os.getpid(), how)

    return work


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGSEGV, pytest.param(signal.SIGKILL, marks=pytest.mark.soak)])
def test_events_that_die_are_found_among_those_that_wait_and_those_that_come(how: signal.Signals) -> None:
    waiting = [FIRST, *arrivals([(n % 5, n % 4, n % 7 == 0) for n in range(120)])]
    coming = arrivals([(n % 5, n % 4, n % 7 == 0) for n in range(120)], 120)
    given_ = session(waiting, 0)
    events = [e for one in coming for e in tables(PACK, [one], one.time // SECOND)]
    payloads = list(classify(PLAN, 1, events, 0, Resources()).payloads.values())
    memory = given_.memories[0]
    wanted = set(ShardEvents.of(memory, payloads).offsets[[7, 100, 112, 160]].tolist())
    found = searched(PLAN, memory, payloads, 3, dying(wanted, how))  # type: ignore[arg-type]
    assert {(one.path, one.first, one.end, one.shard) for one in found} == {
        ("f", n, n + 1, 3) for n in wanted
    }
    left, came, _ = without(PLAN, memory, payloads, found)
    assert searched(PLAN, left, came, 3, dying(wanted, how)) == []  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("with_event", [False, True])
def test_where_what_is_remembered_dies_the_key_is_found(with_event: bool) -> None:
    """An alert that cannot be made of what a key remembers: when its time is over, or a later event comes."""
    before = [FIRST, *arrivals([(n, 1, False) for n in range(5)])]
    memory = session(before, len(before) * SECOND).memories[0]
    after = len(before) * SECOND + (1 if with_event else 30) * SECOND
    coming = arrivals([(n, 2, False) for n in range(5)], len(before)) if with_event else []
    events = [e for one in coming for e in tables(PACK, [one], one.time // SECOND)]
    payloads = list(classify(PLAN, 1, events, 0, Resources()).payloads.values())
    until = MAX_TIME - 1 if with_event else after

    def work(memory: ShardMemory, payloads: Sequence[bytes]) -> None:
        clock = Clock(9, len(before) * SECOND, until, first={"e": 0})
        raised = match_shard(PLAN, memory, payloads, clock).raised
        if any('"t": "t3"' in one.body or '"t":"t3"' in one.body for one in raised):
            os.kill(os.getpid(), signal.SIGSEGV)

    found = searched(PLAN, memory, payloads, 0, work)
    assert [(one.what, one.stream) for one in found] == [(HELD, "e")]
    left, came, letters = without(PLAN, memory, payloads, found)
    assert [letter.data.splitlines()[0] for letter in letters] == [b'{"k0": "k3"}']
    assert b'"t3"' in letters[0].data
    assert searched(PLAN, left, came, 0, work) == []
