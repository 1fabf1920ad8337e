"""Silences in their table, and the deliveries that they hold back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sqlalchemy import Connection, Text, bindparam, case, func, insert, select, update

from alerts.matchers import Matchers
from alerts.outbox.schema import deliveries, silences
from alerts.outbox.traces import traced
from alerts.silences import Silence, read, reason_of, written

INHIBITED = "inhibited"
"""The state of a delivery that is held back for good, unless a person asks for it."""


@dataclass(frozen=True, slots=True)
class Held:
    """A delivery that a stage holds back: why, and when to look at it again (None: never); moments are wall
    clock in ns.

    `said` tells people of it, `group` is where it waits for others.
    """

    receiver: str
    number: int
    reason: str
    said: str
    due_at: int | None
    at: int
    group: str | None = None


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
    said = traced(f"{now} mute: silence {id_} was taken back by {by}\n")
    mine = update(deliveries).where(d.held == reason_of(id_))
    connection.execute(mine.values(due_at=now, held=None, trace=said))
    return True


def hold(connection: Connection, held: Sequence[Held]) -> None:
    """Write what stages hold back. What a silence was to hold that has ended by now is due at once."""
    if not held:
        return
    s = silences.c
    active = select(s.id, s.ends_at).where(s.ends_at > min(one.at for one in held))
    ends = {reason_of(id_): end for id_, end in connection.execute(active.with_for_update(read=True))}
    rows: list[dict[str, object]] = []
    for one in held:
        reason, due_at, said = one.reason, one.due_at, f"{one.at} {one.said}\n"
        if reason.startswith(reason_of("")):
            due_at = ends.get(reason, 0)
            if due_at <= one.at:
                reason, due_at, said = "", one.at, ""
        state = INHIBITED if due_at is None else "pending"
        row = {"r": one.receiver, "n": one.number, "d": due_at, "h": reason or None, "t": said}
        rows.append(row | {"s": state, "g": one.group})
    connection.execute(_HOLD, rows)


_D = deliveries.c
_SAME = func.coalesce(_D.held, "") == func.coalesce(bindparam("h", type_=Text), "")
_HOLD = (
    update(deliveries)
    .where(_D.receiver == bindparam("r"), _D.alert == bindparam("n"), _D.due_at.is_not(None))
    .values(
        due_at=bindparam("d"), held=bindparam("h"), state=bindparam("s"), grouped=bindparam("g"),
        trace=case((_SAME, func.coalesce(_D.trace, "")), else_=traced(bindparam("t", type_=Text))),
    )
)  # fmt: skip
"""The update of what is held; for the reason of before, nothing is added to the trace."""


def held_counts(connection: Connection) -> dict[tuple[str, str], int]:
    """The number of deliveries that are held back, by receiver and reason."""
    d = deliveries.c
    query = select(d.receiver, d.held, func.count()).where(d.held.is_not(None)).group_by(d.held, d.receiver)
    return {(receiver, str(reason)): count for receiver, reason, count in connection.execute(query)}


def silences_of(connection: Connection, ids: Iterable[str]) -> dict[str, Silence]:
    """The silences of these ids."""
    wanted = set(ids)
    return {one.id: one for one in read_silences(connection) if one.id in wanted}
