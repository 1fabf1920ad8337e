"""Windows between batches: of a key and a rule one head, with words and numbers of events behind it.

The words are what the rule's layout says (cep.operators.windows.runtime.layout): items of one width, which
are events, panes or sessions, then packed sums, then marks. The numbers are those of events whose ids or
values are still needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from cep.events import MAX_TIME, STEPS
from cep.state.keyed_rows import KEY, RULE, Bools, Ints, SegmentRows, begins, ranges

ITEMS, WORDS, NUMBERS, DUE, JUDGED, MARK = range(2, 8)
"""After key and rule: how many items, words and numbers of events; when time alone changes something; up to
where windows have been judged; what was raised already."""
HEAD = 8
KIND = "windows"
"""The kind of state."""
FEW = 4096
"""Numbers that are remembered as they are."""


@dataclass(frozen=True, slots=True)
class WindowRows:
    """The windows of many keys: heads sorted by key and then rule, and what stands behind each in order."""

    heads: Ints
    words: Ints
    numbers: Ints

    @classmethod
    def none(cls) -> Self:
        """No window."""
        return cls(np.zeros((0, HEAD), np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))

    @property
    def size(self) -> int:
        """The size in numbers of 64 bits."""
        return self.heads.size + len(self.words) + len(self.numbers)

    @property
    def keys(self) -> Ints:
        """The key of each head."""
        keys: Ints = self.heads[:, KEY]
        return keys

    def crowded(self, _: int) -> Ints:
        """None: windows are no runs."""
        return np.zeros(0, np.int64)

    def counted(self, rules: int) -> Ints:
        """For each of so many rules the number of keys of which something is kept."""
        found: Ints = np.bincount(self.heads[:, RULE], minlength=rules).astype(np.int64, copy=False)
        return found

    def events(self) -> Sequence[Ints]:
        """The numbers of the events that are named."""
        return (self.numbers,) if len(self.numbers) else ()

    def due(self, keys: int) -> Ints:
        """For each of so many keys the first instant at which time alone changes something about it."""
        found = np.full(keys, MAX_TIME, np.int64)
        np.minimum.at(found, self.keys, self.heads[:, DUE])
        return found

    def compacted(self, keys: int) -> SegmentRows:
        """The rows as bytes; few as they are."""
        if self.size < FEW:
            return self
        from cep.operators.windows.runtime.compact_windows import CompactWindows

        return CompactWindows.of(self, keys, type(self))

    def indexed(self, keys: int) -> WindowIndex:
        """An index by key."""
        words, numbers = self.places()
        return WindowIndex(self, begins(self.keys, keys), words, numbers)

    def places(self) -> tuple[Ints, Ints]:
        """Where the words and the numbers of each head begin, and last where they end."""
        words, numbers = (np.zeros(len(self.heads) + 1, np.int64) for _ in range(2))
        np.cumsum(self.heads[:, WORDS], out=words[1:])
        np.cumsum(self.heads[:, NUMBERS], out=numbers[1:])
        return words, numbers

    def chosen(self, heads: Ints) -> Self:
        """A copy of some heads, in the order given, with what stands behind them."""
        words, numbers = self.places()
        mine = self.heads[heads]
        return type(self)(
            mine,
            self.words[ranges(words[heads], mine[:, WORDS])],
            self.numbers[ranges(numbers[heads], mine[:, NUMBERS])],
        )

    def renumbered(self, numbers: Ints) -> Self:
        """The rows under other numbers of keys; words are shared."""
        heads = self.heads.copy()
        heads[:, KEY] = numbers[heads[:, KEY]]
        return type(self)(heads, self.words, self.numbers)

    def of_rules(self, numbers: Ints) -> Self:
        """A copy of the rows of the rules that have another number, by it."""
        left: Bools = numbers[self.heads[:, RULE]] >= 0
        found = self.chosen(np.flatnonzero(left))
        found.heads[:, RULE] = numbers[found.heads[:, RULE]]
        return found

    def unshared(self) -> Self:
        """The rows with words of their own."""
        return type(self)(self.heads, self.words.copy(), self.numbers)

    def joined(self, others: Sequence[Self]) -> Self:
        """These rows and then others, in order of key and rule."""
        parts = [part for part in (self, *others) if len(part.heads)]
        if not parts:
            return self.none()
        if len(parts) == 1:
            return parts[0]
        together = type(self)(
            np.concatenate([part.heads for part in parts]),
            np.concatenate([part.words for part in parts]),
            np.concatenate([part.numbers for part in parts]),
        )
        return together.chosen(np.lexsort((together.heads[:, RULE], together.heads[:, KEY])))

    def written(self, ints: Callable[[Ints], object]) -> object:
        """The rows by column, as far as they are columns: `ints` stores each in as few bytes as its numbers
        take.

        Many windows are stored as bytes (`compacted`). A change of either form needs a version of its own
        (cep.shard.state_bytes).
        """
        heads, step = spaced(self.heads, DUE)
        words = [[ints(array), *of_first] for array, of_first in self._tables()]
        return [[ints(heads), *step], words, ints(self.numbers)]

    def _tables(self) -> Iterator[tuple[Ints, tuple[int, int]]]:
        """The words of each rule: a row for each item where all are items of one width."""
        places, _ = self.places()
        for rule in np.unique(self.heads[:, RULE]).tolist():
            mine = np.flatnonzero(self.heads[:, RULE] == rule)
            sizes, items = self.heads[mine, WORDS], self.heads[mine, ITEMS]
            whole = len(mine) == len(self.heads)
            words = self.words if whole else self.words[ranges(places[mine], sizes)]
            width = int(sizes[0] // max(items[0], 1))
            if width and np.array_equal(items * width, sizes):
                yield spaced(words.reshape(-1, width), 0)
            else:
                yield words, (0, 1)

    @classmethod
    def read(cls, entry: Any, ints: Callable[[Any], Ints]) -> SegmentRows:
        """The rows again, as they were stored. Raises ValueError."""
        if isinstance(entry, dict):
            from cep.operators.windows.runtime.compact_windows import CompactWindows

            return CompactWindows.read(entry, ints, cls)
        (of_heads, *step), tables, numbers = entry
        heads = respaced(ints(of_heads), DUE, *step)
        found = cls(heads, np.zeros(int(heads[:, WORDS].sum()), np.int64), ints(numbers))
        places, _ = found.places()
        rules = np.unique(heads[:, RULE]).tolist()
        for rule, (array, *of_first) in zip(rules, tables, strict=True):
            words = ints(array)
            words = respaced(words, 0, *of_first).ravel() if words.ndim == 2 else words
            mine = heads[:, RULE] == rule
            found.words[ranges(places[:-1][mine], heads[mine, WORDS])] = words
        return found


def spaced(rows: Ints, column: int) -> tuple[Ints, tuple[int, int]]:
    """A copy of rows with a column of instants as so many steps after the first of them, where all are whole
    ones; that instant and the step. Where they are not, the rows, and 0 and 1."""
    if not len(rows):
        return rows, (0, 1)
    times = rows[:, column]
    least, most = int(times.min()), int(times.max())
    if most - least >= 1 << 62:
        return rows, (0, 1)
    since = times - least
    step = next((one for one in STEPS if not np.any(since[:100] % one) and not np.any(since % one)), 1)
    if step == 1:
        return rows, (0, 1)
    rows = rows.copy()
    rows[:, column] = since // step
    return rows, (least, step)


def respaced(rows: Ints, column: int, first: int, step: int) -> Ints:
    """The rows again."""
    rows[:, column] = rows[:, column] * step + first
    return rows


@dataclass(frozen=True, slots=True)
class WindowIndex:
    """Windows, and where the heads of each key begin; a last place says where they end."""

    rows: WindowRows
    of_key: Ints
    words: Ints
    numbers: Ints

    def weight_of(self, keys: Ints) -> int:
        """The size of the rows of some keys."""
        first, end = self.of_key[keys], self.of_key[keys + 1]
        behind = self.words[end] - self.words[first] + self.numbers[end] - self.numbers[first]
        return int((HEAD * (end - first) + behind).sum())

    def cut(self, keys: Ints, numbers: Ints) -> WindowRows:
        """A copy of the rows of some keys, under other numbers."""
        counts = self.of_key[keys + 1] - self.of_key[keys]
        heads = ranges(self.of_key[keys], counts)
        mine = self.rows.heads[heads]
        mine[:, KEY] = np.repeat(numbers, counts)
        return WindowRows(
            mine,
            self.rows.words[ranges(self.words[heads], mine[:, WORDS])],
            self.rows.numbers[ranges(self.numbers[heads], mine[:, NUMBERS])],
        )
