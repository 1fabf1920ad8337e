"""Parquet files with damage in them: right rows or dead letters, never an error later, never a crash."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from decoding import stream_of
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.decode import DeadLetter, FeedFormat, decoder
from cep.sources.files.reading import read
from cep.sources.files.splits import splits
from rules.types import ListOf, Record, Scalar, Type

MIDNIGHT = datetime(2020, 1, 1, tzinfo=UTC)
INVALID = b"sch\xf6n"
RECORD = Record((("os", Scalar.STRING), ("v", Scalar.LONG)))


def strings(values: list[bytes]) -> pa.StringArray:
    """Texts as a writer hands them over that does not look at them."""
    ends = np.cumsum([0, *map(len, values)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(values), pa.py_buffer(ends), pa.py_buffer(b"".join(values)))


def stored(columns: dict[str, pa.Array], **options: object) -> bytes:
    rows = len(next(iter(columns.values())))
    fixed = {
        "eid": [f"e{i}" for i in range(rows)],
        "at": pa.array([MIDNIGHT] * rows, pa.timestamp("ms", "UTC")),
    }
    file = io.BytesIO()
    pq.write_table(pa.table({**fixed, **columns}), file, **options)
    return file.getvalue()


def rows_of(
    path: Path, fields: dict[str, Type], feed: FeedFormat | None = None
) -> tuple[dict[int, dict[str, object]], list[DeadLetter]]:
    """The events by place, and dead letters, of a file as the job reads it; the events bear a full check."""
    found: dict[int, dict[str, object]] = {}
    dead: list[DeadLetter] = []
    using = decoder(stream_of(fields), feed)
    for split in splits(str(path), path.stat().st_size):
        for decoded in read(split, using):
            table = decoded.events.table
            table.validate(full=True)
            shown = table.drop_columns(["@time", "at"]).to_pylist()
            found.update((row["@offset"], row) for row in shown)
            dead += decoded.dead
    return found, dead


def shapes() -> Iterator[tuple[str, pa.Array, Type]]:
    values = [b"a", INVALID, b"b"]
    texts = strings(values)
    yield "string", texts, Scalar.STRING
    yield "text", texts, Scalar.TEXT
    ends = pa.py_buffer(np.cumsum([0, *map(len, values)], dtype=np.int64))
    yield "large", pa.LargeStringArray.from_buffers(3, ends, pa.py_buffer(b"".join(values))), Scalar.STRING
    yield "view", texts.cast(pa.string_view()), Scalar.STRING
    yield "dictionary", pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int32()), texts), Scalar.STRING
    yield "list", pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), texts), ListOf(Scalar.STRING)
    yield "record", pa.StructArray.from_arrays([texts, pa.array([1, 2, 3])], ["os", "v"]), RECORD
    yield "duration", strings([b"PT1S", INVALID, b"PT2S"]), Scalar.DURATION
    yield "timestamp", strings([b"2020-01-01", INVALID, b"2020-01-02"]), Scalar.TIMESTAMP


@pytest.mark.parametrize(("name", "column", "type_"), list(shapes()))
def test_a_text_that_is_no_utf8_is_a_dead_letter_and_its_neighbours_live(
    tmp_path: Path, name: str, column: pa.Array, type_: Type
) -> None:
    path = tmp_path / f"{name}.parquet"
    path.write_bytes(stored({"x": column}))
    events, dead = rows_of(path, {"x": type_})
    assert sorted(events) == [0, 2]
    assert [(d.offset, d.stage) for d in dead] == [(1, "decode")]
    assert dead[0].reason.startswith("`x")
    assert INVALID in dead[0].data, "its bytes are kept as they were"


def test_a_page_that_is_not_what_was_written_costs_its_row_group(tmp_path: Path) -> None:
    column = pa.array([f"text {i:03}" for i in range(60)])
    options = {
        "row_group_size": 20,
        "write_page_checksum": True,
        "compression": "none",
        "use_dictionary": False,
    }
    data = bytearray(stored({"x": column}, **options))
    place = data.index(b"text 025")
    data[place] ^= 1
    path = tmp_path / "in.parquet"
    path.write_bytes(data)
    events, dead = rows_of(path, {"x": Scalar.STRING})
    assert sorted(events) == [*range(20), *range(40, 60)]
    assert [(d.offset, d.stage) for d in dead] == [(20, "read")]
    assert "rows 20 to 39 cannot be read" in dead[0].reason
    assert "CRC" in dead[0].reason


COLUMNS: dict[str, tuple[pa.Array, Type]] = {
    "s": (pa.array([f"text {i} ä" for i in range(50)]), Scalar.STRING),
    "d": (pa.array([Decimal(i) / 4 for i in range(50)], pa.decimal128(9, 2)), Scalar.DECIMAL),
    "l": (pa.array([[1, i] for i in range(50)]), ListOf(Scalar.LONG)),
    "r": (pa.array([{"os": "x", "v": i} for i in range(50)]), RECORD),
    "f": (pa.array([1.5 * i for i in range(50)]), Scalar.DOUBLE),
    "n": (pa.array(["a", "b"] * 25).dictionary_encode(), Scalar.STRING),
}
FIELDS = {name: type_ for name, (_, type_) in COLUMNS.items()}
WRITTEN = {
    (codec, sums): stored(
        {name: column for name, (column, _) in COLUMNS.items()},
        row_group_size=20, compression=codec, write_page_checksum=sums,
    )
    for codec in ("none", "snappy", "zstd")
    for sums in (False, True)
}  # fmt: skip


@pytest.mark.slow
@settings(max_examples=examples(300), deadline=None)
@given(
    written=st.sampled_from(sorted(WRITTEN)),
    flips=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 7)), min_size=1, max_size=8),
    cut=st.none() | st.floats(0, 1),
)
def test_no_flipped_bit_makes_more_than_dead_letters(
    tmp_path_factory: pytest.TempPathFactory,
    written: tuple[str, bool],
    flips: list[tuple[float, int]],
    cut: float | None,
) -> None:
    data = bytearray(WRITTEN[written])
    for place, bit in flips:
        data[int(place * len(data))] ^= 1 << bit
    if cut is not None:
        del data[int(cut * len(data)) :]
    path = tmp_path_factory.mktemp("flipped") / "in.parquet"
    path.write_bytes(data)
    events, dead = rows_of(path, FIELDS)
    assert len(events) <= 50
    for letter in dead:
        assert letter.reason
        if letter.stage == "decode":
            json.loads(letter.data.decode("utf-8", "replace"))


@pytest.mark.slow
@settings(max_examples=examples(300), deadline=None)
@given(
    codec=st.sampled_from(["none", "snappy", "zstd"]),
    where=st.floats(0, 1, exclude_max=True),
    bit=st.integers(0, 7),
)
def test_with_checksums_rows_are_right_or_dead(
    tmp_path_factory: pytest.TempPathFactory, codec: str, where: float, bit: int
) -> None:
    """Of pages: what describes them, at the file's end and before each, has no checksum in the format."""
    data = bytearray(WRITTEN[codec, True])
    whole = tmp_path_factory.mktemp("whole") / "in.parquet"
    whole.write_bytes(data)
    expected, _ = rows_of(whole, FIELDS)
    places = _in_pages(whole)
    data[places[int(where * len(places))]] ^= 1 << bit
    whole.write_bytes(data)
    events, dead = rows_of(whole, FIELDS)
    assert dead, "what was changed is noticed"
    assert events == {place: expected[place] for place in events}
    assert len(events) in (30, 40), "row groups of 20, 20 and 10: one of them is gone"


def _in_pages(path: Path) -> list[int]:
    """The places of the last byte of every column's pages: it is no part of a page's head."""
    metadata = pq.ParquetFile(path).metadata
    found = []
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            column = metadata.row_group(group).column(number)
            start = column.dictionary_page_offset or column.data_page_offset
            found.append(start + column.total_compressed_size - 1)
    return found
