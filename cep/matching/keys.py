"""Partition keys as dense numbers within a batch, in order of their first event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.matching.arrivals import Arrivals
from cep.matching.rows import numbered, one_zero

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a space by number: a column per field of the key, how many there are, and in which row of
    the columns each of them stands (None: in that of its number)."""

    columns: tuple[pa.Array, ...]
    count: int
    rows: Ints | None = None

    def of(self, numbers: Ints) -> tuple[pa.Array, ...]:
        """The values of some keys, a column per field."""
        rows = pa.array(numbers if self.rows is None else self.rows[numbers])
        return tuple(column.take(rows) for column in self.columns)

    def python(self, numbers: Sequence[int]) -> dict[int, tuple[object, ...]]:
        """The values of some keys."""
        if not self.columns:
            return dict.fromkeys(numbers, ())
        columns = [column.to_pylist() for column in self.of(np.asarray(numbers, np.int64))]
        return dict(zip(numbers, zip(*columns, strict=True), strict=True))


def number_keys(fields: int, events: Arrivals) -> tuple[Keys, Ints]:
    """The keys of the events, and each event's key number. Without fields all are of one key."""
    size = len(events.time)
    if not fields:
        return Keys((), min(1, size)), np.zeros(size, np.int64)
    if not size:
        return Keys((pa.array([], pa.int64()),) * fields, 0), np.zeros(0, np.int64)
    columns, places = [], [events.rows_of(number) for number in range(len(events.parts))]
    for field in range(fields):
        pieces = [
            _taken(part.column(f"k{field}"), rows)
            for part, (_, rows) in zip(events.parts, places, strict=True)
        ]
        columns.append(pieces[0] if len(pieces) == 1 else pa.concat_arrays(pieces))
    codes, first = numbered(columns)
    keys = Keys(tuple(one_zero(column.take(pa.array(first))) for column in columns), len(first))
    if len(places) == 1:
        return keys, codes
    numbers = np.empty(size, np.int64)
    numbers[np.concatenate([where for where, _ in places])] = codes
    return keys, numbers


def _taken(column: pa.Array, rows: Ints) -> pa.Array:
    if len(rows) == len(column) and np.array_equal(rows, np.arange(len(rows))):
        return column
    return column.take(pa.array(rows))
