"""One value of a column into its row, as JSON and CSV write it alike."""

from __future__ import annotations

import numpy as np

from cep.decode.kernel.digits import MOST, NOTHING, POWERS, digits_at
from cep.decode.kernel.doubles import (
    EXPONENT,
    FULL,
    MINUS,
    ONE,
    SIGN,
    ZERO,
    mantissa_at,
    nearest,
    parts_at,
    scaled,
)
from cep.decode.kernel.intrinsics import byte_at, put_byte, upper_product
from cep.decode.kernel.layout import (
    BASE,
    BOOLEAN,
    DECIMAL,
    DOUBLE,
    EPOCH_WHOLE,
    FLAGS,
    KIND,
    LONG,
    MOST_UNITS,
    NESTED,
    ROOM,
    UNIT,
    Data,
    Keys,
    Room,
    at_place,
    of,
)
from cep.decode.kernel.times import iso_time
from cep.decode.kernel.words import FALSE, TRUE, is_word
from kernels.family import inlined
from kernels.instructions import word_at

LONGEST = np.uint64(1 << 63)
MICRO = 1000
SCALE = 18
"""Digits of a decimal behind the point."""
NOTHING_INSIDE = tuple(b"{}\n")
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
def double_at(data: Data, at: int, room: Room, place: int) -> int:
    """Put the number that begins at a place among the doubles; its end, or -1."""
    negative = byte_at(data, at) == MINUS
    digits, power, end = parts_at(data, at + 1 if negative else at)
    if end < 0:
        return -1
    value = scaled(digits, power)
    if value == value:
        room.doubles[at_place(place)] = -value if negative else value
        return end
    bits = nearest(digits, power)
    if bits == FULL:
        return -1
    room.longs[at_place(place)] = np.int64(bits | SIGN if negative else bits)
    return end


@inlined
def epoch_at(data: Data, at: int, keys: Keys, room: Room, column: int, place: int) -> int:
    """Put the number of an epoch's units that begins at a place among the times; its end, or -1."""
    unit = keys.slots[of(column, UNIT)]
    if keys.slots[of(column, KIND)] == EPOCH_WHOLE:
        value, end = long_at(data, at)
        if end < 0 or abs(value) > keys.slots[of(column, MOST_UNITS)]:
            return -1
        room.longs[at_place(place)] = value * unit
        return end
    end = double_at(data, at, room, place)
    micros = np.rint(room.doubles[at_place(place)] * unit)
    if end < 0 or not abs(micros) < MOST_MICROS:
        return -1
    room.longs[at_place(place)] = np.int64(micros) * MICRO
    return end


@inlined
def decimal_at(data: Data, at: int, room: Room, place: int) -> int:
    """Put the number without an exponent that begins at a place among the decimals; its end, or -1."""
    negative = byte_at(data, at) == MINUS
    digits, power, end = mantissa_at(data, at + 1 if negative else at)
    if end < 0 or power < -SCALE:
        return -1
    factor = POWERS[at_place(SCALE + power)]
    low, high = digits * factor, upper_product(digits, factor)
    if negative:
        low, high = ~low + ONE, ~high + (ONE if low == NOTHING else NOTHING)
    room.longs[at_place(place)], room.longs[at_place(place + 1)] = np.int64(low), np.int64(high)
    return end if byte_at(data, end) | 0x20 != EXPONENT else -1


@inlined
def value_at(data: Data, at: int, keys: Keys, room: Room, column: int, row: int) -> int:
    """Put the value that begins at a place, of a column without texts, into a row; its end, or -1."""
    kind, place = keys.slots[of(column, KIND)], keys.slots[of(column, BASE)] + row
    if kind == DOUBLE:
        return double_at(data, at, room, place)
    if kind == LONG:
        room.longs[at_place(place)], end = long_at(data, at)
        return end
    if kind == BOOLEAN:
        word = word_at(data, at)
        true = is_word(word, TRUE, 4)
        room.longs[at_place(place)] = 1 if true else 0
        return at + 4 if true else at + 5 if is_word(word, FALSE, 5) else -1
    if kind == DECIMAL:
        return decimal_at(data, at, room, place + row)
    if kind >= EPOCH_WHOLE:
        return epoch_at(data, at, keys, room, column, place)
    room.longs[at_place(place)], end = iso_time(data, at, keys.slots, column)
    return end


def put_null(keys: Keys, room: Room, column: int, row: int) -> None:
    """Put a null into a row of a column."""
    kind, place = keys.slots[of(column, KIND)], keys.slots[of(column, BASE)] + row
    room.present[keys.slots[of(column, FLAGS)] + row] = 0
    if kind > NESTED:
        place += row if kind == DECIMAL else 0
        room.longs[at_place(place)] = 0
        if kind == DECIMAL:
            room.longs[at_place(place + 1)] = 0
        return
    to = room.offsets[at_place(place)]
    if kind == NESTED:
        for byte in NOTHING_INSIDE:
            put_byte(room.text, keys.slots[of(column, ROOM)] + to, byte)
            to += 1
    room.offsets[at_place(place + 1)] = to
