"""Dead letters that somebody wants to be read again, and what became of each, in the outbox's database.

A letter that waits is taken by a batch, which notes in its own transaction what it came to; so it is read
once, however often the batch is run. Its place stays what it was, and so does the id of an event that is
named by its place. What a letter holds is changed by nothing: `data` are mended bytes in place of its own.

    waits       asked for; the next batches take it
    event       it became an event
    late        it became one, too late: a late event
    refused     it is a dead letter again, `successor`
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Select,
    String,
    Table,
    delete,
    func,
    insert,
    inspect,
    select,
    update,
)

from cep.decode.bounds import SHOWN
from cep.decode.letters import DeadLetter
from cep.job.state_folder.dead_letters import LateEvent, StoredLetter, dead_letters

ReplayState = Literal["waits", "event", "late", "refused"]

T = TypeVar("T")
Place: TypeAlias = tuple[str, str, int]
"""Feed, file and offset of a letter."""

metadata = MetaData()

letter_replays = Table(
    "letter_replays",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("feed", String(200), nullable=False),
    Column("state", String(16), nullable=False),
    Column("at", BigInteger, nullable=False),  # when it was asked for, nanoseconds since 1970 UTC
    Column("who", String(200), nullable=False),
    Column("data", LargeBinary),
    Column("batch", BigInteger),
    Column("successor", BigInteger),
    Index("letter_replays_state", "state", "feed", "number"),
    Index("letter_replays_successor", "successor"),
)

MOST, MOST_BYTES = 10_000, 32 << 20
"""Letters, and their bytes, that a batch reads again."""
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class LetterReplay:
    """A replay of a dead letter: who asked when (ns), and what it came to in which batch, if it did."""

    number: int
    state: ReplayState
    at: int
    who: str
    mended: bool
    batch: int | None
    successor: int | None


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks for replays, and when, in ns. `data` replaces the bytes of a single letter."""

    who: str
    at: int
    data: bytes | None = None


def hindrance(letter: DeadLetter) -> str | None:
    """The reason why a letter's bytes cannot be read again, a predicate; None if they can."""
    if letter.stage in ("read", "lost"):
        return "tells of a file, and holds no record"
    if letter.stage == "poison" and "that decoded" not in letter.reason:
        return "holds what was made of a record, not its bytes"
    if not letter.data:
        return "has no bytes"
    if len(letter.data) == SHOWN and letter.reason.endswith("are kept"):
        return "holds the beginning of its record only"
    return None


def create(connection: Connection) -> None:
    """Make the table where it is missing."""
    if not _there(connection):
        metadata.create_all(connection)


def ask(connection: Connection, letters: Sequence[tuple[int, str]], asking: Asking) -> None:
    """Have letters, by number and feed, read again. No replay of them was asked for before."""
    create(connection)
    for some in _chunks(letters):
        rows = [
            {
                "number": number, "feed": feed, "state": "waits", "at": asking.at, "who": asking.who,
                "data": asking.data,
            }
            for number, feed in some
        ]  # fmt: skip
        connection.execute(insert(letter_replays), rows)


def waiting(connection: Connection, feeds: Collection[str]) -> list[StoredLetter]:
    """The letters of some feeds that the next batch is to read, in the order written, with mended bytes.

    As many as one batch takes.
    """
    if not feeds or not _there(connection):
        return []
    r, c = letter_replays.c, dead_letters.c
    query = (
        select(c.number, c.batch, c.feed, c.file, c.offset, c.stage, c.reason, c.data, r.data)
        .join_from(letter_replays, dead_letters, r.number == c.number)
        .where(r.state == "waits", r.feed.in_(sorted(feeds)))
        .order_by(r.number)
        .limit(MOST)
        .execution_options(yield_per=_CHUNK)
    )
    found: list[StoredLetter] = []
    places: set[Place] = set()
    octets = 0
    for row in connection.execute(query):
        number, batch, feed, file, offset, stage, reason, data, mended = tuple(row)
        if (feed, file, offset) in places:
            continue  # the batch after it reads that one
        places.add((feed, file, offset))
        data = bytes(data if mended is None else mended)
        octets += len(data)
        if found and octets > MOST_BYTES:
            break
        found.append(StoredLetter(number, batch, DeadLetter(feed, file, offset, stage, reason, data)))
    return found


def settle(
    connection: Connection, batch: int, read: Mapping[int, Place], dead: Iterable[DeadLetter],
    late: Iterable[LateEvent],
) -> dict[ReplayState, int]:  # fmt: skip
    """Note what the letters that a batch read came to, once its own are written; how many came to what."""
    refused = {(one.feed, one.file, one.offset) for one in dead}
    too_late = {(one.stream, one.file, one.offset) for one in late}
    successors = _successors(connection, batch) if refused else {}
    c, counts = letter_replays.c, Counter[ReplayState]()
    for number, place in read.items():
        state: ReplayState = "refused" if place in refused else "late" if place in too_late else "event"
        values = {"state": state, "batch": batch, "successor": successors.get(place)}
        connection.execute(update(letter_replays).where(c.number == number).values(values))
        counts[state] += 1
    return counts


def told(batch: int, counts: Mapping[ReplayState, int]) -> str:
    """A sentence about what the letters that a batch read again came to."""
    became: dict[ReplayState, str] = {
        "event": "became events", "late": "are late events", "refused": "are dead letters again"
    }  # fmt: skip
    parts = [f"{counts[state]:,} {said}" for state, said in became.items() if counts.get(state)]
    return f"batch {batch} read dead letters again: {', '.join(parts)}"


def of_letters(connection: Connection, numbers: Sequence[int]) -> dict[int, LetterReplay]:
    """The replays of some letters, by number."""
    if not _there(connection):
        return {}
    r = letter_replays.c
    mended = r.data.is_not(None)
    found = {}
    for some in _chunks(numbers):
        query = select(r.number, r.state, r.at, r.who, mended, r.batch, r.successor)
        for row in connection.execute(query.where(r.number.in_(some))):
            values: tuple[Any, ...] = tuple(row)
            found[values[0]] = LetterReplay(
                values[0], values[1], values[2], values[3], bool(values[4]), *values[5:]
            )
    return found


def forebears(connection: Connection, numbers: Sequence[int]) -> dict[int, int]:
    """The letter that each of some letters was, before it was read again and refused, by number."""
    if not _there(connection):
        return {}
    r = letter_replays.c
    found: dict[int, int] = {}
    for some in _chunks(numbers):
        query = select(r.successor, r.number).where(r.successor.in_(some))
        found |= {int(after): int(before) for after, before in connection.execute(query)}
    return found


def remaining(connection: Connection) -> int:
    """The number of letters that wait to be read again."""
    if not _there(connection):
        return 0
    query = select(func.count()).select_from(letter_replays).where(letter_replays.c.state == "waits")
    return connection.scalar(query) or 0


def numbers_waiting() -> Select[tuple[int]]:
    """The query for the letters that wait; the table has to be there."""
    return select(letter_replays.c.number).where(letter_replays.c.state == "waits")


def forget(connection: Connection, numbers: Sequence[int]) -> None:
    """Remove the replays of letters that are removed."""
    if _there(connection):
        for some in _chunks(numbers):
            connection.execute(delete(letter_replays).where(letter_replays.c.number.in_(some)))


def mended(connection: Connection, numbers: Sequence[int]) -> dict[int, bytes]:
    """The mended bytes of letters that have some, by number."""
    if not _there(connection):
        return {}
    r = letter_replays.c
    found: dict[int, bytes] = {}
    for some in _chunks(numbers):
        query = select(r.number, r.data).where(r.number.in_(some), r.data.is_not(None))
        found |= {number: bytes(data) for number, data in connection.execute(query)}
    return found


def erase(connection: Connection, number: int) -> None:
    """Erase the mended bytes of a letter that is erased; it is not read again if it still waits."""
    if _there(connection):
        r = letter_replays.c
        connection.execute(delete(letter_replays).where(r.number == number, r.state == "waits"))
        mine = update(letter_replays).where(r.number == number, r.data.is_not(None))
        connection.execute(mine.values(data=b""))


def _successors(connection: Connection, batch: int) -> dict[Place, int]:
    c = dead_letters.c
    rows = connection.execute(select(c.feed, c.file, c.offset, c.number).where(c.batch == batch))
    return {(feed, file, offset): number for feed, file, offset, number in rows}


def _there(connection: Connection) -> bool:
    return inspect(connection).has_table(letter_replays.name)


def _chunks(values: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), _CHUNK):
        yield values[start : start + _CHUNK]
