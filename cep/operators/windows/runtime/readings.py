"""Readings of windows by rules: a column for each reading, over frames of items."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal as Choice

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.batch.texts import Texts
from cep.exact.kernel.deviations import ROOM
from cep.exact.kernel.layout import SQUARES, SUM
from cep.operators.windows.compile.readings import Kind, Reading
from cep.operators.windows.compile.shapes import Newest
from cep.operators.windows.kernel.layout import Accumulators, Ranges, Read
from cep.operators.windows.runtime.calendar import SECOND
from cep.operators.windows.runtime.columns import NO_INTS, Column, ends_of, is_text, kind_of
from cep.operators.windows.runtime.entry_points import Engine
from cep.operators.windows.runtime.frames import Frame, Windows
from cep.operators.windows.runtime.items import Items
from cep.operators.windows.runtime.layout import Layout
from cep.operators.windows.runtime.lists import Summaries
from cep.operators.windows.runtime.ranking import codes, doubles, ranks
from cep.operators.windows.runtime.value_readings import (
    among,
    count_different,
    estimate_different,
    estimate_percentiles,
    percentiles,
)
from cep.state.keyed_rows import Bools, Ints
from rules.types import Scalar, Type

_NO_DOUBLES = np.zeros(0, np.float64)
_EXACT = 2**53
"""Whole numbers up to it are doubles."""
_DECIMALS = pa.decimal128(38, 18)

Doubles = npt.NDArray[np.float64]


def work() -> Accumulators:
    """Empty accumulators."""
    return Accumulators(*(np.zeros(size, np.int64) for size in (SUM, SQUARES, ROOM)))


@dataclass(frozen=True)
class Reader:
    """Reads the windows of a batch."""

    layout: Layout
    items: Items
    windows: Windows
    texts: Texts
    engine: Engine
    rows: Ints | None = None
    """The evaluations that are read, by their places in `judged`, which rise; None: all."""
    _summaries: dict[int, Summaries] = field(default_factory=dict)
    """Those of slots, as far as they were asked for: the same for readers of some evaluations."""

    def column(self, number: int, beside: Collection[int] = ()) -> pa.Array:
        """The values of a reading, for each evaluation in the order of `judged`. What those `beside` it need
        of the same sums is read with it."""
        reading = self.layout.plan.readings.readings[number]
        frame = self.frame(reading)
        argument, type_ = self._argument(reading)
        match reading.function:
            case "count":
                return _longs(self._count(frame, argument), frame.known)
            case "start" | "end":
                return _longs(frame.starts if reading.function == "start" else frame.stops, None)
            case "rate":
                return self._rate(frame)
        assert argument is not None
        assert type_ is not None
        match reading.function:
            case "sum" | "avg" | "stddev":
                asked = [self.layout.plan.readings.readings[one] for one in {number, *beside}]
                return self._sum(reading, self._read(reading, asked, frame), type_, frame.known)
            case "min" | "max":
                return self._extreme(reading.function, frame, argument, type_)
            case "first" | "last":
                return self._bound(reading.function, frame, argument, type_)
            case "distinct":
                return self._distinct(number, frame, argument, type_)
            case "percentile":
                return self._percentile(number, frame, argument, type_)
        raise ValueError(f"no aggregate is called {reading.function!r}")

    def frame(self, reading: Reading) -> Frame:
        """The frame of a reading."""
        return self.window(reading.which, reading.offset)

    def window(self, which: Choice["this", "previous", "ago"], offset: int) -> Frame:
        """A window of each evaluation; equal ones are made once."""
        name = (which, offset)
        if name not in self._frames:
            self._frames[name] = self.windows.frame(which, offset, self.rows)
        return self._frames[name]

    @cached_property
    def _frames(self) -> dict[tuple[str, int], Frame]:
        return {}

    @cached_property
    def _sums(self) -> dict[tuple[str, int, int, frozenset[str]], Read]:
        return {}

    @cached_property
    def _percentiles(self) -> dict[tuple[str, int, int], tuple[tuple[float, ...], Doubles, Bools]]:
        return {}

    def _argument(self, reading: Reading) -> tuple[int | None, Type | None]:
        readings = self.layout.plan.readings
        for number in reading.accumulators:
            argument = readings.accumulators[number].argument
            if argument is not None:
                return argument, readings.arguments[argument].type
        return None, None

    def _count(self, frame: Frame, argument: int | None) -> Ints:
        if argument is None:
            counts = self.items.counts
        elif self.layout.folded:
            counts = self.items.column(self.layout.number("true", argument)).counts
        else:
            column = self.items.column(argument)
            counts = column.counts & column.low
        before = ends_of(counts)
        found: Ints = before[frame.ends] - before[frame.firsts]
        return found

    def _rate(self, frame: Frame) -> pa.Array:
        counts, lengths = self._count(frame, None), frame.stops - frame.starts
        shape = self.layout.plan.shape
        if isinstance(shape, Newest) and shape.events is not None:
            counts = counts - 1
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = (counts * float(SECOND)) / lengths
        large = (counts > _EXACT // SECOND) | (lengths > _EXACT) | (lengths < 0)
        for row in np.flatnonzero(large & _all(frame)).tolist():
            rates[row] = int(counts[row]) * SECOND / (int(frame.stops[row]) - int(frame.starts[row]))
        return _doubles(np.where(lengths == 0, np.inf, rates), frame.known)

    def values(self, argument: int) -> Column:
        """The column of which sums are made."""
        if not self.layout.folded:
            return self.items.column(argument)
        sums = self.items.column(self.layout.number("sum", argument))
        squares = NO_INTS
        if self.layout.has("squares", argument):
            squares = self.items.column(self.layout.number("squares", argument)).squares
        return Column(sums.counts, sums.low, sums.high, sums.sums, squares, sums.packed)

    def _sum(self, reading: Reading, read: Read, type_: Type, known: Bools | None) -> pa.Array:
        none = read.counts == 0
        if reading.function == "stddev":
            return _doubles(np.where(read.counts < 2, np.inf, read.deviations), known)
        if type_ is Scalar.DECIMAL:
            low, high = (
                (read.low, read.high) if reading.function == "sum" else (read.mean_low, read.mean_high)
            )
            return _decimals(low, high, none | (read.fits == 0), known)
        if reading.function == "avg":
            return _doubles(np.where(none, np.inf, read.means), known)
        if type_ is Scalar.DOUBLE:
            return _doubles(np.where(none, np.inf, read.doubles), known)
        return _longs(read.low, _both(known, ~none & (read.fits > 0)))

    def _read(self, reading: Reading, asked: Iterable[Reading], frame: Frame) -> Read:
        """The sums of a reading's argument over its frame, with what those asked read of them."""
        argument, type_ = self._argument(reading)
        assert argument is not None
        assert type_ is not None
        of = (reading.which, reading.offset, argument)
        wanted = frozenset(
            one.function for one in asked if (one.which, one.offset, self._argument(one)[0]) == of
        )
        name = (*of, wanted)
        if name not in self._sums:
            size, double, decimal = len(frame.firsts), type_ is Scalar.DOUBLE, type_ is Scalar.DECIMAL

            def ints(when: bool) -> Ints:
                return np.zeros(size if when else 0, np.int64)

            def floats(when: bool) -> Doubles:
                return np.zeros(size if when else 0)

            total, mean = "sum" in wanted, "avg" in wanted
            read = Read(
                ints(True),
                ints(not double),
                ints(total and not double),
                ints(total and decimal),
                floats(total and double),
                floats(mean and not decimal),
                ints(mean and decimal),
                ints(mean and decimal),
                floats("stddev" in wanted),
            )
            self.engine.sum_ranges(kind_of(type_), self.values(argument).values, _ranges(frame), work(), read)
            self._sums[name] = read
        return self._sums[name]

    def _extreme(self, function: str, frame: Frame, argument: int, type_: Type) -> pa.Array:
        column = self.items.column(self.layout.number("least" if function == "min" else "greatest", argument))
        return _gathered(
            column, type_, self.extreme(function, column, type_, _ranges(frame)), frame, self.texts
        )

    def extreme(self, function: str, column: Column, type_: Type, among: Ranges) -> Ints:
        """For each range an item with the least or the greatest value; -1: none."""
        order = ranks(column, type_, self.texts)
        found, queue = np.zeros(len(among.firsts), np.int64), np.zeros(len(order), np.int64)
        self.engine.find_greatest(~order if function == "min" else order, column.counts, among, queue, found)
        return found

    def _bound(self, function: str, frame: Frame, argument: int, type_: Type) -> pa.Array:
        kind: Kind = "first" if function == "first" else "last"
        column = self.items.column(self.layout.number(kind, argument))
        return _gathered(column, type_, self.bound(function, frame), frame, self.texts)

    def bound(self, function: str, frame: Frame) -> Ints:
        """The first or the last item of each frame; -1: it is empty."""
        there = (frame.firsts < frame.ends) & _all(frame)
        return np.where(there, frame.firsts if function == "first" else frame.ends - 1, -1)

    def event_of(self, number: int) -> Ints:
        """The number of the event whose value a reading is, for each evaluation; -1: of none."""
        reading = self.layout.plan.readings.readings[number]
        argument, _ = self._argument(reading)
        assert argument is not None
        kind: Kind = "first" if reading.function == "first" else "last"
        column = self.items.column(self.layout.number(kind, argument))
        items = self.bound(reading.function, self.frame(reading))
        return np.where(items >= 0, column.low[items], -1) if len(column.low) else items

    def _distinct(self, number: int, frame: Frame, argument: int, type_: Type) -> pa.Array:
        if not self.layout.folded:
            column = self.items.column(argument)
            coded = codes(column, type_)
            return _longs(count_different(self.engine, coded, column.counts, _ranges(frame)), frame.known)
        summaries = self.summaries(self.layout.number("different", argument))
        ones = np.ones(len(summaries.lists.low), np.int64)
        found = count_different(self.engine, summaries.coded, ones, among(summaries.lists, frame))
        self._tell(number, estimate_different(summaries, frame, found))
        return _longs(found, frame.known)

    def _percentile(self, number: int, frame: Frame, argument: int, type_: Type) -> pa.Array:
        reading = self.layout.plan.readings.readings[number]
        name = (reading.which, reading.offset, argument)
        assert reading.parameter is not None
        if name not in self._percentiles:
            parts = {
                one.parameter: None
                for one in self.layout.plan.readings.readings
                if one.parameter is not None and (one.which, one.offset, self._argument(one)[0]) == name
            }
            self._percentiles[name] = self._all_percentiles(frame, argument, type_, tuple(parts))
        parts_read, found, estimated = self._percentiles[name]
        self._tell(number, estimated)
        return _doubles(found[:, parts_read.index(reading.parameter)], frame.known)

    def _all_percentiles(
        self, frame: Frame, argument: int, type_: Type, parts: tuple[float, ...]
    ) -> tuple[tuple[float, ...], Doubles, Bools]:
        """The percentiles of an argument, a row for each evaluation, and which are estimated."""
        of, wanted = self.windows.judged.chosen(self.rows).of, np.array(parts)
        if not self.layout.folded:
            column = self.items.column(argument)
            values = doubles(column, type_)
            found = percentiles(self.engine, column, values, _ranges(frame), of, wanted)
            return parts, found, np.zeros(len(of), bool)
        summaries = self.summaries(self.layout.number("ordered", argument))
        column = Column(np.ones(len(summaries.lists.low), np.int64), summaries.lists.low)
        values = column.low.view(np.float64)
        found = percentiles(self.engine, column, values, among(summaries.lists, frame), of, wanted)
        return parts, found, estimate_percentiles(summaries, frame, wanted, found)

    def _tell(self, number: int, estimated: Bools) -> None:
        if estimated.any():
            self.approximate[number] = estimated

    def summaries(self, slot: int) -> Summaries:
        """The values of a slot by the groups in which items are kept."""
        if slot not in self._summaries:
            of = self.layout.slots[slot]
            assert of.kind in ("different", "ordered")
            assert of.type is not None
            lists = self.items.lists(slot)
            self._summaries[slot] = Summaries(lists, self.windows.groups, of.kind, of.type, self.texts)
        return self._summaries[slot]

    @cached_property
    def approximate(self) -> dict[int, Bools]:
        """Readings that are estimates, with which of their values are, as far as `column` was called."""
        return {}


def _ranges(frame: Frame) -> Ranges:
    return Ranges(np.ascontiguousarray(frame.firsts), np.ascontiguousarray(frame.ends))


def _all(frame: Frame) -> Bools:
    return np.ones(len(frame.firsts), bool) if frame.known is None else frame.known


def _both(known: Bools | None, there: Bools) -> Bools:
    return there if known is None else known & there


def _longs(values: Ints, known: Bools | None) -> pa.Array:
    return pa.array(values, mask=None if known is None else ~known)


def _doubles(values: Doubles, known: Bools | None) -> pa.Array:
    """Doubles; null where they are not finite."""
    return pa.array(values, mask=~_both(known, np.isfinite(values)))


def _decimals(low: Ints, high: Ints, none: Bools, known: Bools | None) -> pa.Array:
    words = np.stack((low, high), axis=1)
    valid = pa.array(_both(known, ~none)).buffers()[1]
    return pa.Array.from_buffers(_DECIMALS, len(low), [valid, pa.py_buffer(np.ascontiguousarray(words))])


def _gathered(column: Column, type_: Type, items: Ints, frame: Frame, texts: Texts) -> pa.Array:
    """The values of some items; null for an item of -1."""
    if not len(column.low):
        column = Column(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64))
    known = _both(frame.known, (items >= 0) & (column.counts[items] > 0))
    low = column.low[items]
    if is_text(type_):
        return (
            texts.values.take(pa.array(low, mask=~known))
            if len(texts.values)
            else pa.nulls(len(low), pa.string())
        )
    match type_:
        case Scalar.DECIMAL:
            return _decimals(low, column.high[items], ~known, None)
        case Scalar.DOUBLE:
            return pa.array(low.view(np.float64), mask=~known)
        case Scalar.BOOLEAN:
            return pa.array(low.astype(bool), mask=~known)
        case _:
            return pa.array(low, mask=~known)
