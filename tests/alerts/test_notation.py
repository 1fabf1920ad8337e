"""Formats of an alert's values as docs/alerts.md gives them, against independent readings."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from alerts.notation import decimal, duration, json_value, number, plain, timestamp
from rules.types import ListOf, Record, Scalar

NANOSECONDS = st.integers(-(2**63) + 1, 2**63 - 1)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_531_303_500_000_000_000, "2018-07-11T10:05:00Z"),
        (1_531_303_500_120_000_000, "2018-07-11T10:05:00.120Z"),
        (1_531_303_500_000_001_000, "2018-07-11T10:05:00.000001Z"),
        (1, "1970-01-01T00:00:00.000000001Z"),
        (-1, "1969-12-31T23:59:59.999999999Z"),
        (2**63 - 1, "2262-04-11T23:47:16.854775807Z"),
    ],
)
def test_timestamps_have_the_digits_they_need(ns: int, text: str) -> None:
    assert timestamp(ns) == text


@given(NANOSECONDS)
def test_a_timestamp_reads_back(ns: int) -> None:
    text = timestamp(ns)
    clock, _, digits = text.removesuffix("Z").partition(".")
    moment = datetime.fromisoformat(clock + "+00:00") - datetime(1970, 1, 1, tzinfo=UTC)
    assert len(digits) in (0, 3, 6, 9)
    assert moment // timedelta(seconds=1) * 10**9 + int((digits or "0").ljust(9, "0")) == ns


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "PT0S"),
        (4 * 3600 * 10**9, "PT4H"),
        (90 * 60 * 10**9, "PT1H30M"),
        (250_000_000, "PT0.25S"),
        (-(10**9), "-PT1S"),
        (7 * 86_400 * 10**9, "PT168H"),
        (3_600_000_000_001, "PT1H0.000000001S"),
    ],
)
def test_durations_are_iso_8601(ns: int, text: str) -> None:
    assert duration(ns) == text


@given(NANOSECONDS)
def test_a_duration_reads_back(ns: int) -> None:
    rest = duration(ns)
    sign = -1 if rest.startswith("-") else 1
    rest, total = rest.removeprefix("-").removeprefix("PT"), Decimal(0)
    for unit, seconds in (("H", 3600), ("M", 60), ("S", 1)):
        if unit in rest:
            amount, _, rest = rest.partition(unit)
            total += Decimal(amount) * seconds
    assert rest == ""
    assert sign * total * 10**9 == ns


@pytest.mark.parametrize(
    ("value", "text"),
    [
        # RFC 8785, appendix B, and ECMAScript's borders between plain and exponent notation
        (0.0, "0"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (-5e-324, "-5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (9007199254740992.0, "9007199254740992"),
        (295147905179352830000.0, "295147905179352830000"),
        (9.999999999999997e22, "9.999999999999997e+22"),
        (1e23, "1e+23"),
        (999999999999999700000.0, "999999999999999700000"),
        (1e21, "1e+21"),
        (9.999999999999997e-7, "9.999999999999997e-7"),
        (0.000001, "0.000001"),
        (333333333.33333329, "333333333.3333333"),
        (-0.0000033333333333333333, "-0.0000033333333333333333"),
        (1424953923781206.2, "1424953923781206.2"),
        (900.0, "900"),
    ],
)
def test_numbers_are_those_of_rfc_8785(value: float, text: str) -> None:
    assert number(value) == text


@given(FINITE)
def test_a_number_reads_back(value: float) -> None:
    assert float(number(value)) == value


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_null(value: float) -> None:
    assert json_value(value, "double") is None
    assert json_value([1.0, value], ListOf(Scalar.DOUBLE)) == [1.0, None]
    assert plain(value) == "null"
    with pytest.raises(ValueError, match="not finite"):
        number(value)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=9))
@example(Decimal("-0.000"))
@example(Decimal("1E+5"))
def test_equal_decimals_have_one_text(value: Decimal) -> None:
    text = decimal(value)
    assert text is not None
    assert Decimal(text) == value
    assert "E" not in text
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    assert text == decimal(Decimal((sign, (*digits, 0), exponent - 1)))


def test_values_follow_their_types() -> None:
    device = Record((("os", Scalar.STRING), ("seen", Scalar.TIMESTAMP)))
    assert json_value(0, Scalar.TIMESTAMP) == "1970-01-01T00:00:00Z"
    assert json_value(0, "long") == 0
    assert json_value(10**9, "duration") == "PT1S"
    assert json_value(Decimal("1.500"), Scalar.DECIMAL) == "1.5"
    assert json_value(True, "boolean") is True
    assert json_value((0, None), ListOf(Scalar.TIMESTAMP)) == ["1970-01-01T00:00:00Z", None]
    assert json_value({"seen": 0, "os": "x"}, device) == {"os": "x", "seen": "1970-01-01T00:00:00Z"}
    assert json_value(None, device) is None


@given(st.recursive(st.none() | st.booleans() | st.integers() | FINITE | st.text(), st.lists, max_leaves=5))
def test_json_values_are_json(value: object) -> None:
    shown = json_value(value, "string")
    assert json.loads(json.dumps(shown, allow_nan=False)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (900.0, "900"),
        (0.1, "0.1"),
        (7, "7"),
        (None, "null"),
        (True, "true"),
        ("2018-07-11T10:05:00Z", "2018-07-11T10:05:00Z"),
        (["DE", 1.0, None], "DE, 1, null"),
        ([["DE", "NG"], []], "[DE, NG], []"),
        ({"os": "x"}, '{"os":"x"}'),
    ],
)
def test_a_summary_shows_values_plainly(value: object, text: str) -> None:
    assert plain(value) == text
