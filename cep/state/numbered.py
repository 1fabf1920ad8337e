"""Rows that have their numbers for good: events that runs took, texts that their registers hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Numbered:
    """Rows of a table, each under a number of its own; the numbers rise."""

    numbers: Ints
    table: pa.Table

    def find(self, numbers: Ints) -> tuple[Ints, Ints]:
        """Those of the numbers that are here: their places in `numbers`, and their rows."""
        if not len(self.numbers):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        rows = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        places = np.flatnonzero(self.numbers[rows] == numbers)
        return places, rows[places]

    def only(self, numbers: Ints) -> Numbered:
        """The rows with these numbers (rising), as far as they are here."""
        _, rows = self.find(numbers)
        if len(rows) == len(self.numbers):
            return self
        return Numbered(self.numbers[rows], self.table.take(pa.array(rows)))


def joined(parts: Sequence[Numbered]) -> Numbered:
    """Rows of several parts, whose numbers rise from one part to the next."""
    if len(parts) == 1:
        return parts[0]
    # Under a plan that wants more fields than an earlier one, those of earlier events are null.
    tables = pa.concat_tables([part.table for part in parts], promote_options="permissive")
    return Numbered(np.concatenate([part.numbers for part in parts]), tables.combine_chunks())


def in_order(parts: Sequence[Numbered]) -> Numbered:
    """Rows of several parts, whatever their numbers."""
    together = joined(parts)
    if np.all(np.diff(together.numbers) > 0):
        return together
    order = np.argsort(together.numbers)
    return Numbered(together.numbers[order], together.table.take(pa.array(order)))
