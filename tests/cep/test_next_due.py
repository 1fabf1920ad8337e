"""A shard says at which event time it next has something to do: until then time changes nothing in it."""

from __future__ import annotations

import pytest
from duel import Program, plan_of, programs
from effort import examples
from event_tables import tables
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_windows import mixed_packs

from cep.events import MAX_TIME
from cep.inprocess.session import Session
from cep.shard.advance import MatchOptions

QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck)}
FAR = MAX_TIME - 1


@pytest.mark.timeout(0)
@settings(max_examples=examples(60), **QUIET)
@given(programs() | programs(texts=mixed_packs()))
def test_nothing_happens_before_it(program: Program) -> None:
    session = _session(program)
    offset = 0
    for batch in program.batches:
        session.feed(tables(session.plan.packs[0], batch, offset))
        offset += len(batch)
        due = _due(session)
        assert due > session.watermark
        before, memories, start = _kept(session), dict(session.memories), session.start
        assert session.feed([], due - 1 if due < MAX_TIME else FAR) == []
        assert _kept(session) == before
        session.memories, session.start = memories, start


@given(st.data())
@settings(max_examples=examples(30), **QUIET)
def test_time_goes_on_from_one_to_the_next(data: st.DataObject) -> None:
    """Going from one to the next comes to an end, with the alerts that one step raises."""
    program = data.draw(programs())
    at_once, by_steps = _session(program), _session(program)
    offset = 0
    for batch in program.batches:
        for one in (at_once, by_steps):
            one.feed(tables(one.plan.packs[0], batch, offset))
        offset += len(batch)
    expected = at_once.feed([], FAR)
    found, steps = [], 0
    while (due := _due(by_steps)) < FAR:
        found += by_steps.feed([], due)
        steps += 1
        assert steps < 10_000
    assert [one.alert for one in found] == [one.alert for one in expected]


def _kept(session: Session) -> dict[tuple[int, str], tuple[list[int], int]]:
    """By shard and space which segments there are, and how many events wait."""
    return {
        (shard, name): (
            [id(segment) for segment in space.segments],
            sum(len(events.table) for events in space.pending.waiting),
        )
        for shard, memory in session.memories.items()
        for name, space in memory.spaces.items()
    }


def _due(session: Session) -> int:
    return min((one.next_due(session.watermark) for one in session.memories.values()), default=MAX_TIME)


def _session(program: Program) -> Session:
    plan = plan_of(program.text, program.crowd)
    return Session(
        plan, program.shards, options=MatchOptions(compiled=program.compiled, merging=program.merging)
    )
