"""A deploy between two batches: what it leaves alone goes on, what it changes begins anew, and is counted."""

from __future__ import annotations

from typing import Any

import pytest
from duel import Program, accepted, pack_of, programs
from effort import examples
from event_tables import tables
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from random_packs import match_rules
from random_streams import SECOND, Arrival

from alerts.raised import Raised
from alerts.stages.order import in_order
from cep.counters import RunsDropped
from cep.inprocess.session import Session
from cep.packs.compile import compile_plan
from cep.shard.advance import MatchOptions

QUIET: Any = {"deadline": None, "suppress_health_check": list(HealthCheck)}
HEAD = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: long  s: string?  id id_  time at  lateness 2 seconds }
"""


def run(program: Program, texts: list[str]) -> list[dict[str, Any]]:
    """The alerts, with the batches of number n run under the n-th text (the last goes on)."""
    raised: list[Raised] = []
    session: Session | None = None
    offset = 0
    text = ""
    for number, batch in enumerate(program.batches):
        wanted = texts[min(number, len(texts) - 1)]
        if wanted != text:
            text = wanted
            snapshot = None if session is None else session.snapshot()
            session = Session(
                compile_plan([pack_of(text)]), program.shards, options=MatchOptions(compiled=program.compiled)
            )
            if snapshot is not None:
                session.restore(snapshot)
        assert session is not None
        raised += session.feed(tables(session.plan.packs[0], batch, offset))
        offset += len(batch)
    assert session is not None
    raised += session.drain()
    return [{**one.alert.as_dict(), "revision": ""} for one in in_order(raised)]


@pytest.mark.slow
@settings(max_examples=examples(60), **QUIET)
@given(programs(compiled=True) | programs(), match_rules("other"), st.integers(1, 3), st.booleans())
def test_a_deploy_leaves_untouched_rules_alone(
    program: Program, other: str, when: int, removed: bool
) -> None:
    with_other = program.text + "\n" + other
    # A stream that only one of them reads would move the watermark, and with it what is late.
    assume(accepted(with_other))
    assume(compile_plan([pack_of(program.text)]).read == compile_plan([pack_of(with_other)]).read)
    before, after = (with_other, program.text) if removed else (program.text, with_other)
    undisturbed = run(program, [program.text])
    deployed = run(program, [*[before] * when, after])
    assert [a for a in deployed if a["rule"] != "other"] == undisturbed, f"{program}\n{other}"


def fed(text: str, later: str, first: list[Arrival], mark: int, compiled: bool = False) -> Session:
    """A session that took `first` under one text, up to `mark`, and goes on under the later one."""
    session = Session(compile_plan([pack_of(text)]), options=MatchOptions(compiled=compiled))
    session.feed(tables(session.plan.packs[0], first), mark * SECOND)
    moved = Session(compile_plan([pack_of(later)]), options=MatchOptions(compiled=compiled))
    moved.restore(session.snapshot())
    return moved


def event(number: int, at: int, k: str, v: int, s: str | None = None) -> Arrival:
    return Arrival("e", "p", "f", {"id_": str(number), "at": at * SECOND, "k": k, "v": v, "s": s})


def rule(name: str, pattern: str) -> str:
    return f"rule {name} {{ match {pattern} within 1 hour }}\n"


def taken(raised: list[Raised]) -> list[dict[str, list[str]]]:
    return [one.alert.events for one in raised]


@pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
def test_runs_are_evaluated_by_the_new_constants(compiled: bool) -> None:
    old = HEAD + rule("r", 'a: e[k == "a"] -> b: e[v > 10 * a.v and s == lower(a.s)]')
    new = HEAD + rule("r", 'a: e[k == "a"] -> b: e[v > 2 * a.v and s == lower(a.s)]')
    begun = [event(1, 1, "a", 5, "X")]
    for text, found in ((old, []), (new, [{"a": ["1"], "b": ["2"]}])):
        session = fed(old, text, begun, 1, compiled)
        events = tables(session.plan.packs[0], [event(2, 2, "b", 20, "x")], 1)
        assert taken(session.feed(events, 2 * SECOND)) == found


def test_no_old_constant_is_left_in_a_register() -> None:
    old = HEAD + rule("r", 'a: e[k == "a"] -> b: e[s == substr(a.s, 0, 1)]')
    new = HEAD + rule("r", 'a: e[k == "a"] -> b: e[s == substr(a.s, 1, 1)]')
    session = fed(old, new, [event(1, 1, "a", 0, "xy")], 1)
    events = tables(session.plan.packs[0], [event(2, 2, "b", 0, "x"), event(3, 3, "b", 0, "y")], 1)
    assert taken(session.feed(events, 3 * SECOND)) == [{"a": ["1"], "b": ["3"]}]


def test_waiting_events_keep_the_predicate_bits_they_arrived_with() -> None:
    old = HEAD + rule("r", 'a: e[v > 10] -> b: e[k == "b"]') + rule("twin", "a: e[v > 3]{2}")
    new = HEAD + rule("r", 'a: e[v > 3] -> b: e[k == "b"]') + rule("twin", "a: e[v > 3]{2}")
    session = fed(old, new, [event(1, 5, "a", 5), event(2, 6, "a", 50)], 4)
    found = session.feed(tables(session.plan.packs[0], [event(3, 7, "b", 0)], 2), 7 * SECOND)
    assert [(one.alert.rule, one.alert.events) for one in found] == [
        ("twin", {"a": ["1", "2"]}),
        ("r", {"a": ["2"], "b": ["3"]}),
    ]


def test_a_changed_rule_begins_with_the_batch_of_its_deploy() -> None:
    old = HEAD + rule("r", "a: e[v > 3]{2}")
    new = HEAD + rule("r", "a: e[v > 3]{3}")
    session = fed(old, new, [event(1, 1, "a", 5), event(2, 9, "a", 5)], 1)
    arrivals = [event(n, n, "a", 5) for n in (10, 11, 12)]
    found = session.feed(tables(session.plan.packs[0], arrivals, 2), 20 * SECOND)
    assert taken(found) == [{"a": ["10", "11", "12"]}]
    assert session.counts[RunsDropped("p", "r", "dropped")] == 1


def test_a_rule_left_out_loses_its_runs_and_they_are_counted() -> None:
    both = HEAD + rule("r", "a: e[v > 3]{2}") + rule("gone", "a: e[v > 3]{2}")
    session = fed(both, HEAD + rule("r", "a: e[v > 3]{2}"), [event(1, 1, "a", 5)], 1)
    assert taken(session.feed(tables(session.plan.packs[0], [event(2, 2, "a", 5)], 1), 2 * SECOND)) == [
        {"a": ["1", "2"]}
    ]
    assert session.counts[RunsDropped("p", "gone", "dropped")] == 1


@pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
def test_runs_go_on_whose_conditions_search_texts(compiled: bool) -> None:
    head = HEAD.replace("s: string?", "s: text?")
    own = rule("r", 'a: e[k == "a"] -> b: e[s matches "x" or v > a.v] -> c: e[v > b.v and s matches "y"]')
    begun = [event(1, 1, "a", 5, "y"), event(2, 2, "b", 1, "an x"), event(3, 3, "b", 6)]
    session = fed(head + own, head + own + rule("other", "a: e[v > 99]{2}"), begun, 6, compiled)
    came = [event(4, 7, "c", 2, "an x"), event(5, 8, "c", 2, "a y")]
    found = session.feed(tables(session.plan.packs[0], came, 3), 9 * SECOND)
    assert taken(found) == [{"a": ["1"], "b": ["2"], "c": ["5"]}]
