"""Keys of values (percolator.values) as pairs of 64-bit numbers in the same order, for arrays.

A number is its nearest double, as an integer that orders as doubles do, and what a whole number has more
than that double. Dates and booleans are whole numbers of 64 bits, an address is 128 bits in two halves.
A range is then always closed: the pair behind an excluded end is the next pair.
"""

from __future__ import annotations

import math
import struct

import numpy as np
import numpy.typing as npt

from percolator.schema import Kind
from percolator.values import Interval, Key

Point = tuple[int, int]

_LEAST, _GREATEST = -(1 << 63), (1 << 63) - 1
NOWHERE: Point = (_LEAST, _LEAST)
"""As a number NaN, which lies in no range that has an end."""
_LAST: Point = (_GREATEST, _GREATEST)


def point(key: Key, kind: Kind) -> Point:
    """The pair of a key."""
    match kind:
        case Kind.NUMBER:
            return _number(key)
        case Kind.IP:
            return (int(key) >> 64) + _LEAST, (int(key) & ((1 << 64) - 1)) + _LEAST
        case _:
            return int(key), 0


def bounds(asked: Interval, kind: Kind) -> tuple[Point, Point]:
    """The first and last pair of an interval, both included."""
    first = (_LEAST + 1, _LEAST) if kind is Kind.NUMBER else (_LEAST, _LEAST)
    low = first if asked.low is None else point(asked.low, kind)
    high = _LAST if asked.high is None else point(asked.high, kind)
    if not asked.with_low and asked.low is not None:
        low = (low[0], low[1] + 1) if low[1] < _GREATEST else (low[0] + 1, _LEAST)
    if not asked.with_high and asked.high is not None:
        high = (high[0], high[1] - 1) if high[1] > _LEAST else (high[0] - 1, _GREATEST)
    return low, high


def _number(key: Key) -> Point:
    try:
        near = float(key)
    except OverflowError:  # a whole number beyond all doubles
        near = math.inf if key > 0 else -math.inf
    if math.isnan(near):
        return NOWHERE
    # Beyond 2 ** 116 whole numbers that share a double can be more than 64 bits apart; they count as one.
    rest = int(key) - int(near) if isinstance(key, int) and math.isfinite(near) else 0
    (bits,) = struct.unpack("<q", struct.pack("<d", near + 0.0))
    return bits if bits >= 0 else _LEAST - bits, max(_LEAST, min(_GREATEST, rest))


def doubles(values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """The first halves of the pairs of doubles."""
    bits = (values + 0.0).view(np.int64)
    found = np.where(bits >= 0, bits, np.int64(_LEAST) - bits)
    return np.where(np.isnan(values), _LEAST, found)
