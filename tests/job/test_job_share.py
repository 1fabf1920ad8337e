"""Mappers divide a batch's files among them: every part once, and evenly."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from cep.decode.formats import BY_NAME
from cep.job.spark.balance import shard_keys
from cep.job.workers.share import share
from cep.sources.files.extents import FileExtent
from cep.sources.files.files import Files
from cep.sources.source import Feed

FEEDS = {"s": Feed("s", Files("unread.jsonl"), BY_NAME)}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 12 << 20), min_size=1, max_size=6), st.integers(1, 5), st.randoms())
def test_every_byte_is_read_by_one_mapper(sizes: list[int], lanes: int, random: Random) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, size in enumerate(sizes):
            path = Path(folder) / f"{number}.jsonl"
            with path.open("wb") as file:
                file.truncate(size)
            files.append(FileExtent("s", str(path), size))
        shares = []
        for lane in range(lanes):
            random.shuffle(files)
            shares.append(share(files, FEEDS, lane, lanes))
    parts = sorted((p.file, p.start, p.end) for mine in shares for _, p in mine)
    for file in files:
        at = 0
        mine = [(start, end) for path, start, end in parts if path == file.path]
        for start, end in mine:
            assert start == at
            at = file.length if end == -1 else end
        assert mine
        assert at == file.length
    assert len(parts) == len(set(parts))


def test_one_large_file_is_read_by_all_mappers(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    with path.open("wb") as file:
        file.truncate(40 << 20)
    listed = [FileExtent("s", str(path), 40 << 20)]
    read = [sum(p.end - p.start for _, p in share(listed, FEEDS, lane, 2)) for lane in (0, 1)]
    assert read == [20 << 20, 20 << 20]


def test_files_that_are_no_multiple_of_a_block_are_spread_evenly(tmp_path: Path) -> None:
    listed = []
    for number in range(3):
        path = tmp_path / f"{number}.jsonl"
        with path.open("wb") as file:
            file.truncate(18 << 20)
        listed.append(FileExtent("s", str(path), 18 << 20))
    read = [sum(p.end - p.start for _, p in share(listed, FEEDS, lane, 2)) for lane in (0, 1)]
    assert read == [27 << 20, 27 << 20]


@given(st.integers(1, 64), st.integers(1, 8))
def test_shards_are_spread_evenly_over_partitions(shards: int, partitions: int) -> None:
    keys = shard_keys(shards, partitions)
    assert len(set(keys)) == shards
    assert keys == shard_keys(shards, partitions)


def test_keys_hash_as_spark_hashes() -> None:
    # org.apache.spark.sql.functions.hash of an int column, as Spark 4.2.0 answers
    from cep.job.spark.balance import _hash

    assert [_hash(n) for n in (0, 1)] == [933211791, -559580957]
