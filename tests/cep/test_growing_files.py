"""A file that grows is read as it was when it was listed: nothing more, nothing twice, and that is told."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from decoding import BASE, BASE_TIME, stream_of
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.decode import decoder
from cep.decode.beginning import Beginning
from cep.sources.files.reading import read
from cep.sources.files.splits import Split, splits
from rules.types import Scalar

DECODER = decoder(stream_of({"x": Scalar.LONG, "note": Scalar.STRING}, ("x", "note")))
ROWS = 400


def _json(rows: Iterable[int]) -> bytes:
    return b"".join(json.dumps({**BASE, "eid": f"e{i}", "x": i}).encode() + b"\n" for i in rows)


def _csv(rows: Iterable[int]) -> bytes:
    return b"".join(f"{i},2020-01-01,e{i},plain\n".encode() for i in rows)


def _quoted(rows: Iterable[int]) -> bytes:
    """A quote anywhere keeps a CSV file in one part: it must not count where it came later."""
    return b"".join(f'{i},2020-01-01,e{i},"a ""quoted"" cell"\n'.encode() for i in rows)


def _parquet(rows: Iterable[int]) -> bytes:
    ids = list(rows)
    at = pa.array([BASE_TIME] * len(ids)).cast(pa.timestamp("ns", "UTC"))
    table = pa.table({"eid": [f"e{i}" for i in ids], "at": at, "x": ids, "note": ["n"] * len(ids)})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, row_group_size=50)
    return sink.getvalue().to_pybytes()


def _zstd(data: bytes) -> bytes:
    return pa.compress(data, "zstd", asbytes=True)  # type: ignore[no-any-return]


HEADER = b"x,at,eid,note\n"
FIRST, MORE = range(ROWS), range(ROWS, ROWS + 60)
CASES: dict[str, tuple[str, bytes, bytes]] = {
    "json": ("in.jsonl", _json(FIRST), _json(MORE)),
    "csv": ("in.csv", HEADER + _csv(FIRST), _csv(MORE)),
    "csv, then quotes": ("in.csv", HEADER + _csv(FIRST), _quoted(MORE)),
    "json.gz": ("in.jsonl.gz", gzip.compress(_json(FIRST)), gzip.compress(_json(MORE))),
    "json.zst": ("in.jsonl.zst", _zstd(_json(FIRST)), _zstd(_json(MORE))),
    "csv.gz": ("in.csv.gz", gzip.compress(HEADER + _csv(FIRST)), gzip.compress(_csv(MORE))),
    "parquet": ("in.parquet", _parquet(FIRST), _parquet(range(ROWS + 60))),
    "parquet, then noise": ("in.parquet", _parquet(FIRST), b"PAR1" * 40),
}


def _read(
    parts: Iterable[Split], before: Callable[[int], None] = lambda _: None
) -> tuple[list[int], list[Any]]:
    """Values and dead letters of parts; `before` is called with the number of the block that comes."""
    rows: list[int] = []
    dead: list[Any] = []
    number = 0
    before(number)
    for part in parts:
        for decoded in read(part, DECODER, block=2_000):
            rows += decoded.events.table.column("x").to_pylist()
            dead += decoded.dead
            number += 1
            before(number)
    return rows, dead


@pytest.mark.parametrize("moment", [0, 1, 2, 5])
@pytest.mark.parametrize("case", CASES)
def test_a_file_that_grows_while_it_is_read_gives_what_it_had(tmp_path: Path, case: str, moment: int) -> None:
    name, data, more = CASES[case]
    path = tmp_path / name
    path.write_bytes(data)
    parts = splits(str(path), len(data), 4_000)
    grown: list[int] = []

    def grow(number: int) -> None:
        if number == moment and not grown:
            with path.open("ab") as file:
                grown.append(file.write(more))

    rows, dead = _read(parts, grow)
    if not grown:
        pytest.skip("it is read in fewer blocks")
    assert rows == list(FIRST)
    told = f"the file grew from {len(data)} to {len(data) + len(more)} bytes after it was listed"
    assert [(one.stage, one.reason.startswith(told)) for one in dead] == [("read", True)]


@pytest.mark.parametrize("case", CASES)
def test_every_reader_cuts_a_file_that_grows_into_the_same_parts(tmp_path: Path, case: str) -> None:
    """Each mapper cuts for itself, and one that saw more would leave rows to nobody or take them twice."""
    name, data, more = CASES[case]
    path = tmp_path / name
    path.write_bytes(data)
    before = splits(str(path), len(data), 4_000)
    path.write_bytes(data + more)
    assert splits(str(path), len(data), 4_000) == before


@settings(max_examples=examples(60), deadline=None)
@given(case=st.sampled_from(sorted(CASES)), data=st.data())
def test_half_a_file_is_never_a_gap_that_nobody_is_told_of(
    tmp_path_factory: pytest.TempPathFactory, case: str, data: st.DataObject
) -> None:
    """Listed while it was written: what is whole in it is read, the rest is told, and nothing comes twice."""
    name, whole, _ = CASES[case]
    length = data.draw(st.integers(0, len(whole)))
    path = tmp_path_factory.mktemp("grows") / name
    path.write_bytes(whole[:length])
    parts = splits(str(path), length, 4_000)
    path.write_bytes(whole)
    rows, dead = _read(parts)
    assert rows == list(range(len(rows)))
    if length < len(whole):
        assert any("grew" in one.reason or "cannot be read" in one.reason for one in dead), dead
    else:
        assert (rows, dead) == (list(FIRST), [])


@given(st.binary(max_size=200), st.binary(max_size=50), st.data())
def test_a_beginning_is_a_file_that_ends_there(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, more: bytes, draw: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("beginning") / "file"
    path.write_bytes(data + more)
    with Beginning(str(path), len(data)) as file:
        assert file.seek(0, 2) == len(data)
        at = draw.draw(st.integers(0, len(data) + 5))
        size = draw.draw(st.integers(0, 300))
        assert file.seek(at) == at
        assert file.read(size) == data[at : at + size]
        assert file.tell() == min(at + size, max(at, len(data)))
