"""Instants and durations of texts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.instants import parse_duration, parse_instant

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ZONES = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda m: timezone(timedelta(minutes=m)))


@given(st.datetimes(datetime(1678, 1, 1), datetime(2261, 12, 31), timezones=ZONES))
def test_instants_are_those_of_the_calendar(moment: datetime) -> None:
    expected = (moment - EPOCH) // timedelta(microseconds=1) * 1000
    assert parse_instant(moment.isoformat()) == expected


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1970-01-01T00:00Z", 0),
        ("1970-01-01T00:00:00.000000001Z", 1),
        ("1970-01-01T00:00:01.5z", 1_500_000_000),
        ("1970-01-01 01:00:00+01:00", 0),
        ("1969-12-31T23:59:59.999999999Z", -1),
        ("2016-12-31T23:59:60Z", 1_483_228_800 * 10**9),
        ("2024-02-29T00:00Z", 1_709_164_800 * 10**9),
        ("2262-04-11T23:47:16.854775807Z", 2**63 - 1),
        ("1677-09-21T00:12:43.145224192Z", -(2**63)),
    ],
)
def test_instants_have_their_nanoseconds(text: str, nanoseconds: int) -> None:
    assert parse_instant(text) == nanoseconds


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2026-01-05T09:00", "no zone"),
        ("2026-01-05", "write `2026-01-05T00:00Z`"),
        ("2026-02-29T09:00Z", "does not exist"),
        ("2026-00-01T09:00Z", "does not exist"),
        ("0000-01-01T09:00Z", "does not exist"),
        ("2026-01-05T24:00Z", "no such time of day"),
        ("2026-01-05T09:60Z", "no such time of day"),
        ("2026-01-05T09:00+99:00", "no such zone"),
        ("2262-04-11T23:47:16.854775808Z", "64 bits"),
        ("1677-09-21T00:12:43.145224191Z", "64 bits"),
        ("9999-12-31T23:59Z", "64 bits"),
        ("yesterday", "is not a time"),
        ("2026-01-05T09:00:00.1234567891Z", "is not a time"),
        ("٢٠٢٦-01-05T09:00Z", "is not a time"),
        ("", "is not a time"),
    ],
)
def test_what_is_no_instant_says_why(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_instant(text)


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("30s", 30 * 10**9),
        ("5 minutes", 300 * 10**9),
        ("1 minute", 60 * 10**9),
        ("250ms", 250 * 10**6),
        ("1.5h", 5400 * 10**9),
        ("1_000 milliseconds", 10**9),
        ("2d", 172_800 * 10**9),
        ("1w", 604_800 * 10**9),
        ("0s", 0),
        ("0.000000001s", 1),
        (" 30s ", 30 * 10**9),
    ],
)
def test_durations_have_their_nanoseconds(text: str, nanoseconds: int) -> None:
    assert parse_duration(text) == nanoseconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5",
        "s",
        "5 s",
        "5minutes",
        "-5s",
        "5x",
        "300y",
        "300000d",
        "0.0000000001s",
        "1" * 90 + "s",
        "5s 3m",
    ],
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration(text)
