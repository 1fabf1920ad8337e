"""Reading files: every event once, however a file is split; what goes wrong is told by place."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from decoding import BASE, BASE_TIME, stream_of
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.decode import DeadLetter, Decoder, FeedFormat, decoder
from cep.sources.files.names import matching
from cep.sources.files.reading import check_file, read
from cep.sources.files.splits import Split, splits
from rules.types import Scalar

STREAM = stream_of({"x": Scalar.LONG, "note": Scalar.STRING}, ("x", "note"))
DECODER = decoder(STREAM)


def lines(count: int) -> list[bytes]:
    return [
        json.dumps({**BASE, "eid": f"e{i}", "x": i, "note": "n" * (i % 50)}).encode() for i in range(count)
    ]


def everything(
    parts: list[Split], block: int, using: Decoder = DECODER
) -> tuple[list[tuple[int, int]], list[DeadLetter]]:
    rows: list[tuple[int, int]] = []
    dead: list[DeadLetter] = []
    for part in parts:
        for decoded in read(part, using, block=block):
            table = decoded.events.table
            rows.extend(zip(table.column("@offset").to_pylist(), table.column("x").to_pylist(), strict=True))
            dead.extend(decoded.dead)
    return rows, dead


def stored(path: Path, data: bytes) -> list[Split]:
    path.write_bytes(data)
    return splits(str(path), len(data), 1000)


def compressed(name: str, data: bytes) -> bytes:
    if name.endswith(".gz"):
        return gzip.compress(data)
    return pa.Codec("zstd").compress(data, asbytes=True) if name.endswith(".zst") else data  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", ["in.jsonl", "in.json.gz", "in.jsonl.zst"])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_every_line_is_read_once_at_its_place(tmp_path: Path, name: str, ending: bytes) -> None:
    rows = lines(200)
    data = ending.join(rows)
    parts = stored(tmp_path / name, compressed(name, data))
    assert (len(parts) > 10) == (name == "in.jsonl")
    assert everything(parts, block=700) == ([(data.index(row), i) for i, row in enumerate(rows)], [])


@settings(max_examples=examples(150), deadline=None)
@given(
    pieces=st.lists(st.sampled_from([b"\n", b"\r\n", b"", b"bad", b"x" * 70]), max_size=20),
    size=st.integers(1, 200),
    block=st.integers(20, 300),
)
def test_splits_of_any_size_give_what_the_whole_gives(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], size: int, block: int
) -> None:
    path = tmp_path_factory.mktemp("splits") / "in.jsonl"
    rows = iter(lines(50))
    data = b"".join(piece + (b"\n" if i % 3 else b"") + next(rows) + b"\n" for i, piece in enumerate(pieces))
    path.write_bytes(data)
    whole = DECODER.decode_block(data, str(path), 0, "s")
    offsets = whole.events.table.column("@offset").to_pylist()
    expected = list(zip(offsets, whole.events.table.column("x").to_pylist(), strict=True))
    assert everything(splits(str(path), len(data), size), block) == (expected, list(whole.dead))


@pytest.mark.parametrize("name", ["in.csv", "in.csv.gz"])
@pytest.mark.parametrize("quoted", [False, True])
def test_csv_is_split_only_where_no_cell_is_quoted(tmp_path: Path, name: str, quoted: bool) -> None:
    note = '"two\nlines, ""quoted"""' if quoted else "plain"
    rows = [f"{i},2020-01-01,e{i},{note}" for i in range(300)]
    data = "\n".join(["\ufeffx,at,eid,note", *rows]).encode()
    parts = stored(tmp_path / name, compressed(name, data))
    assert (len(parts) > 5) == (not quoted and name == "in.csv")
    read_back, dead = everything(parts, block=500)
    assert not dead, dead[0]
    assert read_back == [(data.index(b"\n" + row.encode()) + 1, i) for i, row in enumerate(rows)]


def test_csv_without_header_is_split_too(tmp_path: Path) -> None:
    data = "\n".join(f"e{i};2020-01-01;{i};" for i in range(300)).encode()
    using = decoder(STREAM, FeedFormat(header=False, delimiter=";"))
    read_back, dead = everything(stored(tmp_path / "in.csv", data), 500, using)
    assert not dead, dead[0]
    assert [x for _, x in read_back] == list(range(300))


@pytest.mark.slow
def test_parquet_is_split_by_row_groups_and_placed_by_row(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    ids = [f"e{i}" for i in range(1000)]
    at = pa.array([BASE_TIME] * 1000).cast(pa.timestamp("ns", "UTC"))
    pq.write_table(pa.table({"eid": ids, "at": at, "x": range(1000)}), path, row_group_size=100)
    parts = splits(str(path), path.stat().st_size, 4000)
    assert len(parts) > 3
    assert everything(parts, block=10) == ([(i, i) for i in range(1000)], [])


def test_parquet_without_rows_has_no_events(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"eid": pa.array([], pa.string())}), path)
    assert everything(splits(str(path), path.stat().st_size), 10) == ([], [])


def test_an_empty_file_has_no_events(tmp_path: Path) -> None:
    for name in ("in.jsonl", "in.csv"):
        assert everything(stored(tmp_path / name, b""), 10) == ([], [])


def test_a_line_that_is_taken_for_a_header_is_told(tmp_path: Path) -> None:
    """Without a line behind it nothing else would tell that it was no event."""
    rows, (letter,) = everything(stored(tmp_path / "in.csv", b"7,2026-01-01T00:00:00Z,c1\n"), 1000)
    assert (rows, letter.stage, letter.data) == ([], "read", b"7,2026-01-01T00:00:00Z,c1\n")
    assert "header = false" in letter.reason
    assert everything(stored(tmp_path / "blank.csv", b"\n\n"), 1000) == ([], [])


def failure(part: Split, block: int = 1000) -> tuple[int, DeadLetter]:
    rows, dead = everything([part], block)
    (letter,) = dead
    assert (letter.feed, letter.file, letter.stage, letter.data) == ("s", part.file, "read", b"")
    return len(rows), letter


@pytest.mark.parametrize("name", ["in.jsonl", "in.csv", "in.jsonl.gz", "in.parquet"])
def test_a_missing_file_is_told(tmp_path: Path, name: str) -> None:
    (part,) = splits(str(tmp_path / name), 10)
    assert failure(part)[1].reason == "the file is missing"


def test_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").mkdir()
    assert failure(Split(str(tmp_path / "in.jsonl"), 0, -1, 10))[1].reason == "it is a folder, not a file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission_is_told(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"x")
    path.chmod(0)
    assert "permission denied" in failure(Split(str(path), 0, -1, 1))[1].reason


def test_a_name_without_format_is_told(tmp_path: Path) -> None:
    (part,) = stored(tmp_path / "in.txt", b"x")
    assert "its name does not say what it holds" in failure(part)[1].reason


@pytest.mark.parametrize("data", [b"", b"PAR1 and nothing more", b"junk" * 100])
def test_a_corrupt_parquet_file_is_told(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "in.parquet"
    path.write_bytes(data)
    (part,) = splits(str(path), len(data))
    assert "the file cannot be read" in failure(part)[1].reason


def test_growth_and_shrinking_after_listing_are_told_once(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    data = b"\n".join(lines(100)) + b"\n"
    parts = stored(path, data)
    path.write_bytes(data + b"\n".join(lines(7)))
    rows, dead = everything(parts, 500)
    assert len(rows) == 100
    assert [d.reason.split(" to ")[0] for d in dead] == [f"the file grew from {len(data)}"]
    path.write_bytes(data[: len(data) // 2])
    rows, dead = everything(parts, 500)
    assert 30 < len(rows) < 100
    assert [d.stage for d in dead if "shrank" in d.reason] == ["read"]


@pytest.mark.parametrize(
    ("pattern", "folder", "rest"),
    [
        ("inbox/*.jsonl", "inbox", "*.jsonl"),
        ("/data/2020/*/x?.csv.gz", "/data/2020", "*/x?.csv.gz"),
        ("inbox/", "inbox", "*"),
        ("inbox/day.csv", "inbox", "day.csv"),
        ("day.csv", ".", "day.csv"),
        ("*.csv", ".", "*.csv"),
        ("/*.csv", "/", "*.csv"),
        ("in[1-2]/{a,b}.csv", ".", "in[1-2]/{a,b}.csv"),
    ],
)
def test_a_path_is_a_folder_and_a_pattern(pattern: str, folder: str, rest: str) -> None:
    assert matching(pattern) == (folder, rest)


def test_files_that_a_user_names_are_looked_at_first(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"")
    (tmp_path / "a.txt").write_bytes(b"")
    (tmp_path / "b.csv").mkdir()
    assert check_file(str(tmp_path / "a.jsonl")) == ()
    codes = [check_file(str(tmp_path / name))[0].code for name in ("gone.csv", "b.csv", "a.txt")]
    assert codes == ["CEP0851", "CEP0852", "CEP0853"]


@pytest.mark.parametrize("name", ["in.jsonl", "in.txt", "in.txt.gz", "in.zst", "in.parquet", "rows"])
@pytest.mark.parametrize("block", [100, 1000, 1 << 20])
def test_how_far_a_file_is_read_adds_up_to_its_length(tmp_path: Path, name: str, block: int) -> None:
    """In bytes as it is stored, whatever it holds; and a feed may say what that is."""
    kind: Literal["json", "parquet"] = "parquet" if name in ("in.parquet", "rows") else "json"
    path = tmp_path / name
    rows = lines(200)
    if kind == "parquet":
        table = pa.Table.from_pylist([json.loads(row) for row in rows])
        pq.write_table(table, path, row_group_size=60)
    else:
        path.write_bytes(compressed(name, b"\n".join(rows) + b"\n"))
    using = decoder(STREAM, FeedFormat(format=kind))
    length, passed, count = path.stat().st_size, [], 0
    for part in splits(str(path), length, 5000, using.feed):
        for decoded in read(part, using, block=block, passed=passed.append):
            assert not decoded.dead
            count += len(decoded.events.table)
    assert count == len(rows)
    assert sum(passed) == length
    assert min(passed) >= 0
    assert len(passed) > 1 or block > 1000
