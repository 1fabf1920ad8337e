"""Mute times: what receivers are not told of at certain times of a week, a month or a year."""

from __future__ import annotations

from dataclasses import dataclass

from alerts.calendars import Calendar
from alerts.matchers import Matchers


@dataclass(frozen=True, slots=True)
class MuteTime:
    """While its calendar holds, these receivers (None: all) are not told of alerts that fit the matchers."""

    name: str
    calendar: Calendar
    matchers: Matchers
    receivers: frozenset[str] | None = None

    def of(self, receiver: str) -> bool:
        """True if it may hold back what goes to this receiver."""
        return self.receivers is None or receiver in self.receivers
