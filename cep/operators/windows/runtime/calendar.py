"""Panes by number: which one an instant lies in, and where they begin, in UTC and by the days of a zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np

from cep.events import MAX_TIME
from cep.operators.windows.runtime.frames import LEAST
from cep.state.keyed_rows import Ints

SECOND = 10**9
DAY = 86_400 * SECOND
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY = datetime(1970, 1, 1)  # a day of any zone
_BLOCK = 512
"""Days whose midnights are looked up together."""
_FIRST, _LAST = -106_752, 106_751
"""The days that begin within the times of events."""


@dataclass(frozen=True, slots=True)
class Calendar:
    """Panes of `every`, from `origin` on; with a zone they are of whole days of it."""

    every: int
    origin: int
    zone: str | None

    def of(self, times: Ints) -> Ints:
        """The pane that each instant lies in."""
        if self.zone is None:
            return (times - self.origin) // self.every if self.origin == 0 else _divided(times, self)
        days = _days(times, self.zone)
        return (days - self.origin // DAY) // (self.every // DAY)

    def begins(self, panes: Ints) -> Ints:
        """When panes begin; what lies beyond the times of events is the first or the last of them."""
        if self.zone is not None:
            return _midnights(panes * (self.every // DAY) + self.origin // DAY, self.zone)
        if not len(panes):
            return panes
        most, least = (MAX_TIME - self.origin) // self.every, -((self.origin - LEAST) // self.every)
        if least <= panes.min() and panes.max() <= most:
            return panes * self.every + self.origin
        found = np.clip(panes, least, most) * self.every + self.origin
        found[panes > most] = MAX_TIME
        found[panes < least] = LEAST
        return found

    def first_from(self, time: int) -> int:
        """The first pane that begins at an instant or after it."""
        pane = self.of(np.array([time], np.int64))
        return int(pane[0]) + int(self.begins(pane)[0] < time)


def _divided(times: Ints, calendar: Calendar) -> Ints:
    """As whole times and rests, so that the difference from the origin stays within 64 bits."""
    whole, rest = np.divmod(times, calendar.every)
    shift, part = divmod(calendar.origin, calendar.every)
    return np.asarray(whole - shift - (rest < part), np.int64)


def _days(times: Ints, zone: str) -> Ints:
    """The days of a zone that instants lie in; never one that has no instant."""
    if not len(times):
        return times
    about = times // DAY
    low, high = int(about.min()) - 2, int(about.max()) + 3
    if high - low > len(times) * 4 + _BLOCK:
        # Few instants, far apart.
        distinct, place = np.unique(about, return_inverse=True)
        near = distinct[:, None] + np.arange(-2, 4)
        starts = _midnights(near.ravel(), zone).reshape(near.shape)
        reached = (starts[place] <= times[:, None]).sum(axis=1)
        of_few: Ints = distinct[place] - 3 + reached
        return of_few
    starts = _midnights(np.arange(low, high), zone)
    found: Ints = np.searchsorted(starts, times, side="right") - 1 + low
    return found


def _midnights(days: Ints, zone: str) -> Ints:
    """The first instants of days, numbered from 1970-01-01."""
    inside = np.clip(days, _FIRST, _LAST)
    blocks, place = np.unique(inside // _BLOCK, return_inverse=True)
    table = np.array([_block(zone, int(block)) for block in blocks], np.int64).reshape(-1, _BLOCK)
    found: Ints = table[place, inside % _BLOCK]
    found[days < _FIRST] = LEAST
    found[days > _LAST] = MAX_TIME
    return found


@lru_cache(maxsize=4096)
def _block(zone: str, number: int) -> tuple[int, ...]:
    zone_info = UTC if zone == "UTC" else ZoneInfo(zone)
    return tuple(
        _midnight(min(max(day, _FIRST), _LAST), zone_info)
        for day in range(number * _BLOCK, (number + 1) * _BLOCK)
    )


def _midnight(day: int, zone: tzinfo) -> int:
    """Of two midnights it is the first; where midnight is skipped, the instant at which clocks change."""
    local = _FIRST_DAY + timedelta(days=day)
    earlier, later = (_seconds(local.replace(tzinfo=zone, fold=fold)) for fold in (0, 1))
    if later < earlier:
        before = _offset(later, zone)
        low, high = later, earlier
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if _offset(middle, zone) == before else (low, middle)
        earlier = high
    return min(max(earlier * SECOND, LEAST), MAX_TIME)


def _seconds(moment: datetime) -> int:
    return int((moment - _EPOCH).total_seconds())


def _offset(seconds: int, zone: tzinfo) -> timedelta | None:
    return (_EPOCH + timedelta(seconds=seconds)).astimezone(zone).utcoffset()
