"""Of many runs of one key an event touches those that it can matter to, and nobody can tell by the alerts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from duel import Program, accepted, by_engine, by_reference, patterns_of, plan_of, program, programs
from effort import examples
from event_tables import tables
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from random_packs import crowded_packs
from random_streams import SECOND, Arrival
from test_agreement import assert_agreement

from cep.batch.trace import Trace
from cep.inprocess.session import Session
from cep.operators.patterns.compile.interests import Interest, interest
from cep.operators.patterns.compile.tables import Tables
from cep.operators.patterns.kernel import advance, bytecode, layout, loop, wait_index
from cep.operators.patterns.kernel import tables as kernel_tables
from cep.shard.advance import MatchOptions

QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck)}
BOTH = pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
HEAD = """pack p version "1"
stream e {
  id_: string  at: timestamp  k: string  ref: string?  n: long?  w: double?  ok: boolean?
  id id_  time at  lateness 0 seconds
}
"""
NEVER = 10**9


def crowded(compiled: bool = False) -> st.SearchStrategy[Program]:
    return programs(compiled, crowded_packs(), 30)


@pytest.mark.slow
@pytest.mark.timeout(0)
@settings(max_examples=examples(100), **QUIET)
@given(crowded())
def test_engines_agree_where_steps_are_equal(program: Program) -> None:
    assert_agreement(program, feeds=3)


@pytest.mark.slow
@settings(max_examples=examples(20), **QUIET)
@given(crowded())
def test_alerts_are_the_same_whoever_sleeps_and_whoever_watches(program: Program) -> None:
    tried = by_engine(replace(program, crowd=NEVER))
    assert by_engine(replace(program, crowd=0)).alerts == tried.alerts, f"{program}"
    assert by_engine(program, Trace()).alerts == tried.alerts, f"{program}"


@pytest.mark.slow
@pytest.mark.timeout(0)
@settings(max_examples=examples(100), **QUIET)
@given(crowded(compiled=True))
def test_the_compiled_kernel_agrees_where_steps_are_equal(program: Program) -> None:
    compiled, plain = by_engine(program), by_engine(replace(program, compiled=False))
    assert compiled.alerts == plain.alerts, f"{program}"
    assert compiled.counts == plain.counts, f"{program}"


def session(rule: str, compiled: bool = False, crowd: int | None = None) -> Session:
    return Session(plan_of(HEAD + rule, crowd), options=MatchOptions(compiled=compiled))


def feed(running: Session, first: int, came: list[dict[str, object]]) -> list[dict[str, list[str]]]:
    """One event a second, all of one key; the events that each alert names."""
    nothing = {"k": "x", "ref": None, "n": None, "w": None, "ok": None}
    arrivals = [
        Arrival("e", "p", "f", {**nothing, "id_": f"{first + n}", "at": (first + n) * SECOND, **values})
        for n, values in enumerate(came)
    ]
    found = running.feed(tables(running.plan.packs[0], arrivals, first))
    return [dict(one.alert.events) for one in found]


class Tries:
    """Counts how often the interpreted kernel shows an event to a run."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        for module, name in ((loop, "answer"), (loop, "moved"), (advance, "moved")):
            monkeypatch.setattr(module, name, self.counted(getattr(module, name)))

    def counted(self, function: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: Any) -> object:
            cursor = arguments[1].cursor
            self.count += int(cursor[layout.C_MODE] == layout.BY_EVENT)
            return function(*arguments)

        return call


RUNS = 300
SAME = "match a: e[n == 1] -> b: e[n == 2 and ref == a.ref] within 1 day skip none limit 5000 runs"


@pytest.mark.parametrize(
    ("rule", "event", "touched"),
    [
        (SAME, {"n": 2, "ref": "nobody's"}, 0),
        (SAME, {"n": 2}, 0),
        (SAME, {"n": 2, "ref": "r7"}, 1),
        (SAME, {"n": 3, "ref": "r7"}, 0),
        (SAME.replace("ref == a.ref", "a.ref == ref and w > 1.0"), {"n": 2, "ref": "r7"}, 0),
        (SAME.replace("ref == a.ref", "lower(a.ref) == lower(ref)"), {"n": 2, "ref": "R7"}, 1),
        (SAME.replace("ref == a.ref", "w == a.w"), {"n": 2, "w": 7.0}, 1),
        (SAME.replace("ref == a.ref", "at >= a.at and prev(w) == a.w"), {"n": 2}, 1),
        (SAME.replace("ref == a.ref", "ref > a.ref"), {"n": 2, "ref": "r7"}, RUNS),
        (SAME.replace("ref == a.ref", "ref > a.ref"), {"n": 3, "ref": "r7"}, 0),
        (SAME.replace("-> b", "-> not e[n == 4 and ref == a.ref] -> b"), {"n": 4, "ref": "r7"}, 1),
        (SAME.replace("-> b", "-> not e[n == 4] -> b"), {"n": 4, "ref": "r7"}, RUNS),
        # A strict run lives on until the next event, which it must see; with `having` it is kept alone.
        (SAME.replace("-> b", "=> b").replace("within", "having b.n > 0 within"), {"n": 3}, 1),
    ],
)
def test_an_event_touches_only_the_runs_that_can_move(
    rule: str, event: dict[str, object], touched: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = session(f"rule r {{ {rule} }}")
    begun = [{"n": 1, "ref": f"r{n}", "w": float(n)} for n in range(RUNS)]
    feed(running, 0, begun)
    tries = Tries(monkeypatch)
    feed(running, RUNS, [event])
    assert tries.count == touched


@pytest.mark.slow
@BOTH
def test_an_event_that_moves_one_raises_that_one(compiled: bool) -> None:
    """More sleepers than the chains have room for at first, some of them with values of their own type."""
    count = 2_000 if compiled else 700
    for field, value in (("ref", str), ("n", int), ("w", float)):
        rule = (
            f"rule r {{ match a: e[ok] -> b: e[not ok and {field} == a.{field}] within 1 day"
            " skip none limit 5000 runs }"
        )
        running = session(rule, compiled)
        feed(running, 0, [{"ok": True, field: value(n % (count // 2))} for n in range(count)])
        last = [{"ok": False, field: value(n)} for n in (7, -1, count // 2 - 1)] + [{"ok": False}]
        found = feed(running, count, last)
        first, second = ([7, 7 + count // 2], [count // 2 - 1, count - 1])
        assert [(one["a"], one["b"]) for one in found] == [
            *(([f"{a}"], [f"{count}"]) for a in first),
            *(([f"{a}"], [f"{count + 2}"]) for a in second),
        ]


@pytest.mark.slow
@BOTH
def test_what_sleeps_expires_and_is_dropped_like_what_is_awake(compiled: bool) -> None:
    rule = (
        "rule r { match a: e[ok] -> b: e[not ok and ref == a.ref] within 100s skip none limit 60 runs"
        " on timeout emit last = a.at }"
    )
    answers = []
    for crowd in (0, NEVER):
        running = session(rule, compiled, crowd)
        found = []
        for first in range(0, 200, 50):
            found += feed(running, first, [{"ok": True, "ref": f"r{n % 40}"} for n in range(50)])
        found += feed(running, 260, [{"ok": False, "ref": "r3"}])
        answers.append((found, dict(running.counts)))
    assert answers[0] == answers[1]
    assert answers[0][0]


def test_a_doubtful_beginning_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the very next event decides, a run begins only if that one fits, or has not come yet."""
    running = session(
        "rule r { match a: e[n == 1] => b: e[n == 2 and ref == a.ref] having b.n > 0 within 1 day }"
    )
    shown = []
    show = loop.show
    monkeypatch.setattr(loop, "show", lambda *a: shown.append(int(a[3])) or show(*a))
    one, two, other = {"n": 1, "ref": "r"}, {"n": 2, "ref": "r"}, {"n": 3}
    assert feed(running, 0, [one, other, one, one, two, one, other, one]) == [{"a": ["3"], "b": ["4"]}]
    assert shown == [3, 4, 7]
    assert feed(running, 8, [two]) == [{"a": ["7"], "b": ["8"]}]


@settings(max_examples=examples(100), **QUIET)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.integers(0, 2**32))
def test_called_runs_come_in_order_of_their_first_event(starts: list[int], seed: int) -> None:
    runs = np.zeros(len(starts) * layout.RUN, np.int64)
    runs[layout.R_START :: layout.RUN] = starts
    order = np.random.default_rng(seed).permutation(len(starts)) * layout.RUN
    runs[order + layout.R_CANDIDATE] = [*order[1:], layout.NONE]
    run, found = wait_index.by_start(runs, int(order[0])), []
    while run >= 0:
        found.append(run)
        run = int(runs[run + layout.R_CANDIDATE])
    assert sorted(found) == sorted(order)
    assert [int(runs[one + layout.R_START]) for one in found] == sorted(starts)


@given(*[st.sampled_from((0, 1, 7, 2**20, 2**40))] * 2, st.integers(-(2**63), 2**63 - 1))
@settings(max_examples=examples(200), **QUIET)
def test_a_hash_is_not_negative_and_needs_no_more_than_64_bits(at: int, question: int, value: int) -> None:
    with np.errstate(over="raise"):
        found = wait_index.mixed(np.int64(at), np.int64(question), np.int64(value))
    assert 0 <= found < 2**63
    assert found == wait_index.mixed(at, question, value)


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("ref == a.ref", True),
        ("n > 1 and (w > a.w and a.ref == ref)", True),
        ("lower(a.ref) == lower(ref)", True),
        ("ref in (a.ref)", True),
        ("ok == a.ok", True),
        ("at == a.at", True),
        ("w == a.w", True),
        ("n == a.w", True),
        ("w == a.n", False),
        ("ref == a.ref or n == 1", False),
        ("not (ref == a.ref)", False),
        ("ref != a.ref", False),
        ("n == a.n + 1", False),
        ("coalesce(ref, a.ref) == a.ref", False),
        ("a.ref == a.k", False),
        ("distinct(a.ref) == n and ref == a.ref", True),
        ("n > 1", False),
    ],
)
def test_what_says_that_two_are_equal_is_recognised(condition: str, found: bool) -> None:
    plan = plan_of(f"{HEAD}rule r {{ match a: e[n == 0]{{1}} -> b: e[{condition}] within 1 day }}")
    (patterns,) = patterns_of(plan)
    assert (patterns.tables(0).array[kernel_tables.H_QUESTIONS] == 1) == found


def test_a_program_that_compares_nothing_is_interested_in_everything() -> None:
    assert interest(3, []) == Interest(3)
    assert interest(3, [(bytecode.COLUMN, 0, 0, 0)]) == Interest(3)


@pytest.mark.slow
def test_the_oracle_raises_something_where_steps_are_equal() -> None:
    """The random programs above are about matches, not about nothing: in some of a few feeds of a pack.

    Of 60 packs 10 to 24 raise something, by the seed, and so do some of 30.
    """
    raised = []

    def count(text: str) -> None:
        asks = any(asked(rule.tables) for of in patterns_of(plan_of(text)) for rule in of.rules)
        feeds = (program(text, number, 30) for number in range(8 if asks else 0))
        raised.append(any(by_reference(one).alerts for one in feeds))

    for number in range(2):
        packs = given(crowded_packs().filter(accepted))(count)
        seed(number)(settings(max_examples=30, database=None, **QUIET)(packs))()
    assert sum(raised) > 8, sum(raised)


def asked(tables_: Tables) -> bool:
    """True if some run of the rule can be found by a value."""
    return bool(tables_.array[kernel_tables.H_QUESTIONS] > 0)
