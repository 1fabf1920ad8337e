"""A job records what it accepts, in the same files when a batch is run again, and goes on where it cannot."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from job_folder import JobFolder
from rules_of_tests import BEGIN, SECOND, in_files, pack, payments

from alerts.notation import timestamp
from alerts.outbox import Outbox, StoredAlert
from cep.record.layout import folder_of
from cep.record.read import events_of

pytestmark = pytest.mark.spark
Spark = Callable[..., Any]
WINDOW = "rule busy { by card  over payment tumbling 1 minute having count() > 5 }\n"


@pytest.fixture
def folder(tmp_path: Path) -> JobFolder:
    return JobFolder(tmp_path / "job", pack(more=WINDOW), ("payment",))


def recorded(folder: JobFolder) -> dict[str, bytes]:
    """The files of the record by name, whatever the day."""
    root = folder_of(folder.state.record, "payment")
    return {path.name: path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def ids(folder: JobFolder) -> list[str]:
    """All recorded ids, in order of batch and lane."""
    paths = sorted(folder_of(folder.state.record, "payment").rglob("*.parquet"))
    return [id_ for path in paths for id_ in pq.read_table(path).column("payment_id").to_pylist()]


def stored(folder: JobFolder) -> list[StoredAlert]:
    outbox = Outbox.open(f"sqlite:///{folder.outbox}", create=False)
    try:
        return outbox.alerts()
    finally:
        outbox.close()


def test_a_lost_commit_writes_the_same_files(folder: JobFolder, spark: Spark) -> None:
    for part in in_files(list(payments(1, 400)), 2):
        folder.put("payment", part)
        folder.once(spark)
    before = recorded(folder)
    last = folder.commits()[-1]
    changed = [name for name in before if name.startswith(f"{last.name}-")]
    for name in changed:
        next(folder.state.record.rglob(name)).write_bytes(b"")
    for path in (last, last.with_name(f".{last.name}.crc")):
        path.unlink(missing_ok=True)
    folder.once(spark)
    assert changed
    assert recorded(folder) == before


def test_late_events_are_not_in_the_record(folder: JobFolder, spark: Spark) -> None:
    def event(number: int, seconds: int) -> dict[str, object]:
        moment = timestamp(BEGIN + seconds * SECOND)
        return {"payment_id": f"p{number}", "at": moment, "card": "c", "amount": 1}

    folder.put("payment", [event(1, 100)])
    folder.once(spark)
    folder.put("payment", [event(2, 10), event(3, 101), b"{"])
    folder.once(spark)
    assert ids(folder) == ["p1", "p3"]


@pytest.mark.parametrize("keep", ['"0"', '"1 day"'])
def test_how_long_events_are_kept(folder: JobFolder, spark: Spark, keep: str) -> None:
    folder.more = f"[record]\nkeep = {keep}\n"
    folder.describe()
    old = folder_of(folder.state.record, "payment") / "2020-02-03"
    old.mkdir(parents=True)
    (old / "0-0.parquet").write_bytes(b"PAR1")
    folder.put("payment", list(payments(1, 50)))
    folder.once(spark)
    deadline = time.monotonic() + 60
    while old.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not old.exists()
    assert len(ids(folder)) == (0 if keep == '"0"' else 50)


def test_a_job_goes_on_where_nothing_can_be_recorded(folder: JobFolder, spark: Spark) -> None:
    parts = in_files(list(payments(1, 400)), 3)
    folder.put("payment", parts[0])
    folder.once(spark)
    aside = folder.state.record.rename(folder.root / "record")
    folder.state.record.write_text("")
    folder.put("payment", parts[1])
    told = folder.once(spark)
    assert "events of payment are not recorded: not a directory; alerts are raised as usual" in told
    folder.state.record.unlink()
    aside.rename(folder.state.record)
    folder.put("payment", parts[2])
    assert "not recorded" not in folder.once(spark, drain=True)
    lost = {str(one["payment_id"]) for one in parts[1]}
    missing = [events_of(folder.state, one).missing for one in stored(folder)]
    listed = [set(chain(*one.alert["events"].values())) for one in stored(folder)]  # type: ignore[attr-defined]
    assert [bool(said) for said in missing] == [bool(taken & lost) for taken in listed]
    assert {bool(said) for said in missing} == {True, False}
