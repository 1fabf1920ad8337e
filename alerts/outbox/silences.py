"""Silences in their table, and the deliveries that they hold back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sqlalchemy import ColumnElement, Connection, Text, bindparam, case, func, insert, literal, select, update

from alerts.matchers import Matchers
from alerts.outbox.schema import deliveries, silences
from alerts.silences import Silence, read, written
from alerts.stages.mute import reason_of

LONGEST_TRACE = 8_000
"""Characters of a delivery's trace; what stages say beyond is left out."""


@dataclass(frozen=True, slots=True)
class Held:
    """A delivery that a stage holds back: why, and when to look at it again; moments are wall clock in ns.

    `said` tells people of it.
    """

    receiver: str
    number: int
    reason: str
    said: str
    due_at: int
    at: int


def add(connection: Connection, one: Silence) -> None:
    """Write a new silence."""
    values = {
        "id": one.id, "who": one.who, "why": one.why, "starts_at": one.starts_at, "ends_at": one.ends_at,
        "matchers": written(one.matchers), "expired_by": "",
    }  # fmt: skip
    connection.execute(insert(silences), values)


def read_silences(connection: Connection, after: int | None = None) -> list[Silence]:
    """The silences that end later than `after` (None: all), by their beginnings."""
    s = silences.c
    query = select(s.id, s.who, s.why, s.starts_at, s.ends_at, s.matchers).order_by(s.starts_at, s.id)
    if after is not None:
        query = query.where(s.ends_at > after)
    return [
        Silence(id_, who, why, starts_at, ends_at, _matchers(text))
        for id_, who, why, starts_at, ends_at, text in connection.execute(query)
    ]


@lru_cache(1_000)
def _matchers(text: str) -> Matchers:
    return read(text)


def expire(connection: Connection, id_: str, by: str, now: int) -> bool:
    """Take a silence back, and free what it holds; False if there is none of that id that has not ended."""
    s = silences.c
    ended = {"ends_at": now, "starts_at": case((s.starts_at > now, now), else_=s.starts_at), "expired_by": by}
    if not connection.execute(update(silences).where(s.id == id_, s.ends_at > now).values(ended)).rowcount:
        return False
    d = deliveries.c
    said = _traced(literal(f"{now} mute: silence {id_} was taken back by {by}\n"))
    mine = update(deliveries).where(d.held == reason_of(id_))
    connection.execute(mine.values(due_at=now, held=None, trace=said))
    return True


def _traced(line: ColumnElement[str]) -> ColumnElement[str]:
    """The trace with one more line."""
    before = func.coalesce(deliveries.c.trace, "")
    return case((func.length(before) > LONGEST_TRACE, before), else_=before.concat(line))


def hold(connection: Connection, held: Sequence[Held]) -> None:
    """Write what stages hold back. What a silence was to hold that has ended by now is due at once."""
    if not held:
        return
    s, d = silences.c, deliveries.c
    active = select(s.id, s.ends_at).where(s.ends_at > min(one.at for one in held))
    ends = {reason_of(id_): end for id_, end in connection.execute(active.with_for_update(read=True))}
    this = (
        update(deliveries)
        .where(d.receiver == bindparam("r"), d.alert == bindparam("n"), d.due_at.is_not(None))
        .values(due_at=bindparam("d"), held=bindparam("h"), trace=_traced(bindparam("t", type_=Text)))
    )
    rows = []
    for one in held:
        still = ends.get(one.reason, 0) > one.at
        reason, due_at = (one.reason, ends[one.reason]) if still else (None, one.at)
        said = f"{one.at} {one.said}\n" if still else ""
        rows.append({"r": one.receiver, "n": one.number, "d": due_at, "h": reason, "t": said})
    connection.execute(this, rows)


def held_counts(connection: Connection) -> dict[tuple[str, str], int]:
    """The number of deliveries that are held back, by receiver and reason."""
    d = deliveries.c
    query = select(d.receiver, d.held, func.count()).where(d.held.is_not(None)).group_by(d.held, d.receiver)
    return {(receiver, str(reason)): count for receiver, reason, count in connection.execute(query)}


def silences_of(connection: Connection, ids: Iterable[str]) -> dict[str, Silence]:
    """The silences of these ids."""
    wanted = set(ids)
    return {one.id: one for one in read_silences(connection) if one.id in wanted}
