"""A file that changes after its batch is over is reported once: nothing in it is lost unnoticed."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import pytest
from job_folder import JobFolder
from rules_of_tests import pack, payments

from cep.decode.letters import DeadLetter
from cep.job.batches.growth import Growth
from cep.job.state_folder.extents import store
from cep.sources.files.extents import FileExtent, extent
from cep.sources.files.files import Files


def _sources() -> dict[str, Files]:
    return {"s": Files("unread.jsonl")}


def _nobody(_: object) -> set[str]:
    return set()


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    found = [tmp_path / f"{n}.jsonl" for n in range(50)]
    for path in found:
        path.write_bytes(b"first\nsecond\n")
    return found


def _growth(tmp_path: Path, files: list[Path]) -> Growth:
    growth = Growth(tmp_path / "none", _sources, _nobody)
    growth.add([extent("s", str(path)) for path in files], [])
    return growth


def _letters(growth: Growth, batches: int = 10) -> list[DeadLetter]:
    return [letter for _ in range(batches) for letter in growth.look()]


def _append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"third\n")


def _same_length(path: Path) -> None:
    path.write_bytes(b"FIRST\nsecond\n")
    os.utime(path, ns=(1, 1))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_append, "the file grew from 13 to 19 bytes after it was read and is not read again: write a file"),
        (_same_length, "the file was written again after it was read and is not read again: give what"),
        (lambda path: path.write_bytes(b"other"), "the file was written again"),
        (lambda path: path.write_bytes(b""), "the file was written again"),
    ],
)
def test_each_change_is_told_once_with_the_place_from_which_nothing_is_read(
    tmp_path: Path, files: list[Path], change: Callable[[Path], None], said: str
) -> None:
    growth = _growth(tmp_path, files)
    assert _letters(growth) == []
    change(files[7])
    change(files[49])
    letters = _letters(growth)
    assert {(one.feed, one.file, one.offset, one.stage) for one in letters} == {
        ("s", str(files[n]), 13, "read") for n in (7, 49)
    }
    assert all(one.reason.startswith(said) for one in letters)
    _append(files[7])
    assert _letters(growth) == []


@pytest.mark.parametrize("harmless", [Path.unlink, lambda path: os.utime(path, ns=(1, 1))])
def test_a_file_that_goes_or_is_only_touched_is_nothing_to_tell(
    tmp_path: Path, files: list[Path], harmless: Callable[[Path], None]
) -> None:
    growth = _growth(tmp_path, files)
    for path in files:
        harmless(path)
    assert _letters(growth) == []


@pytest.mark.parametrize("stage", ["read", "lost"])
def test_what_a_batch_has_told_is_not_told_again(
    tmp_path: Path, files: list[Path], stage: Literal["read", "lost"]
) -> None:
    store(tmp_path, 0, [extent("s", str(files[0]))])  # as a batch that is run again at the start
    growth = Growth(tmp_path, _sources, _nobody)
    told = DeadLetter("s", str(files[0]), 13, stage, "the file grew", b"")
    _append(files[0])
    assert growth.look([str(files[0])]) == []
    growth.add([extent("s", str(path)) for path in files], [told])
    for path in files:
        _append(path)
    assert {one.file for one in _letters(growth)} == {str(path) for path in files[1:]}


def test_a_file_with_poison_in_it_is_looked_at_as_any_other(tmp_path: Path, files: list[Path]) -> None:
    growth = Growth(tmp_path, _sources, _nobody)
    poison = DeadLetter("s", str(files[0]), 6, "poison", "its reader was ended", b"")
    growth.add([extent("s", str(files[0]))], [poison])
    _append(files[0])
    assert [one.stage for one in _letters(growth)] == ["read"]


@pytest.mark.slow
def test_the_last_thousand_files_are_looked_at_also_after_a_start(tmp_path: Path) -> None:
    for batch in range(6):
        store(tmp_path, batch, [FileExtent("s", f"{tmp_path}/{batch}-{n}", 5, 1, "") for n in range(250)])
    (tmp_path / "3.files").write_text("damaged")
    for batch in range(6):
        for n in range(250):
            (tmp_path / f"{batch}-{n}").write_text("longer")
    known = {f"{tmp_path}/5-{n}" for n in range(200)}
    letters = _letters(Growth(tmp_path, _sources, lambda _: known), 100)
    assert {Path(one.file).name.partition("-")[0] for one in letters} == {"5", "4", "2", "1"}
    assert len(letters) == 1_000 - 200


@pytest.mark.spark
def test_a_file_that_grows_after_its_batch_is_a_dead_letter_also_after_a_restart(
    tmp_path: Path, spark: Callable[..., Any]
) -> None:
    folder = JobFolder(tmp_path / "job", pack(), ("payment",))
    events = [json.dumps(one).encode() + b"\n" for one in payments(1, 20)]
    plain = folder.root / "inbox" / "payment" / "day.jsonl"
    plain.write_bytes(b"".join(events[:10]))
    folder.once(spark)
    length = plain.stat().st_size
    with plain.open("ab") as file:
        file.writelines(events[10:])
    told = folder.once(spark)
    assert f"{plain}: the file grew from {length} to {plain.stat().st_size} bytes" in told
    assert "grew" not in folder.once(spark), "once is enough"
    with closing(sqlite3.connect(folder.outbox)) as database, database:
        rows = database.execute('select file, "offset", stage from dead_letters').fetchall()
    assert rows == [(str(plain), length, "read")]
