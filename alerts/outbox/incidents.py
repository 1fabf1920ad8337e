"""Incidents: what receivers that follow episodes were told of each, and are to be told next.

A row is there once a trigger was delivered, so that no episode is acknowledged or resolved at a receiver that
never heard of it. Not acts are kept but what the receiver was told last: it is due where that is not how the
episode stands. So no crash between two steps loses one, and of two that came while it did not answer, the
last goes out. The table is made when somebody follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    case,
    delete,
    func,
    insert,
    inspect,
    or_,
    select,
    text,
    update,
)

from alerts.due import Due, Follow, Says, Settled
from alerts.episodes.episode import Episode, State
from alerts.outbox.schema import alerts, episodes
from alerts.outbox.traces import LONGEST_TRACE

metadata = MetaData()
_NUMBER = BigInteger().with_variant(Integer, "sqlite")
_DUE = text("due_at IS NOT NULL")

incidents = Table(
    "outbox_incidents",
    metadata,
    Column("receiver", String(200), primary_key=True),
    Column("first", _NUMBER, primary_key=True, autoincrement=False),  # of the episode
    Column("id", String(64), nullable=False),  # of the episode
    Column("told", String(16), nullable=False),  # last: trigger, acknowledge, resolve
    Column("attempts", Integer, nullable=False),  # at what is told next
    Column("due_at", BigInteger),  # when that is told; null: nothing is to be told, or it was given up
    Column("settled_at", BigInteger),  # of the last attempt
    Column("outcome", Text, nullable=False),  # of the last attempt, in words
    Column("trace", Text, nullable=False),  # lines of a moment and words
    Index("outbox_incidents_due", "receiver", "due_at", sqlite_where=_DUE, postgresql_where=_DUE),
    Index("outbox_incidents_first", "first"),
    sqlite_with_rowid=False,
)

SAYS: dict[State, Says] = {"open": "trigger", "acknowledged": "acknowledge", "closed": "resolve"}
"""The event by which a receiver is told that an episode stands so."""
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Told:
    """A receiver's knowledge of an episode: what it was `told` last, and when that was settled (ns).

    `pending`: there is something new, whose last attempt came to `outcome`. `trace` has lines of a moment in
    ns and words.
    """

    receiver: str
    told: Says
    pending: bool
    attempts: int
    settled_at: int | None
    outcome: str
    trace: str


class Answered(NamedTuple):
    """The words of a receiver about the episode `first`, whose key is `key`, JSON; None: it is no more."""

    receiver: str
    first: int
    outcome: str
    trace: str
    key: str | None


def create(connection: Connection) -> None:
    """Make the table where it is missing."""
    if not _there(connection):
        metadata.create_all(connection)


def triggered(
    connection: Connection, settled: Iterable[Settled], found: Mapping[int, Episode], ids: Mapping[int, str]
) -> None:
    """Note that receivers were told of alerts, by triggers that were delivered.

    `found` are the episodes of these, by the alerts' numbers, `ids` those of the episodes, by their first.
    """
    i = incidents.c
    for one in settled:
        if (episode := found.get(one.number)) is None:
            continue
        mine = i.receiver == one.receiver, i.first == episode.first
        before: Says | None = connection.scalar(select(i.told).where(*mine))
        # an incident that somebody has acknowledged stays so when more comes to it
        told: Says = "acknowledge" if before == "acknowledge" else "trigger"
        due_at = None if told == SAYS[episode.standing.state] else one.settled_at
        values: dict[str, object] = {
            "told": told, "attempts": 0, "due_at": due_at, "settled_at": one.settled_at,
            "outcome": one.outcome,
        }  # fmt: skip
        said = f"{one.settled_at} trigger: {_line(one.outcome)}\n"
        if before is None:
            key = {"receiver": one.receiver, "first": episode.first, "id": ids[episode.first]}
            connection.execute(insert(incidents), key | values | {"trace": said})
        else:
            values["trace"] = _traced(said)
            connection.execute(update(incidents).where(*mine).values(values))


def changed(connection: Connection, which: ColumnElement[bool], now: int) -> None:
    """Have receivers told of episodes, chosen by `outbox_episodes`, whose state has changed."""
    if _there(connection):
        i = incidents.c
        # the few that are known, not the many that are chosen: SQLite would read them all
        chosen = select(episodes.c.first).where(which)
        connection.execute(update(incidents).where(i.first.in_(chosen)).values(attempts=0, due_at=now))


def due(connection: Connection, receiver: str, now: int, limit: int) -> list[Due]:
    """Messages due to a receiver at `now`, the earliest first; each with its episode's last alert."""
    i, e, a = incidents.c, episodes.c, alerts.c
    query = (
        select(i.first, i.id, i.told, e.state, i.attempts, i.due_at, a.number, a.id, a.body, a.time)
        .join_from(incidents, episodes, i.first == e.first)
        .join(alerts, a.number == e.last)
        .where(i.receiver == receiver, i.due_at <= now)
        .order_by(i.due_at, i.first)
        .limit(limit)
    )
    return [
        Due(number, id_, body, attempts, due_at, time, follow=Follow(first, episode, SAYS[state]))
        for first, episode, told, state, attempts, due_at, number, id_, body, time in connection.execute(
            query
        )
        if told != SAYS[state]
    ]


def settle(connection: Connection, settled: Iterable[Settled]) -> None:
    """Write the outcomes of attempts; where the episode stands in another way by now, that is due."""
    i, e = incidents.c, episodes.c
    for one in settled:
        assert one.follow is not None
        mine = i.receiver == one.receiver, i.first == one.follow.first
        state: State | None = connection.scalar(select(e.state).where(e.first == one.follow.first))
        values: dict[str, object] = {
            "attempts": one.attempts, "due_at": one.due_at, "settled_at": one.settled_at,
            "outcome": one.outcome,
            "trace": _traced(f"{one.settled_at} {one.follow.says}: {_line(one.outcome)}\n"),
        }  # fmt: skip
        if one.state == "delivered":
            values |= {"told": one.follow.says, "attempts": 0}
        if state is not None and SAYS[state] != one.follow.says:
            values |= {"attempts": 0, "due_at": one.settled_at}
        connection.execute(update(incidents).where(*mine).values(values))


def next_due(connection: Connection, receiver: str, after: int) -> int | None:
    """The moment of what the receiver is to be told first, later than `after`."""
    i = incidents.c
    found: int | None = connection.scalar(
        select(func.min(i.due_at)).where(i.receiver == receiver, i.due_at > after)
    )
    return found


def waiting(connection: Connection, receivers: Iterable[str]) -> bool:
    """True if one of these receivers is to be told something."""
    i, e = incidents.c, episodes.c
    query = select(i.told, e.state).join_from(incidents, episodes, i.first == e.first)
    return _there(connection) and any(
        told != SAYS[state]
        for receiver in receivers
        for told, state in connection.execute(query.where(i.receiver == receiver, i.due_at.is_not(None)))
    )


def told_of(connection: Connection, first: int) -> list[Told]:
    """The knowledge that receivers have of an episode, by receiver."""
    if not _there(connection):
        return []
    i, e = incidents.c, episodes.c
    query = (
        select(i.receiver, i.told, e.state, i.attempts, i.settled_at, i.outcome, i.trace)
        .join_from(incidents, episodes, i.first == e.first)
        .where(i.first == first)
        .order_by(i.receiver)
    )
    return [
        Told(receiver, told, told != SAYS[state], attempts, at, outcome, trace)
        for receiver, told, state, attempts, at, outcome, trace in connection.execute(query)
    ]


def answered(connection: Connection, after: tuple[str, int] | None, limit: int) -> list[Answered]:
    """The next words of receivers, by receiver and episode, behind these two (None: from the first)."""
    if not _there(connection):
        return []
    i, e = incidents.c, episodes.c
    query = (
        select(i.receiver, i.first, i.outcome, i.trace, e.key)
        .join_from(incidents, episodes, i.first == e.first, isouter=True)
        .order_by(i.receiver, i.first)
        .limit(limit)
    )
    if after is not None:
        receiver, first = after
        query = query.where(or_(i.receiver > receiver, (i.receiver == receiver) & (i.first > first)))
    return [Answered(*one) for one in connection.execute(query)]


def say_again(connection: Connection, receiver: str, first: int, as_: Callable[[str], str]) -> None:
    """Write the words about an episode at a receiver, as they stand by now, in another way."""
    mine = incidents.c.receiver == receiver, incidents.c.first == first
    found = connection.execute(select(incidents.c.outcome, incidents.c.trace).where(*mine)).one_or_none()
    if found is not None:
        values = {"outcome": as_(found.outcome), "trace": as_(found.trace)}
        connection.execute(update(incidents).where(*mine).values(values))


def forget(connection: Connection, firsts: Sequence[int]) -> None:
    """Remove the rows of episodes that are removed."""
    if _there(connection):
        for start in range(0, len(firsts), _CHUNK):
            some = firsts[start : start + _CHUNK]
            connection.execute(delete(incidents).where(incidents.c.first.in_(some)))


def _traced(said: str) -> ColumnElement[str]:
    before = func.coalesce(incidents.c.trace, "")
    return case((func.length(before) > LONGEST_TRACE, before), else_=before.concat(said))


def _line(words: str) -> str:
    return " ".join(words.split())


def _there(connection: Connection) -> bool:
    return inspect(connection).has_table(incidents.name)
