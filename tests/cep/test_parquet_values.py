"""Whatever a Parquet file's column holds, a row is an event that bears a full check or a dead letter."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from decoding import stream_of

from cep.decode import FeedFormat, decoder
from rules.types import ListOf, Record, Scalar, Type

FAR = 2**63 - 1
COLUMNS = [
    pa.array([FAR, -FAR, 0, None], pa.timestamp("ms")),
    pa.array([FAR, -FAR, 0, None], pa.timestamp("us", "UTC")),
    pa.array([2**31 - 1, -(2**31), 0, None], pa.date32()),
    pa.array([86_400_000 * 10**9, -86_400_000 * 10**9, 0, None], pa.date64()),
    pa.array([86_399, 0, 1, None], pa.time32("s")),
    pa.array([0, 1, 2, None], pa.time64("ns")),
    pa.array([FAR, -FAR, 0, None], pa.duration("s")),
    pa.array([1e300, float("nan"), float("-inf"), None]),
    pa.array(np.array([1.5, np.nan, np.inf, 0], np.float16)),
    pa.array([2**64 - 1, 0, 1, None], pa.uint64()),
    pa.array([Decimal(10) ** 37, Decimal(-1), Decimal(0), None], pa.decimal128(38, 0)),
    pa.array([Decimal(10) ** 70, Decimal(-1), Decimal(0), None], pa.decimal256(76, 2)),
    pa.array(["a\0b", "", "9" * 40, None]),
    pa.array([b"\xff", b"", b"a", None], pa.binary()),
    pa.array([b"ab", b"cd", b"ef", None], pa.binary(2)),
    pa.array([True, False, None, True]),
    pa.nulls(4),
    pa.array([[1, None], [], None, [2]], pa.list_(pa.int64())),
    pa.array([["a"], [], None, ["b"]], pa.large_list(pa.string())),
    pa.array([[1], [], None, [2, 3]], pa.list_view(pa.int64())),
    pa.array([[1, 2], [3, 4], None, [5, 6]], pa.list_(pa.int64(), 2)),
    pa.array([[FAR], [], None, [0]], pa.list_(pa.timestamp("ms"))),
    pa.array([{"os": "x", "v": 1}, {"os": None, "v": 2}, None, {"os": "y", "v": None}]),
    pa.array([{"os": FAR, "v": 1}, None, None, None], pa.struct({"os": pa.timestamp("ms"), "v": pa.int8()})),
    pa.array([[("k", 1)], [], None, [("l", None)]], pa.map_(pa.string(), pa.int64())),
    pa.array(["a", "b", "a", None]).dictionary_encode(),
]
TYPES: list[Type] = [
    *(one for one in Scalar if one is not Scalar.NULL),
    ListOf(Scalar.LONG),
    ListOf(Scalar.STRING),
    ListOf(Scalar.TIMESTAMP),
    Record((("os", Scalar.STRING), ("v", Scalar.LONG)), frozenset({"v"})),
    Record((("os", Scalar.TIMESTAMP), ("v", Scalar.DOUBLE)), frozenset({"os", "v"})),
]


@pytest.mark.slow
@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: str(column.type))
@pytest.mark.parametrize("timestamps", ["iso", "epoch_s", "epoch_ns", "%Y"])
def test_every_column_as_every_type(column: pa.Array, timestamps: str) -> None:
    rows = len(column)
    at = [datetime(2020, 1, 1, tzinfo=UTC).timestamp()] * rows
    whole = {"eid": [f"e{i}" for i in range(rows)], "when": pa.array(map(int, at)), "x": column}
    file = io.BytesIO()
    pq.write_table(pa.table(whole), file)
    at_ns = {"epoch_s": 1, "epoch_ns": 10**9}.get(timestamps)
    if at_ns is None:
        whole["when"] = pa.array(map(int, at)).cast(pa.timestamp("s"))
        file = io.BytesIO()
        pq.write_table(pa.table(whole), file)
    for type_ in TYPES:
        for nullable in ((), ("x",)):
            feed = FeedFormat(timestamps=timestamps, fields=(("at", "when"),))
            decoded = decoder(stream_of({"x": type_}, nullable), feed).decode_block(
                file.getvalue(), "in.parquet", 0, "s"
            )
            table = decoded.events.table
            table.validate(full=True)
            places = [*table.column("@offset").to_pylist(), *(letter.offset for letter in decoded.dead)]
            assert sorted(places) == list(range(rows)), f"{type_}: every row is one or the other"
            for letter in decoded.dead:
                json.loads(letter.data.decode("utf-8", "replace"))
