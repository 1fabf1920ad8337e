"""Texts of alerts, put together when they are read: in the end of those that go out, in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from alerts.joining import Columns, Part, Unjoined, texts, unjoined

Ints = npt.NDArray[np.int64]
Binary = Any
"""pa.LargeBinaryArray: the bytes of a whole batch may be more than 2 GiB."""


@dataclass(frozen=True, slots=True, eq=False)
class LazyTexts:
    """Columns of texts by name, a row each: the n-th is `row[n]` of the block `of[n]`, which every column has
    in its source, and which may not be joined yet.

    Choosing some rows copies none, and all that they were chosen from is held; `copied` lets go of it.
    """

    sources: Mapping[str, Columns]
    of: Ints
    row: Ints

    @classmethod
    def of_columns(cls, columns: Mapping[str, Binary | Unjoined]) -> LazyTexts:
        """Those of columns, which are equally long, in their order."""
        size = len(next(iter(columns.values())))
        sources = {name: Columns((column,)) for name, column in columns.items()}
        return cls(sources, np.zeros(size, np.int64), np.arange(size))

    @classmethod
    def of_parts(cls, parts: Mapping[str, Sequence[Part]], size: int) -> LazyTexts:
        """So many rows: each text is its row's parts end to end; a part that is a text is the same in all."""
        return cls.of_columns({name: unjoined(of_each, size) for name, of_each in parts.items()})

    @classmethod
    def together(cls, several: Sequence[LazyTexts]) -> LazyTexts:
        """Those of several, with columns of the same names, behind one another."""
        blocks = [len(next(iter(one.sources.values())).columns) for one in several]
        before = np.cumsum([0, *blocks]).tolist()
        return cls(
            {
                name: Columns(tuple(column for one in several for column in one.sources[name].columns))
                for name in several[0].sources
            },
            np.concatenate([one.of + first for one, first in zip(several, before, strict=False)]),
            np.concatenate([one.row for one in several]),
        )

    def __len__(self) -> int:
        return len(self.row)

    def __reduce__(self) -> tuple[Any, ...]:
        return LazyTexts.of_columns, ({name: self.joined(name) for name in self.sources},)

    def take(self, which: Ints | slice) -> LazyTexts:
        """Some rows, in the order of `which`."""
        return LazyTexts(self.sources, self.of[which], self.row[which])

    def joined(self, name: str, end: str = "") -> Binary:
        """The bytes of each in a column, with `end` (a byte at most) behind it."""
        return self.sources[name].chosen(self.of, self.row, end)

    def texts(self, name: str) -> list[str]:
        """Each of a column."""
        return texts(self.joined(name))

    def copied(self) -> LazyTexts:
        """The same, for which nothing else is held."""
        return LazyTexts.of_columns({name: self.joined(name) for name in self.sources})

    def but(self, name: str, others: Mapping[int, bytes]) -> LazyTexts:
        """The same, with others in some rows of a column."""
        rows = np.array(list(others), np.int64)
        apart = self.take(rows)
        blocks = {one: apart.joined(one) for one in self.sources}
        blocks[name] = pa.array(list(others.values()), pa.large_binary())
        of, row = self.of.copy(), self.row.copy()
        of[rows], row[rows] = len(self.sources[name].columns), np.arange(len(rows))
        sources = {one: Columns((*source.columns, blocks[one])) for one, source in self.sources.items()}
        return LazyTexts(sources, of, row)
