"""Words that people and stages wrote beside alerts, without the values that somebody asks to have erased.

Each kind is gone through by its key, some rows at a time (`Pass`): what one look finds is one transaction.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlalchemy import Connection, delete, inspect, or_, select, update

from alerts.outbox import incidents
from alerts.outbox.audit import audit
from alerts.outbox.memory import digest_of, mark_erased
from alerts.outbox.schema import episodes, silences, suppression
from alerts.sought import Sought

ROWS = 200
"""Rows that one look reads."""


@dataclass(slots=True)
class Found:
    """The result of a look: rows by what they are, how they are changed, and behind which row the next look
    begins (None: there are no more)."""

    last: Any
    counts: Counter[str] = field(default_factory=Counter)
    changes: list[Callable[[Connection], object]] = field(default_factory=list)

    def note(self, what: str, change: Callable[[Connection], object]) -> None:
        """Count a row, and remember how it is changed."""
        self.counts[what] += 1
        self.changes.append(change)

    def write(self, connection: Connection) -> None:
        """Change the rows."""
        for change in self.changes:
            change(connection)


Pass = Callable[[Connection, Sought, Any], Found]
"""A look at the next rows of a kind, behind one (None: from the first)."""


def in_episodes(connection: Connection, sought: Sought, after: Any) -> Found:
    """Episodes on the key, which go; and notes that hold the values."""
    e = episodes.c
    query = select(e.first, e.key, e.note).order_by(e.first).limit(ROWS)
    rows = connection.execute(query if after is None else query.where(e.first > after)).all()
    found = Found(rows[-1].first if len(rows) == ROWS else None)
    for first, key, note in rows:
        mine = e.first == first
        if sought.is_of({"key": json.loads(key)}):
            found.note("episodes", partial(_forget_episode, first=first))
        elif sought.stands_in(note):
            said = update(episodes).where(mine).values(note=sought.blanked(note))
            found.note("notes", lambda to, said=said: to.execute(said))  # type: ignore[misc]
    return found


def _forget_episode(connection: Connection, first: int) -> None:
    """Remove an episode, with what receivers were told of it."""
    incidents.forget(connection, [first])
    connection.execute(delete(episodes).where(episodes.c.first == first))


def in_incidents(connection: Connection, sought: Sought, after: Any) -> Found:
    """Receivers' answers about episodes; they stay, without the values, where the episode does."""
    found = Found(None)
    rows = incidents.answered(connection, after, ROWS)
    if len(rows) == ROWS:
        found.last = rows[-1].receiver, rows[-1].first
    for receiver, first, outcome, trace, key in rows:
        if key is not None and sought.is_of({"key": json.loads(key)}):
            continue  # goes with its episode
        if sought.stands_in(outcome) or sought.stands_in(trace):
            found.note(
                "notes",
                partial(incidents.say_again, receiver=receiver, first=first, as_=sought.blanked),
            )
    return found


def in_silences(connection: Connection, sought: Sought, after: Any) -> Found:
    """Silences whose matchers hold the values, which go; and reasons that do."""
    s = silences.c
    query = select(s.id, s.why, s.matchers).order_by(s.id).limit(ROWS)
    rows = connection.execute(query if after is None else query.where(s.id > after)).all()
    found = Found(rows[-1].id if len(rows) == ROWS else None)
    for id_, why, matchers in rows:
        if sought.stands_in(matchers):
            gone = delete(silences).where(s.id == id_)
            found.note("silences", lambda to, gone=gone: to.execute(gone))  # type: ignore[misc]
        elif sought.stands_in(why):
            said = update(silences).where(s.id == id_).values(why=sought.blanked(why))
            found.note("notes", lambda to, said=said: to.execute(said))  # type: ignore[misc]
    return found


def in_audit(connection: Connection, sought: Sought, after: Any) -> Found:
    """Lines of who did what; they stay, without the values."""
    if not inspect(connection).has_table(audit.name):
        return Found(None)
    u = audit.c
    query = select(u.number, u.details).order_by(u.number).limit(ROWS)
    rows = connection.execute(query if after is None else query.where(u.number > after)).all()
    found = Found(rows[-1].number if len(rows) == ROWS else None)
    for number, details in rows:
        if sought.stands_in(details):
            less = json.dumps(_without(json.loads(details), sought))
            said = update(audit).where(u.number == number).values(details=less)
            found.note("audit", lambda to, said=said: to.execute(said))  # type: ignore[misc]
    return found


def _without(value: object, sought: Sought) -> object:
    match value:
        case str():
            return sought.blanked(value)
        case dict():
            return {name: _without(one, sought) for name, one in value.items()}
        case list():
            return [_without(one, sought) for one in value]
    return value


def in_suppression(connection: Connection, sought: Sought, after: Any) -> Found:
    """Keys under which alerts are suppressed: they stay, as digests, so that nothing else is raised."""
    s = suppression.c
    order = s.pack, s.rule, s.key
    query = select(*order).order_by(*order).limit(ROWS)
    if after is not None:
        pack, rule, key = after
        behind = s.pack > pack, (s.pack == pack) & (s.rule > rule), (s.pack == pack) & (s.rule == rule)
        query = query.where(or_(behind[0], behind[1], behind[2] & (s.key > key)))
    rows = connection.execute(query).all()
    found = Found(tuple(rows[-1]) if len(rows) == ROWS else None)
    for pack, rule, key in rows:
        if sought.stands_in(key):
            mine = s.pack == pack, s.rule == rule, s.key == key
            hidden = update(suppression).where(*mine).values(key=digest_of(key))
            found.note("suppression", lambda to, hidden=hidden: to.execute(hidden))  # type: ignore[misc]
    if found.changes:
        found.changes.append(mark_erased)
    return found


PASSES: tuple[Pass, ...] = (in_episodes, in_incidents, in_silences, in_audit, in_suppression)
