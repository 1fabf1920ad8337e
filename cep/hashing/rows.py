"""Equal rows get equal numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.hashing import strings
from cep.hashing.strings import distinct

Ints = npt.NDArray[np.int64]
Number = TypeVar("Number", np.int64, np.uint64)


def numbered(columns: Sequence[pa.Array]) -> tuple[Ints, Ints]:
    """A number for each row, dense, in order of first occurrence; and where each number occurs first.

    There is at least one column, and none has nulls. 0.0 and -0.0 are equal.
    """
    numbers, first = _of_column(columns[0])
    for column in columns[1:]:
        further, others = _of_column(column)
        numbers, first = distinct(pa.array(numbers * len(others) + further))
    return numbers, first


def rising(numbers: npt.NDArray[Number], runs: bool = False) -> npt.NDArray[Number]:
    """The different ones of some numbers, rising; of many, many times as fast as `numpy.unique`. `runs`: they
    are some that rise already, one after the other."""
    ordered = np.sort(numbers, kind="stable" if runs else None)
    new = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    # By a mask numpy takes several times as slowly, where it is as chance has it.
    return ordered.compress(new)


def grouped(numbers: Ints | npt.NDArray[np.uint64]) -> Ints:
    """The rows by number, those of one number in order: a radix sort, as numpy has it for 16 bits."""
    order = np.argsort((numbers & 0xFFFF).astype(np.uint16), kind="stable")
    for bits in range(16, int(numbers.max(initial=0)).bit_length(), 16):
        digits = ((numbers >> bits) & 0xFFFF).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
    return order


def _of_column(column: pa.Array) -> tuple[Ints, Ints]:
    return strings.numbered(column) if pa.types.is_string(column.type) else distinct(one_zero(column))


def one_zero(column: pa.Array) -> pa.Array:
    """The column with 0.0 in place of -0.0."""
    if pa.types.is_floating(column.type):
        return pa.array(column.to_numpy(zero_copy_only=False) + 0.0)
    return column
