"""Keyed state: what operators keep of the keys of a space, as rows of 64-bit numbers.

Every row names a key and a rule by number. State comes in kinds, each kept by one operator in a form of its
own: `FlatRows` is the plain one, `cep.operators.patterns.runtime.runs.RunRows` that of live runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from cep.hashing.rows import rising_in

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
KEY, RULE, FROM_HERE = range(3)
"""Columns of flat rows: numbers of key and rule; what follows is the operator's."""


class KeyIndex(Protocol):
    """Finds rows by key."""

    def weight_of(self, keys: Ints) -> int:
        """The size of the rows of some keys."""

    def cut(self, keys: Ints, numbers: Ints) -> KeyedRows:
        """A copy of the rows of some keys (rising), under other numbers that rise, too."""


class SegmentRows(Protocol):
    """One kind of state of many keys, as a segment has it."""

    @property
    def size(self) -> int:
        """The size of the rows, about in numbers of 64 bits: the same in one value as spread over several."""

    @property
    def keys(self) -> Ints:
        """The numbers of the keys of which something is kept, with repetitions."""

    def crowded(self, runs: int, /) -> Ints:
        """The keys of which a rule has more than so many live runs."""

    def compacted(self, keys: int) -> SegmentRows:
        """The rows of so many keys as they are remembered: these, or what takes less memory."""

    def indexed(self, keys: int) -> KeyIndex:
        """An index by key, of which there are so many."""

    def renumbered(self, numbers: Ints) -> KeyedRows:
        """The rows under other numbers of keys, one for each number from 0 on, that rise, too.

        The columns that name keys are copied, others may be shared.
        """

    def written(self, ints: Callable[[Ints], object]) -> object:
        """The rows as a JSON value; `ints` stores an array and names it."""


class KeyedRows(SegmentRows, Protocol):
    """One kind of state of many keys: rows sorted by key, and for each key by rule."""

    @classmethod
    def none(cls) -> Self:
        """No row."""

    @property
    def keys(self) -> Ints:
        """The numbers of the keys of which something is kept, with repetitions."""

    def crowded(self, runs: int, /) -> Ints:
        """The keys of which a rule has more than so many live runs."""

    def counted(self, rules: int) -> Ints:
        """The number of live runs of each of so many rules."""

    def events(self) -> Sequence[Ints]:
        """The numbers of the events that are named, with repetitions; no array is empty."""

    def renumbered(self, numbers: Ints) -> Self:
        """The rows under other numbers of keys."""

    def of_rules(self, numbers: Ints) -> Self:
        """A copy of the rows of the rules that have another number (-1: none), by it."""

    def unshared(self) -> Self:
        """The rows with copies of the arrays that name texts, as far as `renumbered` shares them."""

    def joined(self, others: Sequence[Self]) -> Self:
        """These rows and then others of the same keys, in order of key and rule. Arrays may be changed."""

    @classmethod
    def read(cls, entry: Any, ints: Callable[[Any], Ints]) -> SegmentRows:
        """The rows again from what `written` gave; `ints` finds an array by its name."""


InSegment = Mapping[str, SegmentRows]
"""What a segment keeps by kind."""
Kept = Mapping[str, KeyedRows]
"""Keyed state by kind, in the order of the operators."""
Form = TypeVar("Form", bound=KeyedRows)


@dataclass(frozen=True, slots=True)
class FlatRows:
    """A row per thing that is kept: the numbers of key and rule, then the operator's columns.

    Rules may need different numbers of columns; those that a row does not need are 0.
    """

    rows: Ints

    @classmethod
    def none(cls, columns: int = 0) -> Self:
        """No row, with so many columns of the operator."""
        return cls(np.zeros((0, FROM_HERE + columns), np.int64))

    @property
    def size(self) -> int:
        """Eight numbers a row, however many columns there are."""
        return 8 * len(self.rows)

    @property
    def keys(self) -> Ints:
        """The key of each row."""
        keys: Ints = self.rows[:, KEY]
        return keys

    def crowded(self, _: int) -> Ints:
        """None: rows are no runs."""
        return np.zeros(0, np.int64)

    def counted(self, rules: int) -> Ints:
        """None: rows are no runs."""
        return np.zeros(rules, np.int64)

    def events(self) -> Sequence[Ints]:
        """None."""
        return ()

    def compacted(self, keys: int) -> Self:  # noqa: ARG002
        """These very rows."""
        return self

    def indexed(self, keys: int) -> FlatIndex:
        """An index by key."""
        return FlatIndex(self.rows, begins(self.keys, keys))

    def renumbered(self, numbers: Ints) -> Self:
        """A copy under other numbers of keys."""
        rows = self.rows.copy()
        rows[:, KEY] = numbers[rows[:, KEY]]
        return type(self)(rows)

    def of_rules(self, numbers: Ints) -> Self:
        """A copy of the rows of the rules that have another number, by it."""
        rows = self.rows[numbers[self.rows[:, RULE]] >= 0]
        rows[:, RULE] = numbers[rows[:, RULE]]
        return type(self)(rows)

    def unshared(self) -> Self:
        """These very rows: nothing of them is shared."""
        return self

    def joined(self, others: Sequence[Self]) -> Self:
        """Rows of several widths in order of key."""
        parts = [self.rows, *(other.rows for other in others)]
        width = max(part.shape[1] for part in parts)
        some = [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts if len(part)]
        together = np.concatenate([np.zeros((0, width), np.int64), *some])
        if len(some) > 1:
            together = together[np.argsort(together[:, KEY], kind="stable")]
        return type(self)(together)

    def written(self, ints: Callable[[Ints], object]) -> object:
        """The name of the rows' array."""
        return ints(self.rows)

    @classmethod
    def read(cls, entry: Any, ints: Callable[[Any], Ints]) -> Self:
        """The rows again."""
        return cls(ints(entry))


@dataclass(frozen=True, slots=True)
class FlatIndex:
    """Flat rows, and where those of each key begin; a last place says where they end."""

    rows: Ints
    of_key: Ints

    def weight_of(self, keys: Ints) -> int:
        """The size of the rows of some keys."""
        return 8 * int((self.of_key[keys + 1] - self.of_key[keys]).sum())

    def cut(self, keys: Ints, numbers: Ints) -> FlatRows:
        """A copy of the rows of some keys, under other numbers."""
        if not len(self.rows):
            return FlatRows(self.rows)
        chosen, of = rows_of(self.of_key, keys)
        mine = self.rows[chosen]
        mine[:, KEY] = numbers[of]
        return FlatRows(mine)


def of_kind(kept: InSegment, kind: str, form: type[Form]) -> Form:
    """The rows of a kind, which are of one form; none where there are none."""
    found = kept.get(kind)
    if found is None:
        return form.none()
    assert isinstance(found, form)
    return found


def something(kept: InSegment, keys: int) -> Bools:
    """Of which of so many keys anything is kept."""
    found = np.zeros(keys, bool)
    for rows in kept.values():
        found[rows.keys] = True
    return found


def size_of(kept: InSegment) -> int:
    """The size of all rows together."""
    return sum(rows.size for rows in kept.values())


def put_together(parts: Sequence[Kept]) -> Kept:
    """The rows of keys in several places, joined, the earlier first. The arrays are changed."""
    if len(parts) == 1:
        return parts[0]
    found: dict[str, KeyedRows] = {}
    for kind in dict.fromkeys(kind for part in parts for kind in part):
        first, *others = (part[kind] for part in parts if kind in part)
        found[kind] = first.joined(others) if others else first
    return found


def events_of(kept: Kept) -> Ints:
    """The numbers of the events that are named, rising."""
    named = [numbers for rows in kept.values() for numbers in rows.events()]
    return rising_in(named)


def begins(keys: Ints, size: int) -> Ints:
    """For each of so many keys where its rows begin, and where the last ones end, by the keys of all rows."""
    found = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(keys, minlength=size), out=found[1:])
    return found


def rows_of(of_key: Ints, keys: Ints) -> tuple[Ints, Ints]:
    """The rows of some keys, and the place of the key of each."""
    first = of_key[keys]
    counts = of_key[keys + 1] - first
    return ranges(first, counts), np.repeat(np.arange(len(keys)), counts)


def ranges(firsts: Ints, counts: Ints) -> Ints:
    """The numbers first, first + 1, ..., so many of each, one after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    numbers: Ints = np.arange(total) + np.repeat(firsts - (ends - counts), counts)
    return numbers
