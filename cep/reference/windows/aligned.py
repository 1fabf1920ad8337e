"""Tumbling and hopping windows: where they begin and end, in UTC and by the days of a zone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from rules.typed import Hopping, Tumbling

SECOND = 10**9
DAY = 86_400 * SECOND
WEEK = 7 * DAY
MONDAY = 4 * DAY
"""1970-01-05, from which whole weeks count."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY = datetime(1970, 1, 1)  # a day of any zone


@dataclass(frozen=True, slots=True)
class Grid:
    """Windows of `size`, one begun every `every`, in nanoseconds of the zone's own reckoning, all days alike.

    A window is named by its beginning in that reckoning. Without a zone it is that of UTC.
    """

    size: int
    every: int
    zone: tzinfo | None

    @staticmethod
    def of(window: Tumbling | Hopping) -> Grid:
        """The grid of a window."""
        every = window.every if isinstance(window, Hopping) else window.size
        zone = None if window.zone is None else UTC if window.zone == "UTC" else ZoneInfo(window.zone)
        return Grid(window.size, every, zone)

    def holding(self, time: int) -> Iterator[int]:
        """The windows that hold an instant, the earliest first."""
        origin = MONDAY if self.every % WEEK == 0 else 0
        at = time if self.zone is None else _day_of(time, self.zone) * DAY
        last = (at - origin) // self.every * self.every + origin
        return (last - back * self.every for back in reversed(range(self.size // self.every)))

    def instant(self, at: int) -> int:
        """The instant of a time of the zone's reckoning, in nanoseconds since 1970 UTC; with a zone, of a
        day."""
        return at if self.zone is None else midnight(at // DAY, self.zone)


def midnight(day: int, zone: tzinfo) -> int:
    """The first instant of a day of a zone, in nanoseconds; days are numbered from 1970-01-01.

    Of two midnights it is the first; where midnight is skipped, the instant at which clocks are changed.
    """
    local = _FIRST_DAY + timedelta(days=day)
    earlier, later = (_seconds(local.replace(tzinfo=zone, fold=fold)) for fold in (0, 1))
    if later >= earlier:
        return earlier * SECOND
    before = _offset(later, zone)
    return next(s for s in range(later + 1, earlier + 1) if _offset(s, zone) != before) * SECOND


def _day_of(time: int, zone: tzinfo) -> int:
    """The day that an instant lies in; never one that has no instant."""
    local = (_EPOCH + timedelta(seconds=time // SECOND)).astimezone(zone)
    day = (local.replace(tzinfo=None) - _FIRST_DAY).days
    while midnight(day, zone) > time:
        day -= 1
    while midnight(day + 1, zone) <= time:
        day += 1
    return day


def _seconds(moment: datetime) -> int:
    return int((moment - _EPOCH).total_seconds())


def _offset(seconds: int, zone: tzinfo) -> timedelta | None:
    return (_EPOCH + timedelta(seconds=seconds)).astimezone(zone).utcoffset()
