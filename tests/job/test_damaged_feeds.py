"""A file of a feed that is not what it was stops the job with its name, or is given up by its user."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from damaging import (
    BATCHES,
    DAMAGES,
    LAST,
    LATER,
    Alerts,
    Damage,
    Spark,
    deleted,
    input_of,
    of_the_version_before,
    refused,
    reopen,
    restore,
    truncated,
)
from job_folder import JobFolder, in_process
from rules_of_tests import pack, payments

from cep.cli.main import main
from cep.errors import ConfigurationError, JobError, OutsideError
from cep.job.running import lifecycle
from cep.job.state_folder import extents, manifest
from cep.sources.checkpoint import Checkpoint
from cep.sources.files import spark_log
from cep.sources.files.spark_log import COMPACTED

pytestmark = pytest.mark.spark


def _touched(path: Path) -> None:
    os.utime(path)


def _added_to(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b'{"payment_id": "x"}\n')


def _middle(path: Path) -> None:
    """A byte in the middle is another, and neither length nor time tell of it."""
    status = path.stat()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "not recorded"])
@pytest.mark.parametrize("damage", [*DAMAGES, _middle])
def test_a_batch_is_not_run_again_over_another_file(
    folder: JobFolder, damage: Damage, *, recorded: bool
) -> None:
    reopen(folder, recorded=recorded)
    path = input_of(folder)
    damage(path)
    told = refused(folder)
    assert str(path) in told.message
    assert f"cep run JOB --accept-loss {path}" in told.help
    assert "put it back" in told.help


@pytest.mark.parametrize("damage", [_touched, _added_to])
def test_a_file_that_still_begins_as_it_was_is_read_again(
    folder: JobFolder, spark: Spark, expected: Alerts, damage: Damage
) -> None:
    reopen(folder, recorded=False)
    damage(input_of(folder))
    folder.once(spark)
    assert folder.alerts() == expected


def letters(folder: JobFolder) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder.outbox)) as database, database:
        return database.execute("select batch, file, stage, reason from dead_letters").fetchall()


def accepting(*paths: Path) -> lifecycle.Mode:
    return lifecycle.Mode(once=True, accepted=frozenset(map(os.path.realpath, paths)))


@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "not recorded"])
def test_a_loss_that_is_accepted_is_told_kept_and_the_same_each_time(
    made: tuple[JobFolder, Path], folder: JobFolder, spark: Spark, expected: Alerts, *, recorded: bool
) -> None:
    reopen(folder, recorded=recorded)
    path = input_of(folder)
    truncated(path)
    other = path.with_name(f"x{path.name}")
    told = folder.once(spark, mode=accepting(path, other))
    assert f"batch {LAST} goes without the file {path}, which has " in told
    assert f"--accept-loss {other}: batch {LAST} has no such file; did you mean `{path}`?" in told
    assert told.index("has no such file") < told.index("starting Spark"), "told at once"
    assert told.count("--accept-loss") == 1
    (letter,) = letters(folder)
    assert letter[:3] == (LAST, str(path), "lost")
    first = folder.alerts()
    if recorded:
        assert first == expected, "what the outbox has stays"
    else:
        rest = [[("payment", input_of(folder, batch))] for batch in range(LAST)]
        assert {one["id"] for one in first} == {one["id"] for one in in_process(folder, rest, drain=False)}

    kept = manifest.read(folder.state.manifests, LAST)
    assert kept is not None
    assert [one.path for one in kept.lost] == [str(path)]
    restore(made)
    reopen(folder, recorded=recorded)
    deleted(path)
    manifest.write(folder.state.manifests, kept)
    folder.once(spark)
    assert folder.alerts() == first
    assert letters(folder) == [letter]


@pytest.mark.parametrize("moment", ["before the manifest", "after the manifest"])
def test_a_file_that_goes_before_it_is_read_stops_the_job_and_loses_nothing(
    folder: JobFolder, spark: Spark, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Spark has listed it, and would go on without it."""
    path = folder.put("payment", LATER)
    aside = folder.root / "aside" / path.name
    before = folder.alerts()
    of, name = (extents, "fixed") if moment == "before the manifest" else (manifest, "write")
    real = getattr(of, name)

    def gone_first(*arguments: object, **more: object) -> object:
        if path.exists() and moment == "before the manifest":
            path.rename(aside)
        found = real(*arguments, **more)
        if path.exists():
            path.rename(aside)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(of, name, gone_first)
        with pytest.raises(ConfigurationError, match=f"the file .*{path.name} of batch {BATCHES} is missing"):
            folder.once(spark)
    assert folder.alerts() == before
    told = refused(folder)
    assert str(path) in told.message
    aside.rename(path)
    folder.once(spark)
    assert len(folder.alerts()) > len(before)
    assert not letters(folder)


def test_a_file_that_was_never_read_may_be_lost_too(folder: JobFolder, spark: Spark) -> None:
    path = folder.put("payment", LATER)
    before = folder.alerts()
    with pytest.MonkeyPatch.context() as patched:
        real = extents.fixed
        patched.setattr(extents, "fixed", lambda *of: path.unlink(missing_ok=True) or real(*of))
        with pytest.raises(ConfigurationError):
            folder.once(spark)
        told = folder.once(spark, mode=accepting(path))
    assert f"batch {BATCHES} goes without the file {path}, which is missing" in told
    assert [letter[:3] for letter in letters(folder)] == [(BATCHES, str(path), "lost")]
    assert folder.alerts() == before


def test_a_crash_right_after_the_last_manifest_leaves_nothing_behind_the_end_of_time(
    tmp_path: Path, spark: Spark
) -> None:
    folder = JobFolder(tmp_path / "job", pack(), ("payment",))
    folder.put("payment", payments(3, 200))
    real = manifest.write

    def crashing(path: Path, made: manifest.Manifest, *, new: bool = False) -> None:
        real(path, made, new=new)
        if made.drain:
            raise OutsideError("a crash", "none")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(manifest, "write", crashing)
        with pytest.raises(OutsideError, match="a crash"):
            folder.once(spark, drain=True)
    folder.put("payment", payments(4, 200))
    assert "the folder is closed after batch" in folder.once(spark, drain=True)
    assert folder.state.closed_file.exists()
    with closing(sqlite3.connect(folder.outbox)) as outbox, outbox:
        assert outbox.execute("SELECT count(*) FROM late_events").fetchone() == (0,)
    with pytest.raises(JobError, match="closed by --drain"):
        folder.once(spark)


def test_a_loss_in_a_folder_of_the_version_before_is_told_and_counts_for_no_other_batch(
    folder: JobFolder, spark: Spark
) -> None:
    reopen(folder, recorded=False)
    of_the_version_before(folder)
    path = input_of(folder)
    path.unlink()
    told = folder.once(spark, mode=accepting(path))
    assert told.count(f"batch {LAST} goes without the file {path}, which is missing") == 1
    assert "does not go without it" not in told
    assert [letter[:3] for letter in letters(folder)] == [(LAST, str(path), "lost")]


def test_the_command_says_it_and_takes_the_file(
    folder: JobFolder, spark: Spark, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle.run, "__defaults__", (spark,))
    reopen(folder)
    path = input_of(folder)
    path.unlink()
    assert main(["run", str(folder.description), "--once"]) == 2
    told = capsys.readouterr().err
    assert f"error: the file {path} of batch {LAST} is missing" in told
    assert f"--accept-loss {path}" in told
    assert main(["run", str(folder.description), "--once", "--accept-loss", str(path)]) == 0
    assert f"batch {LAST} goes without the file {path}" in capsys.readouterr().err


def test_the_files_of_a_batch_are_found_when_the_log_was_compacted(folder: JobFolder) -> None:
    """As Spark does it: a hundred entries become one file, and the single ones go in time."""
    log = folder.state.checkpoint / "sources" / "feed_payment"
    for path in log.iterdir():
        path.unlink()
    rows = [json.dumps({"path": f"file:///in/{n}%20x", "batchId": n}) for n in range(COMPACTED)]
    (log / f"{COMPACTED - 1}.compact").write_text("\n".join(["v1", *rows]))
    (log / str(COMPACTED)).write_text('v1\n{"path":"file:///in/last","timestamp":1,"batchId":100}')
    offsets = folder.state.checkpoint / "offsets"
    for batch, last in ((7, 97), (8, 100)):
        text = (offsets / str(LAST)).read_text().replace(f'"logOffset":{LAST}', f'"logOffset":{last}')
        (offsets / str(batch)).write_text(text)
    checkpoint = Checkpoint(folder.state.checkpoint)
    assert spark_log.files(checkpoint, "payment", 8) == ["/in/98 x", "/in/99 x", "/in/last"]
    assert [path.name for path in spark_log.logged(checkpoint, "payment")] == ["99.compact", "100"]
