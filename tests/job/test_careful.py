"""A mapper leaves out records by place, also of CSV and Parquet; row groups and files as a whole."""

from __future__ import annotations

import gzip
import os
import signal
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cep.decode.blocks import decoder
from cep.decode.formats import BY_NAME
from cep.decode.letters import DeadLetter, Decoded
from cep.job.poison.careful import KnownPoison, Searching, unopened, unreadable, without
from cep.job.poison.events import NO_SHARD, UNREAD, Poison, place
from cep.sources.files.extents import listed_extent
from cep.sources.files.files import Files
from cep.sources.files.reading import read
from cep.sources.files.splits import splits
from cep.sources.source import END, Feed
from rules.packs import load_texts

PACK = """pack p version "1"
stream s { id_: string  at: timestamp  v: long  id id_  time at }
rule r { on s emit v }
"""
FEED = Feed("s", Files("unread.jsonl"), BY_NAME)
STREAM = load_texts([("p.rules", PACK)]).need().stream("s")
ROWS = [(f"e{n}", "2026-01-05T08:00:00Z", n) for n in range(100)]
WRITERS: dict[str, Callable[[Path], None]] = {
    "a.jsonl": lambda path: path.write_bytes(_lines()),
    "a.jsonl.gz": lambda path: path.write_bytes(gzip.compress(_lines())),
    "a.csv": lambda path: path.write_text("id_,at,v\n" + "".join(f"{i},{t},{v}\n" for i, t, v in ROWS)),
    "a.parquet": lambda path: pq.write_table(_table(), path, row_group_size=30),
}  # type: ignore[dict-item]


def _lines() -> bytes:
    return b"".join(b'{"id_": "%s", "at": "%s", "v": %d}\n' % (i.encode(), t.encode(), v) for i, t, v in ROWS)


def _table() -> pa.Table:
    return pa.Table.from_pylist([{"id_": id_, "at": at, "v": v} for id_, at, v in ROWS])


def decoded(path: Path, aside: KnownPoison | Searching) -> tuple[list[int], list[DeadLetter]]:
    using = replace(decoder(STREAM), aside=aside)
    values: list[int] = []
    letters: list[DeadLetter] = []
    for split in splits(str(path), path.stat().st_size):
        for block in read(split, using, block=512):
            values += block.events.table.column("v").to_pylist()
            letters += block.dead
    return values, letters


def dying(values: Iterable[int]) -> Callable[[Decoded], None]:
    def work(block: Decoded) -> None:
        if set(values) & set(block.events.table.column("v").to_pylist()):
            os.kill(os.getpid(), signal.SIGSEGV)

    return work


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_what_is_found_is_left_out_by_its_place_and_nothing_else(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    poison = {0, 31, 32, 99}
    searching = Searching(KnownPoison([]), dying(poison))
    values, letters = decoded(path, searching)
    assert values == [n for n in range(100) if n not in poison]
    again, same = decoded(path, KnownPoison(searching.found))
    assert (again, same) == (values, letters)
    assert [letter.stage for letter in letters] == ["poison"] * 4
    assert [f"e{n}".encode() in letter.data for n, letter in zip(sorted(poison), letters, strict=True)] == [
        True
    ] * 4
    more = Searching(KnownPoison(searching.found), dying(poison))
    assert decoded(path, more)[0] == values
    assert more.found == [], "nothing is left to find"


@pytest.mark.slow
def test_a_row_group_that_ends_its_reader_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    WRITERS["a.parquet"](path)
    whole = pq.ParquetFile.iter_batches

    def iter_batches(self: pq.ParquetFile, *args: object, row_groups: list[int], **more: object) -> object:
        if row_groups == [2]:
            os.kill(os.getpid(), signal.SIGSEGV)
        return whole(self, *args, row_groups=row_groups, **more)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", iter_batches)
    (split,) = splits(str(path), path.stat().st_size)
    found = unreadable(FEED, split)
    assert [(one.first, one.end, one.what) for one in found] == [(60, 90, UNREAD)]
    letters, left = without(FEED, split, found)
    assert letters == (found[0].letter(),)
    values = [
        v
        for one in left
        for block in read(one, decoder(STREAM))
        for v in block.events.table.column("v").to_pylist()
    ]
    assert values == [*range(60), *range(90, 100)]
    assert left[-1].end == -1, "who reads the end tells whether the file grew"
    assert place(found[0], FEED) == f"{path}, rows 60 to 89"


def test_a_file_that_ends_who_looks_into_it_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = tmp_path / "good.parquet", tmp_path / "bad.parquet"
    WRITERS["a.parquet"](good)
    pq.write_table(pq.read_table(good).slice(0, 1), bad)

    class ParquetFile(pq.ParquetFile):  # type: ignore[misc]
        def __init__(self, source: pa.NativeFile, **more: object) -> None:
            if source.size() == bad.stat().st_size:
                os._exit(7)
            super().__init__(source, **more)

    monkeypatch.setattr(pq, "ParquetFile", ParquetFile)
    found = unopened([listed_extent("s", str(path)) for path in (good, bad)], {"s": FEED})
    assert found == [Poison("s", str(bad), 0, END, NO_SHARD, "ended with exit code 7", UNREAD)]
    assert found[0].whole
    assert place(found[0], FEED) == str(bad)


@pytest.mark.parametrize(
    ("first", "end", "shown"),
    [(0, 1, "line 1"), (6, 7, "line 2"), (6, 18, "lines 2 to 3")],
)
def test_places_are_told_as_users_look_them_up(tmp_path: Path, first: int, end: int, shown: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"first\nsecond\nthird\n")
    assert place(Poison("s", str(path), first, end, NO_SHARD, "died"), FEED) == f"{path}, {shown}"
    path.unlink()
    assert "byte" in place(Poison("s", str(path), first, end, NO_SHARD, "died"), FEED)
