"""Partition keys as dense numbers within a batch, in order of their first event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.matching.arrivals import Arrivals

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a space by number: a column per field of the key, and how many there are."""

    columns: tuple[pa.Array, ...]
    count: int

    def python(self, numbers: Sequence[int]) -> dict[int, tuple[object, ...]]:
        """The values of some keys."""
        if not self.columns:
            return dict.fromkeys(numbers, ())
        rows = pa.array(numbers, pa.int64())
        columns = [column.take(rows).to_pylist() for column in self.columns]
        return dict(zip(numbers, zip(*columns, strict=True), strict=True))


def number_keys(fields: int, events: Arrivals) -> tuple[Keys, Ints]:
    """The keys of the events, and each event's key number. Without fields all are of one key."""
    size = len(events.time)
    if not fields:
        return Keys((), min(1, size)), np.zeros(size, np.int64)
    columns, places = [], []
    for field in range(fields):
        pieces = [pa.array([], pa.int64())] if not events.parts else []
        for number, part in enumerate(events.parts):
            where, rows = events.rows_of(number)
            pieces.append(part.column(f"k{field}").take(pa.array(rows)))
            if not field:
                places.append(where)
        columns.append(_normal(pa.concat_arrays(pieces)))
    codes = _codes(columns)
    count = int(codes.max()) + 1 if len(codes) else 0
    first = np.full(count, len(codes), np.int64)
    # Written from the end, the first occurrence is written last.
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    numbers = np.empty(size, np.int64)
    numbers[np.concatenate(places) if places else slice(0)] = codes
    return Keys(tuple(column.take(pa.array(first)) for column in columns), count), numbers


def _codes(columns: Sequence[pa.Array]) -> Ints:
    """Equal rows have equal numbers, dense, in order of first occurrence."""
    codes = _encoded(columns[0])
    for column in columns[1:]:
        further = _encoded(column)
        width = int(further.max()) + 1 if len(further) else 1
        codes = _encoded(pa.array(codes * width + further))
    return codes


def _encoded(column: pa.Array) -> Ints:
    indices = column.dictionary_encode().indices
    return np.asarray(indices.to_numpy(zero_copy_only=False)).astype(np.int64)


def _normal(column: pa.Array) -> pa.Array:
    """0.0 and -0.0 are one key."""
    if pa.types.is_floating(column.type):
        return pa.array(column.to_numpy(zero_copy_only=False) + 0.0)
    return column
