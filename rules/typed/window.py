"""Typed windows. Durations are integers in nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tumbling:
    """Windows of `size`, one after the other; evaluated at their end."""

    size: int


@dataclass(frozen=True, slots=True)
class Hopping:
    """Windows of `size`, one begun every `every`, of which `size` is a multiple; evaluated at their end."""

    size: int
    every: int


@dataclass(frozen=True, slots=True)
class Sliding:
    """The events in `(t - size, t]`, evaluated at each event's time t."""

    size: int


@dataclass(frozen=True, slots=True)
class Session:
    """Events of which each comes less than `gap` after the one before it; evaluated when `gap` is over."""

    gap: int


@dataclass(frozen=True, slots=True)
class LastEvents:
    """The last `events` events, evaluated at each event."""

    events: int


Window = Tumbling | Hopping | Sliding | Session | LastEvents
