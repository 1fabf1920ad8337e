"""Input of a rule over windows in a batch, and its evaluations, by column.

`cep.operators.windows.runtime.advance.advance` finds the windows that are judged; who calls it reads of them
what `having` names, says by `settled` where it is true, and reads of those alone what alerts tell.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from cep.operators.windows.runtime.window_rows import WindowRows
from cep.state.keyed_rows import Bools, Ints

NEWEST = 100
"""Events of a window that its alert names."""
AT_ITS_END = -1
"""In place of an event's number: the window was judged at its end."""


@dataclass(frozen=True, slots=True)
class RuleEvents:
    """The events that a rule takes, key by key (their numbers rise), within a key in order of time and
    arrival.

    `numbers` are those in the event book. `arguments` has a column for each of Readings.arguments, in the
    type in which it is held (times and durations as int64); None for lists and records, of which `event_of`
    tells whose they are.
    """

    keys: Ints
    times: Ints
    numbers: Ints
    arguments: tuple[pa.Array | None, ...]

    def part(self, first: int, end: int) -> RuleEvents:
        """Those from a first one up to an end."""
        size = end - first
        columns = (None if column is None else column.slice(first, size) for column in self.arguments)
        return RuleEvents(
            self.keys[first:end], self.times[first:end], self.numbers[first:end], tuple(columns)
        )


@dataclass(frozen=True, slots=True)
class Watch:
    """The part of time that the rule watches, in nanoseconds since 1970 UTC.

    `begun`: since when; of earlier windows that begin before nothing is known. `since`: aligned windows that
    begin before it are not this rule's. `closing`: of a rule that was replaced only windows that begin before
    it go on, and sessions that were open; sliding windows and last events end. `watermark`: event time after
    the batch.
    """

    begun: int
    since: int
    closing: int | None
    watermark: int


@dataclass(frozen=True, slots=True)
class Evaluations:
    """Windows at the moments at which they are judged, key by key, in order of decision.

    `at` is the number of the event that a window is judged at, or AT_ITS_END.
    """

    keys: Ints
    times: Ints
    starts: Ints
    ends: Ints
    at: Ints


@dataclass(frozen=True, slots=True)
class ReadWindows:
    """Readings of some evaluations: the n-th is the column `@n` of `table`.

    `approximate` has of those in which something was estimated a mask of these values.
    """

    table: pa.Table
    approximate: Mapping[int, Bools]


@dataclass(frozen=True, slots=True)
class Settled:
    """Results of the evaluations: which raise an alert, what is kept of the keys (the rule has number 0),
    and how many events each key lost to `limit`, by its number."""

    raised: Bools
    kept: WindowRows
    dropped: Mapping[int, int]


class Advanced(Protocol):
    """A rule's windows in a batch."""

    @property
    def count(self) -> int:
        """The number of evaluations, before any is made."""

    def keys(self, rows: Ints | None = None) -> Ints:
        """The numbers of the keys of some evaluations, or of all."""

    def evaluations(self, rows: Ints | None = None) -> Evaluations:
        """Some of those that are judged in it, or all."""

    def newest(self, rows: Ints) -> tuple[Ints, Ints]:
        """The numbers of the newest events, NEWEST at most, in order, of some evaluations: where those of
        each begin, a last place where they end, and the numbers."""

    def read(self, readings: Collection[int], rows: Ints | None = None) -> ReadWindows:
        """Some readings, by number, of some evaluations, or of all."""

    def event_of(self, reading: int, rows: Ints | None = None) -> Ints:
        """For each of them the number of the event whose value `first` or `last` is; -1: of none."""

    def settled(self, holds: Bools) -> Settled:
        """The results, where `having` is true as `holds` says."""
