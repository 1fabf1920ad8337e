"""What is kept of a rule's windows, as items again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cep.exact.kernel.packed import COUNT_BITS as PACKED_BITS
from cep.operators.windows.compile.shapes import Panes
from cep.operators.windows.compile.window_plan import WindowPlan
from cep.operators.windows.runtime.frames import LEAST, Before
from cep.operators.windows.runtime.items import NO_INTS, Column, Items, KeyRuns, ends_of
from cep.operators.windows.runtime.layout import COUNT_BITS, LENGTH_BITS, NAMED, Layout
from cep.operators.windows.runtime.window_rows import ITEMS, JUDGED, MARK, NUMBERS, WindowRows
from cep.state.keyed_rows import RULE, Ints, ranges
from cep.state.named_texts import Cells
from rules.types import Scalar


@dataclass(frozen=True, slots=True)
class _Stored:
    """The items of heads: a row of words each, where its packed sums begin, and the numbers of events."""

    layout: Layout
    kept: WindowRows

    def rows(self) -> Ints:
        """The words of each item, from those of all."""
        width, (words, _) = self.layout.width, self.kept.places()
        places = ranges(words[:-1], self.kept.heads[:, ITEMS] * width)
        return self.kept.words[places].reshape(-1, width)

    def has(self, rows: Ints, slot: int, bit: int = 0) -> Ints:
        column, place = self.layout.bit(slot)
        found: Ints = (rows[:, column] >> (place + bit)) & 1
        return found

    def packed(self, rows: Ints) -> dict[int, Ints]:
        """For each slot of a sum where in the words that of each item begins."""
        layout, (words, _) = self.layout, self.kept.places()
        if not layout.packed:
            return {}
        items = self.kept.heads[:, ITEMS]
        lengths = (rows[:, layout.bits - 1] >> COUNT_BITS) & ((1 << LENGTH_BITS) - 1)
        before = ends_of(lengths)
        begins = np.repeat(words[:-1] + items * layout.width - before[ends_of(items)[:-1]], items)
        at = begins + before[:-1]
        found = {}
        for slot in layout.packed:
            found[slot] = at
            at = at + 1 + (self.kept.words[at] & ((1 << PACKED_BITS) - 1))
        return found

    def tails(self, rows: Ints) -> Ints:
        """How many newest events of each item are named."""
        if self.layout.folded:
            return rows[:, self.layout.bits - 1] >> (COUNT_BITS + LENGTH_BITS)
        return (rows[:, self.layout.bits] >> NAMED) & 1

    def numbers(self, sizes: Ints) -> tuple[Ints, Ints]:
        """The numbers of the newest events of all items, and those of nested values, a column for each."""
        width, (_, numbers) = len(self.layout.nested), self.kept.places()
        nested = self.kept.heads[:, ITEMS] * width
        own = self.kept.heads[:, NUMBERS] - nested
        of_events = self.kept.numbers[ranges(numbers[:-1], own)]
        assert len(of_events) == sizes.sum()
        return of_events, self.kept.numbers[ranges(numbers[:-1] + own, nested)].reshape(-1, max(width, 1))


def restored(layout: Layout, kept: WindowRows) -> Items:
    """The items of a rule's heads."""
    stored = _Stored(layout, kept)
    rows = stored.rows()
    packed, sizes = stored.packed(rows), stored.tails(rows)
    tails, nested = stored.numbers(sizes)
    columns: list[Column] = []
    for number, slot in enumerate(layout.slots):
        at = layout.values[number]
        counts = stored.has(rows, number)
        if slot.kind == "count":
            columns.append(Column(np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)))
            continue
        if number in packed:
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
    return Items(
        np.repeat(kept.keys, kept.heads[:, ITEMS]),
        rows[:, 0].copy(),
        rows[:, int(layout.has_last)].copy(),
        counts,
        np.zeros(len(rows), bool),
        ends_of(sizes),
        tails,
        tuple(columns),
    )


def before(layout: Layout, kept: WindowRows, runs: KeyRuns) -> Before:
    """What the heads say of the keys of some items, all of which have one."""
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
    words, _ = kept.places()
    array = kept.words.reshape(-1, 1)
    for rule, plan in enumerate(plans):
        layout = Layout(plan)
        heads = np.flatnonzero(kept.heads[:, RULE] == rule)
        if not layout.texts or not len(heads):
            continue
        items = kept.heads[heads, ITEMS]
        begins = np.repeat(words[heads], items) + layout.width * (
            np.arange(items.sum()) - np.repeat(ends_of(items)[:-1], items)
        )
        for slot in layout.texts:
            column, place = layout.bit(slot)
            known = begins[(kept.words[begins + column] >> place) & 1 == 1]
            yield array, known + layout.values[slot], np.zeros(len(known), np.int64)
