"""Partition keys by number, within a batch or within segments of state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a space by number: a column per field of the key, how many there are, and in which row of
    the columns each of them stands (None: in that of its number)."""

    columns: tuple[pa.Array, ...]
    count: int
    rows: Ints | None = None

    def places(self, numbers: Ints) -> Ints:
        """The rows of the columns in which some keys stand."""
        return numbers if self.rows is None else self.rows[numbers]

    def of(self, numbers: Ints) -> tuple[pa.Array, ...]:
        """The values of some keys, a column per field."""
        rows = pa.array(self.places(numbers))
        return tuple(column.take(rows) for column in self.columns)

    def python(self, numbers: Sequence[int]) -> dict[int, tuple[object, ...]]:
        """The values of some keys."""
        if not self.columns:
            return dict.fromkeys(numbers, ())
        columns = [column.to_pylist() for column in self.of(np.asarray(numbers, np.int64))]
        return dict(zip(numbers, zip(*columns, strict=True), strict=True))
