"""Restores the state of a rule's windows as items, with the events that come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cep.exact.kernel.packed import COUNT_BITS as PACKED_BITS
from cep.operators.windows.compile.shapes import Panes
from cep.operators.windows.compile.window_plan import WindowPlan
from cep.operators.windows.kernel.layout import BitColumn, KeyParts
from cep.operators.windows.runtime.columns import ABSENT, NO_INTS, Column, ends_of
from cep.operators.windows.runtime.entry_points import Engine
from cep.operators.windows.runtime.frames import LEAST, Before
from cep.operators.windows.runtime.items import Items, KeyRuns
from cep.operators.windows.runtime.layout import COUNT_BITS, LENGTH_BITS, NAMED, Layout, Slot
from cep.operators.windows.runtime.lists import Lists
from cep.operators.windows.runtime.window_rows import ITEMS, JUDGED, MARK, NUMBERS, WindowRows
from cep.state.keyed_rows import KEY, RULE, Bools, Ints, ranges
from cep.state.named_texts import Cells
from rules.types import Scalar

COUNTS = (1 << COUNT_BITS) - 1


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

    def packed(self, begins: Ints) -> dict[int, Ints]:
        """For each slot behind the items where in the words that of each item begins."""
        layout, items = self.layout, self.heads[:, ITEMS]
        counts = self.kept.words[begins + layout.bits - 1]
        before = ends_of((counts >> COUNT_BITS) & ((1 << LENGTH_BITS) - 1))
        at = np.repeat(self.words + items * layout.width - before[ends_of(items)[:-1]], items) + before[:-1]
        found = {}
        for slot in layout.packed:
            found[slot] = at
            size = self.kept.words[at]
            at = at + 1 + (size >> 1 if layout.slots[slot].listed else size & ((1 << PACKED_BITS) - 1))
        return found

    def tails(self, begins: Ints) -> Ints:
        """The number of newest events that each item names."""
        words = self.kept.words
        if self.layout.folded:
            return words[begins + self.layout.bits - 1] >> (COUNT_BITS + LENGTH_BITS)
        return (words[begins + self.layout.bits] >> NAMED) & 1

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


@dataclass(frozen=True)
class _Joining:
    """The items of heads and then new events, key by key."""

    stored: _Stored
    events: Items
    parts: KeyParts
    engine: Engine

    @classmethod
    def of(cls, stored: _Stored, events: Items, engine: Engine) -> _Joining:
        """Those of all heads."""
        heads, keys = stored.heads, events.runs.of_item
        room = KeyParts(*(np.empty(len(heads) + len(events.runs.keys), np.int64) for _ in range(4)))
        arguments = (np.ascontiguousarray(heads[:, column]) for column in (KEY, ITEMS))
        count = engine.join_keys(*arguments, stored.words, keys, room)
        return cls(stored, events, KeyParts(*(part[:count] for part in room)), engine)

    @cached_property
    def runs(self) -> KeyRuns:
        """The keys of both."""
        return KeyRuns(self.parts.keys, ends_of(self.parts.kept + self.parts.came))

    @cached_property
    def begins(self) -> Ints:
        """Where the words of each item of the heads begin."""
        return self.stored.begins()

    @cached_property
    def order(self) -> Ints:
        """Of each item where it stands among those of the heads and then the events."""
        found = self._room()
        self.engine.join_places(self.parts, found)
        return found

    @property
    def new(self) -> Bools:
        """True of events."""
        sizes = np.column_stack((self.parts.kept, self.parts.came)).ravel()
        return np.repeat(np.tile([False, True], len(self.parts.keys)), sizes)

    def _room(self) -> Ints:
        return np.empty(int(self.runs.places[-1]), np.int64)

    def both(self, mine: Ints, theirs: Ints) -> Ints:
        """Numbers of both."""
        found = self._room()
        self.engine.join_both(self.parts, mine, theirs, found)
        return found

    def words(self, column: int, theirs: Ints) -> Ints:
        """A column of the words, and numbers of the events."""
        found, stored = self._room(), self.stored
        self.engine.join_words(self.parts, stored.kept.words, column, stored.layout.width, theirs, found)
        return found

    def bits(self, slot: int, bit: int, theirs: Ints) -> Ints:
        """A bit of a slot, and numbers of the events."""
        found, stored = self._room(), self.stored
        column, place = stored.layout.bit(slot)
        of = BitColumn(column, place + bit)
        self.engine.join_bits(self.parts, stored.kept.words, of, stored.layout.width, theirs, found)
        return found

    def tails(self, own: Ints) -> tuple[Ints, Ints]:
        """Where the newest events of each item begin, last where they end, and their numbers; those that are
        kept are `own`."""
        events, layout = self.events, self.stored.layout
        if not layout.folded and len(own) == self.parts.kept.sum():  # each event is named
            return np.arange(self.runs.places[-1] + 1), self.both(own, events.tails)
        sizes = self.stored.tails(self.begins)
        places, ends = ends_of(sizes), events.tail_places + len(own)
        firsts, sizes = self.both(places[:-1], ends[:-1]), self.both(sizes, np.diff(ends))
        found = ends_of(sizes)
        tails = parts(self.engine.copy_parts, np.concatenate((own, events.tails)), firsts, sizes)
        return found, tails

    def columns(self, nested: Ints) -> Iterator[Column | Lists]:
        """A column for each slot; of kept lists and records the events' numbers are `nested`."""
        layout, copy = self.stored.layout, self.engine.copy_parts
        packed = self.stored.packed(self.begins) if layout.packed else {}
        for number, (slot, theirs) in enumerate(zip(layout.slots, self.events.columns, strict=True)):
            if isinstance(theirs, Lists):
                mine = self.stored.lists(number, packed[number], copy)
                yield mine.then(theirs).taken(self.order, self.engine)
            elif number in packed:
                yield self._sums(slot, theirs, packed[number])
            elif slot.kind == "count":  # that is known of items without it
                yield Column(NO_INTS, NO_INTS)
            elif slot.kind == "true":
                counts = self.words(layout.values[number], theirs.counts)
                yield Column(counts, counts)
            elif slot.nested:
                events = np.ascontiguousarray(nested[:, layout.nested.index(number)])
                yield Column(self.bits(number, 0, theirs.counts), self.both(events, theirs.low))
            elif slot.type is Scalar.BOOLEAN:
                yield Column(self.bits(number, 0, theirs.counts), self.bits(number, 1, theirs.low))
            else:
                at, decimal = layout.values[number], slot.type is Scalar.DECIMAL
                high = self.words(at + 1, theirs.high) if decimal else NO_INTS
                yield Column(self.bits(number, 0, theirs.counts), self.words(at, theirs.low), high)

    def _sums(self, slot: Slot, theirs: Column, places: Ints) -> Column:
        """Sums, or sums of squares, which begin there."""
        layout, none = self.stored.layout, np.zeros(len(places), np.int64)
        counts = self.words(layout.values[layout.number("sum", slot.argument)], theirs.counts)
        sums = self.both(places, np.full(len(theirs.counts), ABSENT))
        high = self.both(none, theirs.high) if slot.type is Scalar.DECIMAL else NO_INTS
        of_sum, of_squares = (sums, NO_INTS) if slot.kind == "sum" else (NO_INTS, sums)
        return Column(counts, self.both(none, theirs.low), high, of_sum, of_squares, self.stored.kept.words)


def then(layout: Layout, kept: WindowRows, events: Items, engine: Engine) -> Items:
    """The items of a rule's heads, and then events, key by key."""
    if not len(kept.heads):
        return events
    stored = _Stored.of(layout, kept, np.arange(len(kept.heads)))
    joining = _Joining.of(stored, events, engine)
    tails, nested = _numbers(layout, kept, engine.copy_parts)
    firsts = joining.words(0, events.firsts)
    return Items(
        joining.runs,
        firsts,
        joining.words(1, events.lasts) if layout.has_last else firsts,
        joining.words(layout.bits - 1, events.counts) & COUNTS if layout.folded else np.ones_like(firsts),
        joining.new,
        *joining.tails(tails),
        tuple(joining.columns(nested)),
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
        packed = stored.packed(begins) if layout.packed else {}
        for slot in layout.texts:
            if slot in packed:
                size = kept.words[packed[slot]]
                known = ranges(packed[slot] + 1, np.where(size & 1 > 0, 0, size >> 1))
            else:
                column, place = layout.bit(slot)
                known = begins[(kept.words[begins + column] >> place) & 1 == 1] + layout.values[slot]
            yield array, known, np.zeros(len(known), np.int64)
