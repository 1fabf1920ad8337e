"""Damage on disk is told with its file before Java starts, or put right: it never changes alerts unnoticed.

One real state folder of three batches is made once, and every case damages a copy of it, which lies where the
first one lay. A start that is refused is not given a Spark.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from random import Random

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
    digit,
    emptied,
    forget,
    garbage,
    of_the_version_before,
    one_of,
    refused,
    reopen,
    truncated,
)
from job_folder import JobFolder
from rules_of_tests import payments

from cep.errors import OutsideError
from cep.files import read_json, write_json

pytestmark = pytest.mark.spark


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
    with closing(sqlite3.connect(folder.outbox)) as database, database:
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
    with closing(sqlite3.connect(folder.outbox)) as database, database:
        database.execute("delete from outbox_batches where number = ?", (LAST,))
    assert f"Spark has ended batch {LAST}, and the outbox" in refused(folder).message


def test_a_page_of_the_outbox_that_was_overwritten_is_told(folder: JobFolder) -> None:
    whole = folder.outbox.read_bytes()
    size = int.from_bytes(whole[16:18])  # of a page, as the file's head says
    for page in range(1, len(whole) // size):
        place = page * size
        folder.outbox.write_bytes(whole[:place] + Random(page).randbytes(size) + whole[place + size :])
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
