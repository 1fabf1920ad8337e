"""Equal rows get equal numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints = npt.NDArray[np.int64]


def numbered(columns: Sequence[pa.Array]) -> tuple[Ints, tuple[pa.Array, ...]]:
    """A number for each row, dense, in order of first occurrence; and the columns of the distinct rows.

    There is at least one column, and none has nulls.
    """
    encoded = [_normal(column).dictionary_encode() for column in columns]
    codes = _codes(encoded[0])
    if len(columns) == 1:
        return codes, (encoded[0].dictionary,)
    for column in encoded[1:]:
        pairs = pa.array(codes * len(column.dictionary) + _codes(column))
        codes = _codes(pairs.dictionary_encode())
    first = firsts(codes)
    return codes, tuple(column.dictionary.take(column.indices.take(pa.array(first))) for column in encoded)


def firsts(numbers: Ints) -> Ints:
    """Where each of the numbers occurs first; they are dense."""
    found = np.empty(int(numbers.max(initial=-1)) + 1, np.int64)
    # Written from the end, the first occurrence is written last.
    found[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return found


def grouped(numbers: Ints) -> Ints:
    """The rows by number, those of one number in order: a radix sort, as numpy has it for 16 bits."""
    order = np.argsort((numbers & 0xFFFF).astype(np.uint16), kind="stable")
    for bits in range(16, int(numbers.max(initial=0)).bit_length(), 16):
        digits = ((numbers >> bits) & 0xFFFF).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
    return order


def _codes(encoded: pa.DictionaryArray) -> Ints:
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False)).astype(np.int64)


def _normal(column: pa.Array) -> pa.Array:
    """0.0 and -0.0 are one."""
    if pa.types.is_floating(column.type):
        return pa.array(column.to_numpy(zero_copy_only=False) + 0.0)
    return column
