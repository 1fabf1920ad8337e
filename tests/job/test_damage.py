"""Damage on disk is told with its file before Java starts, or put right: it gives no other alerts in silence.

One real state folder of three batches is made once, and every case damages a copy of it, which lies where the
first one lay. A start that is refused is not given a Spark.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from job_folder import JobFolder, in_process
from rules_of_tests import in_files, pack, payments

from cep.cli.main import main
from cep.job import extents, life, manifest
from cep.job.checkpoint import COMPACTED, Checkpoint
from cep.job.errors import ConfigurationError, OutsideError
from cep.job.files import read_json, write_json

pytestmark = pytest.mark.spark
Spark = Callable[..., Any]
BATCHES = 3
LAST = BATCHES - 1
EVENTS = 400
LATER = list(payments(8, EVENTS + 100))[EVENTS:]
Alerts = list[dict[str, object]]
Damage = Callable[[Path], None]


@pytest.fixture(scope="module")
def made(spark: Spark, tmp_path_factory: pytest.TempPathFactory) -> tuple[JobFolder, Path]:
    """A job after its batches, and a copy of its folder."""
    root = tmp_path_factory.mktemp("damage")
    folder = JobFolder(root / "job", pack(), ("payment",))
    for part in in_files(list(payments(8, EVENTS)), BATCHES):
        folder.put("payment", part)
        folder.once(spark)
    shutil.copytree(folder.root, root / "whole")
    assert len(folder.commits()) == BATCHES
    assert {alert["batch"] for alert in folder.alerts()} == set(range(BATCHES))
    return folder, root / "whole"


@pytest.fixture
def folder(made: tuple[JobFolder, Path]) -> JobFolder:
    """The job as it was."""
    restore(made)
    return made[0]


def restore(made: tuple[JobFolder, Path]) -> None:
    """The folder as it was."""
    job, whole = made
    shutil.rmtree(job.root)
    shutil.copytree(whole, job.root)


@pytest.fixture
def expected(folder: JobFolder) -> Alerts:
    """What the whole job raised."""
    return folder.alerts()


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
    with sqlite3.connect(folder.outbox) as database:
        database.execute("delete from outbox_alerts where batch = ?", (batch,))
        database.execute("delete from outbox_batches where number = ?", (batch,))


def input_of(folder: JobFolder, batch: int = LAST) -> Path:
    """The file that a batch reads."""
    ((_, path),) = Checkpoint(folder.state.checkpoint).files(batch)
    return Path(path)


def refused(folder: JobFolder) -> ConfigurationError:
    """What a start says that is refused before there is a Spark."""

    def none(*_: object) -> None:
        pytest.fail("Spark was started")

    with pytest.raises(ConfigurationError) as caught:
        folder.once(none)
    assert "\n" not in str(caught.value)
    return caught.value


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


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(
    "place",
    [
        f"checkpoint/offsets/{LAST}",
        f"checkpoint/offsets/{LAST - 1}",
        "checkpoint/sources/feed_payment/0",
        f"checkpoint/sources/feed_payment/{LAST}",
        "checkpoint/state/0/1/*.zip",
        "checkpoint/state/0/0/SSTs/*.sst",
        f"checkpoint/state/0/0/{BATCHES}.changelog",
        "checkpoint/state/0/_stateSchema/default/0_*",
    ],
)
def test_every_damage_to_a_file_that_spark_needs_is_told_with_its_name(
    folder: JobFolder, place: str, damage: Damage
) -> None:
    path = one_of(place)(folder)
    damage(path)
    told = refused(folder)
    lone = damage is deleted and path.suffix == ".zip"
    assert (f"{path.parent} has no snapshot" if lone else str(path)) in told.message
    assert "restore" in told.help


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(
    "place", [f"manifests/{LAST}.json", f"manifests/{LAST}.files", "layout.json", "packs/*.json"]
)
def test_every_damage_to_a_file_of_ours_is_told_with_its_name(
    folder: JobFolder, place: str, damage: Damage
) -> None:
    reopen(folder)
    path = one_of(place)(folder)
    damage(path)
    told = refused(folder)
    assert path.name in told.message
    assert "restore" in told.help


def test_a_layout_is_missed_also_where_more_is_gone(folder: JobFolder) -> None:
    deleted(folder.state.layout_file)
    deleted(folder.state.checkpoint / "metadata")
    assert "layout.json is missing" in refused(folder).message


@pytest.mark.parametrize("damage", [d for d in DAMAGES if d is not deleted])
def test_the_manifest_of_a_batch_that_is_over_is_looked_at_too(folder: JobFolder, damage: Damage) -> None:
    path = folder.state.manifests / f"{LAST}.json"
    damage(path)
    assert str(path) in refused(folder).message


def test_a_manifest_of_another_batch_is_known_by_what_the_outbox_has(folder: JobFolder) -> None:
    path = folder.state.manifests / f"{LAST}.json"
    write_json(path, read_json(path) | {"watermark": 5})
    assert "is not the manifest" in refused(folder).message


@pytest.mark.parametrize("batch", [LAST, LAST - 1])
def test_a_digit_of_what_the_outbox_has_of_a_batch_is_missed(folder: JobFolder, batch: int) -> None:
    if batch < LAST:
        reopen(folder)
    with sqlite3.connect(folder.outbox) as database:
        (text,) = database.execute("select result from outbox_batches where number = ?", (batch,)).fetchone()
        value = json.loads(text)
        value["watermark"] += 1
        database.execute("update outbox_batches set result = ? where number = ?", (json.dumps(value), batch))
    told = refused(folder)
    assert f"has of batch {batch} is not what was written: its checksum differs" in told.message


@pytest.mark.parametrize("log", ["offsets", "sources/feed_payment"])
def test_a_log_that_was_changed_together_with_its_checksum_differs_from_the_manifest(
    folder: JobFolder, log: str
) -> None:
    path = folder.state.checkpoint / log / str(LAST)
    text = path.read_text().replace(f'"logOffset":{LAST}', '"logOffset":1').replace("000002", "000001")
    path.write_text(text)
    path.with_name(f".{path.name}.crc").unlink()
    assert f"batch {LAST} reads other files" in refused(folder).message


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        ("checkpoint", "offsets/2 is missing"),
        ("checkpoint/offsets", "offsets/2 is missing"),
        ("checkpoint/sources", "sources/feed_payment/2 is missing"),
        ("checkpoint/state", "state/0/0 has no snapshot"),
        ("checkpoint/state/0/_metadata", "_metadata/v2/0 is missing"),
    ],
)
def test_a_folder_that_is_gone_is_missed(folder: JobFolder, lost: str, said: str) -> None:
    shutil.rmtree(folder.state.root / lost)
    assert said in refused(folder).message


def test_an_outbox_that_is_behind_is_told(folder: JobFolder) -> None:
    with sqlite3.connect(folder.outbox) as database:
        database.execute("delete from outbox_batches where number = ?", (LAST,))
    assert f"Spark has ended batch {LAST}, and the outbox" in refused(folder).message


def test_a_page_of_the_outbox_that_was_overwritten_is_told(folder: JobFolder) -> None:
    whole = folder.outbox.read_bytes()
    for page in range(1, len(whole) // 4096):
        place = page * 4096
        folder.outbox.write_bytes(whole[:place] + Random(page).randbytes(4096) + whole[place + 4096 :])
        with pytest.raises(OutsideError, match=f"{folder.outbox} is damaged or is no database"):
            folder.once(lambda *_: pytest.fail("Spark was started"))


def test_a_checksum_that_is_none_is_said_to_be_harmless(folder: JobFolder) -> None:
    path = folder.state.checkpoint / "offsets" / f".{LAST}.crc"
    path.write_bytes(b"?")
    told = refused(folder)
    assert str(path) in told.message
    assert f"remove {path}" in told.help


def test_a_batch_that_is_not_in_the_outbox_may_begin_anew(
    folder: JobFolder, spark: Spark, expected: Alerts
) -> None:
    reopen(folder, recorded=False)
    offsets, own = folder.state.checkpoint / "offsets" / str(LAST), folder.state.manifests / f"{LAST}.json"
    garbage(offsets)
    told = refused(folder)
    files = folder.state.manifests / f"{LAST}.files"
    assert f"remove {offsets} and {own} and {files}, and it begins anew" in told.help
    offsets.unlink()
    told = refused(folder)
    assert f"remove {own} and {files}, and it begins anew" in told.help
    own.unlink()
    files.unlink()
    folder.once(spark)
    assert folder.alerts() == expected


def test_an_entry_of_a_log_that_no_batch_has_used_may_be_removed(
    folder: JobFolder, spark: Spark, expected: Alerts
) -> None:
    """Spark was killed after it had written which files come next, and before it began their batch."""
    folder.put("payment", LATER)
    folder.once(spark)
    more = folder.alerts()
    assert len(more) > len(expected)
    for name in ("offsets", "commits"):
        for path in (folder.state.checkpoint / name).glob(f"*{BATCHES}*"):
            path.unlink()
    for path in folder.state.manifests.glob(f"{BATCHES}.*"):
        path.unlink()
    forget(folder, BATCHES)
    entry = folder.state.checkpoint / "sources" / "feed_payment" / str(BATCHES)
    garbage(entry)
    told = refused(folder)
    assert str(entry) in told.message
    assert "no batch has used it yet: remove it" in told.help
    entry.unlink()
    folder.once(spark)
    assert folder.alerts() == more


def test_a_damaged_manifest_of_a_batch_that_is_not_in_the_outbox_may_be_removed(folder: JobFolder) -> None:
    reopen(folder, recorded=False)
    path = folder.state.manifests / f"{LAST}.json"
    digit(path)
    told = refused(folder)
    assert f"the manifest {path} is not what was written: its checksum differs" in told.message
    assert f"remove {path} and" in told.help


@pytest.mark.parametrize("damage", [emptied, garbage])
def test_a_half_written_commit_and_the_name_of_the_query_are_put_right(
    folder: JobFolder, spark: Spark, expected: Alerts, damage: Damage
) -> None:
    damage(folder.commits()[-1])
    damage(folder.state.checkpoint / "metadata")
    told = folder.once(spark)
    assert f"removed, so that batch {LAST} is run again" in told
    assert "written anew, since it only names the query" in told
    assert folder.alerts() == expected
    assert "removed" not in folder.once(spark)


@pytest.mark.parametrize("damage", [emptied, truncated, garbage, digit])
def test_an_older_snapshot_does_where_a_newer_one_is_damaged(
    folder: JobFolder, spark: Spark, expected: Alerts, damage: Damage
) -> None:
    reopen(folder, recorded=False)
    first = one_of("checkpoint/state/0/1/*.zip")(folder)
    newest = first.with_name(f"{LAST}.zip")
    shutil.copy(first, newest)
    shutil.copy(first.with_name(f".{first.name}.crc"), newest.with_name(f".{newest.name}.crc"))
    damage(newest)
    told = refused(folder)
    assert str(newest) in told.message
    assert f"remove {newest}: what lies beside comes to the same state" in told.help
    if damage is digit:
        newest.unlink()
        folder.once(spark)
        assert folder.alerts() == expected


@pytest.mark.parametrize("damage", [emptied, truncated, garbage, digit])
def test_what_describes_the_state_is_there_more_than_once(
    folder: JobFolder, spark: Spark, expected: Alerts, damage: Damage
) -> None:
    reopen(folder, recorded=False)
    path = folder.state.checkpoint / "state" / "0" / "_metadata" / "v2" / str(LAST)
    damage(path)
    told = refused(folder)
    assert str(path) in told.message
    assert f"remove {path}: the one before says the same" in told.help
    if damage is digit:
        path.unlink()
        folder.once(spark)
        assert folder.alerts() == expected


def test_a_state_without_any_snapshot_is_damaged(folder: JobFolder) -> None:
    place = folder.state.checkpoint / "state" / "0" / "1"
    for path in place.glob("*.zip"):
        path.unlink()
    assert f"{place} has no snapshot of the state" in refused(folder).message


def of_the_version_before(folder: JobFolder) -> None:
    """The folder as the version before would have left it: without checksums, and nothing of files."""
    layout = folder.state.layout_file
    layout.write_text(json.dumps(read_json(layout) | {"format": 3}))
    for path in folder.state.packs.iterdir():
        path.write_text(json.dumps(read_json(path)))
    with sqlite3.connect(folder.outbox) as database:
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


def test_files_of_the_version_before_are_read_and_written_anew(
    folder: JobFolder, spark: Spark, expected: Alerts
) -> None:
    """Of such a folder the last batch is run again, with a manifest that says nothing of files."""
    reopen(folder)
    of_the_version_before(folder)
    folder.once(spark)
    assert folder.alerts() == expected
    assert read_json(folder.state.layout_file)["format"] == 4
    folder.put("payment", payments(9, 50))
    folder.once(spark)
    newest = max(folder.state.manifests.glob("*.json"), key=lambda path: int(path.stem))
    assert read_json(newest)["version"] == 3


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
    with sqlite3.connect(folder.outbox) as database:
        return database.execute("select batch, file, stage, reason from dead_letters").fetchall()


def accepting(*paths: Path) -> life.Mode:
    return life.Mode(once=True, accepted=frozenset(map(os.path.realpath, paths)))


@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "not recorded"])
def test_a_loss_that_is_accepted_is_told_kept_and_the_same_each_time(
    made: tuple[JobFolder, Path], folder: JobFolder, spark: Spark, expected: Alerts, *, recorded: bool
) -> None:
    reopen(folder, recorded=recorded)
    path = input_of(folder)
    truncated(path)
    other = folder.root / "inbox" / "other.jsonl"
    told = folder.once(spark, mode=accepting(path, other))
    assert f"batch {LAST} goes without the file {path}, which has " in told
    assert f"--accept-loss {other}: batch {LAST} does not go without it" in told
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

    def gone_first(*arguments: object) -> object:
        if path.exists() and moment == "before the manifest":
            path.rename(aside)
        found = real(*arguments)
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
    monkeypatch.setattr(life.run, "__defaults__", (spark,))
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
    assert checkpoint.files(8) == [("payment", p) for p in ("/in/98 x", "/in/99 x", "/in/last")]
    assert [path.name for path in checkpoint.logged("payment")] == ["99.compact", "100"]
