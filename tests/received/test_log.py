"""The log that events come into by HTTP: what was told is there, whole, and is read once."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs_of_tests import LINE, appending, content, read_over_restarts

from cep.decode.blocks import decoder
from cep.decode.formats import BY_NAME
from cep.sources.checkpoint import DamagedError
from cep.sources.http import appending as appending_
from cep.sources.http import bounds, segments
from cep.sources.http.extents import HttpExtent, HttpPart, difference, of_row, parts, pinned
from cep.sources.http.intake import FullError, Intake, intake_of
from cep.sources.http.reading import read
from cep.sources.http.segments import Position, end_of_log, numbers, path_of, stretches
from cep.sources.source import GoneError
from rules.packs import load_texts

PACK = """pack p version "1"
stream payment { id_: string  at: timestamp  id id_  time at }
rule all { on payment emit id_ }
"""


def test_what_many_threads_give_is_there_whole_and_in_groups(tmp_path: Path) -> None:
    with appending(tmp_path) as one, ThreadPoolExecutor(16) as threads:
        bodies = [b"".join(LINE % (n * 10 + m) for m in range(n % 7 + 1)) for n in range(300)]
        done = list(threads.map(one.take, bodies))
        for each in done:
            assert each.result(60) is None
        assert intake_of(tmp_path) is one
        end = one.end
        assert one.groups < len(bodies)
    assert intake_of(tmp_path) is None
    assert end == end_of_log(tmp_path)
    data = content(tmp_path, stretches(tmp_path, Position(), end))
    assert sorted(data.splitlines()) == sorted(b"".join(bodies).splitlines())
    for body in bodies:
        assert body in data, "the lines of a body stay together"


def test_a_line_that_a_crash_cut_short_is_cut_off_and_told(tmp_path: Path) -> None:
    with appending(tmp_path) as one:
        one.take(LINE % 1).result(60)
    path = path_of(tmp_path, 1)
    with path.open("ab") as file:
        file.write(b'{"id_": "2", "at')
    assert end_of_log(tmp_path) == Position(1, len(LINE % 1))
    told: list[str] = []
    with appending(tmp_path, tell=told) as one:
        one.take(LINE % 3).result(60)
    assert path.read_bytes() == LINE % 1
    assert path_of(tmp_path, 2).read_bytes() == LINE % 3, "each start begins a segment"
    assert told == [f"{path}: 16 bytes of a line that nobody was told of are cut off"]


def test_a_log_that_is_too_far_behind_takes_nothing_until_a_batch_has_read(tmp_path: Path) -> None:
    size = len(LINE % 1)
    with appending(tmp_path, 3 * size) as one:
        for n in range(3):
            one.take(LINE % n).result(60)
        with pytest.raises(FullError) as full:
            one.take(LINE % 4)
        assert full.value.waiting == one.waiting == 3 * size
        bounds.between(tmp_path, 0, going_on=False)
        assert one.waiting == 0
        one.take(LINE % 4).result(60)
    with appending(tmp_path, 3 * size) as one:
        assert one.waiting == size, "what no batch has read waits over a restart"


def test_a_disk_that_is_full_keeps_nothing_of_what_it_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with appending(tmp_path) as one:
        one.take(LINE % 1).result(60)
        sync = os.fsync

        def refuse(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(appending_.os, "fsync", refuse)
        with pytest.raises(OSError, match="No space left"):
            one.take(LINE % 2).result(60)
        monkeypatch.setattr(appending_.os, "fsync", sync)
        one.take(LINE % 3).result(60)
        assert one.waiting == 2 * len(LINE % 1)
    assert path_of(tmp_path, 1).read_bytes() == LINE % 1 + LINE % 3


@given(
    st.lists(st.lists(st.integers(0, 9), max_size=4), min_size=1, max_size=12),
    st.integers(40, 400),
    st.integers(40, 400),
    st.data(),
)
def test_batches_read_every_line_once_over_restarts_and_repeated_questions(
    groups: list[list[int]], segment: int, batch: int, data: st.DataObject
) -> None:
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(appending_, "SEGMENT", segment)
        patch.setattr(bounds, "BATCH_BYTES", batch)
        read_over_restarts(Path(name), groups, data)


@pytest.mark.slow
def test_what_all_batches_are_behind_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(appending_, "SEGMENT", 1)  # each group of lines is a segment
    with appending(tmp_path) as one:
        for number in range(105):
            one.take(LINE % number).result(60)
            bounds.between(tmp_path, number, going_on=number > 0)
    assert numbers(tmp_path)[0] == 5, "the one in which the batches that are left begin"
    assert not (tmp_path / "read" / "4.json").exists()
    assert bounds.between(tmp_path, 6, going_on=True) == [(7, 0, len(LINE % 6))]


def test_a_process_that_lost_the_job_tells_nobody_and_spoils_nothing(tmp_path: Path) -> None:
    """It appends to its own segment while another process has gone on with the next one."""
    fenced = [False]

    def assure() -> None:
        if fenced[0]:
            raise RuntimeError("taken over")

    old = Intake(tmp_path, 1 << 20, assure=assure)
    old.start(Position())
    old.take(LINE % 1).result(60)
    with appending(tmp_path) as new:
        new.take(LINE % 2).result(60)
        first = bounds.between(tmp_path, 0, going_on=False)
        fenced[0] = True
        with pytest.raises(RuntimeError, match="taken over"):
            old.take(LINE % 3).result(60)
        new.take(LINE % 4).result(60)
        again, second = (bounds.between(tmp_path, n, going_on=n > 0) for n in (0, 1))
    old.stop()
    assert first == again
    assert content(tmp_path, first) == LINE % 1 + LINE % 2
    assert content(tmp_path, second) == LINE % 4


def test_who_does_not_know_whether_it_may_goes_on_behind_what_it_told_nobody(tmp_path: Path) -> None:
    away = [False]

    def assure() -> None:
        if away[0]:
            raise OSError("the database is away")

    one = Intake(tmp_path, 1 << 20, assure=assure)
    one.start(Position())
    away[0] = True
    with pytest.raises(OSError, match="the database is away"):
        one.take(LINE % 1).result(60)
    away[0] = False
    one.take(LINE % 2).result(60)
    one.stop()
    assert content(tmp_path, bounds.between(tmp_path, 0, going_on=False)) == LINE % 1 + LINE % 2


def test_a_bound_that_is_damaged_or_gone_stops_the_job(tmp_path: Path) -> None:
    with appending(tmp_path) as one:
        one.take(LINE % 1).result(60)
        bounds.between(tmp_path, 0, going_on=False)
    path = tmp_path / "read" / "0.json"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"byte":', b'"byte":1'))
    with pytest.raises(DamagedError, match="checksum differs"):
        bounds.between(tmp_path, 1, going_on=True)
    path.unlink()
    with pytest.raises(DamagedError, match=r"0\.json is missing"):
        bounds.between(tmp_path, 1, going_on=True)


def test_an_extent_is_what_it_was_or_says_why_not(tmp_path: Path) -> None:
    path = tmp_path / "0000000001.jsonl"
    path.write_bytes(LINE % 1 + LINE % 2)
    one = pinned(HttpExtent("payment", str(path), len(LINE % 1), len(LINE % 1 + LINE % 2)), path)
    assert of_row(one.row()) == one
    with path.open("ab") as file:
        file.write(LINE % 3)
    assert difference(one, path) is None, "a segment grows"
    path.write_bytes(LINE % 1 + LINE % 3)
    assert difference(one, path) == "does not hold what it held"
    path.write_bytes(LINE % 1)
    assert difference(one, path) == f"ends at byte {one.first:,}; it went up to {one.until:,}"
    with pytest.raises(GoneError, match="ends at byte"):
        pinned(one, path)
    path.unlink()
    assert difference(one, path) == "is missing"
    for row in (("s", "p", 5, 4, ""), ("s", "p", "0", 4, ""), ("s", "p", 0)):
        with pytest.raises((ValueError, TypeError)):
            of_row(row)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=30), st.integers(1, 300), st.integers(0, 5))
def test_parts_of_any_size_give_the_events_in_order(values: list[int], block: int, skipped: int) -> None:
    stream = load_texts([("p.rules", PACK)]).need().stream("payment")
    lines = [LINE % value for value in values]
    skipped = min(skipped, len(lines) - 1)
    with TemporaryDirectory() as name:
        path = Path(name) / "0000000001.jsonl"
        path.write_bytes(b"".join(lines) + b'{"behind')
        first = sum(map(len, lines[:skipped]))
        extent = HttpExtent("payment", str(path), first, sum(map(len, lines)))
        found = parts(extent, path, block)
        assert [one.start for one in found] == sorted({one.start for one in found})
        passed: list[int] = []
        blocks = [
            one
            for part in found
            for one in read(part, path, decoder(stream, BY_NAME), passed.append, strict=True)
        ]
        told = [value for one in blocks for value in one.events.table.column("id_").to_pylist()]
        assert told == [str(value) for value in values[skipped:]]
        assert sum(passed) == extent.length
        places = [at for one in blocks for at in one.events.table.column("@offset").to_pylist()]
        assert places == [sum(map(len, lines[:n])) for n in range(skipped, len(lines))]


def test_a_part_that_is_gone_is_a_letter_or_an_error(tmp_path: Path) -> None:
    stream = load_texts([("p.rules", PACK)]).need().stream("payment")
    path = tmp_path / "gone.jsonl"
    part = HttpPart(str(path), 0, 10)
    (one,) = read(part, path, decoder(stream, BY_NAME), lambda _: None, strict=False)
    assert [(letter.stage, letter.reason) for letter in one.dead] == [("read", "is missing")]
    with pytest.raises(GoneError, match="is missing"):
        list(read(part, path, decoder(stream, BY_NAME), lambda _: None, strict=True))
    assert segments.end_of_log(tmp_path / "none") == Position()
