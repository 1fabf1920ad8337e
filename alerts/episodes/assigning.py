"""Assigns alerts to episodes, in the order raised, in which event time never decreases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from alerts.episodes.episode import Episode

Slot = tuple[str, str, str]
"""Pack, rule, key."""
Lengths = Callable[[str, str], int]
"""The length in ns of the episodes of a pack's rule."""


class Coming(NamedTuple):
    """An alert as episodes see it; `severity` is its place in SEVERITIES."""

    number: int
    slot: Slot
    time: int
    severity: int


def assigned(
    coming: Iterable[Coming], latest: Mapping[Slot, Episode], lengths: Lengths
) -> tuple[list[Episode], list[Episode]]:
    """The episodes that alerts begin, and those before them that alerts go on with, as they then are.

    `latest` has the last episode of each slot that has one. An alert begins one where there is none, where
    the last is closed, or where it comes as much as the rule's length after it, or more.
    """
    length_of = cache(lengths)
    current: dict[Slot, _Growing] = {}
    begun: list[_Growing] = []
    longer: list[_Growing] = []
    for number, slot, time, severity in coming:
        length, growing = length_of(slot[0], slot[1]), current.get(slot)
        if growing is None and (last := latest.get(slot)) is not None and last.takes(time, length):
            growing = current[slot] = _Growing(last, last.last, last.alerts, last.ended, length, last.worst)
            longer.append(growing)
        if growing is None or time - growing.ended >= length:
            new = Episode(number, *slot, number, 0, time, time, length, severity)
            growing = current[slot] = _Growing(new, number, 0, time, length, severity)
            begun.append(growing)
        growing.last, growing.ended, growing.length = number, time, length
        growing.alerts += 1
        growing.worst = min(growing.worst, severity)
    return [one.episode() for one in begun], [one.episode() for one in longer]


@dataclass(slots=True)
class _Growing:
    """An episode to which alerts come; a new value for each of them would cost three times as much."""

    before: Episode
    last: int
    alerts: int
    ended: int
    length: int
    worst: int

    def episode(self) -> Episode:
        one = self.before
        return Episode(
            one.first, one.pack, one.rule, one.key, self.last, self.alerts, one.began, self.ended,
            self.length, self.worst, one.standing,
        )  # fmt: skip
