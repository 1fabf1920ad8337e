"""Timestamps of every spelling, exact to the nanosecond, against datetime and exact arithmetic."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction
from zoneinfo import ZoneInfo

import pytest
from decoding import stream_of
from hypothesis import given
from hypothesis import strategies as st

from cep.decode import Decoded, FeedFormat, decode_values, decoder

STREAM = stream_of({})
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def decode(written: list[object], timestamps: str = "iso", zone: str = "UTC") -> Decoded:
    rows = [{"eid": "e", "at": at} for at in written]
    return decode_values(STREAM, rows, feed=FeedFormat(timestamps=timestamps, zone=zone))


def times(decoded: Decoded) -> list[int]:
    assert not decoded.dead, [d.reason for d in decoded.dead]
    return decoded.events.table.column("@time").to_pylist()  # type: ignore[no-any-return]


def nanos(moment: datetime, below_micro: int = 0) -> int:
    elapsed = moment - EPOCH
    return ((elapsed.days * 86_400 + elapsed.seconds) * 10**6 + elapsed.microseconds) * 1000 + below_micro


MOMENTS = st.datetimes(datetime(1678, 1, 1), datetime(2262, 4, 1))
ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(
    st.lists(st.tuples(MOMENTS, st.none() | st.just(UTC) | ZONES, st.integers(0, 9)), min_size=1, max_size=5),
    st.sampled_from(["UTC", "+02:00"]),
    st.sampled_from("T "),
)
def test_iso_means_what_datetime_says(
    cases: list[tuple[datetime, timezone | None, int]], zone: str, separator: str
) -> None:
    written: list[object] = []
    expected = []
    default = UTC if zone == "UTC" else timezone(timedelta(hours=2))
    for moment, offset, digits in cases:
        fraction = f"{moment.microsecond:06d}789"[:digits]
        text = moment.strftime("%Y-%m-%d").zfill(10) + separator + moment.strftime("%H:%M:%S")
        text += f".{fraction}" if digits else ""
        if offset is UTC:
            text += "Z"
        elif offset is not None:
            minutes = int(offset.utcoffset(None).total_seconds()) // 60
            text += f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
        written.append(text)
        whole = moment.replace(microsecond=0, tzinfo=offset or default)
        expected.append(nanos(whole, int(fraction.ljust(9, "0")) if digits else 0))
    assert times(decode(written, zone=zone)) == expected


@pytest.mark.parametrize(
    ("text", "zone", "expected"),
    [
        ("2020-01-01", "UTC", "2020-01-01T00:00:00+00:00"),
        ("2020-01-01T05", "UTC", "2020-01-01T05:00:00+00:00"),
        ("2020-01-01T05:06", "UTC", "2020-01-01T05:06:00+00:00"),
        ("2020-01-01T05:06:07+0530", "UTC", "2020-01-01T05:06:07+05:30"),
        ("2020-01-01T05:06:07+05", "UTC", "2020-01-01T05:06:07+05:00"),
        ("2020-01-01T05:06:07", "Europe/Berlin", "2020-01-01T05:06:07+01:00"),
        ("2020-07-01T05:06:07", "Europe/Berlin", "2020-07-01T05:06:07+02:00"),
        ("2020-07-01", "America/New_York", "2020-07-01T00:00:00-04:00"),
        ("2020-07-01T05:06:07Z", "Europe/Berlin", "2020-07-01T05:06:07+00:00"),
        ("2024-10-27T02:30:00", "Europe/Berlin", "2024-10-27T02:30:00+02:00"),  # told twice: the earlier
        ("2024-03-31T02:30:00", "Europe/Berlin", "2024-03-31T01:00:00+00:00"),  # never told: the change
    ],
)
def test_shapes_and_zones_of_iso(text: str, zone: str, expected: str) -> None:
    want = nanos(datetime.fromisoformat(expected))
    assert times(decode([text], zone=zone)) == [want]
    mixed = times(decode(["2020-01-01T00:00:00Z", text, "2020-06-01T00:00:00"], zone=zone))
    assert mixed[1] == want


@pytest.mark.parametrize(
    "text",
    ["", " 2020-01-01", "2020-02-30", "2020-13-01", "2020-1-1", "20200101", "2020-01-01T24:00:00Z",
     "2020-01-01T23:59:60Z", "2020-01-01T00:00:00.1234567891Z", "2020-01-01T00:00:00+25:00", "3000-01-01",
     "1500-01-01T00:00:00Z", "2020-01-01Z", "yesterday", "1577836800", "2020-01-01T00:00:00 Z"],
)  # fmt: skip
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_what_is_no_iso_timestamp_is_malformed(text: str, zone: str) -> None:
    decoded = decode(["2020-01-01", text, "2020-01-01T00:00:00+01:00"], zone=zone)
    assert decoded.events.table.num_rows == 2
    (letter,) = decoded.dead
    assert letter.reason.startswith("`at` is not an ISO timestamp between 1677 and 2262")
    assert letter.reason.endswith(text)


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["epoch_s", "epoch_ms", "epoch_us", "epoch_ns"])
@given(st.data())
def test_whole_numbers_since_1970_are_exact(unit: str, data: st.DataObject) -> None:
    scale = {"epoch_s": 10**9, "epoch_ms": 10**6, "epoch_us": 10**3, "epoch_ns": 1}[unit]
    limit = min((2**63 - 1) // scale, 2**53 if unit in ("epoch_s", "epoch_ms") else 2**63 - 1)
    written = data.draw(st.lists(st.integers(-limit, limit), min_size=1, max_size=5))
    assert times(decode(list(written), timestamps=unit)) == [n * scale for n in written]


@given(st.integers(-2_000_000_000_000_000, 4_000_000_000_000_000))
def test_fractions_of_a_second_are_exact_to_the_microsecond(micros: int) -> None:
    assert times(decode([float(Fraction(micros, 10**6))], "epoch_s")) == [micros * 1000]
    assert times(decode([float(Fraction(micros, 10**3))], "epoch_ms")) == [micros * 1000]


@pytest.mark.parametrize(
    ("unit", "value"),
    [("epoch_s", 10**11), ("epoch_ms", 10**17), ("epoch_us", 10**16), ("epoch_ns", 2**63), ("epoch_us", 1.5),
     ("epoch_s", "1577836800"), ("epoch_s", True), ("epoch_s", "2020-01-01"), ("iso", 1577836800),
     ("%Y", 2020)],
)  # fmt: skip
def test_numbers_that_are_no_time_are_malformed(unit: str, value: object) -> None:
    good: object = {"iso": "2020-01-01", "%Y": "2020"}.get(unit, 5)
    decoded = decode([good, value, good], timestamps=unit)
    assert decoded.events.table.num_rows == 2
    assert "`at`" in decoded.dead[0].reason


PATTERNS = ["%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M", "%Y%m%d", "%m/%d/%y %I:%M:%S %p", "%d/%b/%Y:%H:%M:%S %z",
            "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%d %H:%M:%S%z"]  # fmt: skip


@given(
    st.sampled_from(PATTERNS),
    st.lists(st.datetimes(datetime(1970, 1, 1), datetime(2037, 12, 31)), min_size=1, max_size=5),
    st.sampled_from(["UTC", "America/New_York"]),
)
def test_patterns_mean_what_strptime_says(pattern: str, moments: list[datetime], zone: str) -> None:
    written = [moment.replace(tzinfo=timezone(timedelta(hours=-3))).strftime(pattern) for moment in moments]
    read = [datetime.strptime(text, pattern) for text in written]
    place = ZoneInfo(zone)
    exists = [
        moment.tzinfo is not None
        or moment.replace(tzinfo=place).astimezone(UTC).astimezone(place).replace(tzinfo=None) == moment
        for moment in read
    ]
    got = times(decode(list(written), pattern, zone))
    for time, moment, there in zip(got, read, exists, strict=True):
        if there:
            assert time == nanos(moment if moment.tzinfo else moment.replace(tzinfo=place))


def test_a_pattern_takes_what_strptime_takes_and_no_more() -> None:
    decoded = decode(["1/2/2020", "01/02/2020", "31/31/2020", "x", "01/02/2020 "], "%d/%m/%Y")
    assert decoded.events.table.column("@time").to_pylist() == [nanos(datetime(2020, 2, 1, tzinfo=UTC))] * 2
    assert len(decoded.dead) == 3


@pytest.mark.slow
def test_a_block_in_one_zone_and_a_block_line_by_line_agree() -> None:
    shapes = ["2020-01-01", "2020-01-01T00:00:00Z", "2020-03-29T02:30:00", "x", "2020-01-01 00:00:00.5+01:00"]
    lines = [json.dumps({"eid": "e", "at": shape}).encode() for shape in shapes * 700]
    using = decoder(STREAM, FeedFormat(zone="Europe/Berlin"))
    whole = using.decode_block(b"\n".join(lines), "f.jsonl", 0, "s")
    single = [using.decode_block(line, "f.jsonl", 0, "s") for line in lines[:5]]
    expected = [t for d in single for t in d.events.table.column("@time").to_pylist()]
    assert whole.events.table.column("@time").to_pylist() == expected * 700
    assert len(whole.dead) == 700
