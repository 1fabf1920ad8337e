"""Parts of the order of alerts as bytes, for many at once: see `alerts.ranks`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from alerts.joining import kernel_for
from alerts.kernel.layout import ORDER
from alerts.ranks import FURTHER, NUMBER, OFFSET

Array = Any
"""An Arrow array of bytes without nulls."""
Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Doubles = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]

_OFFSET = np.uint64(OFFSET)


def orders(first: Ints, further: Ints, ends: Ints) -> Array:
    """As `decided`, of orders of decision: the n-th begins with `first[n]`, then come those of `further` from
    `ends[n - 1]` up to `ends[n]`."""
    stops = np.concatenate(([0], ORDER * (np.arange(1, len(first) + 1) + ends)))
    rows = np.empty(stops[-1], np.uint8)
    kernel = kernel_for(len(first))
    if kernel is None:
        begins, size = stops[:-1] // ORDER, len(first) + len(further)
        whole, is_further = np.empty(size, np.int64), np.ones(size, bool)
        is_further[begins] = False
        whole[begins], whole[is_further] = first, further
        matrix = rows.reshape(-1, ORDER)
        matrix[:, 0] = FURTHER[0]
        matrix[:, 1:] = _big(whole.view(np.uint64) ^ _OFFSET)
    else:
        kernel.write_orders(np.ascontiguousarray(first), np.ascontiguousarray(further), ends, rows)
    buffers = [None, pa.py_buffer(stops.astype(np.int32)), pa.py_buffer(rows)]
    return pa.Array.from_buffers(pa.binary(), len(first), buffers)


def double_ranks(values: Doubles) -> Bytes:
    """As `value_rank`, of finite doubles: a row of 17 bytes each."""
    return _number_ranks(values, np.zeros(len(values), np.int64))


def whole_ranks(values: Ints) -> Bytes:
    """As `value_rank`, of whole numbers: a row of 17 bytes each."""
    nearest = values.astype(np.float64)
    # 2**63 is the one double that rounding can come to and int64 does not have
    at_end = nearest >= 2.0**63
    rest = values - np.where(at_end, 0, nearest).astype(np.int64)
    return _number_ranks(nearest, np.where(at_end, values - np.int64(2**63 - 1) - 1, rest))


def _number_ranks(nearest: Doubles, rest: Ints) -> Bytes:
    bits = (nearest + 0.0).view(np.uint64)
    ordered = np.where(bits >= _OFFSET, ~bits, bits ^ _OFFSET)
    rows = np.empty((len(bits), 17), np.uint8)
    rows[:, 0] = NUMBER[0]
    rows[:, 1:9] = _big(ordered)
    rows[:, 9:] = _big(rest.view(np.uint64) ^ _OFFSET)
    return rows


def _big(words: Words) -> Bytes:
    """Each in eight bytes, the highest first."""
    return words.astype(">u8").view(np.uint8).reshape(-1, 8)
