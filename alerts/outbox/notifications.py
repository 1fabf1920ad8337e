"""Notifications of several alerts, in their table: settled before the first attempt, never changed after it.

A row says which alerts it is about, so that its body is the same at every attempt, whatever a restart, other
settings or new alerts bring. Deliveries know the notification that they are part of.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    String,
    Table,
    Text,
    delete,
    func,
    insert,
    or_,
    select,
    text,
    update,
)  # fmt: skip

from alerts.due import Due, Made, Settled
from alerts.outbox.schema import ERASED, FAILED, alerts, assigned, deliveries, metadata
from alerts.outbox.traces import traced

MOST = 100
"""Alerts that a notification carries; of more, the newest."""
ASKED_FOR = 0
"""In the place of a notification's number: a person asked for the alert by itself."""
_CHUNK = 500
_PENDING = text("due_at IS NOT NULL")

notifications = Table(
    "outbox_notifications",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("id", String(64), nullable=False),  # as receivers get it
    Column("receiver", String(200), nullable=False),
    Column("alerts", Text, nullable=False),  # the numbers of those that it carries, JSON
    Column("count", Integer, nullable=False),  # of all that it is about
    Column("made_at", BigInteger, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("due_at", BigInteger),  # of the next attempt; null unless pending
    Index("outbox_notifications_due", "receiver", "due_at", sqlite_where=_PENDING, postgresql_where=_PENDING),
    Index("outbox_notifications_made", "receiver", "made_at"),
)

groups = Table(
    "outbox_groups",  # groups that were told lately
    metadata,
    Column("receiver", String(200), primary_key=True),
    Column("grouped", String(64), primary_key=True),
    Column("quiet_until", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)


@dataclass(frozen=True, slots=True)
class Making:
    """A notification that is to be made of alerts by `numbers`, and of all that waits in the `group`, if
    there is one. The group is not told again before `quiet_until`. With `of_episodes`, what is not assigned
    to its episode waits. `first` is the place of the delivery that it begins with."""

    receiver: str
    numbers: frozenset[int]
    group: str | None
    quiet_until: int
    of_episodes: bool = False
    first: int = 0


class MakingDone(NamedTuple):
    """The outcome: the notification (None: stages hold all of it back now), the numbers of the deliveries
    that it was made of or that are held back, and the reasons for these."""

    made: Due | None
    numbers: list[int]
    reasons: list[str]


def waiting_in(connection: Connection, making: Making, now: int) -> list[Due]:
    """The deliveries that a notification is to be made of, in the order raised."""
    d, a = deliveries.c, alerts.c
    free = [d.receiver == making.receiver, d.due_at.is_not(None)]
    if making.of_episodes:
        free.append(d.alert <= select(assigned.c.number).scalar_subquery())
    found: dict[int, Due] = {}
    alone = func.coalesce(d.notification, ASKED_FOR) == ASKED_FOR
    chosen = [d.alert.in_(chunk) & alone for chunk in _chunks(sorted(making.numbers))]
    if making.group is not None:
        ready = or_(d.held.is_(None), d.held.in_(("group", "rate")), d.due_at <= now)
        # by its index alone, then by number: otherwise SQLite looks at every delivery of the receiver
        of_group = deliveries.alias().c
        same = of_group.receiver == making.receiver, of_group.grouped == making.group
        chosen.append(d.alert.in_(select(of_group.alert).where(*same)) & d.notification.is_(None) & ready)
    for which in chosen:
        query = (
            select(a.number, a.id, a.body, d.attempts, a.recorded_at, a.time, d.way, d.held)
            .join_from(deliveries, alerts, d.alert == a.number)
            .where(*free, which)
        )
        found |= {row.number: Due(*row) for row in connection.execute(query)}
    return [found[number] for number in sorted(found)]


def make(connection: Connection, making: Making, members: Sequence[Due], now: int) -> Due:
    """Write the notification of these deliveries, at least one, in the order raised; it is due at once."""
    last = connection.scalar(select(func.max(notifications.c.number))) or 0
    newest, number = members[-1], last + 1
    carried = members[-MOST:]
    made = Made(number, _id(making.receiver, members), tuple(one.body for one in carried), len(members))
    row = {
        "number": number, "id": made.id, "receiver": making.receiver, "count": made.count, "made_at": now,
        "alerts": json.dumps([one.number for one in carried]), "attempts": 0, "due_at": now,
    }  # fmt: skip
    connection.execute(insert(notifications), row)
    d = deliveries.c
    values: dict[str, object] = {"notification": number, "grouped": None, "held": None, "due_at": now}
    if len(members) > 1:
        said = f"{now} group: goes out with {len(members) - 1} others in notification {made.id}\n"
        values["trace"] = traced(said)
    for chunk in _chunks([one.number for one in members]):
        mine = update(deliveries).where(d.receiver == making.receiver, d.alert.in_(chunk))
        connection.execute(mine.values(values))
    if making.group is not None and making.quiet_until > now:
        _tell(connection, making, now)
    oldest = min(one.recorded_at for one in members)
    return Due(newest.number, newest.id, newest.body, 0, oldest, newest.time, newest.way, made=made)


def _id(receiver: str, members: Sequence[Due]) -> str:
    """The id of a notification: that of its alert, where it is one."""
    if len(members) == 1:
        return members[0].id
    said = "\n".join((receiver, *(one.id for one in members)))
    return sha256(said.encode("utf-8", "backslashreplace")).hexdigest()


def _tell(connection: Connection, making: Making, now: int) -> None:
    g = groups.c
    mine = g.receiver == making.receiver
    connection.execute(delete(groups).where(mine, or_(g.grouped == making.group, g.quiet_until <= now)))
    row = {"receiver": making.receiver, "grouped": making.group, "quiet_until": making.quiet_until}
    connection.execute(insert(groups), row)


def due_made(connection: Connection, receiver: str, now: int, limit: int) -> list[Due | int]:
    """Notifications that may be attempted at `now`, the first made first; of one that has lost an alert its
    number."""
    n = notifications.c
    query = (
        select(n.number, n.id, n.alerts, n.count, n.attempts)
        .where(n.receiver == receiver, n.due_at <= now)
        .order_by(n.due_at, n.number)
        .limit(limit)
    )
    return [_read(connection, *row) for row in connection.execute(query).all()]


def dissolve(connection: Connection, number: int, now: int) -> None:
    """Give up a notification that cannot be sent as it was made: what is left of it goes out anew."""
    n, d = notifications.c, deliveries.c
    connection.execute(update(notifications).where(n.number == number).values(due_at=None))
    left = update(deliveries).where(d.notification == number, d.due_at.is_not(None))
    connection.execute(left.values(notification=None, due_at=now))


def _read(
    connection: Connection, number: int, id_: str, carried: str, count: int, attempts: int
) -> Due | int:
    a = alerts.c
    wanted = json.loads(carried)
    there = a.number.in_(wanted), a.key != ERASED
    query = select(a.number, a.id, a.body, a.recorded_at, a.time).where(*there).order_by(a.number)
    rows = connection.execute(query).all()
    if len(rows) < len(wanted):  # some were erased: no other body goes out under this id
        return number
    newest = rows[-1]
    made = Made(number, id_, tuple(row.body for row in rows), count)
    return Due(newest.number, newest.id, newest.body, attempts, rows[0].recorded_at, newest.time, made=made)


def next_made(connection: Connection, receiver: str, after: int) -> int | None:
    """The moment of the receiver's first notification that is due later than `after`."""
    n = notifications.c
    query = select(func.min(n.due_at)).where(n.receiver == receiver, n.due_at > after)
    found: int | None = connection.scalar(query)
    return found


def settle_made(connection: Connection, number: int, one: Settled) -> None:
    """Write the outcome of an attempt, also to the deliveries that are part of the notification."""
    n, d = notifications.c, deliveries.c
    again = {"attempts": one.attempts, "due_at": one.due_at}
    connection.execute(update(notifications).where(n.number == number).values(again))
    values = again | {"state": one.state, "outcome": one.outcome, "settled_at": one.settled_at}
    connection.execute(update(deliveries).where(d.notification == number).values(values))


def hasten_made(connection: Connection, receiver: str, now: int) -> None:
    """Make notifications due that were to wait longer."""
    n = notifications.c
    connection.execute(update(notifications).where(n.receiver == receiver, n.due_at > now).values(due_at=now))


def revive(connection: Connection, receiver: str, now: int) -> None:
    """Make failed notifications pending, as if never attempted; their deliveries are the caller's."""
    n, d = notifications.c, deliveries.c
    of_failed = deliveries.alias().c  # as in waiting_in
    some = select(of_failed.alert).where(of_failed.receiver == receiver, FAILED)
    mine = d.receiver == receiver, d.alert.in_(some), d.notification > ASKED_FOR
    failed = select(d.notification).where(*mine)
    which = n.number.in_(failed)
    connection.execute(update(notifications).where(which).values(attempts=0, due_at=now))


def opened(connection: Connection, receiver: str) -> dict[str, int]:
    """When what waits goes out, by group."""
    d = deliveries.c
    query = (
        select(d.grouped, func.min(d.due_at))
        .where(d.receiver == receiver, d.grouped.is_not(None), d.held == "group", d.due_at.is_not(None))
        .group_by(d.grouped)
    )
    return {str(name): moment for name, moment in connection.execute(query)}


def quiet(connection: Connection, receiver: str, now: int) -> dict[str, int]:
    """Until when groups are not told again, of those that were told lately."""
    g = groups.c
    query = select(g.grouped, g.quiet_until).where(g.receiver == receiver, g.quiet_until > now)
    return {row.grouped: row.quiet_until for row in connection.execute(query)}


def made_since(connection: Connection, receiver: str, moment: int) -> list[int]:
    """The moments at which notifications were made after one, in order."""
    n = notifications.c
    query = select(n.made_at).where(n.receiver == receiver, n.made_at > moment).order_by(n.made_at)
    return list(connection.scalars(query))


def still_pending(connection: Connection, receiver: str, numbers: Iterable[int]) -> set[int]:
    """Those of some alerts whose deliveries are pending."""
    d = deliveries.c
    return {
        number
        for chunk in _chunks(sorted(numbers))
        for number in connection.scalars(
            select(d.alert).where(d.receiver == receiver, d.alert.in_(chunk), d.due_at.is_not(None))
        )
    }


def failing(connection: Connection, receiver: str, now: int) -> list[tuple[int, str, int]]:
    """Deliveries that were attempted and are tried again later: number, key and when."""
    d, a = deliveries.c, alerts.c
    query = (
        select(a.number, a.key, d.due_at)
        .join_from(deliveries, alerts, d.alert == a.number)
        .where(d.receiver == receiver, d.due_at > now, d.attempts > 0, d.held.is_(None))
    )
    return [(row.number, row.key, row.due_at) for row in connection.execute(query)]


def _chunks(numbers: Sequence[int]) -> Iterable[Sequence[int]]:
    return (numbers[start : start + _CHUNK] for start in range(0, len(numbers), _CHUNK))
