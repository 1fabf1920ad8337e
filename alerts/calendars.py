"""Times of a week, a month and a year by the clock of a zone: when people do not want to be told.

A moment is looked at as the zone's clock shows it. So an hour that the clock shows twice counts both times,
and one that it leaves out does not come.

CalendarError    a text that is no such time: what is wrong with it, and what to write
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip

_SECOND = 1_000_000_000
_DAY = 1_440  # minutes
_AHEAD = 400  # days that are looked through for an end
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})")


class CalendarError(ValueError):
    """The text says what is wrong with a time, `help` what to write."""

    def __init__(self, said: str, help: str) -> None:  # noqa: A002  as diagnostics call it
        super().__init__(said)
        self.help = help


class Range(NamedTuple):
    """From `first` to `last`, which belongs to it. Of hours: minutes of the day, and `last` does not."""

    first: int
    last: int


def _parted(text: str, one: Callable[[str], int]) -> Range:
    first, to, last = (part.strip().lower() for part in text.partition(" to "))
    return Range(one(first), one(last if to else first))


def weekdays(text: str) -> Range:
    """`saturday`, `monday to friday`; 0 is Monday. Raises CalendarError."""
    return _parted(text, lambda name: _named(name, WEEKDAYS, "a day of the week", "monday to friday"))


def months(text: str) -> Range:
    """`december`, `june to august`; 1 is January. Raises CalendarError."""
    return _parted(text, lambda name: _named(name, MONTHS, "a month", "june to august") + 1)


def days(text: str) -> Range:
    """`1`, `1 to 7`, `-3 to -1`: days of a month, negative ones from its end. Raises CalendarError."""
    found = _parted(text, _day)
    if (found.first > 0) == (found.last > 0) and found.first > found.last:
        raise CalendarError(f"`{text}` ends before it begins", f'write "{found.last} to {found.first}"')
    return found


def hours(text: str) -> Range:
    """`22:00 to 06:00`, over midnight too; `24:00` is a day's end. Raises CalendarError."""
    help_ = 'write "22:00 to 06:00"'
    if " to " not in text:
        raise CalendarError(f"`{text}` is no range of hours", help_)
    found = _parted(text, lambda clock: _minute(clock, help_))
    if found.first == found.last or found.first == _DAY:
        raise CalendarError(f"`{text}` is no time at all", 'for whole days write "00:00 to 24:00"')
    return found


def _named(name: str, names: tuple[str, ...], what: str, example: str) -> int:
    if name not in names:
        raise CalendarError(f"`{name}` is not {what}", f'write one of {", ".join(names)}, or "{example}"')
    return names.index(name)


def _day(text: str) -> int:
    if not re.fullmatch("-?[0-9]{1,2}", text) or not 1 <= abs(int(text)) <= 31:
        raise CalendarError(f"`{text}` is no day of a month", 'write "1 to 7", or "-1" for the last day')
    return int(text)


def _minute(text: str, help_: str) -> int:
    found = _CLOCK.fullmatch(text)
    minute = int(found[1]) * 60 + int(found[2]) if found and int(found[2]) < 60 else _DAY + 1
    if minute > _DAY:
        raise CalendarError(f"`{text}` is no time of a day", help_)
    return minute


def _within(value: int, ranges: tuple[Range, ...]) -> bool:
    """True if one has the value; a range whose end is before its beginning goes round. None: all have it."""
    return not ranges or any(a <= value <= b if a <= b else value >= a or value <= b for a, b in ranges)


@dataclass(frozen=True, slots=True)
class Calendar:
    """Times by weekdays, days of the month, months and hours, all of which have to hold; none given: always.

    Hours over midnight belong to the day on which they begin.
    """

    zone: ZoneInfo
    weekdays: tuple[Range, ...] = ()
    days: tuple[Range, ...] = ()
    months: tuple[Range, ...] = ()
    hours: tuple[Range, ...] = ()

    def holds(self, now: int) -> bool:
        """True at a moment, wall clock in ns."""
        local = datetime.fromtimestamp(now // _SECOND, self.zone)
        minute, today = local.hour * 60 + local.minute, local.date()
        if not self.hours:
            return self._of_day(today)
        for first, last in self.hours:
            if first < last:
                if first <= minute < last and self._of_day(today):
                    return True
            elif (minute >= first and self._of_day(today)) or (
                minute < last and self._of_day(today - timedelta(days=1))
            ):
                return True
        return False

    def _of_day(self, day: date) -> bool:
        if not (_within(day.weekday(), self.weekdays) and _within(day.month, self.months)):
            return False
        if not self.days:
            return True
        after = (day.replace(day=28) + timedelta(days=4)).replace(day=1)
        length = (after - timedelta(days=1)).day
        return any(_from_start(a, length) <= day.day <= _from_start(b, length) for a, b in self.days)

    def until(self, now: int) -> int:
        """The first moment after `now` at which it does not hold; 400 days later if there is none before."""
        for moment in self._changes(now):
            if moment > now and not self.holds(moment):
                return moment
        return now + _AHEAD * 86_400 * _SECOND

    def _changes(self, now: int) -> Iterator[int]:
        """The moments at which it may begin or end, in order: of its hours, and of changes of the clock."""
        day = datetime.fromtimestamp(now // _SECOND, self.zone).date() - timedelta(days=1)
        minutes = sorted({0, *(minute % _DAY for one in self.hours for minute in one)})
        for _ in range(_AHEAD):
            found = {
                moment
                for minute in minutes
                for fold in (0, 1)
                for moment in (self._moment(day, minute, fold),)
            }
            begin, end = self._moment(day, 0, 0), self._moment(day + timedelta(days=1), 0, 0)
            if self._offset(begin) != self._offset(end):
                found.add(self._turn(begin, end))
            yield from sorted(found)
            day += timedelta(days=1)

    def _moment(self, day: date, minute: int, fold: int) -> int:
        local = datetime(day.year, day.month, day.day, minute // 60, minute % 60, tzinfo=self.zone, fold=fold)
        return int(local.astimezone(UTC).timestamp()) * _SECOND

    def _offset(self, moment: int) -> timedelta | None:
        return datetime.fromtimestamp(moment // _SECOND, self.zone).utcoffset()

    def _turn(self, begin: int, end: int) -> int:
        """The first moment after `begin` at which the clock is set as it is at `end`."""
        before, low, high = self._offset(begin), begin // _SECOND, end // _SECOND
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._offset(middle * _SECOND) == before else (low, middle)
        return high * _SECOND


def _from_start(day: int, length: int) -> int:
    """The day of a month of that length, counted from its beginning."""
    return day if day > 0 else length + 1 + day
