"""Notifications of several alerts, in their table: settled before the first attempt, never changed after it.

A row says which alerts it is about, so that its body is the same at every attempt, whatever a restart, other
settings or new alerts bring. Deliveries know the notification that they are part of.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    String,
    Table,
    Text,
    bindparam,
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
_T = TypeVar("_T")
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


def waiting_in(connection: Connection, makings: Sequence[Making], now: int) -> list[list[Due]]:
    """The deliveries that each of some notifications of one receiver is to be made of, in the order raised.
    What several of them may have is the first one's."""
    d, a = deliveries.c, alerts.c
    receiver = makings[0].receiver
    free = [d.receiver == receiver, d.due_at.is_not(None)]
    if makings[0].of_episodes:
        free.append(d.alert <= select(assigned.c.number).scalar_subquery())
    columns = a.number, a.id, a.body, d.attempts, a.recorded_at, a.time, d.way, d.held
    query = select(d.grouped, *columns).join_from(deliveries, alerts, d.alert == a.number).where(*free)
    places = list(enumerate(makings))[::-1]  # the first one comes last, and stays
    of_number = {number: place for place, one in places for number in one.numbers}
    of_group = {one.group: place for place, one in places if one.group is not None}
    found: list[dict[int, Due]] = [{} for _ in makings]
    alone = func.coalesce(d.notification, ASKED_FOR) == ASKED_FOR
    for numbers in _chunks(sorted(of_number)):
        for _, *said in connection.execute(query.where(d.alert.in_(numbers), alone)):
            due = Due(*said)
            found[of_number[due.number]][due.number] = due
    ready = or_(d.held.is_(None), d.held.in_(("group", "rate")), d.due_at <= now)
    # by its index alone, then by number: otherwise SQLite looks at every delivery of the receiver
    other = deliveries.alias().c
    for groups_ in _chunks(sorted(of_group)):
        those = select(other.alert).where(other.receiver == receiver, other.grouped.in_(groups_))
        free_ones = query.where(d.alert.in_(those), d.notification.is_(None), ready)
        for group, *said in connection.execute(free_ones):
            due, place = Due(*said), of_group[group]
            own = of_number.get(due.number, place)
            if own >= place:
                found[own].pop(due.number, None)
                found[place][due.number] = due
    return [[of_one[number] for number in sorted(of_one)] for of_one in found]


def make(connection: Connection, some: Sequence[tuple[Making, Sequence[Due]]], now: int) -> list[Due]:
    """Write the notifications of one receiver that these deliveries go out in, at least one in each, in the
    order raised; they are due at once."""
    if not some:
        return []
    last = connection.scalar(select(func.max(notifications.c.number))) or 0
    found = [_made(number, *one) for number, one in enumerate(some, last + 1)]
    rows = [
        {
            "number": made.number, "id": made.id, "receiver": making.receiver, "count": made.count,
            "alerts": json.dumps([one.number for one in members[-MOST:]]), "made_at": now, "attempts": 0,
            "due_at": now,
        }
        for made, (making, members) in zip(found, some, strict=True)
    ]  # fmt: skip
    connection.execute(insert(notifications), rows)
    _become_part(connection, list(zip(found, some, strict=True)), now)
    _tell(connection, [making for making, _ in some], now)
    return [_due(made, members) for made, (_, members) in zip(found, some, strict=True)]


def _made(number: int, making: Making, members: Sequence[Due]) -> Made:
    bodies = tuple(one.body for one in members[-MOST:])
    return Made(number, _id(making.receiver, members), bodies, len(members))


def _due(made: Made, members: Sequence[Due]) -> Due:
    newest, oldest = members[-1], min(one.recorded_at for one in members)
    return Due(newest.number, newest.id, newest.body, 0, oldest, newest.time, newest.way, made=made)


def _become_part(
    connection: Connection, some: Sequence[tuple[Made, tuple[Making, Sequence[Due]]]], now: int
) -> None:
    """Note of deliveries which notification they are part of."""
    d = deliveries.c
    free: dict[str, Any] = {"grouped": None, "held": None, "due_at": now}
    lone = [
        {"of_receiver": making.receiver, "of_alert": members[0].number, "made_as": made.number}
        for made, (making, members) in some
        if len(members) == 1
    ]
    if lone:
        which = d.receiver == bindparam("of_receiver"), d.alert == bindparam("of_alert")
        part = update(deliveries).where(*which).values(notification=bindparam("made_as"), **free)
        connection.execute(part, lone)
    for made, (making, members) in some:
        if len(members) == 1:
            continue
        said = f"{now} group: goes out with {len(members) - 1} others in notification {made.id}\n"
        for chunk in _chunks([one.number for one in members]):
            mine = update(deliveries).where(d.receiver == making.receiver, d.alert.in_(chunk))
            connection.execute(mine.values(notification=made.number, trace=traced(said), **free))


def _id(receiver: str, members: Sequence[Due]) -> str:
    """The id of a notification: that of its alert, where it is one."""
    if len(members) == 1:
        return members[0].id
    said = "\n".join((receiver, *(one.id for one in members)))
    return sha256(said.encode("utf-8", "backslashreplace")).hexdigest()


def _tell(connection: Connection, makings: Sequence[Making], now: int) -> None:
    """Note which groups of a receiver were told; those that may be told again are forgotten."""
    receiver, g = makings[0].receiver, groups.c
    told = {one.group: one.quiet_until for one in makings if one.group is not None and one.quiet_until > now}
    if not told:
        return
    for names in _chunks(sorted(told)):
        over = or_(g.grouped.in_(names), g.quiet_until <= now)
        connection.execute(delete(groups).where(g.receiver == receiver, over))
    rows = [{"receiver": receiver, "grouped": name, "quiet_until": until} for name, until in told.items()]
    connection.execute(insert(groups), rows)


def due_made(connection: Connection, receiver: str, now: int, limit: int) -> list[Due | int]:
    """Notifications that may be attempted at `now`, the first made first; of one that has lost an alert its
    number."""
    n, a = notifications.c, alerts.c
    query = (
        select(n.number, n.id, n.alerts, n.count, n.attempts)
        .where(n.receiver == receiver, n.due_at <= now)
        .order_by(n.due_at, n.number)
        .limit(limit)
    )
    rows = [(row, json.loads(row.alerts)) for row in connection.execute(query)]
    carried: dict[int, Any] = {}
    for chunk in _chunks(sorted({number for _, wanted in rows for number in wanted})):
        there = a.number.in_(chunk), a.key != ERASED
        of_these = select(a.number, a.id, a.body, a.recorded_at, a.time).where(*there)
        carried |= {one.number: one for one in connection.execute(of_these)}
    return [
        _again(row, [carried[number] for number in sorted(wanted) if number in carried], len(wanted))
        for row, wanted in rows
    ]


def _again(row: Any, carried: Sequence[Any], wanted: int) -> Due | int:
    if len(carried) < wanted:  # some were erased: no other body goes out under this id
        number: int = row.number
        return number
    newest = carried[-1]
    made = Made(row.number, row.id, tuple(one.body for one in carried), row.count)
    oldest = carried[0].recorded_at
    return Due(newest.number, newest.id, newest.body, row.attempts, oldest, newest.time, made=made)


def dissolve(connection: Connection, number: int, now: int) -> None:
    """Give up a notification that cannot be sent as it was made: what is left of it goes out anew."""
    n, d = notifications.c, deliveries.c
    connection.execute(update(notifications).where(n.number == number).values(due_at=None))
    left = update(deliveries).where(d.notification == number, d.due_at.is_not(None))
    connection.execute(left.values(notification=None, due_at=now))


def next_made(connection: Connection, receiver: str, after: int) -> int | None:
    """The moment of the receiver's first notification that is due later than `after`."""
    n = notifications.c
    query = select(func.min(n.due_at)).where(n.receiver == receiver, n.due_at > after)
    found: int | None = connection.scalar(query)
    return found


def settle_made(connection: Connection, settled: Sequence[Settled]) -> None:
    """Write the outcomes of attempts of notifications, also to the deliveries that are part of them."""
    if not settled:
        return
    rows = [
        {
            "made_as": one.made, "n": one.attempts, "at": one.due_at, "s": one.state, "o": one.outcome,
            "t": one.settled_at,
        }
        for one in settled
    ]  # fmt: skip
    connection.execute(_AGAIN, rows)
    connection.execute(_SETTLED, rows)


_AGAIN = (
    update(notifications)
    .where(notifications.c.number == bindparam("made_as"))
    .values(attempts=bindparam("n"), due_at=bindparam("at"))
)
_SETTLED = (
    update(deliveries)
    .where(deliveries.c.notification == bindparam("made_as"))
    .values(
        attempts=bindparam("n"), due_at=bindparam("at"), state=bindparam("s"), outcome=bindparam("o"),
        settled_at=bindparam("t"),
    )
)  # fmt: skip


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


def _chunks(some: Sequence[_T]) -> Iterable[Sequence[_T]]:
    return (some[start : start + _CHUNK] for start in range(0, len(some), _CHUNK))
