"""A rule's windows over the events of a batch."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from cep.batch.texts import Texts
from cep.operators.windows.compile.shapes import Newest, Panes
from cep.operators.windows.compile.window_plan import WindowPlan
from cep.operators.windows.runtime.columns import Column, column_of, ends_of
from cep.operators.windows.runtime.engines import engine
from cep.operators.windows.runtime.evaluations import (
    AT_ITS_END,
    NEWEST,
    Advanced,
    Evaluations,
    ReadWindows,
    RuleEvents,
    Settled,
    Watch,
)
from cep.operators.windows.runtime.frames import Field, Windows
from cep.operators.windows.runtime.items import Items, KeyRuns
from cep.operators.windows.runtime.keeping import Keeper
from cep.operators.windows.runtime.layout import Layout
from cep.operators.windows.runtime.lists import Lists
from cep.operators.windows.runtime.newest import NewestWindows
from cep.operators.windows.runtime.panes import PaneWindows
from cep.operators.windows.runtime.readings import Reader
from cep.operators.windows.runtime.restoring import before, then
from cep.operators.windows.runtime.sessions import SessionWindows
from cep.operators.windows.runtime.window_rows import WindowRows
from cep.state.keyed_rows import Bools, Ints, ranges


def advance(
    plan: WindowPlan,
    kept: WindowRows,
    events: RuleEvents,
    watch: Watch,
    texts: Texts,
    compiled: bool | None,
) -> Advanced:
    """The evaluations of a rule over some events and what was kept of it; `kept` is not changed.

    Texts are named by their places in `texts`, to which those of the events are added. `compiled` chooses the
    kernel; None: by the number of events.
    """
    layout = Layout(plan)
    machine = engine(len(events.keys), compiled)
    items = then(layout, kept, _items(layout, events, texts), machine)
    field = Field(items, before(layout, kept, items.runs), watch, machine)
    windows = _windows(layout, field)
    return _Advanced(Reader(layout, items, windows, texts, machine), field, windows)


def _items(layout: Layout, events: RuleEvents, texts: Texts) -> Items:
    """Events as items."""
    ones = np.ones(len(events.keys), np.int64)
    columns: list[Column | Lists] = []
    types = [one.type for one in layout.plan.readings.arguments]
    arguments = [
        column_of(array, type_, events.numbers, texts)
        for array, type_ in zip(events.arguments, types, strict=True)
    ]
    for slot in layout.slots:
        if slot.argument is None:
            columns.append(Column(ones, ones))
        elif slot.kind in ("different", "ordered"):
            columns.append(Lists.of(arguments[slot.argument], types[slot.argument], slot.kind))
        elif slot.kind == "true":
            column = arguments[slot.argument]
            columns.append(Column(column.counts & column.low, column.low))
        else:
            columns.append(arguments[slot.argument])
    return Items(
        KeyRuns.of(events.keys),
        events.times,
        events.times,
        ones,
        ones > 0,
        np.arange(len(ones) + 1),
        events.numbers,
        tuple(columns),
    )


def _windows(layout: Layout, field: Field) -> Windows:
    shape = layout.plan.shape
    if isinstance(shape, Newest):
        return NewestWindows(field, shape)
    if isinstance(shape, Panes):
        return PaneWindows(field, shape)
    return SessionWindows(field, shape)


@dataclass(frozen=True)
class _Advanced:
    """The windows of a rule in a batch (cep.operators.windows.runtime.evaluations.Advanced)."""

    reader: Reader
    field: Field
    windows: Windows

    def _ordered(self, found: Ints) -> Ints:
        """The evaluations by column, in order of decision."""
        order = self.windows.judged.order
        return found if order is None else found[order]

    @property
    def count(self) -> int:
        """The number of evaluations, before any is made."""
        return self.windows.count

    def keys(self, rows: Ints | None = None) -> Ints:
        """The keys of some evaluations."""
        of = self._ordered(self.windows.judged.of)
        return self.field.runs.keys[of if rows is None else of[rows]]

    def evaluations(self, rows: Ints | None = None) -> Evaluations:
        """Some of those of the batch."""
        judged, frame = self.windows.judged, self.reader.window("this", 0)
        found = (judged.times, frame.starts, frame.stops, judged.at)
        times, starts, stops, at = map(self._ordered, found)
        if rows is not None:
            times, starts, stops, at = times[rows], starts[rows], stops[rows], at[rows]
        numbers, items, there = at.copy(), self.field.items, np.flatnonzero(at != AT_ITS_END)
        numbers[there] = items.tails[items.tail_places[at[there] + 1] - 1]
        return Evaluations(self.keys(rows), times, starts, stops, numbers)

    def _chosen(self, rows: Ints | None) -> tuple[Reader, Ints | None]:
        """A reader of some evaluations, and for each its place there; None: it is the same."""
        order = self.windows.judged.order
        if rows is None:
            return self.reader, order
        if order is not None:
            rows = order[rows]
        if np.all(rows[1:] > rows[:-1]):
            return replace(self.reader, rows=rows), None
        places, of = np.unique(rows, return_inverse=True)
        return replace(self.reader, rows=places), of

    def read(self, readings: Collection[int], rows: Ints | None = None) -> ReadWindows:
        """Some readings of some evaluations."""
        reader, places = self._chosen(rows)
        columns, order = {}, None if places is None else pa.array(places)
        for number in readings:
            column = reader.column(number, readings)
            columns[f"@{number}"] = column if order is None else column.take(order)
        estimated = {n: mask for n, mask in reader.approximate.items() if n in readings}
        masks = {n: mask if places is None else mask[places] for n, mask in estimated.items()}
        return ReadWindows(pa.table(columns), masks)

    def newest(self, rows: Ints) -> tuple[Ints, Ints]:
        """The numbers of the newest events of some evaluations."""
        frame, places = self.reader.window("this", 0), self.field.items.tail_places
        firsts = places[self._ordered(frame.firsts)[rows]]
        ends = places[self._ordered(frame.ends)[rows]]
        firsts = np.maximum(firsts, ends - NEWEST)
        return ends_of(ends - firsts), self.field.items.tails[ranges(firsts, ends - firsts)]

    def event_of(self, reading: int, rows: Ints | None = None) -> Ints:
        """The numbers of the events whose values a reading is."""
        reader, places = self._chosen(rows)
        found = reader.event_of(reading)
        return found if places is None else found[places]

    def settled(self, holds: Bools) -> Settled:
        """The alerts and the state that the evaluations come to."""
        raised, remains = self.windows.settled(holds)
        kept = Keeper(self.reader, self.field.runs, remains).kept()
        return Settled(raised, kept, self.windows.dropped())
