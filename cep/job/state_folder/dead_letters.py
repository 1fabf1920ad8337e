"""Dead letters and late events, kept in the outbox's database within the batch's own transaction.

What did not become an event, or came too late, is thereby there exactly once, also after a replay: the
outbox writes a batch once, and calls `write` inside that transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Row,
    String,
    Table,
    Text,
    func,
    insert,
    inspect,
    select,
)

from cep.decode.letters import DeadLetter

metadata = MetaData()

_NUMBER = BigInteger().with_variant(Integer, "sqlite")

dead_letters = Table(
    "dead_letters",
    metadata,
    Column("number", _NUMBER, primary_key=True, autoincrement=True),
    Column("batch", BigInteger, nullable=False),
    Column("feed", String(200), nullable=False),
    Column("file", Text, nullable=False),
    Column("offset", BigInteger, nullable=False),
    Column("stage", String(16), nullable=False),
    Column("reason", Text, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Index("dead_letters_batch", "batch"),
    Index("dead_letters_feed", "feed", "number"),
)

late_events = Table(
    "late_events",
    metadata,
    Column("number", _NUMBER, primary_key=True, autoincrement=True),
    Column("batch", BigInteger, nullable=False),
    Column("stream", String(200), nullable=False),
    Column("file", Text, nullable=False),
    Column("offset", BigInteger, nullable=False),
    Column("id", Text, nullable=False),
    Column("time", BigInteger, nullable=False),  # event time, nanoseconds since 1970 UTC
    Column("data", Text, nullable=False),  # the event as JSON
    Index("late_events_batch", "batch"),
)

_CHUNK = 5_000


@dataclass(frozen=True, slots=True)
class LateEvent:
    """An event that came after the watermark had passed it; `time` in nanoseconds, `data` as JSON."""

    stream: str
    file: str
    offset: int
    id: str
    time: int
    data: str


@dataclass(frozen=True, slots=True)
class StoredLetter:
    """A dead letter as it is kept; `number` counts up in the order written."""

    number: int
    batch: int
    letter: DeadLetter


def create(connection: Connection) -> None:
    """Makes the tables where they are missing."""
    if not inspect(connection).has_table(dead_letters.name):
        metadata.create_all(connection)


def write(
    connection: Connection, batch: int, letters: Iterable[DeadLetter], late: Iterable[LateEvent] = ()
) -> None:
    """Adds a batch's dead letters and late events, in the order given, to the caller's transaction."""
    create(connection)
    _insert(
        connection,
        dead_letters,
        [
            {
                "batch": batch,
                "feed": _storable(one.feed),
                "file": _storable(one.file),
                "offset": one.offset,
                "stage": one.stage,
                "reason": _storable(one.reason),
                "data": one.data,
            }
            for one in letters
        ],
    )
    _insert(
        connection,
        late_events,
        [
            {
                "batch": batch,
                "stream": one.stream,
                "file": _storable(one.file),
                "offset": one.offset,
                "id": _storable(one.id),
                "time": one.time,
                "data": _storable(one.data),
            }
            for one in late
        ],
    )


def write_once(connection: Connection, batch: int, letters: Iterable[DeadLetter]) -> None:
    """Adds those dead letters of a batch, which was written before, that are not there yet."""
    create(connection)
    c = dead_letters.c
    known = select(c.feed, c.file, c.offset, c.stage).where(c.batch == batch)
    there = {tuple(row) for row in connection.execute(known)}
    fresh = [one for one in letters if (one.feed, one.file, one.offset, one.stage) not in there]
    write(connection, batch, fresh)


def files_told(connection: Connection, files: Collection[str]) -> set[str]:
    """Those of some files of which a letter of stage "read" or "lost" is kept."""
    if not inspect(connection).has_table(dead_letters.name):
        return set()
    c = dead_letters.c
    query = select(c.file).where(
        c.stage.in_(("read", "lost")), c.file.in_([_storable(file) for file in files])
    )
    return set(connection.scalars(query))


def count(connection: Connection, feed: str | None = None) -> int:
    """The number of dead letters, of one feed or of all."""
    return _count(connection, dead_letters, None if feed is None else dead_letters.c.feed == feed)


def read(
    connection: Connection, *, feed: str | None = None, after: int = 0, limit: int = 100
) -> list[StoredLetter]:
    """Dead letters in the order written, from those with a number greater than `after` on."""
    if not inspect(connection).has_table(dead_letters.name):
        return []
    query = select(dead_letters).where(dead_letters.c.number > after).order_by(dead_letters.c.number)
    if feed is not None:
        query = query.where(dead_letters.c.feed == feed)
    return [_stored(row) for row in connection.execute(query.limit(limit))]


def newest(
    connection: Connection, *, feed: str | None = None, before: int | None = None, limit: int = 100
) -> list[StoredLetter]:
    """Dead letters with numbers less than `before`, the newest first."""
    if not inspect(connection).has_table(dead_letters.name):
        return []
    c = dead_letters.c
    query = select(dead_letters).order_by(c.number.desc()).limit(limit)
    if feed is not None:
        query = query.where(c.feed == feed)
    if before is not None:
        query = query.where(c.number < before)
    return [_stored(row) for row in connection.execute(query)]


def letter(connection: Connection, number: int) -> StoredLetter | None:
    """The dead letter of that number."""
    if not inspect(connection).has_table(dead_letters.name):
        return None
    row = connection.execute(select(dead_letters).where(dead_letters.c.number == number)).one_or_none()
    return None if row is None else _stored(row)


def counts(connection: Connection) -> dict[str, int]:
    """The number of dead letters of each feed that has any."""
    if not inspect(connection).has_table(dead_letters.name):
        return {}
    feed = dead_letters.c.feed
    rows = connection.execute(select(feed, func.count()).group_by(feed))
    return {str(name): int(count) for name, count in rows}


def _stored(row: Row[Any]) -> StoredLetter:
    values: tuple[Any, ...] = tuple(row)
    number, batch, feed, file, offset, stage, reason, data = values
    return StoredLetter(number, batch, DeadLetter(feed, file, offset, stage, reason, bytes(data)))


def _insert(connection: Connection, table: Table, rows: Sequence[dict[str, object]]) -> None:
    for start in range(0, len(rows), _CHUNK):
        connection.execute(insert(table), rows[start : start + _CHUNK])


def _count(connection: Connection, table: Table, condition: object) -> int:
    if not inspect(connection).has_table(table.name):
        return 0
    query = select(func.count()).select_from(table)
    if condition is not None:
        query = query.where(condition)  # type: ignore[arg-type]
    return connection.scalar(query) or 0


def _storable(text: str) -> str:
    """The text as every database takes it: PostgreSQL's text has no NUL, and UTF-8 no half pairs."""
    return text.replace("\0", "\ufffd").encode(errors="replace").decode()
