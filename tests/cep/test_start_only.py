"""Keys whose events only begin runs are not looked at, and nothing can tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from duel import Program, pack_of, patterns_of, programs
from effort import examples
from event_tables import tables
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_packs import LATENESS, header
from random_streams import SECOND, Arrival
from test_agreement import assert_agreement

from cep.counters import Counts, RunsDropped
from cep.inprocess.session import Session
from cep.operators.patterns.compile.interests import MANY
from cep.packs.compile import compile_plan
from cep.plan.plan import Plan
from cep.shard.advance import MatchOptions
from cep.shard.memory import Merging
from cep.state.keyed_rows import size_of

HEAD = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: long  id id_  time at }
"""
LATER = "rule later { by k match a: e[v >= 0] -> b: e[v < 0] within 1 hour emit v = a.v }\n"
LOOSE = Merging(base=9, later=9, small=0, anew=2)
QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck)}


@st.composite
def beginnings(draw: st.DrawFn) -> str:
    """Packs of which many events only begin runs."""
    keys = st.sampled_from(("g", "g", "k", "n", "g, n"))
    first = st.sampled_from(("v == 1", "v == 1", "v >= 1 and v <= 2 and w > 0", "v == 1 or v is null"))
    then = st.sampled_from((
        "b: e[v == 3]", "b: e[v == 0 and t == a.t]", "b: e[v == 3 and w > a.w]", "b: e[v == 3]{2}",
        "b: e[v == -1] ~> c: e[v == 3]", "b: e[v == 0 or v == 3]+ until e[v == -1]",
        "absent e[v == 3] for 2s", "not e[v == 0] -> b: f", "(b: e[v == 3] & c: f)",
        "b: f[k == a.k]? -> c: e[v == 3]",
    ))  # fmt: skip
    within = st.sampled_from(("within 2s", "within 4s", "within 10s", "within unbounded"))
    more = st.sampled_from(("", "", "skip none", "skip to next", "on timeout emit x = a.t"))
    emits = st.sampled_from(("emit x = a.t", "emit x = a.k, y = a.w", ""))
    rules = []
    for number in range(draw(st.sampled_from((1, 1, 2)))):
        match = f"by {draw(keys)}  match a: e[{draw(first)}] -> {draw(then)}"
        rules.append(f"rule r{number} {{ {match}  {draw(within)}  {draw(more)}  {draw(emits)} }}\n")
    return header(LATENESS) + "".join(rules)


@pytest.mark.slow
@pytest.mark.timeout(0)
@settings(max_examples=examples(140), **QUIET)
@given(programs(texts=beginnings(), most=30))
def test_engines_agree_where_events_only_begin(program: Program) -> None:
    assert_agreement(program, feeds=3)


RULES = """
rule pairs { by k match a: e[v >= 5] -> b: e[v < 2] within 20s emit v = a.v, t = a.id_ }
rule equals {
  by k match a: e[v >= 5] -> b: e[v < 3 and v == a.v - 5] -> c: e[v < 3] within 1h skip none emit v = c.v
}
rule loops { by k match a: e[v >= 6] -> b: e[v < 2 and id_ != a.id_]{2,3} within 40s emit v = sum(b.v) }
rule silent { by k match a: e[v == 7] -> absent e[v == 0] for 9s within 30s emit v = a.v }
rule timed { by k match a: e[v >= 5] -> b: e[v == 1] within 15s skip to next on timeout emit v = a.v }
"""


ASKED = """
rule equals { by k match a: e[v >= 5] -> b: e[v == a.v - 5] -> c: e[v < 3] within 1h skip none emit v = c.v }
rule forks { by k match a: e[v >= 6] ~> b: e[v < a.v - 4] -> c: e[v == 1] within 30s emit v = b.v, t = a.id_ }
rule rises { by k match a: e -> b: e[v > a.v]+ -> c: e[v < a.v] within 20s skip to next emit v = sum(b.v) }
"""
"""Where all runs of a key are asked at each of its events."""


@pytest.mark.slow
@pytest.mark.parametrize("rules", [RULES, ASKED], ids=["begin", "asked"])
@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from((0, 1, 2, *[5, 6, 7] * 4)), st.sampled_from("xxyz")),
        min_size=8,
        max_size=40,
    ),
    st.lists(st.sampled_from((1, 1, 2, 3, 5)), min_size=1),
    st.sampled_from((LOOSE, Merging(1, 1, 0, anew=2), Merging(3, 1, 0, anew=2), Merging(3, 1, 0))),
    st.sets(st.integers(0, 20), max_size=3),
)
def test_it_does_not_matter_where_batches_are_cut(
    rules: str, drawn: list[tuple[int, int, str]], sizes: list[int], merging: Merging, restarts: set[int]
) -> None:
    arrivals, at = [], 0
    for number, (later, v, k) in enumerate(drawn):
        at += later
        arrivals.append(
            replace(event(number, v, k), values={**event(number, v, k).values, "at": at * SECOND})
        )
    whole, session = Session(plan(rules)), Session(plan(rules), options=MatchOptions(merging=merging))
    expected = told(whole, arrivals, 0) + [one.alert.as_dict() for one in whole.drain()]
    raised, start, batch = [], 0, 0
    while start < len(arrivals):
        size = sizes[batch % len(sizes)]
        raised += told(session, arrivals[start : start + size], start)
        start, batch = start + size, batch + 1
        if batch in restarts:
            snapshot = session.snapshot()
            session = Session(plan(rules), options=MatchOptions(merging=merging))
            session.restore(snapshot)
    raised += [one.alert.as_dict() for one in session.drain()]
    assert sorted(map(str, raised)) == sorted(map(str, expected))


def told(session: Session, batch: Sequence[Arrival], offset: int) -> list[dict[str, object]]:
    return [one.alert.as_dict() for one in session.feed(tables(session.plan.packs[0], batch, offset))]


def plan(rules: str) -> Plan:
    return compile_plan([pack_of(HEAD + rules)])


def event(number: int, v: int, k: str = "x") -> Arrival:
    return Arrival("e", "p", "f", {"id_": f"p{number}", "at": number * SECOND, "k": k, "v": v})


def fed(session: Session, batches: Sequence[Sequence[Arrival]]) -> list[tuple[str, object]]:
    """The alerts raised, by rule and the value emitted."""
    raised = []
    for offset, batch in enumerate(batches):
        found = session.feed(tables(session.plan.packs[0], batch, 10_000 * offset))
        session.store()
        raised += [(one.alert.rule, one.alert.emit.get("v")) for one in found]
    return raised


@pytest.mark.parametrize(
    ("rule", "bits"),
    [
        ("match a: e[v > 5] -> b: e[v < 5] -> c: e[v == 5] within 1h", [0, 1, 1]),
        ("match a: e[v > 5]+ -> b: e[v < 5] within 1h", [1, 1]),
        ("match a: e[v > 5] -> b: e[v < 5]+ until e[v == 5] -> c: e[v > 5] within 1h", [1, 1, 1]),
        ("match a: e[v > 5] -> not e[v == 5] -> b: e[v < 5] within 1h", [0, 1, 1]),
        ("match (a: e[v > 5] & b: e[v < 5]) -> c: e[v == 5] within 1h", [1, 1, 1]),
        ("match (a: e[v > 5] | b: e[v < 5]) -> c: e[v == 5] within 1h", [0, 0, 1]),
        ("match a: e[v > 5] => b: e[v < 5] within 1h", [1, 1, 1]),
        ("match a: e[prev(v) > 5] -> b: e[v < 5] within 1h", [1, 1]),
        ("match absent e[v == 5] for 1m -> a: e[v > 5] -> b: e[v < 5] within 1h", [1, 1, 1]),
        ("match a: e[v > 5] -> b: e[v < 5] within 1h limit 3 runs", [1, 1]),
    ],
)
def test_what_a_waiting_run_can_wait_for_is_known(rule: str, bits: list[int]) -> None:
    (patterns,) = patterns_of(plan(f"rule r {{ by k {rule} }}"))
    (awaited,) = patterns.awaited.values()
    assert awaited.astype(int).tolist() == bits


def test_a_key_whose_events_only_begin_runs_is_added_to() -> None:
    session = Session(plan(LATER), options=MatchOptions(merging=LOOSE))
    batches = [[event(10 * n + m, m) for m in range(5)] for n in range(4)]
    assert fed(session, batches) == []
    (space,) = session.memories[0].spaces.values()
    assert [size_of(segment.content.rows) for segment in space.segments] == [space.weight // 4] * 4
    assert not any(segment.content.whole.any() for segment in space.segments)
    assert session.runs == {("p", "later"): 20}
    assert fed(session, [[event(100, -1)]]) == [("later", 0)], (
        "the match ends the runs that began after its own"
    )
    assert session.runs == {}


@pytest.mark.slow
def test_more_than_the_limit_is_dropped_and_counted_wherever_batches_are_cut() -> None:
    rules = LATER.replace("within 1 hour", "skip none within 1 hour")
    arrivals = [event(n, n) for n in range(MANY + 60)] + [event(MANY + 60, -1)]
    found: list[tuple[list[tuple[str, object]], Counts]] = []
    for size in (len(arrivals), 350, 60):
        session = Session(plan(rules), options=MatchOptions(merging=LOOSE))
        raised = fed(session, [arrivals[n : n + size] for n in range(0, len(arrivals), size)])
        found.append((raised, session.counts))
    raised, counts = found[0]
    assert [value for _, value in raised] == [*range(60, MANY + 60)]
    assert counts[RunsDropped("p", "later", "limit")] == 60
    assert all(one == found[0] for one in found)


@pytest.mark.slow
def test_a_batch_writes_no_more_beside_many_runs() -> None:
    """As many bytes as beside nothing, whether or not the keys have runs."""
    written = []
    for before in (0, 20):
        session = Session(plan(LATER), options=MatchOptions(merging=LOOSE))
        fed(session, [[event(100 * n + m, 1, f"k{m}") for m in range(30)] for n in range(before)])
        session.feed(tables(session.plan.packs[0], [event(9_000 + m, 1, f"k{m}") for m in range(30)], 9_000))
        head = len(session.stored[0].head or b"") if session.stored else 0
        session.store()
        session.feed(tables(session.plan.packs[0], [event(9_100 + m, 1, f"k{m}") for m in range(30)], 9_100))
        written.append(session.store() - head)
    assert written[1] < 1.2 * written[0] + 1_000
