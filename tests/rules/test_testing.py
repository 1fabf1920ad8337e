"""rules.testing on hand-made tests: what the engine is given, which alerts count, what the author reads."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.notation import json_value
from rules.source import SourceFile, Span
from rules.testing import Moment, Seen, compare, result_json, result_text, run_test, selected, timeline
from rules.typed import (
    By,
    Emit,
    Expected,
    Field,
    FieldRef,
    Given,
    MoveWatermark,
    Near,
    On,
    Pack,
    Rule,
    Stream,
)
from rules.typed import Test as Block
from rules.types import ListOf, Record, Scalar

SECOND = 1_000_000_000
HERE = Span(SourceFile("t.rules", 'expect { n: 1 }\nrule r { }\ntest r "t" { }\n'), 0, 15)


def stream(*extra: Field, id_type: Scalar = Scalar.STRING) -> Stream:
    fields = (
        Field("id", id_type, False, "", HERE),
        Field("at", Scalar.TIMESTAMP, False, "", HERE),
        Field("card", Scalar.STRING, False, "", HERE),
        Field("country", Scalar.STRING, True, "", HERE),
        Field("amount", Scalar.DOUBLE, False, "", HERE),
        *extra,
    )
    return Stream("payment", fields, ("id",), ("at",), 30 * SECOND, None, HERE)


def rule(name: str) -> Rule:
    emit = (
        Emit("n", FieldRef(("n",), Scalar.LONG, HERE), HERE),
        Emit("amount", FieldRef(("amount",), Scalar.DOUBLE, HERE), HERE),
        Emit("due", FieldRef(("at",), Scalar.TIMESTAMP, HERE), HERE),
        Emit("took", FieldRef(("took",), Scalar.DURATION, HERE), HERE),
        Emit("all", FieldRef(("all",), ListOf(Scalar.DOUBLE), HERE), HERE),
    )
    by = By(("card",), (Scalar.STRING,), (("payment", (("card",),)),), HERE)
    return Rule(name, On("payment", None, HERE), by, emit, "medium", None, (), None, None, HERE)


def pack(*tests: Block, declared: Stream | None = None) -> Pack:
    return Pack("p", "1", (declared or stream(),), (rule("r"), rule("other")), tests, "rev")


def block(*items: Given | MoveWatermark | Expected, **settings: bool) -> Block:
    return Block(("r",), "a title", items, settings.get("nothing", False), settings.get("other", False), HERE)


def at(seconds: float, late: bool = False, **values: object) -> Given:
    return Given(round(seconds * SECOND), "payment", tuple(values.items()), late, HERE)


def expect(seconds: float | None = None, **values: object) -> Expected:
    return Expected(None if seconds is None else round(seconds * SECOND), tuple(values.items()), HERE)


def alert(seconds: float, name: str = "r", **emit: object) -> Seen:
    shown = {
        "rule": name, "kind": "match", "severity": "medium", "key": {"card": "c1"}, "emit": emit,
        "events": {"probe": ["p1", "p2"], "big": ["p9"]},
    }  # fmt: skip
    return Seen(round(seconds * SECOND), shown)


def raising(*alerts: Seen) -> object:
    return lambda *_: alerts


# --- the timeline


def test_fields_left_out_are_null_or_a_default_of_their_type() -> None:
    declared = stream(
        Field("tags", ListOf(Scalar.STRING), False, "", HERE),
        Field("device", Record((("os", Scalar.STRING), ("screens", Scalar.LONG))), False, "", HERE),
    )
    test = block(at(5, card="c1"))
    (arrival,) = timeline(pack(test, declared=declared), test).arrivals()
    assert arrival.values == {
        "id": "payment-1",
        "at": 5 * SECOND,
        "card": "c1",
        "country": None,
        "amount": 0.0,
        "tags": (),
        "device": {"os": "", "screens": 0},
    }


def test_an_id_left_out_is_none_that_the_test_gives() -> None:
    test = block(at(0), at(1, id="payment-2"), at(2), at(3))
    assert [a.id for a in timeline(pack(test), test).arrivals()] == [
        "payment-1", "payment-2", "payment-3", "payment-4",
    ]  # fmt: skip


def test_an_id_left_out_of_a_stream_with_numbers_is_a_number() -> None:
    test = block(at(0), at(1, id=2), at(2))
    arrivals = timeline(pack(test, declared=stream(id_type=Scalar.LONG)), test).arrivals()
    assert [a.id for a in arrivals] == [1, 2, 3]


def test_every_at_and_expect_at_moves_the_watermark_and_nothing_drains() -> None:
    test = block(at(1), MoveWatermark(7 * SECOND, HERE), expect(), expect(9))
    line = timeline(pack(test), test)
    assert [m.watermark for m in line.moments][-1] == 9 * SECOND
    assert sum(len(m.arrivals) for m in line.moments) == 1


def test_a_late_event_arrives_when_the_watermark_is_beyond_its_time() -> None:
    test = block(at(1), at(5), at(5, late=True), at(5))
    seen = timeline(pack(test), test)
    watermark = None
    for moment in seen.moments:
        for arrival in moment.arrivals:
            assert arrival.late == (watermark is not None and arrival.time < watermark)
        watermark = moment.watermark
    assert [a.late for a in seen.arrivals()] == [False, False, True, False]
    assert not seen.problems


def test_a_late_event_that_is_not_late_is_a_mistake_of_the_test() -> None:
    test = block(at(1), at(5, late=True, at=8 * SECOND))
    result = run_test(pack(test), test, raising(), json_value)
    assert not result.passed
    assert "is not late" in result_text(result, json_value)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-4, 3), st.booleans()), max_size=12))
def test_moments_decide_as_one_step_per_line_would(steps: list[tuple[int, int, bool]]) -> None:
    """The same events are late, the others stand in the same order, as if every line were its own step."""
    now, lines = 0, []
    for pause, shift, explicit in steps:
        now += pause
        lines.append(at(now, at=(now + shift) * SECOND) if explicit else at(now))
    test = block(*lines)

    expected, watermark = [], None
    for number, line in enumerate(lines, 1):
        time = dict(line.values).get("at", line.at)
        expected.append((f"payment-{number}", watermark is not None and time < watermark))
        watermark = line.at if watermark is None else max(watermark, line.at)

    got, watermark = [], None
    for moment in timeline(pack(test), test).moments:
        for arrival in moment.arrivals:
            got.append((arrival.id, watermark is not None and arrival.time < watermark))
        assert watermark is None or moment.watermark >= watermark
        watermark = moment.watermark
    assert got == expected


# --- the comparison


def outcome(test: Block, *alerts: Seen) -> bool:
    return run_test(pack(test), test, raising(*alerts), json_value).passed


def test_every_alert_must_be_expected_once() -> None:
    assert outcome(block(expect(n=1)), alert(1, n=1))
    assert not outcome(block(expect(n=1)), alert(1, n=1), alert(2, n=1))
    assert not outcome(block(expect(n=1), expect(n=1)), alert(1, n=1))
    assert outcome(block(expect(n=1), expect(n=1)), alert(1, n=1), alert(2, n=1))
    assert not outcome(block(), alert(1, n=1))


def test_allow_other_lets_the_rest_pass_but_still_wants_what_it_expects() -> None:
    assert outcome(block(expect(n=1), other=True), alert(1, n=1), alert(2, n=7))
    assert not outcome(block(expect(n=1), other=True), alert(2, n=7))


def test_expect_nothing_means_nothing() -> None:
    assert outcome(block(nothing=True))
    assert not outcome(block(nothing=True), alert(1, n=1))


def test_only_alerts_of_the_tested_rules_count() -> None:
    assert outcome(block(nothing=True), alert(1, "other", n=1))


def test_expect_at_means_that_very_nanosecond() -> None:
    assert outcome(block(expect(5, n=1)), alert(5, n=1))
    assert not outcome(block(expect(5.000000001, n=1)), alert(5, n=1))


def test_only_numbers_that_are_doubles_may_differ_in_the_last_digits() -> None:
    assert outcome(block(expect(amount=0.3)), alert(1, amount=0.1 + 0.2))
    assert outcome(block(expect(amount=900)), alert(1, amount=900.0))
    assert not outcome(block(expect(amount=900)), alert(1, amount=900.001))
    assert not outcome(block(expect(n=2**60)), alert(1, n=2**60 + 1))
    assert not outcome(block(expect(n=3.5)), alert(1, n=3))


def test_timestamps_are_compared_as_alerts_write_them() -> None:
    assert outcome(block(expect(due=5 * SECOND)), alert(1, due="1970-01-01T00:00:05Z"))
    assert not outcome(block(expect(due=5 * SECOND)), alert(1, due="1970-01-01T00:00:06Z"))


def test_key_events_severity_and_kind_may_be_given() -> None:
    fits = expect(
        key={"card": "c1"}, events={"probe": ["p1", "p2"], "big": "p9"}, severity="medium", kind="match"
    )
    assert outcome(block(fits), alert(1))
    assert not outcome(block(expect(key={"card": "c2"})), alert(1))
    assert not outcome(block(expect(key={"terminal": "c1"})), alert(1))
    assert not outcome(block(expect(events={"probe": ["p1"]})), alert(1))
    assert not outcome(block(expect(severity="high")), alert(1))
    assert not outcome(block(expect(kind="timeout")), alert(1))


def test_a_name_that_the_rule_does_not_emit_fits_nothing() -> None:
    assert not outcome(block(expect(m=1)), alert(1, n=1))


@pytest.mark.parametrize(
    ("name", "value", "tolerance", "got", "fits"),
    [
        ("amount", 3.4, 0.1, 3.5, True),  # although the doubles are 0.10000000000000009 apart
        ("amount", 3.4, 0.1, 3.3, True),
        ("amount", 3.4, 0.1, 3.501, False),
        ("amount", 3.4, 0, 3.4, True),
        ("amount", 3.4, 1, None, False),
        ("n", 10, 2, 12, True),
        ("n", 10, 2, 13, False),
        ("due", 60 * SECOND, SECOND, "1970-01-01T00:01:01Z", True),
        ("due", 60 * SECOND, SECOND, "1970-01-01T00:01:01.001Z", False),
        ("took", 90 * SECOND, SECOND, "PT1M31S", True),
        ("took", 90 * SECOND, SECOND, "PT1H1M31S", False),
        ("took", -SECOND // 2, SECOND // 4, "-PT0.75S", True),
        ("took", SECOND // 2, SECOND // 4, "-PT0.75S", False),
        ("all", (1.0, 2.0), 0.5, [1.5, 1.5], True),
        ("all", (1.0, 2.0), 0.5, [1.5, 2.6], False),
        ("all", (1.0, 2.0), 0.5, [1.5], False),
    ],
)
def test_a_tolerance_includes_its_limits(
    name: str, value: object, tolerance: float, got: object, fits: bool
) -> None:
    assert outcome(block(expect(**{name: Near(value, tolerance)})), alert(1, **{name: got})) == fits


@given(
    st.lists(st.sampled_from([{}, {"n": 1}, {"n": 2}, {"amount": 1.0}, {"n": 1, "amount": 1.0}]), max_size=4),
    st.lists(st.tuples(st.integers(1, 2), st.sampled_from([1.0, 2.0])), max_size=4),
)
def test_expectations_are_paired_as_well_as_possible(
    wanted: Sequence[dict[str, object]], raised: Sequence[tuple[int, float]]
) -> None:
    """As many are met as the best of all assignments meets."""
    test = block(*[expect(**values) for values in wanted])
    alerts = [alert(1, n=n, amount=amount) for n, amount in raised]

    def met(order: Sequence[int]) -> int:
        pairs = zip(wanted, order, strict=False)
        return sum(
            n < len(alerts) and all(alerts[n].alert["emit"][name] == value for name, value in values.items())
            for values, n in pairs
        )

    best = max(map(met, itertools.permutations(range(max(len(wanted), len(alerts))))), default=0)
    found = compare(pack(test), test, alerts, json_value)
    assert len(found.met) == best
    assert len(found.missing) == len(wanted) - best
    assert len(found.others) == len(alerts) - best


@pytest.mark.slow
def test_hundreds_of_alike_expectations_are_no_trouble() -> None:
    assert outcome(block(*[expect(n=1)] * 500), *[alert(1, n=1)] * 500)


# --- the report


def test_a_failure_shows_the_timeline_beside_what_was_expected() -> None:
    test = block(at(0, card="c1", amount=1.0), at(10, card="c1"), expect(10, n=3))
    result = run_test(pack(test), test, raising(alert(10, n=2)), json_value)
    assert result_text(result, json_value).splitlines() == [
        'FAILED  r "a title"  t.rules:1',
        '      0s  payment payment-1 { card: "c1", amount: 1 }',
        '     10s  payment payment-2 { card: "c1" }',
        "   ! 10s  alert r (match) { n: 2 } was not expected",
        "   ! 10s  line 1 expected an alert { n: 1 }; the alert at 10s has n: 2",
    ]


def test_an_alert_at_another_time_is_reported_by_its_time() -> None:
    test = block(expect(10, n=3))
    text = result_text(run_test(pack(test), test, raising(alert(12, n=3)), json_value), json_value)
    assert "line 1 expected an alert { n: 1 }; an alert came at 12s\n" in text


def test_a_long_timeline_shows_its_ends() -> None:
    test = block(*[at(n) for n in range(100)], expect(n=1))
    text = result_text(run_test(pack(test), test, raising(), json_value), json_value)
    assert "... 60 more events" in text
    assert "payment-1\n" in text
    assert "payment-100" in text
    assert "payment-50" not in text
    assert "no alert was raised" in text


def test_the_json_form_says_what_is_missing_and_what_was_too_much() -> None:
    test = block(at(0), expect(1, n=1))
    reported = result_json(run_test(pack(test), test, raising(alert(2, n=1)), json_value), json_value)
    assert reported["passed"] is False
    assert reported["missing"] == [
        {"line": 1, "time": "1970-01-01T00:00:01Z", "expected": "expect { n: 1 }", "nearest": []}
    ]
    assert [a["emit"] for a in reported["unexpected"]] == [{"n": 1}]


@pytest.mark.parametrize(("wanted", "count"), [(None, 1), ("a ti", 1), ("^r ", 1), ("nowhere", 0)])
def test_run_selects_by_rule_and_title(wanted: str | None, count: int) -> None:
    import re

    chosen = selected(pack(block()), None if wanted is None else re.compile(wanted))
    assert len(chosen) == count


def test_the_engine_gets_moments_in_order() -> None:
    test = block(at(0), at(3), at(3, late=True), expect(9), nothing=True)
    given_moments: list[Moment] = []

    def engine(moments: Sequence[Moment], rules: tuple[str, ...]) -> list[Seen]:
        assert rules == ("r",)
        given_moments.extend(moments)
        return []

    run_test(pack(test), test, engine, json_value)
    watermarks = [m.watermark for m in given_moments]
    assert watermarks == sorted(watermarks)
    assert [a.id for m in given_moments for a in m.arrivals] == ["payment-1", "payment-2", "payment-3"]
