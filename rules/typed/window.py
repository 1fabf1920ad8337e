"""Typed windows. Durations are integers in nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tumbling:
    """Windows of `size`, one after the other.

    `zone`: its days and not those of UTC, of which `size` is a whole number. `early`: evaluated at each
    event, raised once; else evaluated at the end.
    """

    size: int
    zone: str | None = None
    early: bool = False


@dataclass(frozen=True, slots=True)
class Hopping:
    """Windows of `size`, one begun every `every`, of which `size` is a multiple; else as Tumbling."""

    size: int
    every: int
    zone: str | None = None
    early: bool = False


@dataclass(frozen=True, slots=True)
class Sliding:
    """The events in `(t - size, t]`, evaluated at each event's time t."""

    size: int


@dataclass(frozen=True, slots=True)
class Session:
    """Events of which each comes less than `gap` after the one before it; evaluated when `gap` is over.

    `longest`: an event that much after the first one or later begins another. `early` as in Tumbling.
    """

    gap: int
    longest: int | None = None
    early: bool = False


@dataclass(frozen=True, slots=True)
class LastEvents:
    """The last `events` events, of them those in `(t - within, t]`; evaluated at each event's time t."""

    events: int
    within: int | None = None


Window = Tumbling | Hopping | Sliding | Session | LastEvents
Aligned = Tumbling | Hopping
"""Windows that lie where the calendar says, whatever events come."""
AtEachEvent = Sliding | LastEvents
"""Windows that each event has its own of."""
