"""The bodies of alerts, put together when they are read: in the end of those that go out, in their order."""

from __future__ import annotations

from collections.abc import Sequence
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
class Bodies:
    """JSON, a row each: the n-th is `row[n]` of the column `of[n]` of `source`, which may not be joined yet.

    Choosing some copies none, and all that they were chosen from is held; `copied` lets go of it.
    """

    source: Columns
    of: Ints
    row: Ints

    @classmethod
    def of_column(cls, bodies: Binary | Unjoined) -> Bodies:
        """Those of a column, in its order."""
        return cls(Columns((bodies,)), np.zeros(len(bodies), np.int64), np.arange(len(bodies)))

    @classmethod
    def of_parts(cls, parts: Sequence[Part]) -> Bodies:
        """Those of which each is its row's parts end to end; a text is the same in all."""
        return cls.of_column(unjoined(parts))

    @classmethod
    def together(cls, several: Sequence[Bodies]) -> Bodies:
        """Those of several behind one another."""
        before = np.cumsum([0, *(len(one.source.columns) for one in several)])
        return cls(
            Columns(tuple(column for one in several for column in one.source.columns)),
            np.concatenate([one.of + first for one, first in zip(several, before.tolist(), strict=False)]),
            np.concatenate([one.row for one in several]),
        )

    def __len__(self) -> int:
        return len(self.row)

    def __reduce__(self) -> tuple[Any, ...]:
        return Bodies.of_column, (self.joined(),)

    def take(self, which: Ints | slice) -> Bodies:
        """Some of them, in the order of `which`."""
        return Bodies(self.source, self.of[which], self.row[which])

    def joined(self, end: str = "") -> Binary:
        """The bytes of each, with `end` (a byte at most) behind it."""
        return self.source.chosen(self.of, self.row, end)

    def copied(self) -> Bodies:
        """The same, for which nothing else is held."""
        return Bodies.of_column(self.joined())

    def texts(self) -> list[str]:
        """Each as a text."""
        return texts(self.joined())

    def but(self, others: dict[int, bytes]) -> Bodies:
        """The same, with others in some rows."""
        column = pa.array(list(others.values()), pa.large_binary())
        of, row = self.of.copy(), self.row.copy()
        rows = list(others)
        columns = self.source.columns
        of[rows], row[rows] = len(columns), np.arange(len(rows))
        return Bodies(Columns((*columns, column)), of, row)
