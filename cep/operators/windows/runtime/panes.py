"""Tumbling and hopping windows: so many panes of the calendar each, judged at the end or with each event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal as Choice

import numpy as np

from cep.events import MAX_TIME
from cep.operators.windows.compile.shapes import Panes
from cep.operators.windows.kernel.layout import PaneRuns, WindowRanges
from cep.operators.windows.runtime.calendar import Calendar
from cep.operators.windows.runtime.columns import NO_INTS
from cep.operators.windows.runtime.evaluations import AT_ITS_END, NEWEST
from cep.operators.windows.runtime.frames import LEAST, Field, Frame, Judged, Remains, first_true
from cep.state.keyed_rows import Bools, Ints

_FAR = 2**62
"""More than the number of any pane."""


@dataclass(frozen=True)
class PaneWindows:
    """The windows of a field, each by the number of the pane that it begins with."""

    field: Field
    shape: Panes

    @cached_property
    def _calendar(self) -> Calendar:
        return Calendar(self.shape.every, self.shape.origin, self.shape.zone)

    @cached_property
    def _panes(self) -> Ints:
        """The pane of each item."""
        return self._calendar.of(self.field.items.firsts)

    @cached_property
    def _bounds(self) -> tuple[int, int]:
        """The first and the last window that is this rule's."""
        watch = self.field.watch
        first = -_FAR if watch.since == LEAST else self._calendar.first_from(watch.since)
        last = _FAR if watch.closing is None else self._calendar.first_from(watch.closing) - 1
        return first, last

    @cached_property
    def _ended(self) -> int:
        """The last window whose end has come."""
        if self.field.watch.watermark == MAX_TIME:
            return _FAR
        (pane,) = self._calendar.of(np.array([self.field.watch.watermark], np.int64)).tolist()
        return int(pane) - self.shape.panes

    @cached_property
    def groups(self) -> Ints:
        """Where the items of each pane of a key begin, and last where they end."""
        fresh = self.field.runs.begins.copy()
        fresh[1:] |= self._panes[1:] != self._panes[:-1]
        return np.append(np.flatnonzero(fresh), len(fresh))

    @cached_property
    def _next(self) -> Ints:
        """Of each key the first window that was not yet judged, as far as its head says."""
        return np.maximum(self.field.before.judged, self._bounds[0])

    @cached_property
    def _of_group(self) -> Ints:
        """The place of the key of each pane."""
        return self.field.runs.number[self.groups[:-1]]

    @cached_property
    def _pane_of_group(self) -> Ints:
        return self._panes[self.groups[:-1]]

    @cached_property
    def count(self) -> int:
        """The number of evaluations, before any is made; of windows judged at events what it may be."""
        if self.shape.early:
            return len(self.field.came) * self.shape.panes
        return self._find(self._next, WindowRanges(NO_INTS, NO_INTS, NO_INTS, NO_INTS))

    def _find(self, following: Ints, found: WindowRanges) -> int:
        """The windows that are judged at their end, each once, from the one on that follows of each key."""
        panes = PaneRuns(self._of_group, self._pane_of_group, self.groups)
        last = min(self._ended, self._bounds[1])
        return self.field.engine.find_windows(panes, self.shape.panes, following, last, found)

    @cached_property
    def _at_their_end(self) -> tuple[WindowRanges, Ints]:
        """These windows; and of each key the one that follows."""
        following, found = (
            self._next.copy(),
            WindowRanges(*(np.empty(self.count, np.int64) for _ in range(4))),
        )
        if self.count:
            self._find(following, found)
        return found, following

    @cached_property
    def _early(self) -> tuple[Ints, Ints, Ints]:
        """The windows that are judged at each event: the event's item, the window, and the order of decision.

        They are evaluated one after the other from the first window of all events to the last, so that ranges
        go forward.
        """
        came, most = self.field.came, self.shape.panes
        windows = (self._panes[came] + np.arange(1 - most, 1)[:, None]).ravel()
        items = np.tile(came, most)
        first, last = self._bounds
        own = np.flatnonzero((windows >= first) & (windows <= last))
        windows, items = windows[own], items[own]
        return items, windows, np.lexsort((windows, items))

    @cached_property
    def judged(self) -> Judged:
        """The windows."""
        if self.shape.early:
            items, _, order = self._early
            return Judged(self.field.runs.number[items], self.field.items.firsts[items], items, order)
        windows, _ = self._at_their_end
        at = np.full(len(windows.keys), AT_ITS_END, np.int64)
        return Judged(windows.keys, self._stops(windows.numbers), at)

    def _stops(self, windows: Ints) -> Ints:
        return self._calendar.begins(windows + self.shape.panes)

    @cached_property
    def _asked(self) -> Ints:
        """The window of each evaluation."""
        return self._early[1] if self.shape.early else self._at_their_end[0].numbers

    def frame(self, which: Choice["this", "previous", "ago"], offset: int, rows: Ints | None = None) -> Frame:
        """The window of each evaluation, or those before it, or the one so long ago."""
        judged, panes = self.judged.chosen(rows), self.shape.panes
        begin = self._asked if rows is None else self._asked[rows]
        if which == "this" and not self.shape.early:
            windows, _ = self._at_their_end
            firsts, ends = (part if rows is None else part[rows] for part in (windows.firsts, windows.ends))
            return Frame(firsts, ends, self._calendar.begins(begin), judged.times)
        if which == "previous":
            begin, panes = begin - offset * panes, offset * panes
        elif which == "ago":
            begin = begin - offset // self.shape.every
        of, runs = judged.of, self.field.runs
        low, high = runs.places[:-1][of], runs.places[1:][of]
        if self.shape.early:
            high = judged.at + 1
        firsts = self.field.after(self._panes, low, high, begin - 1)
        ends = self.field.after(self._panes, low, high, begin + panes - 1)
        starts = self._calendar.begins(begin)
        if which == "this":
            return Frame(firsts, high, starts, self._stops(begin))
        known = starts >= self.field.watch.begun
        return Frame(firsts, ends, starts, self._calendar.begins(begin + panes), known)

    def settled(self, holds: Bools) -> tuple[Bools, Remains]:
        """Raised is what holds, of windows told early the first time."""
        if not self.shape.early:
            return holds, self._remains(self._at_their_end[1], NO_INTS, NO_INTS)
        items, windows, order = self._early
        of, windows = self.field.runs.number[items][order], windows[order]
        before = self.field.before
        told_of = np.repeat(np.arange(len(before.mark)), np.diff(before.places))
        all_of, all_windows = np.concatenate((told_of, of)), np.concatenate((before.raised, windows))
        _, groups = np.unique(np.stack((all_of, all_windows)), axis=1, return_inverse=True)
        true = np.concatenate((np.ones(len(told_of), bool), holds))
        told = first_true(groups.ravel(), true)
        raised = told[len(told_of) :]
        return raised, self._remains(self._next, all_of[told], all_windows[told])

    def _remains(self, next_: Ints, told_of: Ints, told: Ints) -> Remains:
        """The panes that windows after those judged hold or look back at."""
        places, shape = self.field.runs.places, self.shape
        newest = self._panes[places[1:] - 1]
        next_ = np.maximum(next_, newest - shape.panes + 1)
        due = self._stops(newest + shape.back)
        if not shape.early:
            due = np.minimum(due, self._pending(next_, newest))
        stays = (due > self.field.watch.watermark) & (next_ <= self._bounds[1])
        begins = self.groups[:-1]
        of_group, panes = self._of_group, self._pane_of_group
        kept = stays[of_group] & (panes >= next_[of_group] - shape.back)
        kept &= panes < self._bounds[1] + shape.panes
        stays &= np.bincount(of_group[kept], minlength=len(stays)) > 0
        of = np.flatnonzero(stays)
        firsts, sizes = begins[kept], np.diff(self.groups)[kept]
        of_group, open_ = of_group[kept], panes[kept] >= next_[of_group[kept]]
        tails = np.where(open_, NEWEST, 0)
        told_of, told = self._still(told_of, told, next_, stays)
        counts = np.bincount(told_of, minlength=len(stays))
        head = (of, due[of], next_[of], counts[of])
        return Remains(*head, firsts, firsts + sizes, of_group, tails, counts[of], told)

    def _pending(self, next_: Ints, newest: Ints) -> Ints:
        """When the first window of each key ends that holds something and is not judged yet."""
        places = self.field.runs.places
        first = self.field.after(self._panes, places[:-1], places[1:], next_ - 1)
        there = first < places[1:]
        panes = self._panes[np.minimum(first, len(self._panes) - 1)]
        window = np.maximum(next_, panes - self.shape.panes + 1)
        there &= window <= np.minimum(newest, self._bounds[1])
        return np.where(there, self._stops(window), MAX_TIME)

    @staticmethod
    def _still(told_of: Ints, told: Ints, next_: Ints, stays: Bools) -> tuple[Ints, Ints]:
        """Of windows that were told those that may yet have an event, by key and number."""
        still = stays[told_of] & (told >= next_[told_of])
        order = np.lexsort((told[still], told_of[still]))
        return told_of[still][order], told[still][order]

    def dropped(self) -> Mapping[int, int]:
        """None: these windows are not limited."""
        return {}
