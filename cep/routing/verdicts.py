"""Which atoms are true of events: rows of bits, by region and by column (cep.automata.regions)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cep.automata.regions import Regions, Together
from cep.expressions.columns import Columns

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]


def judged(columns: Columns, parts: Sequence[Together]) -> Bytes:
    """A row per event with a bit per atom, most significant first."""
    rows = [_judged(columns, part) for part in parts]
    return rows[0] if len(rows) == 1 else np.concatenate(rows, axis=1)


def as_column(bits: Bytes) -> pa.FixedSizeBinaryArray:
    """The rows as values of so many bytes."""
    return pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(bits.shape[1]), len(bits), [None, pa.py_buffer(np.ascontiguousarray(bits))]
    )


def _judged(columns: Columns, part: Together) -> Bytes:
    found: Bytes | None = None
    for regions in part.regions:
        rows = regions.rows[_places(columns, regions)]
        found = rows if found is None else np.bitwise_and(found, rows, out=found)
    if part.columns or found is None:
        by_column = _by_column(columns, part)
        found = by_column if found is None else np.bitwise_and(found, by_column, out=found)
    return found


def _places(columns: Columns, regions: Regions) -> Places:
    """The region in which each event's value lies."""
    field = columns.field(regions.path)
    last = len(regions.rows) - 1
    if regions.names is not None:
        found = pc.index_in(field, value_set=regions.names)
        named: Places = found.fill_null(last).to_numpy(zero_copy_only=False).astype(np.int64)
        return named
    assert regions.bounds is not None
    known = field.fill_null(0) if field.null_count else field
    places: Places = np.searchsorted(regions.bounds, known.to_numpy(zero_copy_only=False), side="right")
    if field.null_count:
        places[field.is_null().to_numpy(zero_copy_only=False)] = last
    return places


def _by_column(columns: Columns, part: Together) -> Bytes:
    """The bits of what is evaluated by column; those of all others are 1."""
    rows, size = len(columns.table), part.size
    others = np.packbits([atom not in part.columns for atom in range(size)])
    found = np.empty((len(others), rows), np.uint8)
    found[:] = others[:, None]
    for atom, expression in part.columns.items():
        truth = columns.truth(expression).to_numpy(zero_copy_only=False)
        found[atom >> 3] |= truth.view(np.uint8) << np.uint8(7 - (atom & 7))
    return np.ascontiguousarray(found.T)
