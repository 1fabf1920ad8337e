"""Parquet: types that fit without loss become the stream's, others make dead letters."""

from __future__ import annotations

import io
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from decoding import BASE_TIME, stream_of

from cep.decode import Decoded, FeedFormat, decoder
from cep.events import event_schema
from rules.types import ListOf, Record, Scalar, Type

MIDNIGHT = datetime(2020, 1, 1, tzinfo=UTC)


def decode(
    column: pa.Array, type_: Type, nullable: bool = False, feed: FeedFormat | None = None, name: str = "x"
) -> Decoded:
    rows = len(column)
    table = pa.table(
        {
            "eid": [f"e{i}" for i in range(rows)],
            "at": pa.array([MIDNIGHT] * rows, pa.timestamp("ms", "UTC")),
            name: column,
        }
    )
    stored = io.BytesIO()
    pq.write_table(table, stored, row_group_size=3)
    stream = stream_of({"x": type_}, ("x",) if nullable else ())
    decoded = decoder(stream, feed).decode_block(stored.getvalue(), "in.parquet", 0, "s")
    assert decoded.events.table.schema.equals(event_schema(stream))
    return decoded


def values(decoded: Decoded, column: str = "x") -> list[object]:
    assert not decoded.dead, decoded.dead[0].reason
    return decoded.events.table.column(column).to_pylist()


@pytest.mark.parametrize(
    ("column", "type_", "expected"),
    [
        (pa.array(["a", "b"]), Scalar.STRING, ["a", "b"]),
        (pa.array(["a"], pa.large_string()), Scalar.TEXT, ["a"]),
        (pa.array(["a", "a"]).dictionary_encode(), Scalar.STRING, ["a", "a"]),
        (pa.array([1, 2], pa.int16()), Scalar.LONG, [1, 2]),
        (pa.array([2**53 + 1]), Scalar.DOUBLE, [float(2**53)]),
        (pa.array([1.5], pa.float32()), Scalar.DOUBLE, [1.5]),
        (pa.array([2**62]), Scalar.DECIMAL, [Decimal(2**62)]),
        (pa.array([Decimal("1.25")], pa.decimal128(9, 2)), Scalar.DECIMAL, [Decimal("1.25")]),
        (pa.array([True]), Scalar.BOOLEAN, [True]),
        (pa.array([[1, 2], []], pa.list_(pa.int32())), ListOf(Scalar.LONG), [[1, 2], []]),
        (
            pa.array([{"os": "x", "more": 1}]),
            Record((("os", Scalar.STRING), ("v", Scalar.LONG)), frozenset({"v"})),
            [{"os": "x", "v": None}],
        ),
    ],
)
def test_types_that_fit_become_the_streams(column: pa.Array, type_: Type, expected: list[object]) -> None:
    assert values(decode(column, type_)) == expected


@pytest.mark.parametrize(
    ("column", "feed"),
    [
        (pa.array([MIDNIGHT], pa.timestamp("us", "Asia/Tokyo")), FeedFormat(zone="Asia/Tokyo")),
        (pa.array([datetime(2020, 1, 1, 9)], pa.timestamp("s")), FeedFormat(zone="Asia/Tokyo")),
        (pa.array([date(2020, 1, 1)]), FeedFormat()),
        (pa.array(["2020-01-01T01:00:00+01:00"]), FeedFormat()),
        (pa.array([BASE_TIME // 10**9], pa.int32()), FeedFormat(timestamps="epoch_s")),
        (pa.array([BASE_TIME], pa.int64()), FeedFormat(timestamps="epoch_ns")),
    ],
)
def test_every_kind_of_time_becomes_an_instant(column: pa.Array, feed: FeedFormat) -> None:
    decoded = decode(column, Scalar.TIMESTAMP, feed=feed)
    assert decoded.events.table.column("x").cast("int64").to_pylist() == [BASE_TIME], decoded.dead


@pytest.mark.parametrize(
    ("column", "type_"),
    [
        (pa.array([1]), Scalar.STRING),
        (pa.array(["1"]), Scalar.LONG),
        (pa.array([1.0]), Scalar.LONG),
        (pa.array(["1"]), Scalar.DOUBLE),
        (pa.array([1.5]), Scalar.DECIMAL),
        (pa.array([1]), Scalar.BOOLEAN),
        (pa.array([1577836800]), Scalar.TIMESTAMP),
        (pa.array([[1]]), ListOf(Scalar.STRING)),
        (pa.array(["x"]), Record((("os", Scalar.STRING),))),
    ],
)
def test_types_that_do_not_fit_make_every_row_a_dead_letter(column: pa.Array, type_: Type) -> None:
    decoded = decode(column, type_)
    assert decoded.events.table.num_rows == 0
    assert "wrong type: `x" in decoded.dead[0].reason
    assert b'"eid": "e0"' in decoded.dead[0].data


def test_bad_rows_are_told_by_their_place_and_the_others_live() -> None:
    decoded = decode(pa.array([1.0, None, 2.0, float("nan"), 3.0, float("inf"), 4.0]), Scalar.DOUBLE)
    assert decoded.events.table.column("x").to_pylist() == [1.0, 2.0, 3.0, 4.0]
    assert decoded.events.table.column("@offset").to_pylist() == [0, 2, 4, 6]
    reasons = [(d.offset, d.reason) for d in decoded.dead]
    assert reasons == [
        (1, "lacks the required field `x`"),
        (3, "`x` is not a finite number"),
        (5, "`x` is not a finite number"),
    ]  # fmt: skip


def test_values_out_of_range_are_malformed() -> None:
    far = decode(pa.array([0, 10**12], pa.timestamp("s")), Scalar.TIMESTAMP)
    assert (far.events.table.num_rows, [d.offset for d in far.dead]) == (1, [1])
    large = decode(pa.array([1, 2**64 - 1], pa.uint64()), Scalar.LONG)
    assert (large.events.table.num_rows, [d.offset for d in large.dead]) == (1, [1])


def test_a_column_that_is_missing_is_null_or_makes_dead_letters() -> None:
    column = pa.array([1, 2])
    assert values(decode(column, Scalar.LONG, nullable=True, name="other")) == [None, None]
    decoded = decode(column, Scalar.LONG, name="other")
    assert [d.reason for d in decoded.dead] == [
        "lacks the required field `x`: the file has no column `x`"
    ] * 2
    renamed = FeedFormat(fields=(("x", "other"),))
    assert values(decode(column, Scalar.LONG, feed=renamed, name="other")) == [1, 2]
