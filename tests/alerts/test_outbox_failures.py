"""Faults of an outbox are reported with their fix, and harm nothing that was written."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from some_alerts import raised
from sqlalchemy import event, text

from alerts.outbox import BatchRecord, Outbox, OutboxError, connect, store
from alerts.outbox.schema import VERSION
from alerts.routing import Route

ALL = [Route("desk")]


def refused(url: str, **how: object) -> OutboxError:
    with pytest.raises(OutboxError) as caught:
        Outbox.open(url, **how)  # type: ignore[arg-type]
    assert caught.value.help
    assert "\n" not in str(caught.value)
    assert "hunter2" not in str(caught.value)
    return caught.value


def test_a_full_disk(tmp_path: Path) -> None:
    outbox = Outbox.open(f"sqlite:///{tmp_path}/outbox.db")
    outbox.record(BatchRecord(0, "d", {}), [raised(0)], ALL)
    with outbox.reading() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one() + 4

    def limit(connection: sqlite3.Connection, *_: object) -> None:
        connection.execute(f"PRAGMA max_page_count={pages}")

    event.listen(outbox._engine, "checkout", limit)
    many = [raised(n, summary="x" * 500) for n in range(1, 200)]
    with pytest.raises(OutboxError, match="no room left") as caught:
        outbox.record(BatchRecord(1, "d", {}), many, ALL)
    assert caught.value.code == "CEP0802"
    assert len(outbox.alerts()) == 1
    pages += 1_000
    assert len(outbox.record(BatchRecord(1, "d", {}), many, ALL).alerts) == 199


def test_a_text_that_is_no_text_any_more_is_damage(tmp_path: Path) -> None:
    """SQLite notices pages that were overwritten, and not a flipped bit within a text."""
    path = tmp_path / "outbox.db"
    outbox = Outbox.open(f"sqlite:///{path}")
    outbox.record(BatchRecord(0, "d", {}), [raised(0, summary="here it was")], ALL)
    outbox.close()
    data = path.read_bytes()
    assert data.count(b"here it was") == 1
    path.write_bytes(data.replace(b"here it was", b"here \xff it!!"[:11]))
    outbox = Outbox.open(f"sqlite:///{path}", create=False)
    with pytest.raises(OutboxError, match="is damaged or is no database") as caught:
        outbox.alerts()
    assert caught.value.code == "CEP0804"


def test_a_locked_outbox(tmp_path: Path) -> None:
    path = tmp_path / "outbox.db"
    outbox = Outbox.open(f"sqlite:///{path}", wait=0.05)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(OutboxError, match="locked by another process") as caught:
        outbox.record(BatchRecord(0, "d", {}), [raised(0)], ALL)
    assert caught.value.code == "CEP0801"
    assert outbox.alerts() == [], "readers do not wait for the writer"
    other.execute("ROLLBACK")
    other.close()
    assert outbox.record(BatchRecord(0, "d", {}), [raised(0)], ALL).alerts


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "outbox.db").write_text("this is a text, and long enough to look at it as a header " * 100)
    assert refused(f"sqlite:///{tmp_path}/outbox.db").code == "CEP0804"


def test_a_damaged_database(tmp_path: Path) -> None:
    path = tmp_path / "outbox.db"
    outbox = Outbox.open(f"sqlite:///{path}")
    outbox.record(BatchRecord(0, "d", {}), [raised(n) for n in range(2_000)], ALL)
    outbox.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    content = bytearray(path.read_bytes())
    begin = 16_384 * 25  # the pages before are those of tables with few rows
    content[begin:] = os.urandom(len(content) - begin)
    path.write_bytes(content)
    outbox = Outbox.open(f"sqlite:///{path}")
    with pytest.raises(OutboxError, match="damaged") as caught:
        outbox.alerts()
    assert caught.value.code == "CEP0804"
    outbox.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_file_without_the_right_to_write(tmp_path: Path) -> None:
    path = tmp_path / "outbox.db"
    Outbox.open(f"sqlite:///{path}").close()
    path.chmod(0o444)
    assert refused(f"sqlite:///{path}").code == "CEP0803"


def test_a_read_only_database(tmp_path: Path) -> None:
    path = tmp_path / "outbox.db"
    Outbox.open(f"sqlite:///{path}").close()
    outbox = Outbox.open(f"sqlite:///{path}")
    event.listen(outbox._engine, "checkout", lambda c, *_: c.execute("PRAGMA query_only=ON"))
    with pytest.raises(OutboxError, match="cannot be written") as caught:
        outbox.record(BatchRecord(0, "d", {}), [raised(0)], ALL)
    assert caught.value.code == "CEP0803"
    outbox.close()


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("outbox.db", "no address of a database"),
        ("postgres//me:hunter2@host/x", "no address of a database"),
        ("nonsense://x", "cannot be kept in nonsense"),
        ("sqlite://", "in memory"),
        ("sqlite:///:memory:", "in memory"),
        ("mysql://host/x", "cannot be kept in mysql"),
        ("sqlite:////no/such/folder/outbox.db", "cannot be opened"),
    ],
)
def test_an_address_that_cannot_be_used(url: str, part: str) -> None:
    error = refused(url)
    assert (error.code, part in error.message) == ("CEP0805", True), error


def test_a_folder_is_no_outbox(tmp_path: Path) -> None:
    assert refused(f"sqlite:///{tmp_path}").code == "CEP0805"


def test_an_outbox_that_is_not_there_is_not_made_for_reading(tmp_path: Path) -> None:
    assert "there is no outbox" in refused(f"sqlite:///{tmp_path}/outbox.db", create=False).message
    assert list(tmp_path.iterdir()) == []


def test_somebody_elses_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE outbox_alerts (x)")
    connection.close()
    for create in (True, False):
        error = refused(f"sqlite:///{path}", create=create)
        assert (error.code, "holds no outbox" in error.message) == ("CEP0806", True)


def test_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "outbox.db"
    Outbox.open(f"sqlite:///{path}").close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE outbox_version SET version = 99")
    connection.close()
    error = refused(f"sqlite:///{path}")
    assert error.code == "CEP0806"
    assert f"has version 99, this program writes version {VERSION}" in error.message


def test_a_password_is_not_told() -> None:
    assert refused("postgresql://me:hunter2@127.0.0.1:1/x").code == "CEP0805"


@pytest.mark.slow
def test_a_large_batch_is_in_the_database_itself_while_the_job_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "outbox.db"
    outbox = Outbox.open(f"sqlite:///{path}")
    many = [raised(n, summary="x" * 500) for n in range(5_000)]
    assert len(outbox.record(BatchRecord(0, "d", {}), many, ALL).alerts) == 5_000
    assert outbox._checkpoint is not None
    outbox._checkpoint.result()
    assert path.stat().st_size > sum(len(one.body) for one in many)
    outbox.record(BatchRecord(1, "d", {}), [raised(5_000)], ALL)
    assert len(outbox.alerts()) == 5_001
    outbox.close()


@pytest.mark.slow
def test_a_checkpoint_that_fails_is_reported_by_the_next_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox = Outbox.open(f"sqlite:///{tmp_path}/outbox.db")

    def fails(_: object) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(store, "checkpoint", fails)
        outbox.record(BatchRecord(0, "d", {}), [raised(n) for n in range(5_000)], ALL)
        assert outbox._checkpoint is not None
        outbox._checkpoint.exception()
    with pytest.raises(OutboxError, match="no room left"):
        outbox.record(BatchRecord(1, "d", {}), [raised(5_001)], ALL)
    assert outbox.last_batch() == BatchRecord(0, "d", {}), "what was committed stays, what was refused is not"
    assert outbox.record(BatchRecord(1, "d", {}), [raised(5_001)], ALL).alerts
    outbox.close()


@pytest.mark.slow
@pytest.mark.parametrize(("table", "large", "noticed"), [
    ("outbox_alerts", False, True),
    ("outbox_batches", False, True),
    ("outbox_batches", True, True),
    ("outbox_alerts", True, False),
])  # fmt: skip
def test_an_overwritten_page_is_found_before_anybody_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str, large: bool, noticed: bool
) -> None:
    """Of a large database only what says where the job stands is looked through."""
    path = tmp_path / "outbox.db"
    outbox = Outbox.open(f"sqlite:///{path}")
    for batch in range(40):
        some = [raised(batch * 10 + n) for n in range(10)]
        outbox.record(BatchRecord(batch, "d" * 100, {"x": "y" * 200}), some, ALL)
    outbox.check()
    outbox.close()
    with closing(sqlite3.connect(path)) as database, database:
        (page,) = database.execute("select rootpage from sqlite_master where name = ?", (table,)).fetchone()
        (size,) = database.execute("PRAGMA page_size").fetchone()
    data = bytearray(path.read_bytes())
    data[(page - 1) * size : page * size] = os.urandom(size)
    path.write_bytes(data)
    monkeypatch.setattr(connect, "WHOLE", 0 if large else connect.WHOLE)
    damaged = Outbox.open(f"sqlite:///{path}", create=False)
    if noticed:
        with pytest.raises(OutboxError, match=f"the file {path} is damaged") as caught:
            damaged.check()
        assert caught.value.code == "CEP0804"
    else:
        damaged.check()
    damaged.close()


def test_a_commit_waits_for_the_disk_unless_told_otherwise(tmp_path: Path) -> None:
    """As SQLite counts: 2 is FULL, 0 is OFF."""
    for how, expected in (({}, 2), ({"durable": True}, 2), ({"durable": False}, 0)):
        outbox = Outbox.open(f"sqlite:///{tmp_path}/o.db", **how)
        with outbox.writing() as connection:
            assert connection.scalar(text("PRAGMA synchronous")) == expected, how
            assert connection.scalar(text("PRAGMA journal_mode")) == "wal"
        outbox.close()
