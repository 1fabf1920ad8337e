"""A trace tells how each run began, moved and ended, by the very code that decides, and changes nothing."""

from __future__ import annotations

import json

import pytest
from duel import Program, by_engine, pack_of, programs
from effort import examples
from event_tables import tables
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from random_streams import SECOND, Arrival

from cep.batch.selection import KeyTest, Selection
from cep.batch.trace import Record, Trace
from cep.cli.trace_text import as_json, lines, sentence
from cep.inprocess.session import Session
from cep.packs.compile import compile_plan
from cep.shard.advance import MatchOptions

BOTH = pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
HEAD = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: long  id id_  time at }
"""


def traced(
    rule: str, values: list[tuple[int, int]], compiled: bool, cut: int = 99, drain: bool = False
) -> Trace:
    """One event per (second, v) under one key, in two batches."""
    trace = Trace()
    session = Session(
        compile_plan([pack_of(HEAD + rule)]), options=MatchOptions(compiled=compiled, trace=trace)
    )
    came = [
        Arrival("e", "p", "f", {"id_": f"e{n}", "at": at * SECOND, "k": "x", "v": v})
        for n, (at, v) in enumerate(values)
    ]
    session.feed(tables(session.plan.packs[0], came[:cut]))
    session.feed(tables(session.plan.packs[0], came[cut:], cut))
    if drain:
        session.drain()
    return trace


def told(records: list[Record]) -> list[tuple[int | None, str, str]]:
    """Run, kind, and event with step or part that failed."""
    return [
        (
            record.run,
            record.kind,
            f"{record.event.id if record.event else ''} {record.step or ''} {record.condition or ''}".strip(),
        )
        for record in records
    ]


@BOTH
@pytest.mark.parametrize("cut", [0, 2, 99])
def test_a_run_is_told_from_its_beginning_to_its_match(compiled: bool, cut: int) -> None:
    rule = "rule r { by k match a: e[v < 2] -> b: e[v > 9 and v > 5 * a.v] within 1 hour }"
    trace = traced(rule, [(0, 1), (1, 4), (2, 10)], compiled, cut)
    mine = [one for one in told(trace.of("r")) if one[0] == 1]
    assert mine == [
        (1, "began", "e0 a"),
        (1, "tried", "e1 b v > 9"),
        (1, "took", "e2 b"),
        (1, "matched", "e2"),
    ]
    (matched,) = [one for one in trace.of("r") if one.kind == "matched"]
    assert [(step, event.id, event.values["v"]) for step, event in matched.taken] == [
        ("a", "e0", 1),
        ("b", "e2", 10),
    ]
    assert trace.waiting() == []


@BOTH
def test_the_part_that_names_earlier_events_is_told_apart(compiled: bool) -> None:
    rule = "rule r { by k match a: e[v < 2] => b: e[v > 3 and v > 5 * a.v] within 1 hour }"
    trace = traced(rule, [(0, 1), (1, 4)], compiled)
    assert told(trace.records) == [
        (1, "began", "e0 a"),
        (1, "tried", "e1 b v > 5 * a.v"),
        (1, "broken", "e1 b"),
        (None, "tried", "e1 a v < 2"),
    ]
    assert trace.records[1].failed == "earlier"


@BOTH
def test_what_a_guard_saw_is_told_until_its_time_is_over(compiled: bool) -> None:
    rule = "rule r { by k match a: e[v == 1] -> absent e[v == 2] for 5s within 1 hour }"
    records = [r for r in traced(rule, [(0, 1), (1, 3), (9, 4)], compiled).records if r.run == 1]
    guard = "e[v == 2]"
    assert [(r.kind, r.event.id if r.event else None, r.place and r.place.text) for r in records] == [
        ("began", "e0", "a: e[v == 1]"),
        ("tried", "e1", guard),
        ("passed", None, guard),
        ("matched", None, None),
    ]
    assert [r.condition for r in records] == [None, guard, guard, None]
    assert [sentence(r) for r in records[1:3]] == [
        "e e1 (at 1970-01-01T00:00:01Z, k x, v 3) does not prevent it: it is no `e[v == 2]`",
        "there was no `e[v == 2]`",
    ]


@BOTH
def test_ends_are_told_with_their_cause(compiled: bool) -> None:
    quiet = "rule r { by k match a: e[v == 1] -> absent e[v == 2] for 5s within 1 hour }"
    assert (1, "prevented", "e1  e[v == 2]") in told(traced(quiet, [(0, 1), (1, 2)], compiled).records)
    late = "rule r { by k match a: e[v == 1] -> b: e[v == 2] within 5s }"
    (ended,) = [one for one in traced(late, [(0, 1), (9, 3)], compiled).records if one.kind == "expired"]
    assert (ended.run, ended.time, ended.bound) == (1, 5 * SECOND, "within")
    skipped = "rule r { by k match a: e[v == 1]{2} -> b: e[v == 2] within 1 hour }"
    trace = traced(skipped, [(0, 1), (1, 1), (2, 2)], compiled)
    (ended,) = [one for one in trace.records if one.kind == "skipped"]
    assert (ended.run, ended.by) == (2, 1)
    limited = "rule r { by k match a: e[v == 1] -> b: e[v == 2] within 1 hour limit 1 runs }"
    assert (1, "dropped", "e1") in told(traced(limited, [(0, 1), (1, 1)], compiled).records)


def test_what_waits_is_told_with_its_deadline() -> None:
    rule = "rule r { by k match a: e[v == 1] -> b: e[v == 2] within 5s }"
    (waiting,) = traced(rule, [(0, 1), (1, 3)], False).waiting()
    assert (waiting.run, waiting.waits, waiting.until) == (1, ("b",), 5 * SECOND)
    assert sentence(waiting) == "waits for b until 1970-01-01T00:00:05Z: a e0"
    assert traced(rule, [(0, 1), (1, 3)], False, drain=True).waiting() == []


def test_it_reads_as_text_and_as_json() -> None:
    rule = "rule r { by k match a: e[v == 1] -> b: e[v == 2] within 5s }"
    records = traced(rule, [(0, 1), (1, 2)], False).records
    assert list(lines(records)) == [
        'rule r, k "x"',
        "  run 1",
        "    1970-01-01T00:00:00Z  began: e e0 (at 1970-01-01T00:00:00Z, k x, v 1) is a",
        "    1970-01-01T00:00:01Z  took e e1 (at 1970-01-01T00:00:01Z, k x, v 2) as b",
        "    1970-01-01T00:00:01Z  matched: a e0, b e1",
    ]
    assert as_json(records[-1]) == {
        "pack": "p",
        "rule": "r",
        "key": {"k": "x"},
        "kind": "matched",
        "time": "1970-01-01T00:00:01Z",
        "run": 1,
        "event": {
            "stream": "e",
            "id": "e1",
            "time": "1970-01-01T00:00:01Z",
            "values": {"id_": "e1", "at": "1970-01-01T00:00:01Z", "k": "x", "v": 2},
        },
        "taken": [{"step": "a", "stream": "e", "id": "e0"}, {"step": "b", "stream": "e", "id": "e1"}],
    }


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_a_trace_changes_nothing_and_tells_every_match(program: Program) -> None:
    trace = Trace()
    observed, plain = by_engine(program, trace), by_engine(program)
    assert observed.alerts == plain.alerts, f"{program}"
    matched = [record for record in trace.records if record.kind == "matched"]
    assert len(matched) == sum(alert["kind"] == "match" for alert in plain.alerts), f"{program}"


def _meant(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.integers(0, 10**6))
def test_a_selection_is_told_what_everything_would_tell_of_it(program: Program, pick: int) -> None:
    """Of a rule, of a key, of a run: the same records in the same order, with the same numbers."""
    everything = Trace()
    by_engine(program, everything)
    assume(everything.records)
    one = everything.records[pick % len(everything.records)]
    tests = tuple(KeyTest(name, _meant(value), isinstance(value, str)) for name, value in one.key)
    of_rule = frozenset({one.rule})
    of_key = lambda r: (r.rule, r.key) == (one.rule, one.key)  # noqa: E731
    for selection, fits in (
        (Selection(of_rule), lambda r: r.rule == one.rule),
        (Selection(of_rule, tests), of_key),
        (Selection(of_rule, tests, 2), lambda r: of_key(r) and 2 in (r.run, r.parent)),
    ):
        trace = Trace(selection)
        by_engine(program, trace)
        assert trace.records == [r for r in everything.records if fits(r)], f"{selection}\n{program}"
        assert trace.waiting() == [r for r in everything.waiting() if fits(r)], f"{selection}\n{program}"


@pytest.mark.slow
@settings(max_examples=examples(30), deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_runs_are_numbered_as_they_begin(program: Program) -> None:
    """Also when what is known of runs that ended is forgotten: no number comes twice, none is left out."""
    trace = Trace()
    by_engine(program, trace)
    begun: dict[object, dict[int, None]] = {}
    for record in trace.records:
        known = begun.setdefault((record.rule, record.key), {})
        if record.run is not None:
            if record.kind in ("began", "forked"):
                known[record.run] = None  # several steps may take its first event
            assert record.run in known, f"a run that never began: {program}"
    for numbers in begun.values():
        assert list(numbers) == list(range(1, len(numbers) + 1)), f"{program}"


@pytest.mark.slow
@settings(max_examples=examples(30), deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.integers(1, 20))
def test_a_bounded_trace_has_the_first_that_happened(program: Program, most: int) -> None:
    everything = Trace()
    by_engine(program, everything)
    trace = Trace(most=most)
    by_engine(program, trace)
    trace.settle()
    times = sorted(record.time for record in everything.records)
    assert [record.time for record in trace.records] == times[:most]
    assert all(record in everything.records for record in trace.records)
    assert trace.left_out == (times[most] if len(times) > most else None)
    assert len(times) > most or trace.waiting() == everything.waiting()


def test_a_key_is_meant_by_the_value_that_an_alert_shows() -> None:
    for value, text in (("5", "5"), (5, "5"), (5.0, "5"), (5.25, "5.25"), (True, "true"), ("a,b", "a,b")):
        assert KeyTest(None, text).fits(value)
        assert KeyTest(None, text, quoted=True).fits(value) == isinstance(value, str)
    for value, text in ((5, "x"), (5, "6"), (True, "1"), ("A", "a")):
        assert not KeyTest(None, text).fits(value)


def test_of_runs_that_ended_only_their_count_is_remembered() -> None:
    """However many there were: it is what a trace of a long stream keeps besides its records."""
    rule = "rule r { by k match a: e[v == 1] -> b: e[v == 2] within 5s }"
    values = [(10 * n, 1) for n in range(50)]
    trace = traced(rule, values, False, cut=25)
    assert sorted({record.run for record in trace.records if record.kind == "began"}) == list(range(1, 51))
    assert sum(map(len, trace._numbers.values())) == 1
    assert len(trace.waiting()) == 1
    assert traced(rule, values, False, drain=True)._numbers == {}
