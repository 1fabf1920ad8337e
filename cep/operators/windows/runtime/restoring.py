"""What is kept of a rule's windows, as items again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cep.exact.kernel.packed import COUNT_BITS as PACKED_BITS
from cep.operators.windows.compile.shapes import Panes
from cep.operators.windows.compile.window_plan import WindowPlan
from cep.operators.windows.runtime.columns import NO_INTS, Column, ends_of
from cep.operators.windows.runtime.entry_points import Engine
from cep.operators.windows.runtime.frames import LEAST, Before
from cep.operators.windows.runtime.items import Items, KeyRuns
from cep.operators.windows.runtime.layout import COUNT_BITS, LENGTH_BITS, NAMED, Layout
from cep.operators.windows.runtime.lists import Lists
from cep.operators.windows.runtime.window_rows import ITEMS, JUDGED, MARK, NUMBERS, WindowRows
from cep.state.keyed_rows import RULE, Ints, ranges
from cep.state.named_texts import Cells
from rules.types import Scalar


@dataclass(frozen=True, slots=True)
class _Stored:
    """The items of heads: a row of words each, where its packed sums begin, and the numbers of events."""

    layout: Layout
    kept: WindowRows
    heads: Ints
    words: Ints
    """Where the words of each of these heads begin."""

    @classmethod
    def of(cls, layout: Layout, kept: WindowRows, which: Ints) -> _Stored:
        """Some heads."""
        return cls(layout, kept, kept.heads[which], kept.places()[0][which])

    def begins(self) -> Ints:
        """Where the words of each item begin."""
        items, width = self.heads[:, ITEMS], self.layout.width
        first = np.repeat(self.words - ends_of(items)[:-1] * width, items)
        return np.asarray(first + width * np.arange(len(first)))

    def rows(self, copy: Callable[..., None]) -> Ints:
        """The words of each item."""
        sizes = self.heads[:, ITEMS] * self.layout.width
        return parts(copy, self.kept.words, self.words, sizes).reshape(-1, self.layout.width)

    def has(self, rows: Ints, slot: int, bit: int = 0) -> Ints:
        column, place = self.layout.bit(slot)
        found: Ints = (rows[:, column] >> (place + bit)) & 1
        return found

    def packed(self, counts: Ints) -> dict[int, Ints]:
        """For each slot behind the items where in the words that of each begins, by their words of counts."""
        layout, items = self.layout, self.heads[:, ITEMS]
        if not layout.packed:
            return {}
        before = ends_of((counts >> COUNT_BITS) & ((1 << LENGTH_BITS) - 1))
        at = np.repeat(self.words + items * layout.width - before[ends_of(items)[:-1]], items) + before[:-1]
        found = {}
        for slot in layout.packed:
            found[slot] = at
            size = self.kept.words[at]
            at = at + 1 + (size >> 1 if layout.slots[slot].listed else size & ((1 << PACKED_BITS) - 1))
        return found

    def tails(self, rows: Ints) -> Ints:
        """The number of newest events that each item names."""
        if self.layout.folded:
            return rows[:, self.layout.bits - 1] >> (COUNT_BITS + LENGTH_BITS)
        return (rows[:, self.layout.bits] >> NAMED) & 1

    def lists(self, slot: int, at: Ints, copy: Callable[..., None]) -> Lists:
        """The values of a slot, whose words begin there."""
        words = self.kept.words
        is_sketch, sizes = words[at] & 1 > 0, words[at] >> 1
        decimal = self.layout.slots[slot].decimals
        counts = np.where(is_sketch, 0, sizes >> decimal)
        low = parts(copy, words, at + 1, counts)
        high = parts(copy, words, at + 1 + counts, counts) if decimal else NO_INTS
        return Lists(ends_of(counts), low, high, np.where(is_sketch, at, -1), words)


def parts(copy: Callable[..., None], words: Ints, firsts: Ints, sizes: Ints) -> Ints:
    """Parts of an array, behind one another."""
    places = ends_of(sizes)
    found = np.zeros(places[-1], np.int64)
    copy(words, firsts, sizes, found, places[:-1])
    return found


def _numbers(layout: Layout, kept: WindowRows, copy: Callable[..., None]) -> tuple[Ints, Ints]:
    """The numbers of the newest events of all items, and those of nested values, a column for each."""
    width, (_, numbers) = len(layout.nested), kept.places()
    nested = kept.heads[:, ITEMS] * width
    own = kept.heads[:, NUMBERS] - nested
    of_events = parts(copy, kept.numbers, numbers[:-1], own)
    of_values = parts(copy, kept.numbers, numbers[:-1] + own, nested)
    return of_events, of_values.reshape(-1, max(width, 1))


def restored(layout: Layout, kept: WindowRows, engine: Engine) -> Items:
    """The items of a rule's heads."""
    copy = engine.copy_parts
    stored = _Stored.of(layout, kept, np.arange(len(kept.heads)))
    rows = stored.rows(copy)
    packed, sizes = stored.packed(rows[:, layout.bits - 1]), stored.tails(rows)
    tails, nested = _numbers(layout, kept, copy)
    columns: list[Column | Lists] = []
    for number, slot in enumerate(layout.slots):
        at = layout.values[number]
        counts = stored.has(rows, number)
        if slot.kind == "count":
            columns.append(Column(np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)))
            continue
        if slot.listed:
            columns.append(stored.lists(number, packed[number], copy))
        elif number in packed:
            counts = rows[:, layout.values[layout.number("sum", slot.argument)]].copy()
            places = packed[number]
            sums, squares = (places, NO_INTS) if slot.kind == "sum" else (NO_INTS, places)
            zeros = np.zeros(len(rows), np.int64)
            high = zeros if slot.type is Scalar.DECIMAL else NO_INTS
            columns.append(Column(counts, zeros, high, sums, squares, kept.words))
        elif slot.nested:
            columns.append(Column(counts, nested[:, layout.nested.index(number)].copy()))
        elif slot.kind == "true":
            columns.append(Column(rows[:, at].copy(), np.zeros(len(rows), np.int64)))
        elif slot.type is Scalar.BOOLEAN:
            columns.append(Column(counts, stored.has(rows, number, 1)))
        else:
            high = rows[:, at + 1].copy() if slot.type is Scalar.DECIMAL else NO_INTS
            columns.append(Column(counts, rows[:, at].copy(), high))
    counts = (
        rows[:, layout.bits - 1] & ((1 << COUNT_BITS) - 1) if layout.folded else np.ones(len(rows), np.int64)
    )
    firsts = rows[:, 0].copy()
    return Items(
        np.repeat(kept.keys, kept.heads[:, ITEMS]),
        firsts,
        rows[:, 1].copy() if layout.has_last else firsts,
        counts,
        np.zeros(len(rows), bool),
        ends_of(sizes),
        tails,
        tuple(columns),
    )


def before(layout: Layout, kept: WindowRows, runs: KeyRuns) -> Before:
    """The heads of the keys of some items, all of which have one."""
    count = len(runs.keys)
    judged = np.full(count, 0 if not isinstance(layout.plan.shape, Panes) else LEAST, np.int64)
    mark, sizes = np.zeros(count, np.int64), np.zeros(count, np.int64)
    of = np.searchsorted(runs.keys, kept.keys)
    judged[of], mark[of] = kept.heads[:, JUDGED], kept.heads[:, MARK]
    raised = NO_INTS
    if isinstance(layout.plan.shape, Panes):
        sizes = mark
        ends = kept.places()[0][1:]
        raised = kept.words[ranges(ends - kept.heads[:, MARK], kept.heads[:, MARK])]
    return Before(judged, mark, ends_of(sizes), raised)


def texts_in(plans: Sequence[WindowPlan], kept: WindowRows) -> Iterator[Cells]:
    """The cells in which the windows of these rules, by their numbers, name texts."""
    array = kept.words.reshape(-1, 1)
    for rule, plan in enumerate(plans):
        layout = Layout(plan)
        heads = np.flatnonzero(kept.heads[:, RULE] == rule)
        if not layout.texts or not len(heads):
            continue
        stored = _Stored.of(layout, kept, heads)
        begins = stored.begins()
        packed = stored.packed(kept.words[begins + layout.bits - 1])
        for slot in layout.texts:
            if slot in packed:
                size = kept.words[packed[slot]]
                known = ranges(packed[slot] + 1, np.where(size & 1 > 0, 0, size >> 1))
            else:
                column, place = layout.bit(slot)
                known = begins[(kept.words[begins + column] >> place) & 1 == 1] + layout.values[slot]
            yield array, known, np.zeros(len(known), np.int64)
