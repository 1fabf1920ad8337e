"""Sessions: the items of a key, each of which comes soon enough after the one before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal as Choice

import numpy as np

from cep.events import MAX_TIME
from cep.operators.windows.compile.shapes import Sessions
from cep.operators.windows.runtime.evaluations import AT_ITS_END, NEWEST
from cep.operators.windows.runtime.frames import Field, Frame, Judged, Remains, first_true, later
from cep.state.keyed_rows import Bools, Ints


@dataclass(frozen=True)
class SessionWindows:
    """The sessions of a field."""

    field: Field
    shape: Sessions

    @cached_property
    def _of_item(self) -> Ints:
        """The number of the session of each item."""
        items = self.field.items
        begins = np.zeros(len(items), np.int64)
        longest = MAX_TIME if self.shape.longest is None else self.shape.longest
        self.field.engine.find_sessions(
            items.runs.of_item, items.firsts, items.lasts, self.shape.gap, longest, begins
        )
        found: Ints = np.cumsum(begins == np.arange(len(begins))) - 1
        return found

    @cached_property
    def groups(self) -> Ints:
        """Where each session begins among the items, and last where they end."""
        of = self._of_item
        fresh = np.ones(len(of), bool)
        fresh[1:] = of[1:] != of[:-1]
        return np.append(np.flatnonzero(fresh), len(of))

    @cached_property
    def _of_key(self) -> Ints:
        """The place of the key of each session."""
        return self.field.runs.number[self.groups[:-1]]

    @cached_property
    def _first_of_key(self) -> Ints:
        """The first session of each key, and last their number."""
        return np.append(self._of_item[self.field.runs.places[:-1]], len(self._of_key))

    @cached_property
    def _starts(self) -> Ints:
        return self.field.items.firsts[self.groups[:-1]]

    def _stops(self, starts: Ints, lasts: Ints) -> Ints:
        """When sessions end that begin at some instants and have their last event at others."""
        ends = later(lasts, self.shape.gap)
        return ends if self.shape.longest is None else np.minimum(ends, later(starts, self.shape.longest))

    @cached_property
    def _ends(self) -> Ints:
        return self._stops(self._starts, self.field.items.lasts[self.groups[1:] - 1])

    @cached_property
    def _own(self) -> Bools:
        """True of sessions that are this rule's: of one that was replaced those that were open then."""
        if self.field.watch.closing is None:
            return np.ones(len(self._of_key), bool)
        kept: Bools = ~self.field.items.new[self.groups[:-1]]
        return kept

    @cached_property
    def _over(self) -> Bools:
        return self._ends <= self.field.watch.watermark

    @cached_property
    def _told(self) -> Bools:
        """True of sessions that were over before."""
        until = self.field.runs.places[:-1] + self.field.before.judged
        return self.groups[:-1] < until[self._of_key]

    @property
    def count(self) -> int:
        """The number of evaluations: no more than items."""
        return len(self.judged.of)

    @cached_property
    def judged(self) -> Judged:
        """Each session that ends, or where they are told early each new event."""
        if self.shape.early:
            came = self.field.came
            came = came[self._own[self._of_item[came]]]
            return Judged(self.field.runs.number[came], self.field.items.firsts[came], came)
        which = self._sessions
        return Judged(self._of_key[which], self._ends[which], np.full(len(which), AT_ITS_END, np.int64))

    @cached_property
    def _sessions(self) -> Ints:
        """The session of each evaluation."""
        if self.shape.early:
            return self._of_item[self.judged.at]
        return np.flatnonzero(self._own & self._over & ~self._told)

    def frame(self, which: Choice["this", "previous", "ago"], offset: int, rows: Ints | None = None) -> Frame:
        """The session of each evaluation, or those before it."""
        judged, places = self.judged.chosen(rows), self.groups
        these = self._sessions if rows is None else self._sessions[rows]
        if which == "this":
            if not self.shape.early:
                return Frame(places[these], places[these + 1], self._starts[these], self._ends[these])
            starts = self._starts[these]
            return Frame(places[these], judged.at + 1, starts, self._stops(starts, judged.times))
        begins = self._first_of_key[self._of_key[these]]
        known = these - begins >= offset
        before = np.where(known, these - offset, these)
        starts = self._starts[before]
        known &= starts >= self.field.watch.begun
        return Frame(places[before], places[these], starts, self._ends[np.maximum(these - 1, 0)], known)

    def settled(self, holds: Bools) -> tuple[Bools, Remains]:
        """Raised is what holds, of sessions told early the first time."""
        marks = np.zeros(len(self._of_key), bool)
        if not self.shape.early:
            return holds, self._remains(marks)
        marked = np.flatnonzero(self.field.before.mark > 0)
        kept = self.field.runs.places[:-1][marked] + self._old[marked] - 1
        marks[self._of_item[kept]] = True
        raised = first_true(self._sessions, holds & ~marks[self._sessions])
        marks[self._sessions[raised]] = True
        return raised, self._remains(marks)

    @cached_property
    def _old(self) -> Ints:
        """So many items each key had before."""
        runs = self.field.runs
        return np.bincount(runs.number[~self.field.items.new], minlength=len(runs.keys))

    def _remains(self, marks: Bools) -> Remains:
        """The open session of each key, and those before it that later ones look back at."""
        of_key, over = self._of_key, self._over
        open_ = self._own & ~over
        ended = self._own & over
        after = np.cumsum(ended[::-1])[::-1]  # of all keys: so many from here on
        rest = np.append(after, 0)[self._first_of_key[1:]]
        stays = open_ | (ended & (after - rest[of_key] <= self.shape.back))
        if self.field.watch.closing is not None:  # no other session will look back at these
            waits = np.zeros(len(self.field.runs.keys), bool)
            waits[of_key[open_]] = True
            stays &= waits[of_key]
        kept = np.flatnonzero(stays)
        keys = np.unique(of_key[kept])
        firsts, sizes = self.groups[kept], self.groups[kept + 1] - self.groups[kept]
        tails = np.where(open_[kept], NEWEST, 0)
        judged = np.bincount(of_key[kept[over[kept]]], minlength=len(self.field.runs.keys))
        due = np.full(len(self.field.runs.keys), MAX_TIME, np.int64)
        due[of_key[open_]] = self._ends[open_]
        mark = np.zeros(len(due), np.int64)
        mark[of_key[open_]] = marks[open_]
        head = (keys, due[keys], judged[keys].astype(np.int64), mark[keys])
        return Remains(*head, firsts, firsts + sizes, of_key[kept], tails)

    def dropped(self) -> Mapping[int, int]:
        """None: sessions are not limited."""
        return {}
