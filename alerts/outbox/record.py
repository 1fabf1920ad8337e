"""A batch comes into the outbox once, whole: what its stages keep, alerts, deliveries, digest."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import BigInteger, Connection, bindparam, delete, func, insert, literal, select

from alerts.codes import FORGOTTEN_BATCH, OTHER_BATCH
from alerts.outbox.errors import OutboxError
from alerts.outbox.insert import insert_alerts
from alerts.outbox.memory import memory_in
from alerts.outbox.schema import alerts, batches, deliveries
from alerts.outbox.trailing import index_some
from alerts.outbox.ways import ways_told
from alerts.raised import Raised
from alerts.raised_columns import RaisedColumns
from alerts.routing import Branches, Routes
from alerts.stages.decided import decide
from alerts.stages.outgoing import Outgoing
from alerts.stages.route import Way
from alerts.stages.suppress import Suppress
from alerts.stages.to_receiver import sent

MANY = 2_000
"""With so many alerts a batch is large: it does not wait for the indexes that trail, nor for what it wrote
ahead to be brought into the database."""
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
    routes: Routes,
    write: Callable[[Connection], None] | None,
    now: int,
) -> Recorded:
    """Writes a batch within the transaction that `connection` is in. Raises OutboxError."""
    columns = RaisedColumns.together([raised])
    none = RaisedColumns.of(())
    if _known(connection, batch):
        return Recorded(none, none, 0, True)
    passed = decide(columns, memory_in(connection))
    numbers, kept = insert_alerts(connection, batch.number, passed.on, now)
    if len(kept) < MANY:
        index_some(connection)
    coming = Outgoing(numbers, kept, np.full(len(numbers), now))
    told = ways_told(connection, routes) if isinstance(routes, Branches) else {}
    for way, going in sent(coming, routes, now):
        _send(connection, way, None if way.branch is None else told[way.branch], going)
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


def _send(connection: Connection, way: Way, told: int | None, going: Outgoing) -> None:
    """Makes deliveries of alerts, in the order of their numbers, to a receiver pending; `told` is the number
    of the words for their way.

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
    values = [literal(way.receiver), number_of, literal("pending"), literal(0), due, literal("")]
    columns = ["receiver", "alert", "state", "attempts", "due_at", "outcome"]
    if told is not None:
        values.append(literal(told))
        columns.append("way")
    rows = select(*values).where(number_of.between(bindparam("least"), bindparam("greatest")))
    statement = insert(deliveries).from_select(columns, rows)
    names = ("least", "greatest", "due")
    connection.execute(statement, [dict(zip(names, one, strict=True)) for one in ranges])
