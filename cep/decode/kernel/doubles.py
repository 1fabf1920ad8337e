"""Numbers of JSON to doubles: exactly the nearest one, or none.

Source: D. Lemire, "Number parsing at a gigabyte per second", Software: Practice and Experience, 2021, after
M. Eisel. W. Clinger, "How to read floating point numbers accurately", 1990, for the short ones.
"""

from __future__ import annotations

import numpy as np

from cep.decode.kernel.digits import MOST, NOTHING, digits_at
from cep.decode.kernel.intrinsics import byte_at, leading_zeros, upper_product
from cep.decode.kernel.layout import Data, at_place
from kernels.family import inlined

LEAST_POWER, MOST_POWER = -64, 64
"""Powers of ten, by which a mantissa is multiplied, that are read."""
EXACT_POWER = 22
"""Powers of ten up to this one are doubles."""
WIDE = [
    (1 << ((five - 1).bit_length() + 127 if power >= -27 else 2 * (five - 1).bit_length() + 128)) // five + 1
    if power < 0
    else five << 128
    for power in range(LEAST_POWER, MOST_POWER + 1)
    for five in [5 ** abs(power)]
]
FIVES = np.array(
    [word for wide in WIDE for word in divmod(wide >> wide.bit_length() - 128, 1 << 64)], np.uint64
)
"""The upper 128 bits of powers of five, from LEAST_POWER on, in two words; of negative powers rounded up."""
EXACT = np.uint64(1 << 53)
TENS = np.array([10.0**n for n in range(EXACT_POWER + 1)])
ONE, THREE, NINE = np.uint64(1), np.uint64(3), np.uint64(9)
CARRY = np.uint64(0x1FF)
FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
TOP, MANTISSA, SIGN = np.uint64(63), np.uint64(52), np.uint64(1 << 63)
HIDDEN = np.uint64(1 << 52)
MINUS, PLUS, POINT, ZERO, EXPONENT = 0x2D, 0x2B, 0x2E, 0x30, 0x65


def exponent_at(data: Data, at: int) -> tuple[int, int]:
    """The exponent that begins at a place, of at most three digits, and its end, or -1."""
    negative = byte_at(data, at) == MINUS
    if negative or byte_at(data, at) == PLUS:
        at += 1
    value, begin = 0, at
    while 0 <= byte_at(data, at) - ZERO <= 9 and at < begin + 4:
        value = value * 10 + byte_at(data, at) - ZERO
        at += 1
    if at == begin or at == begin + 4:
        return 0, -1
    return -value if negative else value, at


@inlined
def mantissa_at(data: Data, at: int) -> tuple[np.uint64, int, int]:
    """Digits, power of ten and end of the number that begins at a place, without sign and exponent; end -1:
    it is no number of JSON, or has more than MOST digits."""
    begin = at
    digits, at = digits_at(data, at, NOTHING)
    count = at - begin
    power = 0
    if count == 0 or (count > 1 and byte_at(data, begin) == ZERO):
        return digits, power, -1
    if byte_at(data, at) == POINT:
        begin = at + 1
        digits, at = digits_at(data, begin, digits)
        power = begin - at
        count -= power
        if power == 0:
            return digits, power, -1
    return digits, power, (at if count <= MOST else -1)


@inlined
def parts_at(data: Data, at: int) -> tuple[np.uint64, int, int]:
    """The same with the exponent."""
    digits, power, end = mantissa_at(data, at)
    if end >= 0 and byte_at(data, end) | 0x20 == EXPONENT:
        further, end = exponent_at(data, end + 1)
        power += further
    return digits, power, end


@inlined
def scaled(digits: np.uint64, power: int) -> float:
    """digits * 10 ** power, where one operation on doubles gives the nearest; else NaN."""
    if digits < EXACT and -EXACT_POWER <= power <= EXACT_POWER:
        return (
            float(digits) / float(TENS[at_place(-power)])
            if power < 0
            else float(digits) * float(TENS[at_place(power)])
        )
    return np.nan


def nearest(digits: np.uint64, power: int) -> np.uint64:
    """The bits of the double nearest to digits * 10 ** power; all bits set where that is not certain."""
    if power < LEAST_POWER or power > MOST_POWER:
        return FULL
    if digits == NOTHING:
        return NOTHING
    shift = leading_zeros(digits)
    digits <<= np.uint64(shift)
    place = 2 * (power - LEAST_POWER)
    high, low = upper_product(digits, FIVES[place]), digits * FIVES[place]
    if high & CARRY == CARRY:
        further = upper_product(digits, FIVES[place + 1])
        low += further
        if low < further:
            high += ONE
    if low == FULL and (power < -27 or power > 55):
        return FULL
    upper = high >> TOP
    mantissa = high >> (upper + NINE)
    exponent = (((152_170 + 65_536) * power) >> 16) + 63 + np.int64(upper) - shift + 1023
    if low <= ONE and -4 <= power <= 23 and mantissa & THREE == ONE and mantissa << (upper + NINE) == high:
        # Exactly between two doubles: the even one.
        mantissa &= ~ONE
    mantissa = (mantissa + (mantissa & ONE)) >> ONE
    if mantissa >> MANTISSA == np.uint64(2):
        mantissa = HIDDEN
        exponent += 1
    return (mantissa & (HIDDEN - ONE)) | np.uint64(exponent) << MANTISSA
