"""A job's folder after some batches, put back as it was for every test, and ways to damage its files."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from job_folder import JobFolder
from rules_of_tests import payments

from cep.errors import ConfigurationError, JobError, OutsideError
from cep.files import read_json
from cep.job.state_folder import manifest
from cep.sources.checkpoint import Checkpoint
from cep.sources.files import spark_log

Spark = Callable[..., Any]
BATCHES = 3
LAST = BATCHES - 1
EVENTS = 400
LATER = list(payments(8, EVENTS + 100))[EVENTS:]
Alerts = list[dict[str, object]]
Damage = Callable[[Path], None]


def restore(made: tuple[JobFolder, Path]) -> None:
    """The folder as it was."""
    job, whole = made
    shutil.rmtree(job.root)
    shutil.copytree(whole, job.root)


def reopen(folder: JobFolder, *, recorded: bool = True) -> None:
    """The last batch as if the job was killed before Spark committed it, or before it was in the outbox."""
    for path in (folder.state.checkpoint / "commits").glob(f"*{LAST}*"):
        path.unlink()
    if not recorded:
        forget(folder, LAST)
    for pattern in (f"{BATCHES}.*", f".{BATCHES}.*"):
        for path in (folder.state.checkpoint / "state").rglob(pattern):
            path.unlink()


def forget(folder: JobFolder, batch: int) -> None:
    """The outbox as it was before a batch."""
    with closing(sqlite3.connect(folder.outbox)) as database, database:
        database.execute("delete from outbox_alerts where batch = ?", (batch,))
        for index in ("outbox_by_rule", "outbox_by_key"):
            database.execute(f"delete from {index} where number not in (select number from outbox_alerts)")
        database.execute("update outbox_indexed set number = (select max(number) from outbox_alerts)")
        database.execute("delete from outbox_batches where number = ?", (batch,))


def of_the_version_before(folder: JobFolder) -> None:
    """The folder as the version before would have left it: without checksums, and nothing of files."""
    layout = folder.state.layout_file
    layout.write_text(json.dumps(read_json(layout) | {"format": 3}))
    for path in folder.state.packs.iterdir():
        path.write_text(json.dumps(read_json(path)))
    with closing(sqlite3.connect(folder.outbox)) as database, database:
        for number in range(BATCHES):
            path = folder.state.manifests / f"{number}.json"
            found = replace(manifest.parse(json.dumps(read_json(path))), files="", version=2)
            old = {k: v for k, v in found.as_dict().items() if k not in ("files", "lost")}
            path.write_text(json.dumps(old))
            (folder.state.manifests / f"{number}.files").unlink()
            query = "select result from outbox_batches where number=?"
            row = database.execute(query, (number,)).fetchone()
            if row is None:  # of the batch that is open
                continue
            result = {k: v for k, v in json.loads(row[0]).items() if k not in ("checksum", "version")}
            database.execute(
                "update outbox_batches set result=?, digest=? where number=?",
                (json.dumps(result), found.digest, number),
            )


def input_of(folder: JobFolder, batch: int = LAST) -> Path:
    """The file that a batch reads."""
    (path,) = spark_log.files(Checkpoint(folder.state.checkpoint), "payment", batch)
    return Path(path)


def refused(folder: JobFolder) -> ConfigurationError:
    """The error of a start that is refused before there is a Spark."""

    def none(*_: object) -> None:
        pytest.fail("Spark was started")

    with pytest.raises(ConfigurationError) as caught:
        folder.once(none)
    assert "\n" not in str(caught.value)
    return caught.value


def said(folder: JobFolder) -> str | None:
    """The message of a start that is refused before there is a Spark; None if it goes on to start it."""
    begun = OutsideError("Spark would be started now")

    def begin(*_: object) -> None:
        raise begun

    try:
        folder.once(begin)
    except JobError as error:
        return None if error is begun else error.message
    raise AssertionError("a job that needs no Spark")


def flipped(data: bytes, random: Random) -> bytes:
    """The bytes with one bit that is another."""
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def garbage(path: Path) -> None:
    path.write_bytes(Random(3).randbytes(path.stat().st_size))


def deleted(path: Path) -> None:
    path.unlink()


def digit(path: Path) -> None:
    """One bit is another: of a digit in a text, of whatever stands there else."""
    data = bytearray(path.read_bytes())
    places = [n for n, byte in enumerate(data) if chr(byte).isdigit()] or [len(data) // 2]
    data[places[len(places) // 2]] ^= 1
    path.write_bytes(data)


DAMAGES = [deleted, emptied, truncated, garbage, digit]


def one_of(pattern: str) -> Callable[[JobFolder], Path]:
    return lambda folder: sorted(folder.state.root.glob(pattern))[0]
