"""A match that two forks of a run come to is raised once, when it is first decided, and then forgotten."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
import pytest
from duel import LOOSE, Program, assert_agreement, by_engine, by_reference, difference, plan_of
from effort import examples
from event_tables import tables
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_packs import header
from random_streams import SECOND, Arrival, long_stream

from cep.batch.clock import BatchStart, Seen
from cep.inprocess.session import Session, StoredShard
from cep.operators.patterns.runtime.already_raised import first_of_each, identities
from cep.operators.patterns.runtime.kinds import RAISED
from cep.shard.memory import Merging
from cep.state.keyed_rows import FlatRows, of_kind
from rules.instants import parse_instant

GOLDEN = Path(__file__).parent / "golden" / "state-7.json"
# Two rounds of one end at the second b; one round of two waits for another round until `within` is over.
TWICE = "rule r { by g  match a: e[k == 'a'] -> (b: e[k == 'b']{1,2} each){1,2}  within 10s }".replace(
    "'", '"'
)


def event(number: int, at: int, k: str) -> Arrival:
    values = {**long_stream(0, 1, 1, 1)[0].values, "id_": f"{number}", "at": at * SECOND, "g": "x", "k": k}
    return Arrival("e", "0", "one", values)


def fed(session: Session, first: int, came: list[Arrival]) -> list[tuple[int, dict[str, list[str]]]]:
    raised = session.feed(tables(session.plan.packs[0], came, first))
    return [(one.time // SECOND, dict(one.alert.events)) for one in raised]


def known(session: Session) -> int:
    """The number of matches that the shards know, over all segments, whether void or not."""
    return sum(
        len(of_kind(segment.content.rows, RAISED, FlatRows).rows)
        for memory in session.memories.values()
        for space in memory.spaces.values()
        for segment in space.segments
    )


def shard_alone(session: Session, first: int, came: list[Arrival], restart: bool) -> tuple[Session, object]:
    """The alerts of a batch, and the session after it; `restart`: all but what is stored is lost."""
    found = fed(session, first, came)
    if not restart:
        return session, found
    snapshot = session.snapshot()
    session = Session(session.plan)
    session.restore(snapshot)
    return session, found


@pytest.mark.parametrize("cuts", [(), (3,), (1, 2, 3), (2,)])
@pytest.mark.parametrize("restart", [False, True])
def test_a_match_decided_twice_is_raised_when_it_is_first_decided(
    cuts: tuple[int, ...], restart: bool
) -> None:
    came = [event(0, 0, "a"), event(1, 1, "b"), event(2, 2, "b"), event(3, 30, "c")]
    session = Session(plan_of(header(0) + TWICE))
    found = []
    for begin, end in zip((0, *cuts), (*cuts, len(came)), strict=True):
        session, raised = shard_alone(session, begin, came[begin:end], restart)
        found += raised
    assert found == [(2, {"a": ["0"], "b": ["1", "2"]})]
    assert known(session) == 0


def test_a_match_is_known_while_a_fork_may_come_to_it() -> None:
    """Nine runs of one key, each of which comes to one match that a fork of it may come to again."""
    session = Session(plan_of(header(0) + TWICE))
    for number in range(9):
        came = [event(3 * number + m, 20 * number + m, k) for m, k in enumerate("abb")]
        assert len(fed(session, 3 * number, came)) == 1
        # Of a run of long ago nothing is known: time ended its forks.
        assert known(session) == 1
    session.feed([], (20 * 8 + 10) * SECOND)
    assert known(session) == 0


@pytest.mark.parametrize(
    ("pattern", "remembers"),
    [
        ("a: e -> b: e within 10s skip none", False),
        ("a: e+ -> (b: e{2} & c: e) within 10s skip none", False),
        ("a: e ~> b: e within 10s", True),
        ("a: e ~> b: e within 10s skip to next", False),
        ("a: e -> b: e+ each within 10s", True),
        ("a: e ~> b: e -> absent e for 1 minute within 10s", False),
    ],
)
def test_only_what_may_be_decided_again_is_remembered(pattern: str, remembers: bool) -> None:
    session = Session(plan_of(f"{header(0)}rule r {{ match {pattern} }}"))
    for number in range(8):
        fed(session, number, [event(number, number, "a")])
    assert bool(known(session)) == remembers


def test_without_matches_that_may_come_again_stored_bytes_are_those_of_before() -> None:
    """Version 6, which earlier programs read; with one, a version that they refuse."""
    versions = []
    for sign in ("->", "~>"):
        session = Session(plan_of(f"{header(0)}rule r {{ match a: e {sign} b: e within 10s skip none }}"))
        fed(session, 0, [event(n, n, "a") for n in range(3)])
        session.store()
        parts = [part for stored in session.stored.values() for part in stored.parts.values()]
        versions.append({int.from_bytes(part[4:6], "little") for part in parts})
    assert versions == [{6}, {6, 7}]


@given(
    st.lists(
        st.tuples(st.booleans(), st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=4)),
        max_size=30,
    ),
    st.integers(0, 30),
)
def test_an_identity_stands_for_events_steps_and_kind(
    matches: list[tuple[bool, list[tuple[int, int]]]], cut: int
) -> None:
    """The oracle compares what was taken."""
    timeouts = np.array([timeout for timeout, _ in matches], bool)
    ends = np.cumsum([len(taken) for _, taken in matches], dtype=np.int64)
    steps, sequences = (
        np.array([pair[column] for _, taken in matches for pair in taken], np.int64) for column in (0, 1)
    )
    named = identities(timeouts, ends, steps, sequences)
    shown = [(timeout, *taken) for timeout, taken in matches]
    known, came = shown[:cut], shown[cut:]
    expected = [n for n, one in enumerate(came) if one not in known and one not in came[:n]]
    assert first_of_each(named[cut:], named[:cut]).tolist() == expected


def test_stored_bytes_of_a_match_that_may_come_again() -> None:
    session = Session(plan_of(header(0) + TWICE))
    assert fed(session, 0, [event(0, 0, "a"), event(1, 1, "b"), event(2, 2, "b")])
    session.store()
    golden = json.loads(GOLDEN.read_text("utf-8"))
    assert session.stored[0].as_dict() == golden, (
        "the format has changed: raise VERSION in cep.shard.state_bytes"
    )
    session = Session(session.plan)
    session.start = BatchStart(1, 2 * SECOND, Seen(first={"e": 0}))
    session.stored[0] = StoredShard.of(golden)
    session.memories[0] = session.stored[0].memory()
    assert known(session) == 1
    assert fed(session, 3, [event(3, 30, "c")]) == []


@pytest.mark.parametrize("cuts", [(), (1,), (2,), (3,), (1, 2, 3, 4)])
@pytest.mark.parametrize(("sign", "times"), [("~>", [1, 3, 31, 33, 33]), ("->", [1, 31, 33])])
def test_matches_of_other_events_are_others_though_ids_were_used_before(
    cuts: tuple[int, ...], sign: str, times: list[int]
) -> None:
    """Later events have the ids of the first two: an event is known by its id and its time. Their alerts have
    one id, under which an outbox keeps the first."""
    rule = f'rule r {{ by g  match a: e[k == "a"] {sign} b: e[k == "b"] within 10s skip none }}'
    came = [event(0, 0, "a"), event(1, 1, "b"), event(1, 3, "b"), event(0, 30, "a"), event(1, 31, "b")]
    came += [event(0, 32, "a"), event(1, 33, "b")]
    batches = tuple(tuple(came[a:b]) for a, b in pairwise((0, *cuts, len(came))))
    program = Program(header(0) + rule, batches, frozenset({0}))
    answer = by_engine(program)
    assert [parse_instant(one["time"]) // SECOND for one in answer.alerts] == times
    assert not difference(program, by_reference(program), answer)


FORKS = (
    "match a: e[k == 'a'] -> (b: e[k == 'b']{1,2} each){1,2}  within 9s",
    "match a: e[k == 'a'] -> (b: e{1,2} each){1,2} each -> c: e[k == 'c']  within 9s",
    "match a: e[k == 'a'] -> (b: e[k != 'a']{1,2} any){1,3}  within 9s",
    "match a: e[k == 'a'] -> (b: e[k == 'b']+ each){1,2} each -> absent e[k == 'c'] for 2s  within 9s",
    "match a: e -> b: e[k == 'b']* each -> (c: e[k == 'c']{1,2} each){1,2}  within 6s  on timeout emit n = 1",
    "match a: e[k == 'a'] ~> (b: e[k == 'b']{1,2} each | c: e[k == 'c']){1,2}  within unbounded",
    "match a: e[k == 'a'] -> (b: e{1,2} each){1,2}  within 9s  skip to next",
)
"""Patterns whose forks come to the same match one after the other."""
EVENT = st.tuples(st.sampled_from("aabbbcd"), st.sampled_from((0, 1, 1, 2, 5)), st.sampled_from("xxxy"))


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=examples(100))
@given(
    st.sampled_from(FORKS),
    st.lists(EVENT, min_size=2, max_size=9),
    st.sets(st.integers(1, 9)),
    st.sets(st.integers(0, 9)),
    st.sampled_from((1, 3)),
    st.sampled_from((LOOSE, Merging(8, 8, 0), Merging())),
)
def test_every_match_is_raised_once_whatever_the_cuts(
    pattern: str,
    some: list[tuple[str, int, str]],
    cuts: set[int],
    restarts: set[int],
    shards: int,
    merging: Merging,
) -> None:
    times = accumulate(gap for _, gap, _ in some)
    came = [
        replace(one := event(n, at, kind), values={**one.values, "g": key})
        for n, ((kind, _, key), at) in enumerate(zip(some, times, strict=True))
    ]
    edges = [0, *sorted(cut for cut in cuts if cut < len(came)), len(came)]
    batches = tuple(tuple(came[a:b]) for a, b in pairwise(edges))
    text = f"{header(0)}rule r {{ by g  {pattern} }}".replace("'", '"')
    assert_agreement(Program(text, batches, frozenset(restarts), shards=shards, merging=merging))


def test_what_is_decided_again_when_time_ends_has_its_first_place() -> None:
    """Both come to the time of their last event; only the first decision was made by that event."""
    text = f"{header(0)}rule r {{ by g  {FORKS[5]} }}".replace("'", '"')
    assert_agreement(Program(text, (tuple(event(n, 0, kind) for n, kind in enumerate("abb")),)))
