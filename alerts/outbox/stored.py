"""Reading back what is in the outbox: alerts, their deliveries, batches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Row, Select, func, select

from alerts.outbox.deliveries import known_receivers
from alerts.outbox.heads import places
from alerts.outbox.pages import Wanted, numbers
from alerts.outbox.record import BatchRecord
from alerts.outbox.schema import ERASED, alerts, batches, deliveries, ways


@dataclass(frozen=True, slots=True)
class StoredAlert:
    """An alert in the outbox: `number` rises in the order raised, `alert` is the JSON object.

    `time` is event time, `recorded_at` wall clock, both in nanoseconds since 1970 UTC.
    """

    number: int
    batch: int
    time: int
    recorded_at: int
    alert: dict[str, object]


@dataclass(frozen=True, slots=True)
class Delivery:
    """The status of the delivery of an alert to one receiver; moments are wall clock in ns, or null.

    `way` says which route led there; null: the receiver's own rules and severity. `held` is why a stage holds
    it back until `due_at`, `trace` what stages said: lines of a moment and words.
    """

    receiver: str
    state: str
    attempts: int
    due_at: int | None
    settled_at: int | None
    outcome: str
    way: str | None = None
    held: str | None = None
    trace: str = ""


_AT_ONCE = 500


def read_alerts(
    connection: Connection, wanted: Wanted, limit: int | None, newest_first: bool
) -> list[StoredAlert]:
    """The wanted alerts, in the order raised or the reverse."""
    listed = numbers(connection, wanted, limit, newest_first)
    found: dict[int, StoredAlert] = {}
    for start in range(0, len(listed), _AT_ONCE):
        query = _select().where(alerts.c.number.in_(listed[start : start + _AT_ONCE]))
        found |= {row.number: _stored(row) for row in connection.execute(query)}
    return [found[number] for number in listed]


def read_alert(connection: Connection, id_: str) -> StoredAlert | None:
    """The alert of that id, unless it was erased."""
    row = connection.execute(_select().where(*_of(id_), alerts.c.key != ERASED)).one_or_none()
    return None if row is None else _stored(row)


def _of(id_: str) -> tuple[ColumnElement[bool], ...]:
    return alerts.c.head.in_(places(id_)), alerts.c.id == id_


def read_deliveries(connection: Connection, id_: str) -> list[Delivery]:
    """The deliveries of the alert of that id, by receiver."""
    d = deliveries.c
    number = connection.scalar(select(alerts.c.number).where(*_of(id_)))
    if number is None:
        return []
    query = (
        select(
            d.receiver,
            d.state,
            d.attempts,
            d.due_at,
            d.settled_at,
            d.outcome,
            ways.c.said,
            d.held,
            func.coalesce(d.trace, ""),
        )
        .select_from(deliveries)
        .outerjoin(ways, ways.c.number == d.way)
        .where(d.alert == number, d.receiver.in_(known_receivers(connection)))
        .order_by(d.receiver)
    )
    return [Delivery(*row) for row in connection.execute(query)]


def read_batch(connection: Connection, number: int | None) -> BatchRecord | None:
    """The batch of that number; without one, the last."""
    b = batches.c
    query = select(b.number, b.digest, b.result).order_by(b.number.desc()).limit(1)
    if number is not None:
        query = query.where(b.number == number)
    row = connection.execute(query).one_or_none()
    return None if row is None else BatchRecord(row.number, row.digest, json.loads(row.result))


def read_batches(
    connection: Connection, before: int | None, limit: int
) -> list[tuple[int, int, dict[str, object]]]:
    """Number, moment and result of the batches with numbers less than `before`, the newest first."""
    b = batches.c
    query = select(b.number, b.recorded_at, b.result).order_by(b.number.desc()).limit(limit)
    if before is not None:
        query = query.where(b.number < before)
    return [(number, at, json.loads(result)) for number, at, result in connection.execute(query)]


def recorded_at(connection: Connection, listed: Sequence[int]) -> dict[int, int]:
    """The moments, wall clock in ns, at which alerts were recorded, by their numbers."""
    a = alerts.c
    return {
        number: at
        for start in range(0, len(listed), _AT_ONCE)
        for number, at in connection.execute(
            select(a.number, a.recorded_at).where(a.number.in_(listed[start : start + _AT_ONCE]))
        )
    }


def _select() -> Select[int, int, int, int, str]:
    a = alerts.c
    return select(a.number, a.batch, a.time, a.recorded_at, a.body)


def _stored(row: Row[int, int, int, int, str]) -> StoredAlert:
    return StoredAlert(row.number, row.batch, row.time, row.recorded_at, json.loads(row.body))
