"""Alerts that a person asks to have erased: what they say goes, with their deliveries' words.

Their rows stay, with nothing but the id: a replay does not raise them again, and numbers stay what they are.
Retention removes them with other alerts of their age. No delivery of theirs is attempted any more.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, case, func, or_, select, update

from alerts.outbox.pages import Stretch, Wanted, stretch_of
from alerts.outbox.retention import receivers
from alerts.outbox.schema import ENDED, ERASED, alerts, deliveries
from alerts.outbox.trailing import unindex
from alerts.sought import Sought

STRETCH = 20_000
"""Alerts that are looked through in one go."""
_HEAD = len('{"id":"') + 64 + len('"')


@dataclass(frozen=True, slots=True)
class Look:
    """The result of a look: `numbers` of alerts to erase; the deliveries of others, by receiver and alert, of
    which what was said holds the values; `elsewhere`: of how many other alerts which part holds them."""

    numbers: tuple[int, ...]
    said: tuple[tuple[str, int], ...]
    elsewhere: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Sent:
    """Deliveries of some alerts: those that waited, and by receiver those that had gone out."""

    waiting: int
    delivered: Mapping[str, int]


def stretches(connection: Connection) -> Iterator[Stretch]:
    """The numbers of all alerts, some at a time."""
    every = stretch_of(connection, Wanted())
    for first in range(every.first, every.last + 1, STRETCH):
        yield Stretch(first, min(first + STRETCH - 1, every.last))


def look(connection: Connection, sought: Sought, stretch: Stretch) -> Look:
    """The alerts of a stretch that are to be erased, and where else the values are."""
    a = alerts.c
    query = select(a.number, a.body).where(
        a.number.between(stretch.first, stretch.last), a.key != ERASED,
        _holds(connection, a.body, sought.needles),
    )  # fmt: skip
    numbers, elsewhere = [], Counter[str]()
    for number, body in connection.execute(query):
        if not sought.stands_in(body):  # the needle is part of another word
            continue
        alert = json.loads(body)
        if sought.is_of(alert):
            numbers.append(number)
        else:
            elsewhere.update(_places(alert, sought))
    return Look(tuple(numbers), tuple(_said(connection, sought, stretch, set(numbers))), elsewhere)


def _places(alert: Mapping[str, object], sought: Sought) -> Iterator[str]:
    """The names of an alert's parts that hold the values, where these are texts; numbers stand everywhere."""
    if not all(isinstance(one, str) for one in sought.values.values()):
        return
    for name in ("key", "emit"):
        part = alert[name]
        assert isinstance(part, dict)
        yield from (own for own, value in part.items() if sought.stands_in(json.dumps(value)))
    yield from (name for name in ("summary", "events") if sought.stands_in(json.dumps(alert[name])))


def _said(
    connection: Connection, sought: Sought, stretch: Stretch, but: set[int]
) -> Iterator[tuple[str, int]]:
    d = deliveries.c
    for receiver in receivers(connection):
        query = select(d.alert, d.outcome, func.coalesce(d.trace, "")).where(
            d.receiver == receiver, d.alert.between(stretch.first, stretch.last),
            or_(*(_holds(connection, column, sought.needles) for column in (d.outcome, d.trace))),
        )  # fmt: skip
        for number, outcome, trace in connection.execute(query):
            if number not in but and (sought.stands_in(outcome) or sought.stands_in(trace)):
                yield receiver, number


def _holds(connection: Connection, column: ColumnElement[str], texts: Sequence[str]) -> ColumnElement[bool]:
    place = func.strpos if connection.dialect.name == "postgresql" else func.instr
    return or_(*(place(column, one) > 0 for one in texts))


def sent(connection: Connection, numbers: Sequence[int]) -> Sent:
    """The deliveries of alerts that are not erased yet."""
    d = deliveries.c
    waiting, delivered = 0, dict[str, int]()
    for receiver in receivers(connection):
        query = select(d.state, func.count()).where(d.receiver == receiver, d.alert.in_(numbers))
        states: dict[str, int] = dict(connection.execute(query.group_by(d.state)).all())
        waiting += states.get("pending", 0)
        if states.get("delivered"):
            delivered[receiver] = states["delivered"]
    return Sent(waiting, delivered)


def erase_alerts(connection: Connection, rows: Sequence[int], now: int) -> None:
    """Erase alerts, by number, with what was said of their deliveries; those that wait are ended."""
    a, d = alerts.c, deliveries.c
    for receiver in receivers(connection):
        mine = d.receiver == receiver, d.alert.in_(rows), d.state != ENDED
        values = {
            "state": ENDED, "due_at": None, "held": None, "trace": None, "grouped": None,
            "notification": None, "settled_at": func.coalesce(d.settled_at, now), "outcome": _OUTCOME,
        }  # fmt: skip
        connection.execute(update(deliveries).where(*mine).values(values))
    unindex(connection, rows)
    bare = func.substr(a.body, 1, _HEAD).concat("}")
    connection.execute(update(alerts).where(a.number.in_(rows)).values(key=ERASED, body=bare))


_OUTCOME = case(
    (deliveries.c.state == "delivered", "it was delivered; then the alert was erased"),
    (deliveries.c.due_at.is_not(None), "ended: the alert was erased while it waited"),
    else_="it was not delivered; then the alert was erased",
)


def blank_said(connection: Connection, rows: Sequence[tuple[str, int]], sought: Sought) -> None:
    """Take the values out of what was said of deliveries."""
    d = deliveries.c
    for receiver, number in rows:
        mine = d.receiver == receiver, d.alert == number
        found = connection.execute(select(d.outcome, d.trace).where(*mine)).one_or_none()
        if found is not None:
            trace = None if found.trace is None else sought.blanked(found.trace)
            values = {"outcome": sought.blanked(found.outcome), "trace": trace}
            connection.execute(update(deliveries).where(*mine).values(values))
