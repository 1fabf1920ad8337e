"""The positions of receivers that take deliveries in transactions: how far the outbox has written them down.

A transaction is written down before the next one begins, so that at most the last one of a receiver is in
doubt. The table is made when the first such receiver begins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import BigInteger, Column, Connection, MetaData, String, Table, insert, select, update
from sqlalchemy.schema import CreateTable

from alerts.outbox.notifications import notifications
from alerts.outbox.schema import ENDED, alerts, deliveries
from alerts.position import Position, digest

positions = Table(
    "outbox_positions",
    MetaData(),
    Column("receiver", String(200), primary_key=True),
    Column("id", String(32), nullable=False),  # of the outbox to the receiver
    Column("number", BigInteger, nullable=False),  # of the last transaction that is written down
)
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Kept:
    """The outbox's name to a receiver, and the number of the last transaction that it has written down."""

    id: str
    number: int


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The news of a receiver's position: `found` deliveries had arrived, and were not written down.

    `missed` counts transactions before it that the outbox does not know, `strange` is true where the last one
    is not of this outbox's alerts: both only after an outbox was put back to how it stood earlier.
    """

    number: int
    found: int = 0
    missed: int = 0
    strange: bool = False


def begin(connection: Connection, receiver: str, new_id: str) -> Kept:
    """The transactions of a receiver so far; one that is new gets the id."""
    connection.execute(CreateTable(positions, if_not_exists=True))
    p = positions.c
    row = connection.execute(select(p.id, p.number).where(p.receiver == receiver)).first()
    if row is None:
        connection.execute(insert(positions).values(receiver=receiver, id=new_id, number=0))
        return Kept(new_id, 0)
    return Kept(row.id, row.number)


def move(connection: Connection, numbers: Mapping[str, int]) -> None:
    """Write down the last transactions of receivers."""
    p = positions.c
    for receiver, number in numbers.items():
        connection.execute(update(positions).where(p.receiver == receiver).values(number=number))


def confirm(connection: Connection, receiver: str, last: Position, now: int) -> Confirmed:
    """Write down what a receiver has, where the outbox does not know it yet."""
    p = positions.c
    number = connection.execute(select(p.number).where(p.receiver == receiver)).scalar_one()
    if last.number <= number:
        return Confirmed(number)
    missed = last.number - number - 1
    strange = _ids(connection, last.places) != last.digest
    if not strange:
        _deliver(connection, receiver, last, now)
    move(connection, {receiver: last.number})
    return Confirmed(last.number, 0 if strange else len(last.places), missed, strange)


def _ids(connection: Connection, places: Sequence[int]) -> str:
    """The digest of what is at these places."""
    a, n = alerts.c, notifications.c
    found: dict[int, str] = {}
    for some in _chunks([one for one in places if one > 0]):
        for number, id_ in connection.execute(select(a.number, a.id).where(a.number.in_(some))):
            found[number] = id_
    for some in _chunks([-one for one in places if one < 0]):
        for number, id_ in connection.execute(select(n.number, n.id).where(n.number.in_(some))):
            found[-number] = id_
    return digest(found.get(place, "") for place in places)


def _deliver(connection: Connection, receiver: str, last: Position, now: int) -> None:
    d, n = deliveries.c, notifications.c
    said = f"transaction {last.number}, found there after an interruption"
    values = {
        "state": "delivered", "attempts": d.attempts + 1, "outcome": said, "due_at": None, "settled_at": now,
        "held": None,
    }  # fmt: skip
    for some in _chunks([one for one in last.places if one > 0]):
        mine = d.receiver == receiver, d.alert.in_(some), d.state != ENDED
        connection.execute(update(deliveries).where(*mine).values(values))
    for some in _chunks([-one for one in last.places if one < 0]):
        made = update(notifications).where(n.number.in_(some))
        connection.execute(made.values(attempts=n.attempts + 1, due_at=None))
        mine = d.receiver == receiver, d.notification.in_(some), d.state != ENDED
        connection.execute(update(deliveries).where(*mine).values(values))


def _chunks(numbers: Sequence[int]) -> list[Sequence[int]]:
    return [numbers[start : start + _CHUNK] for start in range(0, len(numbers), _CHUNK)]
