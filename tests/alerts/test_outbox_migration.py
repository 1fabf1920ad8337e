"""An outbox of the version before is brought up to date when it is opened, wherever that is interrupted."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from some_alerts import SECOND, raised
from sqlalchemy import Connection, text

from alerts.episodes.episode import STATES
from alerts.outbox import BatchRecord, Outbox, OutboxError, Wanted, migration
from alerts.outbox.episodes import assign_some, read_episodes
from alerts.outbox.migration import move_some
from alerts.outbox.notifications import Making
from alerts.outbox.silences import expire
from alerts.outbox.trailing import last_indexed
from alerts.routing import Route
from alerts.settings import Settings
from alerts.stages.inhibit import Inhibitors
from alerts.stages.notifying import Notifying

GOLDEN = Path(__file__).with_name("outbox_version_2.sql")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file of version 2 with three alerts, as its program wrote it."""
    path = tmp_path / "outbox.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(GOLDEN.read_text("utf-8"))
    return path


def golden(folder: Path, version: int) -> Path:
    """A file of a later version with three alerts, as its program wrote it."""
    path = folder / "outbox.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(GOLDEN.with_name(f"outbox_version_{version}.sql").read_text("utf-8"))
    return path


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database, database:
        return database.execute(query).fetchall()


ALERTS = "SELECT number, id, batch, pack, rule, severity, time, body, recorded_at FROM outbox_alerts"
JOINED = (
    "SELECT a.number, id, batch, pack, rule, severity, time, body, recorded_at "
    "FROM outbox_alerts a JOIN outbox_rules r ON r.number = rule_number ORDER BY a.number"
)
DELIVERIES = (
    "SELECT receiver, alert, state, attempts, due_at, settled_at, outcome FROM outbox_deliveries "
    "ORDER BY receiver, alert"
)


class ProcessDiedError(Exception):
    pass


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 2, 5_000])
@pytest.mark.parametrize("dies_after", [0, 1, 2, 3, None])
def test_every_alert_moves_whatever_interrupts(
    old: Path, monkeypatch: pytest.MonkeyPatch, step: int, dies_after: int | None
) -> None:
    alerts, deliveries = rows(old, ALERTS), rows(old, DELIVERIES)
    steps = 0

    def some(connection: Connection) -> bool:
        nonlocal steps
        if steps == dies_after:
            raise ProcessDiedError
        steps += 1
        return move_some(connection, step)

    with monkeypatch.context() as patched:
        patched.setattr(migration, "move_some", some)
        try:
            Outbox.open(f"sqlite:///{old}").close()
        except ProcessDiedError:
            with pytest.raises(OutboxError, match="half way from it to 5") as caught:
                Outbox.open(f"sqlite:///{old}", create=False)
            assert caught.value.code == "CEP0806"
    assert rows(old, "SELECT version FROM outbox_version") == [(5,)], "the program before refuses it"
    outbox = Outbox.open(f"sqlite:///{old}")
    assert rows(old, JOINED) == alerts
    assert rows(old, DELIVERIES) == deliveries
    assert rows(old, "SELECT name FROM sqlite_master WHERE name LIKE '%alerts_2'") == []
    with outbox.reading() as connection:
        assert last_indexed(connection) == len(alerts)
        assert connection.scalar(text("PRAGMA integrity_check")) == "ok"
    assert [one.number for one in outbox.alerts(Wanted(key={"card_id": "b"}))] == [2]
    assert [one.number for one in outbox.alerts(Wanted(rule="card_testing"), newest_first=True)] == [3, 1]
    some_known = [raised(1, key="a"), raised(70, time=70)]
    recorded = outbox.record(BatchRecord(2, "d", {}), some_known, [Route("desk")])
    assert ([one.alert.emit for one in recorded.alerts], recorded.repeated) == ([{"n": 70}], 1)
    assert [due.number for due in outbox.due("desk", 2**62, 9)] == [1, 2, 3, 5]
    outbox.close()


@pytest.mark.parametrize("version", [3, 4])
def test_what_a_version_lacks_is_added(tmp_path: Path, version: int) -> None:
    old_3 = golden(tmp_path, version)
    alerts, deliveries = rows(old_3, JOINED), rows(old_3, DELIVERIES)
    assert rows(old_3, "SELECT version FROM outbox_version") == [(version,)]
    Outbox.open(f"sqlite:///{old_3}").close()
    assert rows(old_3, "SELECT version FROM outbox_version") == [(5,)]
    assert (rows(old_3, JOINED), rows(old_3, DELIVERIES)) == (alerts, deliveries)

    fresh = old_3.with_name("fresh.db")
    Outbox.open(f"sqlite:///{fresh}").close()
    tables = "SELECT name FROM sqlite_master ORDER BY name"
    assert rows(old_3, tables) == rows(fresh, tables), "tables and indexes are those of a new one"
    for (name,) in rows(fresh, "SELECT name FROM sqlite_master WHERE type = 'table'"):
        columns = f"SELECT name, type, \"notnull\", pk FROM pragma_table_xinfo('{name}')"
        assert sorted(rows(old_3, columns)) == sorted(rows(fresh, columns)), name

    if version == 4:
        return
    with closing(Outbox.open(f"sqlite:///{old_3}", create=False)) as outbox:
        assert outbox.standings() == {}
        assert [due.number for due in outbox.due("desk", 2**62, 9)] == [1, 2, 3]
        with outbox.writing() as connection:
            assert not assign_some(connection, lambda _, __: 10**9)
            assert list(read_episodes(connection, STATES)) == [], "alerts of before belong to none"


def test_what_waits_in_version_4_goes_out(tmp_path: Path) -> None:
    """One is to be tried again, one is silenced until its silence is taken back, one was delivered."""
    path = golden(tmp_path, 4)
    with closing(Outbox.open(f"sqlite:///{path}")) as outbox:
        assert [one.place for one in outbox.due("desk", 1_600_000_009 * SECOND, 9)] == [3]
        assert [one.number for one in outbox.due("pager", 1_600_000_009 * SECOND, 9)] == [1]
        with outbox.writing() as connection:
            assert expire(connection, "s", "bob", 1_600_000_010 * SECOND)
        _, freed = outbox.due("pager", 1_600_000_010 * SECOND, 9)
        assert (freed.number, freed.made, freed.asked_for) == (2, None, False)
        making = Making("pager", frozenset((2,)), None, 0)
        stages = Notifying("pager", Settings(), Inhibitors(), {})
        ((made, numbers, _),) = outbox.make([making], stages, 1_600_000_011 * SECOND)
        assert made is not None
        assert (made.place, numbers, made.id) == (-1, [2], freed.id)
