"""The queue of deliveries: what is due, what came of attempts, how much waits and for how long."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, update

from alerts.due import Due, Settled, State
from alerts.outbox.notifications import ASKED_FOR, hasten_made, next_made, revive, settle_made
from alerts.outbox.schema import ENDED, FAILED, FOR_GOOD, HELD, alerts, assigned, deliveries

STATES: tuple[State, ...] = ("pending", "delivered", "failed")
_CHUNK = 500
_TOGETHER = 20


@dataclass(frozen=True, slots=True)
class Status:
    """The status of a receiver's deliveries. `oldest_at`: when the oldest pending one was recorded.

    `held` counts those that a stage holds back, which are not pending.
    """

    pending: int
    failed: int
    oldest_at: int | None
    held: int = 0


def due(
    connection: Connection,
    receiver: str,
    now: int,
    limit: int,
    *,
    of_episodes: bool = False,
    but: str | None = None,
) -> list[Due]:
    """Pending deliveries of a receiver that may be attempted at `now`, earliest due first, then as raised.

    Those that are part of a notification are not among them: alerts.outbox.notifications has these. With
    `of_episodes`, only alerts that are assigned to their episodes; but for those held for the reason `but`.
    """
    d, a = deliveries.c, alerts.c
    alone = func.coalesce(d.notification, ASKED_FOR) == ASKED_FOR
    query = (
        select(
            a.number, a.id, a.body, d.attempts, a.recorded_at, a.time, d.way, d.held, d.notification
        )
        .join_from(deliveries, alerts, d.alert == a.number)
        .where(d.receiver == receiver, d.due_at <= now, alone)
        .order_by(d.due_at, d.alert)
        .limit(limit)
    )  # fmt: skip
    if but is not None:
        query = query.where(func.coalesce(d.held, "") != but)
    if of_episodes:
        query = query.where(d.alert <= select(assigned.c.number).scalar_subquery())
    return [_due(row) for row in connection.execute(query)]


def _due(row: Any) -> Due:
    *said, made = row
    return Due(*said, made == ASKED_FOR)  # type: ignore[call-arg]


def next_due(connection: Connection, receiver: str, after: int) -> int | None:
    """The moment of the receiver's first pending delivery that is due later than `after`."""
    d = deliveries.c
    query = select(func.min(d.due_at)).where(d.receiver == receiver, d.due_at > after)
    found: list[int | None] = [connection.scalar(query), next_made(connection, receiver, after)]
    return min((one for one in found if one is not None), default=None)


def settle(connection: Connection, settled: Collection[Settled]) -> None:
    """Writes the outcomes of attempts, equal ones together."""
    equal: dict[tuple[object, ...], list[int]] = {}
    for s in settled:
        if s.made is None and s.follow is None:
            said = s.receiver, s.state, s.attempts, s.outcome, s.due_at, s.settled_at
            equal.setdefault(said, []).append(s.number)
    settle_made(connection, [s for s in settled if s.made is not None])
    _settle_each(connection, {said: some for said, some in equal.items() if len(some) < _TOGETHER})
    d = deliveries.c
    for (receiver, state, attempts, outcome, due_at, settled_at), numbers in equal.items():
        if len(numbers) < _TOGETHER:
            continue
        values = {
            "state": state, "attempts": attempts, "outcome": outcome, "due_at": due_at,
            "settled_at": settled_at, "held": None,
        }  # fmt: skip
        lone: list[int] = []
        for first, last in _runs(sorted(numbers)):
            if last - first < _TOGETHER:
                lone += range(first, last + 1)
                continue
            mine = d.receiver == receiver, d.alert.between(first, last), d.state != ENDED
            connection.execute(update(deliveries).where(*mine).values(values))
        for some in _chunks(lone):
            mine = d.receiver == receiver, d.alert.in_(some), d.state != ENDED
            connection.execute(update(deliveries).where(*mine).values(values))


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of each run of numbers that follow one another; they rise."""
    first = last = numbers[0]
    for number in numbers[1:]:
        if number != last + 1:
            yield first, last
            first = number
        last = number
    yield first, last


def _settle_each(connection: Connection, equal: Mapping[tuple[object, ...], Sequence[int]]) -> None:
    """The same, one by one."""
    d = deliveries.c
    this = (
        update(deliveries)
        .where(d.receiver == bindparam("r"), d.alert == bindparam("n"), d.state != ENDED)
        .values(
            state=bindparam("s"), attempts=bindparam("a"), outcome=bindparam("o"), due_at=bindparam("d"),
            settled_at=bindparam("t"), held=None,
        )
    )  # fmt: skip
    rows = [
        {**dict(zip("rsaodt", said, strict=True)), "n": number}
        for said, some in equal.items()
        for number in some
    ]
    if rows:
        connection.execute(this, rows)


def hasten(connection: Connection, receiver: str, now: int) -> None:
    """Makes everything that is pending for a receiver due at `now` if it was to wait longer; what a stage
    holds back waits on, unless it waits for another one."""
    d = deliveries.c
    waiting = d.receiver == receiver, d.due_at > now, func.coalesce(d.held, "key") == "key"
    connection.execute(update(deliveries).where(*waiting).values(due_at=now))
    hasten_made(connection, receiver, now)


def waiting(connection: Connection, receivers: Iterable[str]) -> bool:
    """True if one of these receivers has a pending delivery that no stage holds back."""
    d = deliveries.c
    pending = d.due_at >= 0, d.held.is_(None)  # by the index of what is due
    return any(
        connection.scalar(select(d.alert).where(d.receiver == r, *pending).limit(1)) is not None
        for r in receivers
    )


def pending_after(connection: Connection, receiver: str, number: int) -> tuple[int, int]:
    """The number of pending deliveries of alerts after one, and that of the last of these alerts."""
    d = deliveries.c
    query = select(func.count(), func.max(d.alert)).where(
        d.receiver == receiver, d.alert > number, d.due_at.is_not(None)
    )
    count, last = connection.execute(query).one()
    return count, number if last is None else last


def status(connection: Connection) -> dict[str, Status]:
    """The status, for every receiver that a delivery was ever recorded for."""
    d, a = deliveries.c, alerts.c
    found: dict[str, Status] = {}
    held: dict[str, list[int]] = {}
    for receiver, reason, count in connection.execute(
        # by the index of what is held: by receiver alone SQLite would look at every delivery
        select(d.receiver, d.held, func.count()).where(HELD).group_by(d.held, d.receiver)
    ):
        both = held.setdefault(receiver, [0, 0])
        both[0] += count
        both[1] += 0 if reason.startswith(FOR_GOOD) else count
    for receiver in known_receivers(connection):
        mine = d.receiver == receiver, d.due_at >= 0
        every, waits = held.get(receiver, (0, 0))
        count = (connection.scalar(select(func.count()).where(*mine)) or 0) - waits
        first = None
        if count > 0:
            # the index of what is due does not know what is held; without `+ 0` SQLite reads by number
            free = [d.held.is_(None)] if waits else []
            first = connection.scalar(select(func.min(d.alert + 0)).where(*mine, *free))
        failed = select(func.count()).where(d.receiver == receiver, FAILED)
        oldest = select(a.recorded_at).where(a.number == first)
        found[receiver] = Status(count, connection.scalar(failed) or 0, connection.scalar(oldest), every)
    return found


def known_receivers(connection: Connection) -> list[str]:
    """The names of all receivers that a delivery was ever recorded for, in order."""
    d = deliveries.c
    found: list[str] = []
    receiver = connection.scalar(select(func.min(d.receiver)))
    while receiver is not None:
        found.append(receiver)
        # one step at a time: a DISTINCT would read every delivery ever made
        receiver = connection.scalar(select(func.min(d.receiver)).where(d.receiver > receiver))
    return found


def redeliver_alert(connection: Connection, number: int, receiver: str | None, now: int) -> list[str]:
    """Makes the deliveries of an alert, to one receiver or to all that it had, pending as if never attempted;
    returns the receivers."""
    d = deliveries.c
    names = known_receivers(connection) if receiver is None else [receiver]
    mine = d.receiver.in_(names), d.alert == number
    found = list(connection.scalars(select(d.receiver).where(*mine).order_by(d.receiver)))
    values = {
        "state": "pending", "attempts": 0, "due_at": now, "held": None, "notification": ASKED_FOR,
    }  # fmt: skip
    connection.execute(update(deliveries).where(*mine).values(values))
    return found


def in_state(
    connection: Connection, receiver: str, numbers: Sequence[int], states: Collection[State]
) -> list[int]:
    """The numbers, of these, of the alerts whose delivery to a receiver is in one of the states."""
    d = deliveries.c
    of_all = d.receiver == receiver, d.state.in_(states)
    return [
        number
        for some in _chunks(numbers)
        for number in connection.scalars(select(d.alert).where(*of_all, d.alert.in_(some)))
    ]


def redeliver_some(connection: Connection, receiver: str, numbers: Sequence[int], now: int) -> None:
    """Makes the deliveries of these alerts to a receiver pending, as if never attempted: in groups, and as
    often as its rate allows, where it has them."""
    d = deliveries.c
    values = {"state": "pending", "attempts": 0, "due_at": now, "held": None, "notification": None}
    for some in _chunks(numbers):
        mine = d.receiver == receiver, d.alert.in_(some), d.state != ENDED
        connection.execute(update(deliveries).where(*mine).values(values))


def states_of(connection: Connection, numbers: Sequence[int]) -> dict[int, dict[str, str]]:
    """The states of the deliveries of alerts, by number and receiver; `held` where a stage holds one back."""
    d = deliveries.c
    names = known_receivers(connection)
    found: dict[int, dict[str, str]] = {}
    for some in _chunks(numbers):
        query = select(d.alert, d.receiver, d.state, d.held)
        mine = d.receiver.in_(names), d.alert.in_(some)
        for number, receiver, state, held in connection.execute(query.where(*mine)):
            found.setdefault(number, {})[receiver] = "held" if held is not None else state
    return found


def _chunks(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    return (numbers[start : start + _CHUNK] for start in range(0, len(numbers), _CHUNK))


def redeliver(connection: Connection, receiver: str, now: int) -> int:
    """Makes a receiver's failed deliveries pending again, as if never attempted; returns how many."""
    d = deliveries.c
    revive(connection, receiver, now)
    this = (
        update(deliveries)
        .where(d.receiver == receiver, FAILED)
        .values(state="pending", attempts=0, due_at=now)
    )
    return connection.execute(this).rowcount
