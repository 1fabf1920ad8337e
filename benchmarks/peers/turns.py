"""Ours and theirs in alternation: every turn both get the same new input, and who begins changes."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


@dataclass(frozen=True, slots=True)
class Taken:
    """Seconds that one side took for a turn: by the clock, and of processor time of all its threads."""

    seconds: float
    processor: float

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Taken:
        """From what a program answered."""
        return cls(answer["seconds"], answer["processor"])


@dataclass(frozen=True, slots=True)
class Pair:
    """Both sides of one turn."""

    ours: Taken
    theirs: Taken


@dataclass(frozen=True, slots=True)
class Latency:
    """Microseconds of single pieces of work."""

    p50: float
    p99: float

    @classmethod
    def of(cls, microseconds: Sequence[float]) -> Latency:
        """The percentiles."""
        return cls(*(float(one) for one in np.percentile(np.asarray(microseconds), (50, 99))))


@dataclass(frozen=True, slots=True)
class Comparison:
    """One row: `units` are what a turn of it passes, `accept` is the ratio that was looked for.

    Peaks are bytes, latencies may be missing; `same` says in words what the comparison of results came to.
    """

    name: str
    unit: str
    units: int
    pairs: Sequence[Pair]
    accept: float | None = None
    peaks: tuple[int, int] | None = None
    latencies: tuple[Latency, Latency] | None = None
    same: str = ""

    @property
    def rates(self) -> tuple[float, float]:
        """Ours and theirs: units a second by the clock, the median of turns."""
        ours, theirs = ([side.seconds for side in sides] for sides in self._sides())
        return self.units / statistics.median(ours), self.units / statistics.median(theirs)

    @property
    def ratios(self) -> list[float]:
        """How many times our processor time theirs takes, by turn."""
        return [pair.theirs.processor / pair.ours.processor for pair in self.pairs]

    @property
    def by_the_clock(self) -> list[float]:
        """How many times our seconds theirs takes, by turn."""
        return [pair.theirs.seconds / pair.ours.seconds for pair in self.pairs]

    def _sides(self) -> tuple[list[Taken], list[Taken]]:
        return [pair.ours for pair in self.pairs], [pair.theirs for pair in self.pairs]


class Contest(Protocol):
    """What is measured in turns."""

    def prepare(self) -> None:
        """Makes an input that neither side has seen. Takes no time that counts."""

    def ours(self) -> Taken:
        """Our side of the input."""

    def theirs(self) -> Taken:
        """Theirs of the same."""

    def check(self) -> str:
        """What the comparison of the results came to. Raises SystemExit if they differ unexplained."""


def measured(contest: Contest, warm_up: int, turns: int) -> tuple[list[Pair], str]:
    """The turns behind those that warm both sides up, and what the last comparison of results said."""
    pairs, same = [], ""
    for turn in range(warm_up + turns):
        contest.prepare()
        if turn % 2:
            after = contest.theirs()
            pair = Pair(contest.ours(), after)
        else:
            before = contest.ours()
            pair = Pair(before, contest.theirs())
        same = contest.check()
        if turn >= warm_up:
            pairs.append(pair)
    return pairs, same
