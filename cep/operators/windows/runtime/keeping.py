"""Writes the state that remains of a rule's windows, as words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from cep.operators.windows.kernel.layout import BitColumn, Ranges
from cep.operators.windows.runtime.columns import Column, ends_of, kind_of
from cep.operators.windows.runtime.evaluations import NEWEST
from cep.operators.windows.runtime.frames import Remains
from cep.operators.windows.runtime.items import Items, KeyRuns
from cep.operators.windows.runtime.layout import COUNT_BITS, LENGTH_BITS, NAMED, Slot
from cep.operators.windows.runtime.readings import Reader, work
from cep.operators.windows.runtime.window_rows import (
    DUE,
    HEAD,
    ITEMS,
    JUDGED,
    MARK,
    NUMBERS,
    WORDS,
    WindowRows,
)
from cep.state.keyed_rows import KEY, Ints, ranges
from rules.types import Scalar


@dataclass(frozen=True, slots=True)
class _Packed:
    """Packed sums: where that of each group begins, last where they end, and the words."""

    places: Ints
    words: Ints


@dataclass(frozen=True)
class Keeper:
    """Writes what remains of items."""

    reader: Reader
    runs: KeyRuns
    remains: Remains

    @property
    def _items(self) -> Items:
        return self.reader.items

    @property
    def _among(self) -> Ranges:
        return Ranges(self.remains.firsts, self.remains.ends)

    def kept(self) -> WindowRows:
        """The rows; the rule has number 0."""
        remains, layout = self.remains, self.reader.layout
        if not len(remains.of):
            return WindowRows.none()
        if not layout.folded:
            return self._of_events()
        packed = {slot: self._packed(layout.slots[slot]) for slot in layout.packed}
        lengths = sum(
            (np.diff(one.places) for one in packed.values()), np.zeros(len(remains.firsts), np.int64)
        )
        tail_ends = self._items.tail_places[remains.ends]
        tail_firsts = np.maximum(self._items.tail_places[remains.firsts], tail_ends - remains.tails)
        columns = [self._column(slot) for slot in layout.slots]
        rows = self._rows(columns, lengths, tail_ends - tail_firsts)
        items = np.bincount(remains.of_group, minlength=len(self.runs.keys))[remains.of]
        marks = remains.sizes if len(remains.sizes) else np.zeros(len(remains.of), np.int64)
        heads = np.zeros((len(remains.of), HEAD), np.int64)
        heads[:, KEY] = self.runs.keys[remains.of]
        heads[:, ITEMS] = items
        of_items = ends_of(items)
        packed_ends = ends_of(lengths)
        packed_sizes = packed_ends[of_items[1:]] - packed_ends[of_items[:-1]]
        heads[:, WORDS] = items * layout.width + packed_sizes + marks
        tail_places = ends_of(tail_ends - tail_firsts)
        tail_sizes = tail_places[of_items[1:]] - tail_places[of_items[:-1]]
        heads[:, NUMBERS] = tail_sizes + items * len(layout.nested)
        heads[:, DUE], heads[:, JUDGED], heads[:, MARK] = remains.due, remains.judged, remains.mark
        words = np.zeros(heads[:, WORDS].sum(), np.int64)
        begins = ends_of(heads[:, WORDS])[:-1]
        copy = self.reader.engine.copy_parts
        copy(rows.ravel(), of_items[:-1] * layout.width, items * layout.width, words, begins)
        words[ranges(begins + items * layout.width + packed_sizes, marks)] = remains.raised
        if packed:
            first = begins + items * layout.width - packed_ends[of_items[:-1]]
            at = np.repeat(first, items) + packed_ends[:-1]
        for one in packed.values():
            sizes = np.diff(one.places)
            copy(one.words, one.places[:-1], sizes, words, at)
            at = at + sizes
        numbers = np.zeros(heads[:, NUMBERS].sum(), np.int64)
        begins = ends_of(heads[:, NUMBERS])[:-1]
        to = np.repeat(begins - tail_places[of_items[:-1]], items) + tail_places[:-1]
        copy(self._items.tails, tail_firsts, tail_ends - tail_firsts, numbers, to)
        if layout.nested:
            nested = np.stack([columns[slot].low for slot in layout.nested], axis=1)
            numbers[ranges(begins + tail_sizes, items * len(layout.nested))] = nested.ravel()
        return WindowRows(heads, words, numbers)

    def _of_events(self) -> WindowRows:
        """The rows of items that are not folded."""
        remains, layout, engine = self.remains, self.reader.layout, self.reader.engine
        among, width = self._among, layout.width
        sizes = remains.ends - remains.firsts
        tail_ends = self._items.tail_places[remains.ends]
        tail_firsts = np.maximum(self._items.tail_places[remains.firsts], tail_ends - remains.tails)
        tails, nested = tail_ends - tail_firsts, sizes * len(layout.nested)
        heads = np.zeros((len(remains.of), HEAD), np.int64)
        heads[:, KEY], heads[:, ITEMS] = self.runs.keys[remains.of], sizes
        heads[:, WORDS], heads[:, NUMBERS] = sizes * width, tails + nested
        heads[:, DUE], heads[:, JUDGED], heads[:, MARK] = remains.due, remains.judged, remains.mark
        words = np.empty(int(sizes.sum()) * width, np.int64)
        engine.put_words(self._items.firsts, among, words, 0, width)
        for word in range(layout.bits, layout.values[0]):
            named = BitColumn(word, NAMED)
            engine.put_bits(
                among, self._bits(word), NEWEST if word == layout.bits else 0, words, named, width
            )
        for number, slot in enumerate(layout.slots):
            if slot.width:
                column, at = self._items.column(number), layout.values[number]
                engine.put_words(column.low, among, words, at, width)
                if slot.width > 1:
                    engine.put_words(column.high, among, words, at + 1, width)
        numbers = np.zeros(int(heads[:, NUMBERS].sum()), np.int64)
        begins = ends_of(heads[:, NUMBERS])[:-1]
        engine.copy_parts(self._items.tails, tail_firsts, tails, numbers, begins)
        if layout.nested:
            rows = ranges(remains.firsts, sizes)
            values = np.stack([self._items.column(slot).low[rows] for slot in layout.nested], axis=1)
            numbers[ranges(begins + tails, nested)] = values.ravel()
        return WindowRows(heads, words, numbers)

    def _bits(self, word: int) -> Ints:
        """A word of bits of each item that is not folded, without the one of those that are named."""
        parts: list[Ints] = []
        for number, slot in enumerate(self.reader.layout.slots):
            column, (of, bit) = self._items.column(number), self.reader.layout.bit(number)
            if of == word:
                parts.append(column.counts << bit if bit else column.counts)
                if slot.type is Scalar.BOOLEAN:
                    parts.append(column.low << (bit + 1))
        return reduce(np.bitwise_or, parts) if parts else np.zeros(len(self._items), np.int64)

    def _rows(self, columns: list[Column], lengths: Ints, tails: Ints) -> Ints:
        """The words of each group."""
        layout, remains = self.reader.layout, self.remains
        rows = np.zeros((len(remains.firsts), layout.width), np.int64)
        rows[:, 0] = self._items.firsts[remains.firsts]
        if layout.has_last:
            rows[:, 1] = self._items.lasts[remains.ends - 1]
        counts = ends_of(self._items.counts)
        count = counts[remains.ends] - counts[remains.firsts]
        rows[:, layout.bits - 1] = count | (lengths << COUNT_BITS) | (tails << (COUNT_BITS + LENGTH_BITS))
        for number, (slot, column) in enumerate(zip(layout.slots, columns, strict=True)):
            at, (word, bit) = layout.values[number], layout.bit(number)
            if slot.kind in ("sum", "true"):
                rows[:, at] = column.counts
                continue
            if slot.listed or slot.kind in ("count", "squares"):
                continue
            rows[:, word] |= (column.counts > 0).astype(np.int64) << bit
            if slot.type is Scalar.BOOLEAN:
                rows[:, word] |= column.low << (bit + 1)
            elif slot.width:
                rows[:, at] = column.low
                if slot.width > 1:
                    rows[:, at + 1] = column.high
        return rows

    def _column(self, slot: Slot) -> Column:
        """Each group's number of a slot; of sums only how many values."""
        remains, number = self.remains, self.reader.layout.slots.index(slot)
        if slot.listed:
            return Column(remains.firsts, remains.firsts)
        column = self._items.column(number)
        if slot.kind in ("true", "sum"):
            counts = ends_of(column.counts)
            found = counts[remains.ends] - counts[remains.firsts]
            return Column(found, found)
        if slot.kind in ("first", "last"):
            return column.taken(remains.firsts if slot.kind == "first" else remains.ends - 1)
        if slot.kind in ("least", "greatest"):
            assert slot.type is not None
            function = "min" if slot.kind == "least" else "max"
            items = self.reader.extreme(function, column, slot.type, self._among)
            there = items >= 0
            high = np.where(there, column.high[items], 0) if len(column.high) else column.high
            return Column(there.astype(np.int64), np.where(there, column.low[items], 0), high)
        return Column(remains.firsts, remains.firsts)

    def _packed(self, slot: Slot) -> _Packed:
        """The sums or the lists of the groups."""
        if slot.listed:
            summaries = self.reader.summaries(self.reader.layout.slots.index(slot))
            groups = np.searchsorted(summaries.groups, self.remains.firsts)
            return _Packed(*summaries.blobs(self.remains.firsts, self.remains.ends, groups))
        assert slot.argument is not None
        assert slot.type is not None
        squared, values = slot.kind == "squares", self.reader.values(slot.argument).values
        places = np.full(len(self.remains.firsts) + 1, -1, np.int64)
        words = np.zeros(6 * len(places) + 128, np.int64)
        arguments = (kind_of(slot.type), squared, values, self._among)
        while self.reader.engine.pack_ranges(*arguments, work(), words, places) < len(places) - 1:
            words = np.concatenate((words, np.zeros(len(words), np.int64)))
        return _Packed(places, words)
