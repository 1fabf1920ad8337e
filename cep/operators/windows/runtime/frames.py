"""Windows as ranges of items, and what remains of items for those to come: what all shapes have alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal as Choice
from typing import Protocol

import numpy as np

from cep.events import MAX_TIME
from cep.operators.windows.kernel.layout import Ranges
from cep.operators.windows.runtime.columns import NO_INTS
from cep.operators.windows.runtime.entry_points import Engine
from cep.operators.windows.runtime.evaluations import Watch
from cep.operators.windows.runtime.items import Items, KeyRuns
from cep.state.keyed_rows import Bools, Ints

LEAST = -(2**63)


@dataclass(frozen=True)
class Before:
    """Heads of the keys of some items (of a key without one the defaults): up to where windows
    were judged, what was raised, and the windows of `raised`, those of a key from `places[n]` on."""

    judged: Ints
    mark: Ints
    places: Ints
    raised: Ints


@dataclass(frozen=True)
class Field:
    """Items of a batch, the old ones and the new, with what is known of their keys and the rule's watch."""

    items: Items
    before: Before
    watch: Watch
    engine: Engine

    @property
    def runs(self) -> KeyRuns:
        """The keys of the items."""
        return self.items.runs

    @cached_property
    def came(self) -> Ints:
        """The places of the new items."""
        return np.flatnonzero(self.items.new)

    def after(self, times: Ints, firsts: Ints, ends: Ints, wanted: Ints) -> Ints:
        """For each wanted instant the first item after it, by the items' `times`, among those from the first
        to the end."""
        found = np.zeros(len(wanted), np.int64)
        among = Ranges(*(np.ascontiguousarray(part) for part in (firsts, ends)))
        self.engine.find_after(np.ascontiguousarray(times), among, np.ascontiguousarray(wanted), found)
        return found


@dataclass(frozen=True, slots=True)
class Frame:
    """A window of each evaluation: its items, from the first to the end, and its bounds. Nothing is said of
    those that are not `known`."""

    firsts: Ints
    ends: Ints
    starts: Ints
    stops: Ints
    known: Bools | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """The evaluations: of which key (by its place among those of the items), when, and the item that it was
    judged at, or AT_ITS_END. `order`, where there is one, is that of decision."""

    of: Ints
    times: Ints
    at: Ints
    order: Ints | None = None

    def chosen(self, rows: Ints | None) -> Judged:
        """Some of them; None: all."""
        return self if rows is None else Judged(self.of[rows], self.times[rows], self.at[rows])


@dataclass(frozen=True, slots=True)
class Remains:
    """The next state: of some keys (by place, rising) head columns, and groups of items, which become one
    where items are folded; where they are not, a key has one. `of_group` has for each the place of its key.
    `tails`: so many of a group's newest
    events are named at most. `raised`: windows that were, those of the n-th key `sizes[n]`."""

    of: Ints
    due: Ints
    judged: Ints
    mark: Ints
    firsts: Ints
    ends: Ints
    of_group: Ints
    tails: Ints
    sizes: Ints = field(default_factory=lambda: NO_INTS)
    raised: Ints = field(default_factory=lambda: NO_INTS)


class Windows(Protocol):
    """The windows of a rule in a batch."""

    @property
    def count(self) -> int:
        """The number of their evaluations, or of what these may be at most."""

    @property
    def judged(self) -> Judged:
        """Their evaluations."""

    @property
    def groups(self) -> Ints:
        """Where the items begin that become one when they are kept, and last where these end."""

    def frame(self, which: Choice["this", "previous", "ago"], offset: int, rows: Ints | None = None) -> Frame:
        """A window of each evaluation, in the order of `judged`; or of some of them (`rows`, rising)."""

    def settled(self, holds: Bools) -> tuple[Bools, Remains]:
        """The evaluations that raise an alert where the condition holds as said, and what is kept; both are
        in the order of decision."""

    def dropped(self) -> Mapping[int, int]:
        """The number of events that each key lost to its limit."""


def later(times: Ints, span: int) -> Ints:
    """Times and a span after them, MAX_TIME at the latest."""
    if times.max(initial=LEAST) <= MAX_TIME - span:
        return times + span
    return np.where(times > MAX_TIME - span, MAX_TIME, times + span)


def earlier(times: Ints, span: int) -> Ints:
    """Times and a span before them, LEAST at the earliest."""
    if times.min(initial=MAX_TIME) >= LEAST + span:
        return times - span
    return np.where(times < LEAST + span, LEAST, times - span)


def first_true(groups: Ints, holds: Bools) -> Bools:
    """Of the evaluations of each group the first of those that hold."""
    true = np.flatnonzero(holds)
    found = np.zeros(len(holds), bool)
    found[true[np.unique(groups[true], return_index=True)[1]]] = True
    return found
