"""Alerts and deliveries that are old enough are removed, some at a time.

What is removed is looked for beside the writer, who waits only for the removal of `STEP` of them. A delivery
goes when it was settled so long ago; one that is pending never does, nor does its alert. An alert goes with
its deliveries and its episode once no replay can raise it again: of the last `REPLAYS` batches all stay. So
does the first alert of an episode that lasts: its id is the episode's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, exists, func, select

from alerts.outbox.notifications import notifications
from alerts.outbox.pages import first_from
from alerts.outbox.schema import alerts, assigned, batches, deliveries, episodes, indexed
from alerts.outbox.small_steps import MOST
from alerts.outbox.trailing import unindex

REPLAYS = 100
"""Batches that Spark can run again; the outbox knows those, and many before them."""
STEP = MOST
"""Alerts or deliveries that a transaction removes at most."""


@dataclass(frozen=True, slots=True)
class OldDeliveries:
    """Deliveries of some alerts, by number, to a receiver; settled `before`, wall clock in ns."""

    receiver: str
    numbers: Sequence[int]
    before: int


@dataclass(frozen=True, slots=True)
class OldAlerts:
    """Alerts by number, rising; `last` is the number up to which alerts are old."""

    numbers: Sequence[int]
    last: int


def receivers(connection: Connection) -> list[str]:
    """Those that a delivery is kept for."""
    found, d = [], deliveries.c
    receiver = connection.scalar(select(func.min(d.receiver)))
    while receiver is not None:
        found.append(receiver)
        receiver = connection.scalar(select(func.min(d.receiver)).where(d.receiver > receiver))
    return found


def old_deliveries(
    connection: Connection, receiver: str, before: int, after: int, most: int = STEP
) -> OldDeliveries:
    """The next deliveries to a receiver that were settled before a moment, of alerts beyond `after`."""
    d = deliveries.c
    last = first_from(connection, alerts.c.recorded_at, before) - 1
    query = (
        select(d.alert)
        .where(d.receiver == receiver, d.alert > after, d.alert <= last)
        .where(d.due_at.is_(None), d.settled_at < before)
        .order_by(d.alert)
        .limit(most)
    )
    return OldDeliveries(receiver, list(connection.scalars(query)), before)


def remove_deliveries(connection: Connection, old: OldDeliveries) -> int:
    """Remove them, but what is pending again since they were found; how many."""
    d = deliveries.c
    this = (
        d.receiver == old.receiver,
        d.alert.in_(old.numbers),
        d.due_at.is_(None),
        d.settled_at < old.before,
    )
    return connection.execute(delete(deliveries).where(*this)).rowcount


def old_notifications(connection: Connection, before: int, most: int = STEP) -> list[int]:
    """The first notifications made before a moment that are settled and have no delivery left, by number."""
    n = notifications.c
    newest = connection.scalar(select(func.max(n.number))) or 0  # the next one's number is counted from it
    query = (
        select(n.number)
        .where(n.number < newest, n.made_at < before, n.due_at.is_(None))
        .where(~exists().where(deliveries.c.notification == n.number))
        .order_by(n.number)
        .limit(most)
    )
    return list(connection.scalars(query))


def remove_notifications(connection: Connection, numbers: Sequence[int]) -> int:
    """Remove them; how many."""
    n = notifications.c
    return connection.execute(delete(notifications).where(n.number.in_(numbers), n.due_at.is_(None))).rowcount


def old_alerts(connection: Connection, before: int, after: int, most: int = STEP) -> OldAlerts:
    """The next alerts beyond the number `after` that were recorded `before`, wall clock in ns, and that no
    replay can raise again."""
    a = alerts.c
    last_batch = connection.scalar(select(func.max(batches.c.number)))
    if last_batch is None:
        return OldAlerts((), 0)
    done = [connection.scalar(select(place.c.number)) or 0 for place in (indexed, assigned)]
    newest = connection.scalar(select(func.max(a.number))) or 0
    last = min(
        first_from(connection, a.recorded_at, before) - 1,
        first_from(connection, a.batch, last_batch - REPLAYS) - 1,
        newest - 1,  # the next alert's number is counted from it
        *done,
    )
    query = select(a.number).where(a.number > after, a.number <= last).order_by(a.number).limit(most)
    return OldAlerts(list(connection.scalars(query)), last)


def remove_alerts(connection: Connection, old: OldAlerts) -> int:
    """Remove them, with all that belongs to them, but those that are needed; how many."""
    if not old.numbers:
        return 0
    a, e = alerts.c, episodes.c
    stretch = old.numbers[0], old.numbers[-1]
    needed = set(connection.scalars(select(e.first).where(e.first.between(*stretch), e.last > old.last)))
    every = receivers(connection)
    d = deliveries.c
    for receiver in every:
        pending = (d.receiver == receiver, d.alert.between(*stretch), d.due_at.is_not(None))
        needed.update(connection.scalars(select(d.alert).where(*pending)))
    going = [number for number in old.numbers if number not in needed]
    if not going:
        return 0
    for receiver in every:
        connection.execute(delete(deliveries).where(d.receiver == receiver, d.alert.in_(going)))
    unindex(connection, going)
    connection.execute(delete(episodes).where(e.first.in_(going)))
    return connection.execute(delete(alerts).where(a.number.in_(going))).rowcount
