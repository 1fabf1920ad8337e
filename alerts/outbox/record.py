"""A batch comes into the outbox once, whole: order, suppression, alerts, deliveries, memory, digest."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import attrgetter

from sqlalchemy import Connection, delete, func, insert, literal, select
from sqlalchemy.dialects import postgresql, sqlite

from alerts.codes import FORGOTTEN_BATCH, OTHER_BATCH
from alerts.outbox import memory
from alerts.outbox.errors import OutboxError
from alerts.outbox.schema import alerts, batches, deliveries
from alerts.raised import Raised
from alerts.routing import Route
from alerts.suppress import in_order, slot, withhold

REMEMBERED = 10_000
"""So many batches back a replay is recognised; rows of older batches are dropped (their alerts stay)."""

_WITHHOLDING = attrgetter("withholding")


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
    """What came of recording a batch.

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
    ordered = in_order(raised)
    kept: Sequence[Raised] = ordered
    withheld: Sequence[Raised] = ()
    if any(map(_WITHHOLDING, ordered)):
        kept, withheld = _suppressed(connection, _fresh(connection, ordered))
    kept = _insert(connection, batch, kept, routes, now)
    if ordered:
        memory.forget(connection, ordered[-1].time)
    repeated = len(ordered) - len(kept) - len(withheld)
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


def _fresh(connection: Connection, ordered: Sequence[Raised]) -> list[Raised]:
    """Each id once, without those of suppressed rules that were raised or withheld before.

    A repeated alert must not withhold another; of the rest, inserting them tells what the outbox has.
    """
    known = memory.known(connection, ordered)
    first: dict[str, Raised] = {}
    for one in ordered:
        if one.id not in known:
            first.setdefault(one.id, one)
    return list(first.values())


def _suppressed(connection: Connection, fresh: Sequence[Raised]) -> tuple[list[Raised], list[Raised]]:
    slots = {place for one in fresh if (place := slot(one)) is not None}
    before = memory.read(connection, slots)
    kept, withheld, after = withhold(fresh, before)
    memory.write(connection, before, after)
    memory.remember(connection, withheld)
    return kept, withheld


def _insert(
    connection: Connection, batch: BatchRecord, kept: Sequence[Raised], routes: Sequence[Route], now: int
) -> Sequence[Raised]:
    """Inserts the alerts that the outbox does not have, and their deliveries; returns these alerts.

    Of several with one id the first is inserted.
    """
    if not kept:
        return ()
    first = (connection.scalar(select(func.max(alerts.c.number))) or 0) + 1
    _, ids, packs, rules, severities, times, bodies, _ = zip(*kept, strict=True)
    rows = zip(
        range(first, first + len(kept)), ids, repeat(batch.number), packs, rules, severities, times, bodies,
        repeat(now), strict=False,
    )  # fmt: skip
    _insert_many(connection, list(rows))
    a = alerts.c
    if connection.scalar(select(func.count()).where(a.number >= first)) != len(kept):
        numbers = connection.scalars(select(a.number).where(a.number >= first).order_by(a.number))
        kept = [kept[number - first] for number in numbers]
    for route in routes:
        _route(connection, route, first, now)
    return kept


def _insert_many(connection: Connection, rows: list[tuple[object, ...]]) -> None:
    """Inserts alerts, whose values are in the order of the table's columns, but for ids that are there.

    A driver with positional parameters gets them as they are: building a dictionary for every row
    would cost more than the database does.
    """
    inserting = (
        postgresql.insert(alerts) if connection.dialect.name == "postgresql" else sqlite.insert(alerts)
    )
    statement = inserting.on_conflict_do_nothing(index_elements=[alerts.c.id])
    names = [column.name for column in alerts.columns]
    compiled = statement.compile(dialect=connection.dialect, column_keys=names)
    if getattr(compiled, "positiontup", None) == names:
        connection.exec_driver_sql(compiled.string, rows)
    else:
        connection.execute(statement, [dict(zip(names, row, strict=True)) for row in rows])


def _route(connection: Connection, route: Route, first: int, now: int) -> None:
    """Makes the alerts from number `first` on pending for a receiver, if its route takes them."""
    query = select(
        literal(route.receiver), alerts.c.number, literal("pending"), literal(0), literal(now), literal("")
    ).where(alerts.c.number >= first, alerts.c.severity.in_(route.severities))
    if route.rules is not None:
        query = query.where(alerts.c.rule.in_(sorted(route.rules)))
    columns = ["receiver", "alert", "state", "attempts", "due_at", "outcome"]
    connection.execute(insert(deliveries).from_select(columns, query))
