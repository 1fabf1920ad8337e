"""All values of items, for what sums do not give: as they came, or where they are too many a sketch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as Choice

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.batch.texts import Texts
from cep.hashing.shards import Hashes, hashes
from cep.operators.windows.runtime.columns import NO_INTS, Column, ends_of, is_text
from cep.operators.windows.runtime.entry_points import Engine
from cep.operators.windows.runtime.ranking import codes, doubles
from cep.operators.windows.runtime.sketches import REGISTERS, Ordered, Registers, put_hashes
from cep.state.keyed_rows import Bools, Ints, ranges
from rules.types import Scalar, Type

EXACT_VALUES = 10_000
"""So many values of a pane or session are kept as they are: of `distinct`, different ones."""
Wanted = Choice["different", "ordered"]

Sketch = Registers | Ordered


@dataclass(frozen=True, slots=True)
class Lists:
    """The values of item n are those from `places[n]` on, up to those of the next item; nulls are left out.

    `low` and `high` are as in Column; of values that are wanted in order `low` has doubles' bits. `sketches`:
    where in `packed` the size and the words of the item's sketch begin, which stands for them all; -1: none.
    """

    places: Ints
    low: Ints
    high: Ints
    sketches: Ints
    packed: Ints

    @classmethod
    def of(cls, column: Column, type_: Type, wanted: Wanted) -> Lists:
        """Of events one value each."""
        if wanted == "ordered":
            column = Column(column.counts, doubles(column, type_).view(np.int64))
        known = column.counts > 0
        high = column.high[known] if len(column.high) else NO_INTS
        none = np.full(len(known), -1, np.int64)
        return cls(ends_of(column.counts), column.low[known], high, none, NO_INTS)

    def taken(self, order: Ints, engine: Engine) -> Lists:
        """Some items in an order."""
        sizes = np.diff(self.places)[order]
        places = ends_of(sizes)

        def moved(values: Ints) -> Ints:
            found = np.zeros(places[-1] if len(values) else 0, np.int64)
            if len(values):
                engine.copy_parts(values, self.places[:-1][order], sizes, found, places[:-1])
            return found

        return Lists(places, moved(self.low), moved(self.high), self.sketches[order], self.packed)

    def then(self, other: Lists) -> Lists:
        """These items and then events."""
        return Lists(
            np.concatenate((self.places[:-1], other.places + self.places[-1])),
            np.concatenate((self.low, other.low)),
            np.concatenate((self.high, other.high)),
            np.concatenate((self.sketches, other.sketches)),
            self.packed,
        )


@dataclass(slots=True)
class _Going:
    """The sketch of the first values of a group, up to a place among all."""

    sketch: Sketch
    place: int


@dataclass(slots=True)
class Summaries:
    """The values of groups of items: panes or sessions. Group n is of the items from `groups[n]` on.

    Of a group that has more than EXACT_VALUES, from the value on that is one too many, there is a sketch.
    """

    lists: Lists
    groups: Ints
    wanted: Wanted
    type: Type
    texts: Texts
    coded: tuple[Ints, int] = field(init=False)
    since: Ints = field(init=False)
    """The place among the values from which on those of each group are too many."""
    _known: dict[int, _Going] = field(init=False, default_factory=dict)
    _hashes: Hashes | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        column = Column(np.ones(len(self.lists.low), np.int64), self.lists.low, self.lists.high)
        self.coded = codes(column, self.type) if self.wanted == "different" else (NO_INTS, 0)
        begins, ends = self.lists.places[self.groups[:-1]], self.lists.places[self.groups[1:]]
        self.since = np.full(len(begins), len(self.lists.low) + 1, np.int64)
        for group in np.flatnonzero(ends - begins > EXACT_VALUES).tolist():
            if self.wanted == "ordered":
                self.since[group] = begins[group] + EXACT_VALUES
                continue
            mine = self.coded[0][begins[group] : ends[group]]
            firsts = np.sort(np.unique(mine, return_index=True)[1])
            if len(firsts) > EXACT_VALUES:
                self.since[group] = begins[group] + firsts[EXACT_VALUES]
        sketched = self.lists.sketches[self.groups[:-1]] >= 0
        self.since[sketched] = -1

    @property
    def large(self) -> Bools:
        """The groups that have a sketch, with all their items."""
        return self.since <= len(self.lists.low)

    def upto(self, group: int, item: int) -> Sketch | None:
        """The sketch of a group's items before one; None where their values are few."""
        end = int(self.lists.places[item])
        if end <= self.since[group]:
            return None
        going = self._known.get(group)
        if going is None or going.place > end:
            first = int(self.groups[group])
            going = _Going(self._begun(first), int(self.lists.places[first]))
            self._known[group] = going
        if isinstance(going.sketch, Ordered):
            going.sketch.put(self.lists.low[going.place : end].view(np.float64))
        else:
            put_hashes(going.sketch, self.hashes[going.place : end])
        going.place = end
        return going.sketch

    def _begun(self, item: int) -> Sketch:
        """The sketch that an item has, or an empty one."""
        place = int(self.lists.sketches[item])
        if place < 0:
            return Ordered() if self.wanted == "ordered" else np.zeros(REGISTERS, np.uint8)
        words = self.lists.packed[place + 1 : place + 1 + int(self.lists.packed[place] >> 1)]
        return Ordered.of(words) if self.wanted == "ordered" else words.copy().view(np.uint8)

    @property
    def hashes(self) -> Hashes:
        """A hash of each value, the same in every process."""
        if self._hashes is None:
            self._hashes = _hashes(self.lists, self.type, self.texts)
        return self._hashes

    def blobs(self, firsts: Ints, ends: Ints, groups: Ints) -> tuple[Ints, Ints]:
        """The values kept of whole groups, each of the items from the first to the end: where each begins,
        last where they end, and the words: size and whether it is a sketch, then the sketch or the values."""
        begins, sizes = self.lists.places[firsts], self.lists.places[ends] - self.lists.places[firsts]
        rows, of = ranges(begins, sizes), np.repeat(np.arange(len(firsts)), sizes)
        large = self.large[groups]
        keep = ~large[of]
        if self.wanted == "different":
            keep &= self._is_first(rows, of)
        rows, of = rows[keep], of[keep]
        counts = np.bincount(of, minlength=len(firsts))
        width = 2 if len(self.lists.high) else 1
        sketched = {int(n): self._words(int(groups[n]), int(ends[n])) for n in np.flatnonzero(large)}
        lengths = width * counts
        for number, words in sketched.items():
            lengths[number] = len(words)
        places = ends_of(lengths + 1)
        found = np.zeros(places[-1], np.int64)
        found[places[:-1]] = lengths << 1 | large
        at = np.repeat(places[:-1] + 1 - ends_of(counts)[:-1], counts) + np.arange(len(rows))
        found[at] = self.lists.low[rows]
        if width == 2:
            found[at + counts[of]] = self.lists.high[rows]
        for number, words in sketched.items():
            found[places[number] + 1 : places[number + 1]] = words
        return places, found

    def _words(self, group: int, end: int) -> Ints:
        sketch = self.upto(group, end)
        assert sketch is not None
        return sketch.words() if isinstance(sketch, Ordered) else sketch.view(np.int64)

    def _is_first(self, rows: Ints, of: Ints) -> Bools:
        """True of the values that are the first of their kind in their group."""
        numbers, size = self.coded
        firsts = np.unique(of * max(size, 1) + numbers[rows], return_index=True)[1]
        found = np.zeros(len(rows), bool)
        found[firsts] = True
        return found


def _hashes(lists: Lists, type_: Type, texts: Texts) -> Hashes:
    if is_text(type_):
        used, place = np.unique(lists.low, return_inverse=True)
        return hashes(texts.values.take(pa.array(used)))[place]
    low = hashes(pa.array(lists.low))
    if type_ is not Scalar.DECIMAL:
        return low
    high: npt.NDArray[np.uint64] = hashes(pa.array(lists.high))
    return hashes(pa.array((low + (high << np.uint64(1))).view(np.int64)))
