"""Dead letters and late events that are old enough are removed, some at a time.

Their rows have no moment: marks say up to which number each table had come at some moments of the wall clock.
What was there before the first mark counts from that.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Connection, MetaData, String, Table, delete, func, insert, select

from cep.job.state_folder import dead_letters, letter_replays

STEP = 500
"""Rows that a transaction removes."""
LETTERS, LATE = dead_letters.dead_letters, dead_letters.late_events

metadata = MetaData()
marks = Table(
    "retention_marks",
    metadata,
    Column("of", String(40), primary_key=True),  # a table's name
    Column("at", BigInteger, primary_key=True, autoincrement=False),
    Column("number", BigInteger, nullable=False),  # its last then
)


def mark(connection: Connection, now: int) -> None:
    """Note how far each table has come, where there is something new since the last mark."""
    dead_letters.create(connection)
    metadata.create_all(connection)
    for table in (LETTERS, LATE):
        newest = connection.scalar(select(func.max(table.c.number))) or 0
        noted = connection.scalar(select(func.max(marks.c.number)).where(marks.c.of == table.name)) or 0
        at = connection.scalar(select(func.max(marks.c.at)).where(marks.c.of == table.name)) or 0
        if newest > noted and now > at:
            connection.execute(insert(marks), {"of": table.name, "at": now, "number": newest})


def old(connection: Connection, table: Table, before: int, most: int = STEP) -> list[int]:
    """The first rows of a table that were there before a moment of the wall clock, in ns, by number.

    Not the last of all, from which the next number is counted, nor one that waits to be read again.
    """
    last = connection.scalar(
        select(func.max(marks.c.number)).where(marks.c.of == table.name, marks.c.at <= before)
    )
    if last is None:
        return []
    number = table.c.number
    newest = connection.scalar(select(func.max(number))) or 0
    query = select(number).where(number <= last, number < newest).order_by(number).limit(most)
    if table is LETTERS and letter_replays.remaining(connection):
        query = query.where(number.not_in(letter_replays.numbers_waiting()))
    return list(connection.scalars(query))


def remove(connection: Connection, table: Table, numbers: list[int]) -> int:
    """Remove rows, and the marks that no row needs any more; how many rows."""
    count = connection.execute(delete(table).where(table.c.number.in_(numbers))).rowcount
    if table is LETTERS:
        letter_replays.forget(connection, numbers)
    least = connection.scalar(select(func.min(table.c.number))) or 0
    connection.execute(delete(marks).where(marks.c.of == table.name, marks.c.number < least))
    return count
