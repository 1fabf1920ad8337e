"""Counts of alerts by minute and rule over the last day, kept between requests: none is counted twice.

Alerts are read in the order of their numbers, from the last that was counted, so many at a time that a
request does not wait; the first look of a process begins a day back, and others see what is counted so far.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from alerts.outbox import Outbox
from alerts.outbox.schema import alerts, rules

MINUTE = 60 * 10**9
DAY = 24 * 60
"""Minutes."""
STEPS = 2
"""Steps towards the newest alert that one request makes."""
STEP = 20_000
"""Alerts that are counted in one go."""


class Of(NamedTuple):
    """A rule at one of its severities."""

    pack: str
    rule: str
    severity: str


@dataclass(frozen=True, slots=True)
class Counted:
    """Alerts by minute since 1970, and by number of their rule; `whole`: up to the newest."""

    minutes: Mapping[int, Mapping[int, int]]
    names: Mapping[int, Of]
    whole: bool

    def over(self, minutes: int, now: int) -> Counter[Of]:
        """By rule, over the last so many minutes."""
        first = now // MINUTE - minutes
        found: Counter[Of] = Counter()
        for minute, by_rule in self.minutes.items():
            if minute > first:
                for number, count in by_rule.items():
                    found[self.names[number]] += count
        return found

    def by_rule(self, now: int) -> dict[tuple[str, str], int]:
        """The alerts of the last day by pack and rule."""
        found: dict[tuple[str, str], int] = {}
        for of, count in self.over(DAY, now).items():
            found[of.pack, of.rule] = found.get((of.pack, of.rule), 0) + count
        return found

    def hours(self, pack: str, rule: str, now: int) -> list[tuple[int, int]]:
        """The last 24 hours of the clock in ns, each with the alerts of a rule; the last is not over."""
        mine = {number for number, of in self.names.items() if (of.pack, of.rule) == (pack, rule)}
        last = now // MINUTE // 60
        sums = dict.fromkeys(range(last - 23, last + 1), 0)
        for minute, by_number in self.minutes.items():
            if minute // 60 in sums:
                sums[minute // 60] += sum(by_number.get(number, 0) for number in mine)
        return [(hour * 60 * MINUTE, count) for hour, count in sums.items()]

    def series(self, minutes: int, now: int) -> list[tuple[int, int]]:
        """The minutes in ns, each with its alerts; the last is not over."""
        last = now // MINUTE
        every = range(last - minutes + 1, last + 1)
        return [(minute * MINUTE, sum(self.minutes.get(minute, {}).values())) for minute in every]


@dataclass(slots=True)
class Tally:
    """The counts of one outbox; may be asked by any thread. `clock` is the wall clock in ns."""

    outbox: Outbox
    clock: Callable[[], int]
    _minutes: dict[int, Counter[int]] = field(default_factory=dict)
    _names: dict[int, Of] = field(default_factory=dict)
    _last: int | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def counted(self, steps: int = 1) -> Counted:
        """The counts, after so many steps towards the newest alert."""
        with self._lock, self.outbox.reading() as connection:
            whole = False
            for _ in range(steps):
                whole = self._step(connection)
                if whole:
                    break
            before = self.clock() // MINUTE - DAY
            for minute in [one for one in self._minutes if one <= before]:
                del self._minutes[minute]
            return Counted({m: Counter(c) for m, c in self._minutes.items()}, dict(self._names), whole)

    def _step(self, connection: Connection) -> bool:
        """Count the next alerts; True if those were the newest."""
        a, r = alerts.c, rules.c
        if self._last is None:
            self._last = _before(connection, self.clock() - DAY * MINUTE)
        newest = connection.scalar(select(func.max(a.number))) or 0
        up_to = min(newest, self._last + STEP)
        minute = a.recorded_at // MINUTE
        query = select(minute, a.rule_number, func.count()).where(a.number > self._last, a.number <= up_to)
        for at, number, count in connection.execute(query.group_by(minute, a.rule_number)):
            self._minutes.setdefault(int(at), Counter())[number] += count
            if number not in self._names:
                named = select(r.pack, r.rule, r.severity).where(r.number == number)
                self._names[number] = Of(*connection.execute(named).one())
        self._last = up_to
        return up_to == newest


def _before(connection: Connection, moment: int) -> int:
    """The number of the last alert recorded before a moment of the wall clock; found by halving."""
    a = alerts.c
    first = connection.scalar(select(func.min(a.number)))
    last = connection.scalar(select(func.max(a.number)))
    if first is None or last is None:
        return 0
    after = last + 1
    while first < after:
        middle = (first + after) // 2
        there, at = connection.execute(
            select(a.number, a.recorded_at).where(a.number >= middle).order_by(a.number).limit(1)
        ).one()
        if at >= moment:
            after = middle
        else:
            first = there + 1
    return int(first) - 1
