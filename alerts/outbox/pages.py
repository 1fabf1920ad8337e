"""Pages of alerts: those wanted, from one number on, by an index and never by looking through all of them.

Numbers rise in the order raised, and so do batches and event times (docs/alerts.md, Order): both are found by
halving. Of rules and keys the trailing indexes have the numbers; what they do not know yet is looked through.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, select

from alerts.outbox.schema import ERASED, KEY_LENGTH, alerts, by_key, by_rule, rules
from alerts.outbox.trailing import last_indexed
from alerts.raised_columns import key_text


@dataclass(frozen=True, slots=True)
class Wanted:
    """A selection of alerts to read; None means any. `since` <= event time < `until`, in nanoseconds.

    `key` maps the names of a rule's `by` to values, in their order. `after` and `before`: only those raised
    after or before the alert of that number, which is how to read on.
    """

    rule: str | None = None
    severity: str | None = None
    batch: int | None = None
    since: int | None = None
    until: int | None = None
    after: int | None = None
    pack: str | None = None
    key: Mapping[str, object] | None = None
    before: int | None = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """Numbers from `first` to `last`."""

    first: int
    last: int


def numbers(connection: Connection, wanted: Wanted, limit: int | None, newest_first: bool) -> list[int]:
    """The numbers of the alerts wanted, in the order raised or the reverse, `limit` of them at most."""
    of_rules = _rules(connection, wanted)
    stretch = stretch_of(connection, wanted)
    if stretch.first > stretch.last or of_rules == []:
        return []
    key = None if wanted.key is None else key_text(wanted.key)
    read = _Read(connection, of_rules, key, newest_first)
    if of_rules is None and key is None:
        return read.through(stretch, limit)
    known = min(stretch.last, last_indexed(connection))
    parts = [
        (read.indexed, Stretch(stretch.first, known)),
        (read.through, Stretch(max(stretch.first, known + 1), stretch.last)),
    ]
    found: list[int] = []
    for reading, part in reversed(parts) if newest_first else parts:
        left = None if limit is None else limit - len(found)
        if left != 0 and part.first <= part.last:
            found += reading(part, left)
    return found


@dataclass(frozen=True, slots=True)
class _Read:
    """Reads numbers of alerts of some rules (None: all) and with a key (None: any)."""

    connection: Connection
    rules: Sequence[int] | None
    key: str | None
    newest_first: bool

    def through(self, stretch: Stretch, limit: int | None) -> list[int]:
        """By looking at every alert of a stretch."""
        return self._first(alerts.c.number, self._conditions(stretch), limit)

    def indexed(self, stretch: Stretch, limit: int | None) -> list[int]:
        """By index."""
        if self.key is not None:
            k = by_key.c
            there = (k.key == self.key[:KEY_LENGTH], k.number.between(stretch.first, stretch.last))
            also = (k.number == alerts.c.number, *self._conditions(stretch)[1:])
            return self._first(k.number, (*there, *also), limit)
        r = by_rule.c
        of_each = (
            self._first(
                r.number, (r.rule_number == rule, r.number.between(stretch.first, stretch.last)), limit
            )
            for rule in self.rules or ()
        )
        found = sorted((number for some in of_each for number in some), reverse=self.newest_first)
        return found[:limit]

    def _conditions(self, stretch: Stretch) -> tuple[ColumnElement[bool], ...]:
        a = alerts.c
        of_rules = [] if self.rules is None else [a.rule_number.in_(self.rules)]
        of_key = [] if self.key is None else [a.key == self.key]
        return a.number.between(stretch.first, stretch.last), a.key != ERASED, *of_rules, *of_key

    def _first(self, number: Any, conditions: Iterable[ColumnElement[bool]], limit: int | None) -> list[int]:
        order = number.desc() if self.newest_first else number
        return list(self.connection.scalars(select(number).where(*conditions).order_by(order).limit(limit)))


def first_recorded(connection: Connection, at: int) -> int:
    """The number of the first alert that was recorded at `at` or later, wall clock in ns; where there is
    none, one that is greater than all."""
    return first_from(connection, alerts.c.recorded_at, at)


def first_from(connection: Connection, column: Any, value: int) -> int:
    """The same for a column that rises with the numbers and is `value` or more."""
    stretch = _all(connection)
    return _halved(connection, column, value, stretch) if stretch.first <= stretch.last else 1


def _all(connection: Connection) -> Stretch:
    """The numbers among which all alerts lie."""
    a = alerts.c
    # one query of both would look at every alert in SQLite
    least, greatest = (connection.scalar(select(end(a.number))) for end in (func.min, func.max))
    return Stretch(1, 0) if least is None or greatest is None else Stretch(least, greatest)


def _rules(connection: Connection, wanted: Wanted) -> list[int] | None:
    """The numbers of the rules wanted; None if any is."""
    r = rules.c
    said = {r.pack: wanted.pack, r.rule: wanted.rule, r.severity: wanted.severity}
    conditions = [column == value for column, value in said.items() if value is not None]
    return list(connection.scalars(select(r.number).where(*conditions))) if conditions else None


def stretch_of(connection: Connection, wanted: Wanted) -> Stretch:
    """The numbers among which the alerts of the times and batches wanted lie."""
    a, every = alerts.c, _all(connection)
    if every.first > every.last:
        return every
    first, last = every.first, every.last
    if wanted.after is not None:
        first = max(first, wanted.after + 1)
    if wanted.before is not None:
        last = min(last, wanted.before - 1)
    for column, begin, end in ((a.time, wanted.since, wanted.until), (a.batch, *_from_to(wanted.batch))):
        if begin is not None:
            first = max(first, _halved(connection, column, begin, every))
        if end is not None:
            last = min(last, _halved(connection, column, end, every) - 1)
    return Stretch(first, last)


def _from_to(batch: int | None) -> tuple[int | None, int | None]:
    return (None, None) if batch is None else (batch, batch + 1)


def _halved(connection: Connection, column: Any, value: int, stretch: Stretch) -> int:
    """The least number from which on a column that rises with the numbers is `value` or more."""
    first, after = stretch.first, stretch.last + 1
    number = alerts.c.number
    while first < after:
        middle = (first + after) // 2
        query = select(number, column).where(number >= middle).order_by(number).limit(1)
        there, found = connection.execute(query).one()
        if found >= value:
            after = middle
        else:
            first = there + 1
    return first
