"""The live runs of strict sequences between batches: of a key its last events, and who has taken them.

All runs of a group of rules and a key lie in one row (PACKED, cep.operators.patterns.kernel.strict_layout):
the key, when time next ends one of them, the last events that a run took, newest first, and for each number
of events taken the set of rules that have a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cep.operators.patterns.compile.strict_groups import words
from cep.operators.patterns.kernel.layout import BITS
from cep.operators.patterns.kernel.strict_layout import ENTRY_HEAD, O_NULLS, O_NUMBER, P_KEY, PACKED
from cep.state.keyed_rows import begins, rows_of

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
_BITS_OF = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(np.int64)
"""The bits of each octet, the lowest first."""


@dataclass(frozen=True, slots=True)
class PackedRows:
    """The runs of a group: the numbers of its rules (-1: it is gone), how many events and values of each are
    kept, which of the values are texts, and the rows, sorted by key."""

    rules: Ints
    depth: int
    values: int
    texts: tuple[int, ...]
    rows: Ints

    @property
    def sets(self) -> Ints:
        """The sets of the rules that have a run, by row and number of events taken."""
        first = PACKED + self.depth * (ENTRY_HEAD + self.values)
        return self.rows[:, first:].reshape(len(self.rows), self.depth, words(len(self.rules)))

    def entry(self, number: int) -> Ints:
        """The last event but so many as it is kept, a row for each of `rows`."""
        size = ENTRY_HEAD + self.values
        return self.rows[:, PACKED + number * size : PACKED + (number + 1) * size]

    def counted(self) -> Ints:
        """The number of runs by place of the rule."""
        sets, rules = self.sets, len(self.rules)
        octets = np.ascontiguousarray(sets).view(np.uint8).reshape(-1, 8 * sets.shape[-1])
        found = np.zeros((8 * sets.shape[-1], 8), np.int64)
        for place in range(len(found)):
            if place // 8 * BITS + place % 8 * 8 < rules:
                found[place] = np.bincount(octets[:, place], minlength=256) @ _BITS_OF
        return found.reshape(-1, 64)[:, :BITS].ravel()[:rules]

    def of_rules(self, numbers: Ints) -> PackedRows:
        """A copy for rules with other numbers; the runs of those that have none are left out."""
        rules = np.where(self.rules >= 0, numbers[self.rules], -1)
        found = replace(self, rules=rules, rows=self.rows.copy())
        left = found.sets & packed(rules >= 0)
        found.sets[:] = left
        return replace(found, rows=found.rows[left.any(axis=(1, 2))])


def packed(members: Bools) -> Ints:
    """Truth values for each of some rules, along the last axis, as sets."""
    count = words(members.shape[-1])
    room = [(0, 0)] * (members.ndim - 1)
    whole = np.pad(members, [*room, (0, count * BITS - members.shape[-1])])
    by_word = np.pad(whole.reshape(*members.shape[:-1], count, BITS), [*room, (0, 0), (0, 64 - BITS)])
    octets = np.packbits(by_word, axis=-1, bitorder="little")
    sets: Ints = np.ascontiguousarray(octets).view(np.int64)[..., 0]
    return sets


@dataclass(frozen=True, slots=True)
class PackedRuns:
    """Runs of strict sequences as keyed state, by the number of their group (cep.state.keyed_rows)."""

    groups: Mapping[int, PackedRows] = field(default_factory=dict)

    @classmethod
    def none(cls) -> Self:
        """No run."""
        return cls()

    @property
    def size(self) -> int:
        """The numbers in all rows."""
        return sum(of.rows.size for of in self.groups.values())

    @property
    def keys(self) -> Ints:
        """The key of each row."""
        return np.concatenate([np.zeros(0, np.int64), *(of.rows[:, P_KEY] for of in self.groups.values())])

    def crowded(self, _: int, /) -> Ints:
        """None: a rule has fewer runs of a key than steps."""
        return np.zeros(0, np.int64)

    def counted(self, rules: int) -> Ints:
        """The number of runs of each of so many rules."""
        found = np.zeros(rules, np.int64)
        for of in self.groups.values():
            there = of.rules >= 0
            found[of.rules[there]] += of.counted()[there]
        return found

    def events(self) -> Sequence[Ints]:
        """The numbers of the events that were taken."""
        numbers = [of.entry(n)[:, O_NUMBER] for of in self.groups.values() for n in range(of.depth)]
        return [some for one in numbers if len(some := one[one >= 0])]

    def compacted(self, keys: int) -> Self:  # noqa: ARG002
        """These very runs."""
        return self

    def indexed(self, keys: int) -> PackedIndex:
        """An index by key."""
        return PackedIndex(self.groups, {n: begins(of.rows[:, P_KEY], keys) for n, of in self.groups.items()})

    def renumbered(self, numbers: Ints) -> Self:
        """A copy under other numbers of keys."""
        found = {}
        for number, of in self.groups.items():
            rows = of.rows.copy()
            rows[:, P_KEY] = numbers[rows[:, P_KEY]]
            found[number] = replace(of, rows=rows)
        return type(self)(found)

    def of_rules(self, numbers: Ints) -> Self:
        """A copy of the runs of the rules that have another number, by it."""
        found = {number: of.of_rules(numbers) for number, of in self.groups.items()}
        return type(self)({number: of for number, of in found.items() if len(of.rows)})

    def unshared(self) -> Self:
        """These very rows: nothing of them is shared."""
        return self

    def joined(self, others: Sequence[Self]) -> Self:
        """These rows and others, of each group in order of key."""
        found: dict[int, PackedRows] = {}
        for number in sorted({number for one in (self, *others) for number in one.groups}):
            parts = [one.groups[number] for one in (self, *others) if number in one.groups]
            rows = parts[0].rows
            if len(parts) > 1:
                rows = np.concatenate([part.rows for part in parts])
                rows = rows[np.argsort(rows[:, P_KEY], kind="stable")]
            found[number] = replace(parts[0], rows=rows)
        return type(self)(found)

    def texts(self) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Arrays with rows and columns of the numbers of texts that are in them."""
        for of in self.groups.values():
            for number in range(of.depth if of.texts else 0):
                entry = of.entry(number)
                for value in of.texts:
                    known = (entry[:, O_NUMBER] >= 0) & ((entry[:, O_NULLS] >> value) & 1 == 0)
                    rows = np.flatnonzero(known)
                    yield entry, rows, np.full(len(rows), ENTRY_HEAD + value)

    def written(self, ints: Callable[[Ints], object]) -> object:
        """For each group its number, shape, and the names of two arrays."""
        return [
            [number, of.depth, of.values, list(of.texts), ints(of.rules), ints(of.rows)]
            for number, of in sorted(self.groups.items())
        ]

    @classmethod
    def read(cls, entry: Any, ints: Callable[[Any], Ints]) -> Self:
        """The runs again."""
        return cls(
            {
                number: PackedRows(ints(rules), depth, values, tuple(texts), ints(rows))
                for number, depth, values, texts, rules, rows in entry
            }
        )


@dataclass(frozen=True, slots=True)
class PackedIndex:
    """Rows by group, and where those of each key begin; a last place says where they end."""

    groups: Mapping[int, PackedRows]
    of_key: Mapping[int, Ints]

    def weight_of(self, keys: Ints) -> int:
        """The size of the rows of some keys."""
        return sum(
            of.rows.shape[1] * int((self.of_key[n][keys + 1] - self.of_key[n][keys]).sum())
            for n, of in self.groups.items()
        )

    def cut(self, keys: Ints, numbers: Ints) -> PackedRuns:
        """A copy of the rows of some keys, under other numbers."""
        found = {}
        for number, of in self.groups.items():
            chosen, places = rows_of(self.of_key[number], keys)
            if len(chosen):
                rows = of.rows.take(chosen, axis=0)
                rows[:, P_KEY] = numbers[places]
                found[number] = replace(of, rows=rows)
        return PackedRuns(found)
