"""Sliding windows and last events: every event has a window of its own, of the rows before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal as Choice

import numpy as np

from cep.events import MAX_TIME
from cep.operators.windows.compile.shapes import Newest
from cep.operators.windows.runtime.evaluations import NEWEST
from cep.operators.windows.runtime.frames import Field, Frame, Judged, Remains, earlier, later
from cep.state.keyed_rows import Bools, Ints


@dataclass(frozen=True)
class NewestWindows:
    """The windows of the new items of a field."""

    field: Field
    shape: Newest

    @property
    def count(self) -> int:
        """The number of new events."""
        return len(self.field.came)

    @cached_property
    def judged(self) -> Judged:
        """Each new event."""
        came = self.field.came
        return Judged(self.field.runs.number[came], self.field.items.firsts[came], came)

    @property
    def groups(self) -> Ints:
        """Every item is kept as it is."""
        return np.arange(len(self.field.items) + 1)

    def frame(self, which: Choice["this", "previous", "ago"], offset: int, rows: Ints | None = None) -> Frame:
        """A window of each new event."""
        judged = self.judged.chosen(rows)
        if self.shape.events is not None:
            return (
                self._this(judged)
                if which == "this"
                else self._events_before(judged, offset * self.shape.events)
            )
        length = self.shape.length
        assert length is not None
        times = judged.times
        if which == "this":
            return self._up_to(judged.at, earlier(times, length))
        if which == "previous":
            stops = earlier(times, length)
            return self._between(judged.at, earlier(stops, offset * length), stops)
        stops = earlier(times, offset)
        return self._between(judged.at, earlier(stops, length), stops)

    def _up_to(self, came: Ints, starts: Ints) -> Frame:
        """The events after some instants, up to these events."""
        return Frame(self._after(came, starts), came + 1, starts, self.field.items.firsts[came])

    def _between(self, came: Ints, starts: Ints, stops: Ints) -> Frame:
        """The events after some instants, up to and including others."""
        firsts, ends = self._after(came, starts), self._after(came, stops)
        return Frame(firsts, ends, starts, stops, starts >= self.field.watch.begun)

    def _after(self, came: Ints, instants: Ints) -> Ints:
        """For each of these events the first item after an instant that its key still keeps."""
        begins = self.field.runs.firsts[came]
        found = self.field.after(self.field.items.firsts, begins, came + 1, instants)
        return np.maximum(found, came + 1 - self.shape.limit) if self._limited else found

    @cached_property
    def _limited(self) -> bool:
        """True if some key has more items than it may keep."""
        return int(self.field.runs.sizes.max(initial=0)) > self.shape.limit

    def _limits(self, came: Ints) -> Ints:
        """For each of these events the first item that its key still keeps."""
        return np.maximum(self._begun(came), came + 1 - self.shape.limit)

    def _anew(self, items: Ints) -> Bools:
        """True of items that begin anew: the key's first, and those before which its window had emptied."""
        found: Bools = self.field.runs.firsts[items] == items
        if self.shape.length is not None:
            times = self.field.items.firsts
            found |= times[items] >= later(times[np.maximum(items - 1, 0)], self.shape.length)
        return found

    def _begun(self, items: Ints) -> Ints:
        """For items the first one that their key has not done with: of last events, what they began with."""
        if self.shape.events is None or self.shape.length is None:
            return self.field.runs.firsts[items]
        return self._beginnings[items]

    @cached_property
    def _beginnings(self) -> Ints:
        items = np.arange(len(self.field.items))
        return np.maximum.accumulate(np.where(self._anew(items), items, 0))

    def _this(self, judged: Judged) -> Frame:
        """The last events."""
        came, times = judged.at, self.field.items.firsts
        assert self.shape.events is not None
        firsts = np.maximum(self._limits(came), came + 1 - self.shape.events)
        if self.shape.length is not None:
            begins = self.field.runs.firsts[came]
            after = self.field.after(times, begins, came + 1, earlier(times[came], self.shape.length))
            firsts = np.maximum(firsts, after)
        return Frame(firsts, came + 1, times[firsts], times[came])

    def _events_before(self, judged: Judged, wanted: int) -> Frame:
        """So many events before the last ones."""
        times, ends = self.field.items.firsts, self._this(judged).firsts
        known = ends - self._limits(judged.at) >= wanted
        firsts = np.where(known, ends - wanted, ends)
        starts = times[firsts]
        known &= starts >= self.field.watch.begun
        return Frame(firsts, ends, starts, times[np.maximum(ends - 1, 0)], known)

    def settled(self, holds: Bools) -> tuple[Bools, Remains]:
        """Raised is what was not true with the key's event before, if its window has not emptied since."""
        of = self.judged.of
        new = np.ones(len(of), bool)
        new[1:] = of[1:] != of[:-1]
        firsts = np.flatnonzero(new)
        was = np.zeros(len(holds), bool)
        was[1:] = holds[:-1]
        was[firsts] = self.field.before.mark[of[firsts]] > 0
        mark = self.field.before.mark.copy()
        mark[of[firsts]] = holds[np.append(firsts[1:], len(of))[: len(firsts)] - 1]
        raised = holds & ~was
        again = np.flatnonzero(holds & was)
        raised[again] = self._anew(self.field.came[again])
        return raised, self._remains(self.field.runs.places, mark)

    def _remains(self, places: Ints, mark: Ints) -> Remains:
        newest, watch = places[1:] - 1, self.field.watch
        times = self.field.items.firsts
        due = np.full(len(newest), MAX_TIME, np.int64)
        if self.shape.events is None:
            assert self.shape.length is not None
            span = self.shape.length + self.shape.back
            due = later(times[newest], span)
            after = earlier(times[newest], span)
            firsts = self.field.after(times, places[:-1], places[1:], after)
            firsts = np.maximum(firsts, places[1:] - self.shape.limit)
        else:
            if self.shape.length is not None:
                due = later(times[newest], self.shape.length)
            most = min(self.shape.limit, self.shape.events + self.shape.back)
            firsts = np.maximum(self._begun(newest), places[1:] - most)
        stays = (due > watch.watermark) | (due == MAX_TIME)
        if watch.closing is not None:
            stays[:] = False
        of = np.flatnonzero(stays)
        judged, tails = np.zeros(len(of), np.int64), np.full(len(of), NEWEST)
        return Remains(of, due[of], judged, mark[of], firsts[of], places[1:][of], of, tails)

    def dropped(self) -> Mapping[int, int]:
        """Of each event that comes one at most, if it were still kept otherwise."""
        came, times, shape = self.field.came, self.field.items.firsts, self.shape
        if not self._limited:
            return {}
        lost = came - shape.limit
        there = lost >= self._begun(came)
        if shape.events is None:
            assert shape.length is not None
            span = shape.length + shape.back
            there &= times[np.maximum(lost, 0)] > earlier(times[came], span)
        elif shape.limit >= shape.events + shape.back:
            return {}
        keys, counts = np.unique(self.field.runs.of_item[came[there]], return_counts=True)
        return dict(zip(keys.tolist(), counts.tolist(), strict=True))
