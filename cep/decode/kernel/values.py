"""One value of JSON into its column."""

from __future__ import annotations

import numpy as np

from cep.decode.kernel.digits import MOST, NOTHING, digits_at
from cep.decode.kernel.doubles import FULL, MINUS, SIGN, ZERO, nearest, parts_at, scaled
from cep.decode.kernel.intrinsics import byte_at, word_at
from cep.decode.kernel.layout import BOOLEAN, DOUBLE, EPOCH_WHOLE, LONG, Columns, Data
from cep.decode.kernel.times import iso_time
from cep.decode.kernel.words import FALSE, TRUE, is_word
from kernels.family import inlined

LONGEST = np.uint64(1 << 63)
MICRO = 1000
MOST_MICROS = 9e15
"""Microseconds that are whole doubles and, as nanoseconds, 64 bits."""


@inlined
def long_at(data: Data, at: int) -> tuple[int, int]:
    """The whole number that begins at a place, and its end, or -1."""
    negative = byte_at(data, at) == MINUS
    begin = at + 1 if negative else at
    digits, end = digits_at(data, begin, NOTHING)
    count = end - begin
    if count == 0 or count > MOST or (count > 1 and byte_at(data, begin) == ZERO) or digits >= LONGEST:
        return 0, -1
    value = int(np.int64(digits))
    return (-value if negative else value), end


@inlined
def double_at(data: Data, at: int, columns: Columns, place: int) -> int:
    """Put the number that begins at a place among the doubles; its end, or -1."""
    negative = byte_at(data, at) == MINUS
    digits, power, end = parts_at(data, at + 1 if negative else at)
    if end < 0:
        return -1
    value = scaled(digits, power)
    if value == value:
        columns.doubles[place] = -value if negative else value
        return end
    bits = nearest(digits, power)
    if bits == FULL:
        return -1
    columns.longs[place] = np.int64(bits | SIGN if negative else bits)
    return end


@inlined
def epoch_at(data: Data, at: int, columns: Columns, column: int, place: int) -> int:
    """Put the number of an epoch's units that begins at a place among the times; its end, or -1."""
    unit = columns.units[column]
    if columns.kinds[column] == EPOCH_WHOLE:
        value, end = long_at(data, at)
        instant = value * unit
        if end < 0 or abs(value) > (1 << 62) // unit:
            return -1
        columns.longs[place] = instant
        return end
    end = double_at(data, at, columns, place)
    micros = np.rint(columns.doubles[place] * unit)
    if end < 0 or not abs(micros) < MOST_MICROS:
        return -1
    columns.longs[place] = np.int64(micros) * MICRO
    return end


@inlined
def value_at(data: Data, at: int, columns: Columns, column: int, row: int) -> int:
    """Put the value that begins at a place, of a column without texts, into a row; its end, or -1."""
    kind, place = columns.kinds[column], columns.bases[column] + row
    if kind == DOUBLE:
        return double_at(data, at, columns, place)
    if kind == LONG:
        columns.longs[place], end = long_at(data, at)
        return end
    if kind == BOOLEAN:
        word = word_at(data, at)
        true = is_word(word, TRUE, 4)
        columns.longs[place] = 1 if true else 0
        return at + 4 if true else at + 5 if is_word(word, FALSE, 5) else -1
    if kind >= EPOCH_WHOLE:
        return epoch_at(data, at, columns, column, place)
    columns.longs[place], end = iso_time(data, at, columns.dates, columns.days, column)
    return end
