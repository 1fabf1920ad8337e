"""A batch comes into the outbox once, whole: what its stages keep, alerts, deliveries, digest."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from sqlalchemy import BigInteger, Connection, Insert, bindparam, delete, func, insert, literal, select
from sqlalchemy.dialects import postgresql, sqlite

from alerts.arrow_columns import Ints
from alerts.codes import FORGOTTEN_BATCH, OTHER_BATCH
from alerts.outbox.errors import OutboxError
from alerts.outbox.memory import memory_in
from alerts.outbox.schema import alerts, batches, deliveries
from alerts.raised import Raised
from alerts.raised_columns import RaisedColumns, pieces
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

    alerts: RaisedColumns
    withheld: RaisedColumns
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
    columns = RaisedColumns.together([raised])
    none = RaisedColumns.of(())
    if _known(connection, batch):
        return Recorded(none, none, 0, True)
    passed = decide(columns, memory_in(connection))
    numbers, kept = _insert(connection, batch, passed.on, now)
    coming = Outgoing(numbers, kept, np.full(len(numbers), now))
    for route in routes:
        _send(connection, route.receiver, through(stages_to(route), coming, None, now).on)
    withheld = passed.held.get(Suppress.name, none)
    repeated = len(columns) - len(kept) - len(withheld)
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
    return Recorded(kept, withheld, repeated, False)


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
    connection: Connection, batch: BatchRecord, kept: RaisedColumns, now: int
) -> tuple[Ints, RaisedColumns]:
    """Inserts the alerts that the outbox does not have; their numbers, and these alerts.

    Of several with one id the first is inserted.
    """
    if not len(kept):
        return np.zeros(0, np.int64), kept
    first = (connection.scalar(select(func.max(alerts.c.number))) or 0) + 1
    numbers = np.arange(first, first + len(kept))
    of_rule = [(one.pack, one.rule, one.severity) for one in kept.rules]
    packs, rules, severities = zip(*[of_rule[number] for number in kept.rule.tolist()], strict=True)
    bodies = map(bytes.decode, pieces(kept.bodies))
    rows = zip(
        numbers.tolist(), kept.hex_ids(), repeat(batch.number), packs, rules, severities, kept.time.tolist(),
        bodies, repeat(now), strict=False,
    )  # fmt: skip
    of_dialect = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    but_known = of_dialect(alerts).on_conflict_do_nothing(index_elements=[alerts.c.id])
    _insert_many(connection, but_known, list(rows))
    a = alerts.c
    if connection.scalar(select(func.count()).where(a.number >= first)) == len(kept):
        return numbers, kept
    found = connection.scalars(select(a.number).where(a.number >= first).order_by(a.number))
    taken = np.array(found.all(), np.int64)
    return taken, kept.take(taken - first)


def _send(connection: Connection, receiver: str, going: Outgoing) -> None:
    """Makes deliveries of alerts, in the order of their numbers, to a receiver pending.

    Numbers that follow one another go in one statement: the database makes their rows ten times as quickly as
    it takes them in.
    """
    if not len(going):
        return
    numbers, due_at = going.numbers, going.due_at
    begins = np.flatnonzero((np.diff(numbers) != 1) | (np.diff(due_at) != 0)) + 1
    least, ends = np.concatenate(([0], begins)), np.concatenate((begins, [len(numbers)]))
    ranges = zip(numbers[least].tolist(), numbers[ends - 1].tolist(), due_at[least].tolist(), strict=True)
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
