"""Assigns alerts to episodes, in the order raised, in which event time never decreases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

Slot = tuple[str, str, str]
"""Pack, rule, key."""
Lengths = Callable[[str, str], int]
"""The length in ns of the episodes of a pack's rule."""
Coming = tuple[int, Slot, int, int]
"""An alert as episodes see it: its number, slot, event time, and the place of its severity in SEVERITIES."""


@dataclass(slots=True)
class Growing:
    """An episode to which alerts come, as `Episode` says; a new value for each of them would cost three times
    as much. `worst_before`: that of the alerts that were there."""

    first: int
    slot: Slot
    last: int
    alerts: int
    began: int
    ended: int
    length: int
    worst: int
    worst_before: int
    closed: bool = False


def assigned(
    coming: Iterable[Coming], latest: Mapping[Slot, Growing], lengths: Lengths
) -> tuple[list[Growing], list[Growing]]:
    """The episodes that alerts begin, and those of `latest` that alerts go on with, which are changed.

    `latest` has the last episode of each slot that has one. An alert begins one where there is none, where
    the last is closed, or where it comes as much as the rule's length after it, or more.
    """
    length_of = cache(lengths)
    current: dict[Slot, Growing] = {}
    begun: list[Growing] = []
    longer: list[Growing] = []
    for number, slot, time, severity in coming:
        length, one = length_of(slot[0], slot[1]), current.get(slot)
        if one is None:
            last = latest.get(slot)
            if last is not None and not last.closed and time - last.ended < length:
                one = current[slot] = last
                longer.append(one)
        if one is None or time - one.ended >= length:
            one = current[slot] = Growing(number, slot, number, 0, time, time, length, severity, severity)
            begun.append(one)
        one.last, one.ended, one.length = number, time, length
        one.alerts += 1
        if severity < one.worst:
            one.worst = severity
    return begun, longer
