"""Engines for the outbox: how each database is opened, and what a transaction means there.

SQLite runs in WAL mode with synchronous=FULL: readers never wait for the writer, and what was committed
survives a loss of power (unless the caller did without). In both databases a transaction that will write
takes the lock of writers at its beginning, so that it can wait for it; one that only reads sees one moment.

What is written ahead has to be written again, into the database. SQLite does that at the end of some
transaction, whose writer waits for it; after a large one it takes so long that it can be left for later.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from alerts.codes import CANNOT_OPEN, CORRUPT
from alerts.outbox.errors import OutboxError, failure

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import DBAPIConnection

WRITES = "outbox_writes"
"""The execution option of a connection whose next transaction writes."""
LARGE = "outbox_large"
"""The execution option of a connection whose next transaction leaves to `checkpoint` what it wrote ahead."""

WHOLE = 2 << 30
"""Bytes of a database that is looked through whole: in a second where it is cached, else as fast as read."""
_DECIDING = (
    "outbox_version",
    "outbox_rules",
    "outbox_indexed",
    "outbox_batches",
    "outbox_suppression",
    "outbox_withheld",
)

_NOTICES = {
    "connect_timeout": 10,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""Seconds, and milliseconds for the last, after which a server that can no longer be reached is noticed; an
address may say others."""

_TURN = 0x0CE9
"""The number of the lock that writers take."""
_SILENCE = 15
"""Seconds for which a transaction that writes may have nothing to say."""
_SERVERS = ("keepalives_idle", "keepalives_interval", "keepalives_count")
_WITH_VALUES = (
    "outbox_alerts", "outbox_by_key", "outbox_deliveries", "outbox_episodes", "outbox_silences",
    "outbox_suppression",
)  # fmt: skip
_PATIENCE, _TRIES = 20, 100
"""Milliseconds for which what was written ahead waits for readers to be emptied, and how often."""

_PAGE = 16_384
"""Bytes: an alert has some hundred, and the more of them lie in a page the less is written around them."""
_PAGES = 250
"""Pages written ahead at which a transaction brings them into the database itself; as many bytes as SQLite's
own number of its own pages."""


def engine_for(url: str, *, wait: float, create: bool, durable: bool) -> Engine:
    """An engine for `sqlite:///FILE` or `postgresql://...`; no connection is made yet.

    `wait` is how many seconds a writer waits for another's lock. Not `durable`: SQLite does not wait for
    the disk; PostgreSQL keeps its own setting. Raises OutboxError for a URL that cannot be used, and where
    there is no file and `create` is false.
    """
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite":
            return _sqlite(parsed, wait, create, durable)
        if parsed.get_backend_name() == "postgresql":
            return _postgresql(parsed, wait)
    except (ArgumentError, NoSuchModuleError) as error:
        raise _unusable("what is given as the outbox is no address of a database") from error
    except ModuleNotFoundError as error:
        driver = error.name or "the driver"
        raise OutboxError(
            CANNOT_OPEN, f"{driver} is needed for {place_of(url)}", f"pip install {driver}"
        ) from error
    raise _unusable(f"an outbox cannot be kept in {parsed.get_backend_name()}")


def place_of(url: str) -> str:
    """The URL as messages show it: the file, or the address without its password."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        return "(no address of a database)"
    if parsed.get_backend_name() == "sqlite":
        return parsed.database or url
    return parsed.render_as_string(hide_password=True)


def _unusable(message: str) -> OutboxError:
    return OutboxError(CANNOT_OPEN, message, "write sqlite:///state/outbox.db or postgresql://user@host/name")


def _sqlite(url: URL, wait: float, create: bool, durable: bool) -> Engine:
    if not url.database or url.database == ":memory:":
        raise _unusable("an outbox in memory would lose its alerts")
    if not create and not Path(url.database).exists():
        raise OutboxError(
            CANNOT_OPEN, f"there is no outbox at {url.database}", "run the job first, or check the path"
        )
    if not Path(url.database).absolute().parent.is_dir():
        raise failure(CANNOT_OPEN, url.database, "its folder does not exist")
    engine = create_engine(url, connect_args={"timeout": wait})
    event.listen(engine, "connect", lambda connection, _: _configure(connection, durable))
    event.listen(engine, "begin", _begin)
    return engine


def _postgresql(url: URL, wait: float) -> Engine:
    own = {name: value for name, value in _NOTICES.items() if name not in url.query}
    engine = create_engine(url, pool_pre_ping=True, connect_args=own)
    event.listen(engine, "connect", lambda connection, _: _prepare(connection, wait))
    event.listen(engine, "begin", _take_turns)
    return engine


def _take_turns(connection: Connection) -> None:
    """One transaction writes at a time, as in SQLite: numbers follow one another, none waits in a ring.

    The turn of a process that is paused within it ends with its transaction, by the server.
    """
    if connection.get_execution_options().get(WRITES, False):
        connection.exec_driver_sql(
            f"SELECT set_config('idle_in_transaction_session_timeout', '{_SILENCE}s', true), "
            f"pg_advisory_xact_lock({_TURN}, hashtext(current_schema()))"
        )


def _prepare(connection: DBAPIConnection, wait: float) -> None:
    """The server, too, shall notice a program that can no longer be reached: it holds locks until then."""
    values = {f"tcp_{name}": str(_NOTICES[name]) for name in _SERVERS}
    values["lock_timeout"] = f"{wait * 1_000:.0f}ms"
    cursor = connection.cursor()
    for name, value in values.items():
        cursor.execute("SELECT set_config(%s, %s, false)", [name, value])
    cursor.close()
    connection.commit()  # what a transaction sets that is rolled back counts no longer


def _configure(connection: sqlite3.Connection, durable: bool) -> None:
    connection.isolation_level = None  # transactions begin where _begin says, not where the driver guesses
    connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'OFF'}")
    connection.execute(f"PRAGMA page_size={_PAGE}")  # of a new file
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA foreign_keys=OFF")  # files of version 2 have one, to a table that moves
    connection.execute("PRAGMA cache_size=-32768")
    connection.execute("PRAGMA secure_delete=ON")  # what is removed or erased leaves no bytes behind


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    if options.get(WRITES, False):
        pages = 0 if options.get(LARGE, False) else _PAGES
        connection.exec_driver_sql(f"PRAGMA wal_autocheckpoint={pages}")
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        connection.exec_driver_sql("BEGIN")


def look_through(connection: Connection, place: str) -> None:
    """Looks for damage where the database is SQLite, which reports none before it comes across it.

    Of a file longer than `WHOLE` only the tables that say where the job stands are looked through. Raises
    OutboxError.
    """
    if connection.dialect.name != "sqlite":
        return
    whole = Path(place).stat().st_size <= WHOLE
    for table in [""] if whole else [f"({name})" for name in _DECIDING]:
        found = connection.exec_driver_sql(f"PRAGMA quick_check{table}").scalars().all()
        if found != ["ok"]:
            raise failure(CORRUPT, place, "")


def checkpoint(engine: Engine) -> None:
    """Bring what was written ahead into the database, as far as nobody still reads what was there before.

    Readers and writers go on meanwhile. Nothing to do where the database is not SQLite.
    """
    if engine.dialect.name == "sqlite":
        connection = engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)")
        finally:
            connection.close()


def scrub(engine: Engine, *, anew: bool) -> bool:
    """Leave no bytes of what was erased: False where somebody reads what was there before, all the time.

    SQLite's file has none, as whatever is removed is overwritten (`_configure`); what was written ahead is
    emptied. Written `anew`, which writers wait for, the file also has none of the days before that was so.
    PostgreSQL is told to reuse the room.
    """
    if engine.dialect.name != "sqlite":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as alone:
            for table in _WITH_VALUES:
                alone.exec_driver_sql(f"VACUUM {table}")
        return True
    checkpoint(engine)
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        (before,) = cursor.execute("PRAGMA busy_timeout").fetchone()
        if anew:
            cursor.execute("VACUUM")
        cursor.execute(f"PRAGMA busy_timeout={_PATIENCE}")  # meanwhile writers wait
        try:
            for _ in range(_TRIES):
                if cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0:
                    return True
                time.sleep(4 * _PATIENCE / 1000)
            return False
        finally:
            cursor.execute(f"PRAGMA busy_timeout={before}")
    finally:
        connection.close()
