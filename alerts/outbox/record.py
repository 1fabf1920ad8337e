"""A batch comes into the outbox once, whole: what its stages keep, alerts, deliveries, digest."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat

from sqlalchemy import BigInteger, Connection, Insert, bindparam, delete, func, insert, literal, select
from sqlalchemy.dialects import postgresql, sqlite

from alerts.codes import FORGOTTEN_BATCH, OTHER_BATCH
from alerts.outbox.errors import OutboxError
from alerts.outbox.memory import memory_in
from alerts.outbox.schema import alerts, batches, deliveries
from alerts.raised import Raised
from alerts.routing import Route
from alerts.stages.decided import decide
from alerts.stages.outgoing import Outgoing
from alerts.stages.stage import through
from alerts.stages.suppress import Suppress
from alerts.stages.to_receiver import stages_to

REMEMBERED = 10_000
"""So many batches back a replay is recognised; rows of older batches are dropped (their alerts stay)."""


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """A batch of the stream: its number, the digest of its manifest, and what is to be remembered of it.

    `result` is a JSON object.
    """

    number: int
    digest: str
    result: dict[str, object]


@dataclass(frozen=True, slots=True)
class Recorded:
    """The outcome of recording a batch.

    `alerts` are those newly in the outbox, in the order raised; `withheld` those suppressed; `repeated`
    counts ids that were there before, or twice in the batch: they are not delivered again. When the
    outbox had the whole batch (`already`), nothing was written and all three are empty.
    """

    alerts: tuple[Raised, ...]
    withheld: tuple[Raised, ...]
    repeated: int
    already: bool


def record(
    connection: Connection,
    batch: BatchRecord,
    raised: Sequence[Raised],
    routes: Sequence[Route],
    write: Callable[[Connection], None] | None,
    now: int,
) -> Recorded:
    """Writes a batch within the transaction that `connection` is in. Raises OutboxError."""
    if _known(connection, batch):
        return Recorded((), (), 0, True)
    passed = decide(raised, memory_in(connection))
    numbered = _insert(connection, batch, passed.on, now)
    coming = [Outgoing(number, one, now) for number, one in numbered]
    for route in routes:
        _send(connection, route.receiver, through(stages_to(route), coming, None, now).on)
    kept, withheld = [one for _, one in numbered], passed.held[Suppress.name]
    repeated = len(raised) - len(kept) - len(withheld)
    row = {
        "number": batch.number,
        "digest": batch.digest,
        "result": json.dumps(batch.result),
        "recorded_at": now,
    }
    connection.execute(insert(batches), row)
    connection.execute(delete(batches).where(batches.c.number <= batch.number - REMEMBERED))
    if write is not None:
        write(connection)
    return Recorded(tuple(kept), tuple(withheld), repeated, False)


def _known(connection: Connection, batch: BatchRecord) -> bool:
    digest = connection.scalar(select(batches.c.digest).where(batches.c.number == batch.number))
    if digest is not None and digest != batch.digest:
        raise OutboxError(
            OTHER_BATCH,
            f"the outbox has another batch {batch.number}: it belongs to another run of the job",
            "give each state folder an outbox of its own, or restore both from one backup",
        )
    if digest is None:
        oldest, latest = connection.execute(
            select(func.min(batches.c.number), func.max(batches.c.number))
        ).one()
        if oldest is not None and batch.number < oldest and latest - batch.number >= REMEMBERED:
            raise OutboxError(
                FORGOTTEN_BATCH,
                f"the outbox is at batch {latest} and no longer remembers batch {batch.number}",
                "restore the outbox and the state folder from one backup",
            )
    return digest is not None


def _insert(
    connection: Connection, batch: BatchRecord, kept: Sequence[Raised], now: int
) -> Sequence[tuple[int, Raised]]:
    """Inserts the alerts that the outbox does not have; these alerts with their numbers.

    Of several with one id the first is inserted.
    """
    if not kept:
        return ()
    first = (connection.scalar(select(func.max(alerts.c.number))) or 0) + 1
    _, ids, packs, rules, severities, times, bodies, _ = zip(*kept, strict=True)
    numbers = range(first, first + len(kept))
    rows = zip(
        numbers, ids, repeat(batch.number), packs, rules, severities, times, bodies, repeat(now),
        strict=False,
    )  # fmt: skip
    of_dialect = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    but_known = of_dialect(alerts).on_conflict_do_nothing(index_elements=[alerts.c.id])
    _insert_many(connection, but_known, list(rows))
    a = alerts.c
    if connection.scalar(select(func.count()).where(a.number >= first)) == len(kept):
        return list(zip(numbers, kept, strict=True))
    taken = connection.scalars(select(a.number).where(a.number >= first).order_by(a.number))
    return [(number, kept[number - first]) for number in taken]


def _send(connection: Connection, receiver: str, going: Sequence[Outgoing]) -> None:
    """Makes deliveries of alerts, in the order of their numbers, to a receiver pending.

    Numbers that follow one another go in one statement: the database makes their rows ten times as quickly as
    it takes them in.
    """
    ranges: list[list[int]] = []
    for number, _, due_at in going:
        if ranges and ranges[-1][1] == number - 1 and ranges[-1][2] == due_at:
            ranges[-1][1] = number
        else:
            ranges.append([number, number, due_at])
    if not ranges:
        return
    number_of, due = alerts.c.number, bindparam("due", type_=BigInteger)
    rows = select(literal(receiver), number_of, literal("pending"), literal(0), due, literal("")).where(
        number_of.between(bindparam("least"), bindparam("greatest"))
    )
    columns = ["receiver", "alert", "state", "attempts", "due_at", "outcome"]
    statement = insert(deliveries).from_select(columns, rows)
    names = ("least", "greatest", "due")
    connection.execute(statement, [dict(zip(names, one, strict=True)) for one in ranges])


def _insert_many(connection: Connection, statement: Insert, rows: list[tuple[object, ...]]) -> None:
    """Inserts alerts, whose values are in the order of the table's columns.

    A driver with positional parameters gets them as they are: building a dictionary for every row
    would cost more than the database does.
    """
    names = [column.name for column in alerts.columns]
    compiled = statement.compile(dialect=connection.dialect, column_keys=names)
    if getattr(compiled, "positiontup", None) == names:
        connection.exec_driver_sql(compiled.string, rows)
    else:
        connection.execute(statement, [dict(zip(names, row, strict=True)) for row in rows])
