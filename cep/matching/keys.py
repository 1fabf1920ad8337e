"""Partition keys as dense numbers: those that state knows keep theirs, new ones follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.matching.arrivals import Arrivals

Ints = npt.NDArray[np.int64]


@dataclass(slots=True)
class Keys:
    """The keys of a space by number. `values` has a column k0, k1 ... per field of the key."""

    values: pa.Table
    count: int

    def python(self, numbers: Sequence[int]) -> dict[int, tuple[object, ...]]:
        """The values of some keys."""
        if not self.values.num_columns:
            return dict.fromkeys(numbers, ())
        rows = self.values.take(pa.array(numbers, pa.int64()))
        columns = [rows.column(n).to_pylist() for n in range(rows.num_columns)]
        return dict(zip(numbers, zip(*columns, strict=True), strict=True))


def number_keys(fields: int, known: pa.Table | None, events: Arrivals) -> tuple[Keys, Ints]:
    """The keys of what state knows and of the events, and each event's key number."""
    size = len(events.time)
    if not fields:
        return Keys(pa.table({}), 1), np.zeros(size, np.int64)
    old = 0 if known is None else len(known)
    columns = []
    for place in range(fields):
        pieces = [] if known is None else [known.column(place)]
        for number, part in enumerate(events.parts):
            _, rows = events.rows_of(number)
            pieces.append(part.column(f"k{place}").take(pa.array(rows)))
        flat = [c for p in pieces for c in (p.chunks if isinstance(p, pa.ChunkedArray) else [p])]
        columns.append(_normal(pa.concat_arrays(flat)) if flat else pa.array([], pa.int64()))
    codes = _codes(columns)
    count = int(codes.max()) + 1 if len(codes) else 0
    first = np.full(count, len(codes), np.int64)
    # Written from the end, the first occurrence is written last.
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    values = pa.table({f"k{n}": column.take(pa.array(first)) for n, column in enumerate(columns)})
    numbers = np.empty(size, np.int64)
    at = old
    for number in range(len(events.parts)):
        places, rows = events.rows_of(number)
        numbers[places] = codes[at : at + len(rows)]
        at += len(rows)
    return Keys(values, count), numbers


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
