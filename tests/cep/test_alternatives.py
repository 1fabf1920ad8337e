"""A run goes on in many alternatives: equivalent ones are merged, and of others there is a bound."""

from __future__ import annotations

import random
from dataclasses import replace

import overlapping_rules
import pytest
from duel import (
    Program,
    accepted,
    assert_agreement,
    by_engine,
    by_reference,
    difference,
    gave_up,
    of_its_pack,
    plan_of,
    program,
    programs,
)
from effort import examples
from event_tables import tables
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from random_packs import dense_packs, header
from random_streams import SECOND, Arrival

from alerts.raised import Raised
from cep.batch.trace import Trace
from cep.cli.trace_text import sentence
from cep.counters import AlternativesDropped, Overflows
from cep.inprocess.session import Session
from cep.operators.patterns.kernel.merge import MOST_ALTERNATIVES
from cep.shard.advance import MatchOptions

QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck)}
BOTH = pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
HEAD = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: long  id id_  time at }
"""
NEVER = 10**9


class Fed:
    """A session of one rule, with one event a second, all of one key."""

    def __init__(self, rule: str, compiled: bool = False, trace: Trace | None = None) -> None:
        self.session = Session(
            plan_of(HEAD + f"rule r {{ {rule} }}"), options=MatchOptions(compiled=compiled, trace=trace)
        )
        self.count = 0

    def feed(self, *values: int) -> list[Raised]:
        """Alerts of one batch of events."""
        came = [
            Arrival("e", "p", "f", {"id_": f"{n}", "at": n * SECOND, "k": "x", "v": v})
            for n, v in enumerate(values, self.count)
        ]
        self.count += len(values)
        return self.session.feed([*tables(self.session.plan.packs[0], came, self.count - len(values))])

    def rows(self) -> tuple[int, int]:
        """The number of live runs, and that of the rows that their alternatives take."""
        (memory,) = self.session.memories.values()
        rows = [
            (len(runs.runs), len(runs.alternatives))
            for space in memory.spaces.values()
            for segment in space.segments
            for runs in segment.content.rows["runs"].by_width.values()
        ]
        return sum(runs for runs, _ in rows), sum(alternatives for _, alternatives in rows)


@BOTH
@pytest.mark.parametrize(
    ("pattern", "most"),
    [
        ("(a: e -> b: e*){1,} -> c: e[v == 9]", 2),
        ("(a: e+){2,} -> c: e[v == 9]", 2),
        ("a: e* -> b: e* -> c: e* -> d: e[v == 9]", 3),
        ("((a: e -> b: e?)+ -> c: e*){3,} -> d: e[v == 9]", 12),
        # What was read and is read no more, and what stays as it is, makes no difference.
        ("(a: e+ -> b: e[v > avg(a.v) - 9]) -> (c: e -> f: e*){1,} -> d: e[v == 9]", 8),
        ("(a: e -> b: e*){1,} -> c: e[v > first(a.v) + 9]", 2),
        ("(a: e -> b: e* gap 5s){1,} -> c: e[v == 9]", 4),
        # An absence counts from one time or another.
        ("(a: e -> b: e*){1,} -> absent e[v == 8] for 5s -> c: e[v == 9]", 12),
        # What no program expresses reads the events that `x` took.
        ("(a: e -> b: e*){1,} -> c: e[v > 9 + percentile(x.v, 0.5)]", 2),
    ],
)
def test_equivalent_alternatives_are_merged(pattern: str, most: int, compiled: bool) -> None:
    """However many events have come: merging waits for the ninth alternative, and keeps this many of them."""
    fed = Fed(f"match x: e[v == 0] -> {pattern} within 1 hour", compiled)
    for count in (20, 40):
        fed.feed(*[0] * (fed.count == 0), *[1] * count)
        runs, rows = fed.rows()
        assert runs == 1
        assert rows <= max(8, most)
    assert AlternativesDropped("p", "r") not in fed.session.counts


@BOTH
def test_the_first_of_equivalent_alternatives_is_raised(compiled: bool) -> None:
    fed = Fed("match (a: e -> b: e*){1,} -> c: e[v == 9] within 1 hour", compiled)
    assert fed.feed(*[1] * 20, 9) == []
    (one,) = fed.session.drain()
    taken = one.alert.events
    assert (taken["a"], taken["b"], taken["c"]) == (["0"], [f"{n}" for n in range(1, 20)], ["20"])


MANY = "match x: e[v == 0] -> (a: e -> b: e*){1,} -> c: e[v < 0 and 0 - v > sum(b.v)] within 1 hour"
DIFFERENT = [0, *(2**n for n in range(16))]
"""Any two alternatives to sum some of them differ."""


@pytest.mark.slow
@BOTH
def test_of_alternatives_that_differ_a_run_keeps_the_most_preferred(compiled: bool) -> None:
    fed = Fed(MANY, compiled)
    fed.feed(*DIFFERENT)
    assert fed.rows() == (1, MOST_ALTERNATIVES)
    assert fed.session.counts[AlternativesDropped("p", "r")] > 1_000
    fed.feed(-(2**20))
    (one,) = fed.session.drain()
    # The greedy loop comes first: all are `b` but the first.
    assert one.alert.events["b"] == [f"{n}" for n in range(2, 17)]


@pytest.mark.slow
def test_what_is_given_up_does_not_depend_on_where_batches_are_cut() -> None:
    found = []
    for size in (len(DIFFERENT), 7, 1):
        fed = Fed(MANY)
        for first in range(0, len(DIFFERENT), size):
            fed.feed(*DIFFERENT[first : first + size])
        found.append((fed.rows(), fed.session.counts[AlternativesDropped("p", "r")]))
    assert found == [found[0]] * 3
    assert found[0][1] > 0


@pytest.mark.slow
def test_a_complete_alternative_is_not_given_up() -> None:
    """A match is certain, whatever may still come that would be preferred to it."""
    fed = Fed(
        "match x: e[v == 0] -> ((a: e -> b: e*){1,} -> c: e[v < 0 and 0 - v > sum(b.v)])? within 1 hour"
    )
    assert fed.feed(*DIFFERENT) == []
    assert fed.session.counts[AlternativesDropped("p", "r")] > 0
    (one,) = fed.session.drain()
    assert one.alert.events == {"x": ["0"]}


@pytest.mark.slow
@BOTH
def test_a_trace_says_that_alternatives_were_given_up(compiled: bool) -> None:
    trace = Trace()
    fed = Fed(MANY, compiled, trace)
    fed.feed(*DIFFERENT)
    given_up = [record for record in trace.records if record.kind == "gave up"]
    assert {record.run for record in given_up} == {1}
    assert sentence(given_up[0]).endswith(
        "kept its most preferred alternatives, and gave up the others: there were too many"
    )
    assert fed.session.counts[AlternativesDropped("p", "r")] > 0


def dense(most: int = 8, longest: int = 9) -> st.SearchStrategy[Program]:
    """Programs of which a run has many alternatives, of so few events that these can be tried one by one."""
    return programs(texts=dense_packs(), most=most, longest=longest)


def compared(program: Program) -> Program:
    """The program, if none of its alternatives is given up."""
    assume(not gave_up(by_engine(program)))
    return program


GROWING = {
    "any order in a loop": """
      match s0: f[round(m) in (1, 3)]* -> (s1: f* any each & s2: e[k != "c"] & s3: f* gap 1s){1,3}?
      within unbounded  skip to first s1  having distinct(s0.k) >= 1""",
    "alternatives in a loop": """
      match s0: e[v <= 3]?? until e => s1: e[k != "a"]*? contiguous
         => (s2: e+? contiguous | s3: e[not (sum(s0.m) > 2.5 or avg(s0.m) < m)]+ contiguous | s4: e[v > 2]*?)+
      within 8s  skip to last s4  having count(s2) > 1""",
}
"""Found by the long run: the first took all memory in the engine, the second in the reference."""


@pytest.mark.slow
@pytest.mark.parametrize("name", GROWING)
def test_patterns_that_grew_without_bound(name: str) -> None:
    text = header(0) + f"\nrule r {{ {GROWING[name]} }}"
    alerts = 0
    for seed in range(5):
        short, long = program(text, seed, 9, 10), program(text, seed, 15, 18)
        expected = by_reference(short)
        assert not difference(short, expected, by_engine(short))
        alerts += len(expected.alerts)
        plain, compiled = (by_engine(replace(long, compiled=form)) for form in (False, True))
        assert (plain.alerts, plain.counts) == (compiled.alerts, compiled.counts)
        alerts += len(plain.alerts)
    assert alerts > 0


@pytest.mark.slow
@pytest.mark.timeout(0)
@settings(max_examples=examples(120), **QUIET)
@given(dense())
def test_engines_agree_in_loops_of_loops(program: Program) -> None:
    assert_agreement(program, feeds=3)


def assert_that_merging_is_not_seen(program: Program) -> None:
    merged = by_engine(replace(compared(program), crowd=0))
    apart = by_engine(replace(program, crowd=NEVER))
    assert merged.alerts == apart.alerts, f"{program}"
    # Conditions that are not evaluated do not overflow.
    counts = [{k: n for k, n in a.counts.items() if not isinstance(k, Overflows)} for a in (merged, apart)]
    assert counts[0] == counts[1], f"{program}"


@pytest.mark.slow
@pytest.mark.timeout(0)
@settings(max_examples=examples(90), **QUIET)
@given(dense(6, 8))
def test_nobody_can_tell_whether_alternatives_are_merged(program: Program) -> None:
    for one in of_its_pack(replace(program, compiled=True), feeds=3):
        assert_that_merging_is_not_seen(one)


@pytest.mark.slow
@pytest.mark.timeout(0)
@settings(max_examples=examples(30), **QUIET)
@given(dense(16, 20))
def test_cuts_change_nothing_where_alternatives_are_many(program: Program) -> None:
    """The reference cannot try this: the engine is compared with itself. No two events are of one instant."""
    arrivals = [
        replace(one, partition="0", file="one", values={**one.values, "id_": f"{n}", "at": n * SECOND // 4})
        for n, one in enumerate(one for batch in program.batches for one in batch)
    ]
    program = replace(program, restarts=frozenset(), compiled=True)
    whole = by_engine(replace(program, batches=(tuple(arrivals),)))
    single = by_engine(replace(program, batches=tuple((one,) for one in arrivals)))
    assert (whole.alerts, whole.counts) == (single.alerts, single.counts), f"{program}"


@pytest.mark.slow
@pytest.mark.timeout(0)
@settings(max_examples=examples(100), **QUIET)
@given(dense(12, 16))
def test_the_compiled_kernel_merges_and_gives_up_the_same(program: Program) -> None:
    plain, compiled = by_engine(program), by_engine(replace(program, compiled=True))
    assert compiled.alerts == plain.alerts, f"{program}"
    assert compiled.counts == plain.counts, f"{program}"


@pytest.mark.slow
@pytest.mark.timeout(0)
@settings(max_examples=examples(100), **QUIET)
@given(st.integers(0, 10**9))
def test_engines_agree_where_conditions_overlap(seed: int) -> None:
    chance = random.Random(seed)
    text = overlapping_rules.HEAD + overlapping_rules.rule(chance)
    assume(accepted(text))
    for _ in range(3):
        assert_agreement(overlapping_rules.fed(text, chance))
