"""Values as numbers that the kernel compares or counts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cep.batch.texts import Texts
from cep.operators.windows.runtime.columns import Column, is_text
from cep.state.keyed_rows import Ints
from rules.types import Scalar, Type

SIGN = np.int64(-(2**63))
_REST = np.int64(2**63 - 1)


def ranks(column: Column, type_: Type, texts: Texts) -> Ints:
    """Numbers that rise with the values of a column."""
    if type_ is Scalar.DOUBLE:
        found: Ints = column.low ^ ((column.low >> 63) & _REST)
        return found
    if type_ is Scalar.DECIMAL:
        return _places(np.lexsort((column.low ^ SIGN, column.high)))
    if is_text(type_):
        if not len(texts.values):
            return column.low
        codes, place = np.unique(column.low, return_inverse=True)
        order = pc.array_sort_indices(texts.values.take(pa.array(codes)))
        return _places(order.to_numpy(zero_copy_only=False))[place]
    return column.low


def _places(order: Ints) -> Ints:
    found = np.empty(len(order), np.int64)
    found[order] = np.arange(len(order))
    return found


def codes(column: Column, type_: Type) -> tuple[Ints, int]:
    """Small numbers, equal for equal values of a column, and how many there are."""
    if type_ is Scalar.DECIMAL:
        low, _ = _coded(column.low)
        high, size = _coded(column.high)
        return _coded(low * size + high)
    return _coded(column.low)


def _coded(numbers: Ints) -> tuple[Ints, int]:
    encoded = pa.array(numbers).dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int64), len(encoded.dictionary)


def doubles(column: Column, type_: Type) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The values of a column of numbers, as doubles."""
    if type_ is Scalar.DOUBLE:
        return column.low.view(np.float64)
    if type_ is not Scalar.DECIMAL:
        return column.low.astype(np.float64)
    number, size = codes(column, type_)
    first = np.zeros(size, np.int64)
    first[number[::-1]] = np.arange(len(number))[::-1]
    units = zip(column.low[first].tolist(), column.high[first].tolist(), strict=True)
    rounded = np.array([((high << 64) + low % 2**64) / 10**18 for low, high in units], np.float64)
    return rounded[number]
