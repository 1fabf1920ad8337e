"""Time while the program ran, and its pauses: what `idle` is counted by (cep.job.clocks.idle).

A clock that is read at two batches does not tell work from a pause: a stopped process, a suspended machine
or a clock that was set all look like an idle feed. So the program reads two clocks several times a
second (`RunningTime.tick`). A longer step of either is a pause, and no time in which the program ran.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from cep.events import MAX_TIME

STALL = 1_000_000_000
"""Nanoseconds: readings of the clocks lie closer together while the program runs."""


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause, or a step of the wall clock, of `length` nanoseconds; the program ran for `since` after it."""

    length: int
    since: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """The time between two batches: `ran` is how many nanoseconds of it the program ran."""

    ran: int
    pauses: tuple[Pause, ...] = ()


RESTART = Stretch(0, (Pause(MAX_TIME, 0),))
"""What lies before the first batch of a program: nobody knows how long it was."""


class RunningTime:
    """Adds up the time from batch to batch. May be called from any thread.

    `steady` is a clock that nobody sets, `wall` that of the calendar, both in nanoseconds. A suspended
    machine may halt the first, a stopped process neither.
    """

    def __init__(self, steady: Callable[[], int], wall: Callable[[], int]) -> None:
        self._steady = steady
        self._wall = wall
        self._lock = threading.Lock()
        self._read: tuple[int, int] | None = None
        self._ran = 0
        self._pauses: list[tuple[int, int]] = []
        self._begun = False

    def tick(self) -> None:
        """Reads the clocks; to be called several times a second while batches go on."""
        with self._lock:
            self._advance()

    def lap(self) -> Stretch:
        """The time since the lap before; `RESTART` if this is the first."""
        with self._lock:
            self._advance()
            pauses = tuple(Pause(length, self._ran - at) for length, at in self._pauses)
            stretch = Stretch(self._ran, pauses) if self._begun else RESTART
            self._begun, self._ran, self._pauses = True, 0, []
            return stretch

    def _advance(self) -> None:
        read = self._steady(), self._wall()
        steady, wall = (now - then for now, then in zip(read, self._read or read, strict=True))
        self._read = read
        paused = max(steady, abs(wall - steady))
        if steady <= STALL:
            self._ran += max(steady, 0)
        if paused > STALL:
            self._pauses = [
                one for one in self._pauses if one[0] > paused
            ]  # a longer one counts for all of these
            self._pauses.append((paused, self._ran))


class SetBack:
    """Notices that the wall clock was set back: Spark would wait until it has caught up."""

    def __init__(self, steady: Callable[[], int], wall: Callable[[], int]) -> None:
        self._steady = steady
        self._wall = wall
        self._ahead = 0
        self.found = False

    def start(self) -> None:
        """Begins to look, from now on."""
        self._ahead = self._difference()
        self.found = False

    def look(self) -> bool:
        """True if the clock was set back since the start, by more than `STALL` from where it was at most."""
        ahead = self._difference()
        self._ahead = max(self._ahead, ahead)
        self.found = self.found or ahead < self._ahead - STALL
        return self.found

    def _difference(self) -> int:
        steady = self._steady()
        return self._wall() - steady
