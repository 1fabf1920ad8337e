"""Lists over Arrow columns: equality, and whether one of a list's values is this."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cep.expressions.column_arithmetic import nulls

Mask = npt.NDArray[np.bool_]


def within(operand: pa.Array, lists: pa.Array, negated: bool) -> pa.BooleanArray:
    """SQL's `in`: true on a hit, else unknown if anything compared was null; nothing is in the empty list."""
    lengths = _lengths(lists)
    items, of_row = lists.flatten(), np.repeat(np.arange(len(lists)), lengths)
    asked = operand.take(pa.array(of_row))
    same = pc.equal(items, asked)
    hit = _any(of_row, pc.fill_null(same, False).to_numpy(zero_copy_only=False), len(lists))
    unknown = _any(of_row, nulls(same), len(lists)) & ~hit
    return pa.array(hit != negated, mask=unknown | nulls(lists))


def equal(left: pa.Array, right: pa.Array) -> pa.BooleanArray:
    """True if the lists hold the same values in the same order; unknown where a list is null."""
    known = ~(nulls(left) | nulls(right))
    return pa.array(_same(left, right), mask=~known)


def _same(left: pa.Array, right: pa.Array) -> Mask:
    """True if values are equal, nulls among themselves too."""
    one, other = nulls(left), nulls(right)
    if not pa.types.is_list(left.type):
        same = pc.fill_null(pc.equal(left, right), False).to_numpy(zero_copy_only=False)
        return np.asarray(same | (one & other))
    alike = (_lengths(left) == _lengths(right)) & (one == other)
    rows = pa.array(np.flatnonzero(alike))
    left, right = left.take(rows), right.take(rows)
    of_row = np.repeat(np.flatnonzero(alike), _lengths(left))
    return np.asarray(alike & ~_any(of_row, ~_same(left.flatten(), right.flatten()), len(alike)))


def _lengths(lists: pa.Array) -> npt.NDArray[np.int64]:
    """The number of values in each list; a null list has none."""
    return np.asarray(pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False), np.int64)


def _any(of_row: npt.NDArray[np.int64], truth: Mask, rows: int) -> Mask:
    """For each row, whether any of its items is true."""
    return np.asarray(np.bincount(of_row[truth], minlength=rows) > 0)
