"""The standard deviation of a sample from its exact sums.

It is sqrt(r / (n (n - 1))), r being n S2 - S1 ** 2: exact, and rounded to a double once. Of r the highest 62
bits are read; whatever is left over below them sets the lowest, and one rounding makes it a double.
"""

from __future__ import annotations

import math

import numpy as np

from cep.exact.kernel.doubles import HALF, LOWER
from cep.exact.kernel.layout import BITS, HEAD, LEAST_EXPONENT, LIMB, UP, Ints, at_place
from cep.exact.kernel.limbs import lowest, propagate
from cep.exact.kernel.reading import small
from kernels.family import inlined

WIDE, LIMB_BITS = np.uint64(BITS), np.uint64(LIMB)
NANO = 10**9
LONGEST = 7
"""Limbs of r that are divided: there remain 62 bits behind the four divisors of decimals, though the highest
has a single bit."""
R = 72 + LONGEST
"""Where limb 0 of r lies in the room; before it, and before what goes on below it with zeros, those of S1."""
ROOM = R + 2 * 72


@inlined
def put_product(room: Ints, limb: int, one: int, two: int, times: int) -> None:
    """Add the product of two limbs of bits to r, so many times."""
    product = np.uint64(one) * np.uint64(two)
    room[at_place(R + limb)] += times * np.int64(product & LIMB_BITS)
    room[at_place(R + limb + 1)] += times * np.int64(product >> WIDE)


@inlined
def put_magnitude(sums: Ints, at: int, room: Ints) -> int:
    """Write the limbs of a sum without its sign to where the room begins; up to which."""
    low, up = lowest(sums, at), int(sums[at_place(at + UP)])
    negative = up > 0 and sums[at_place(at + HEAD + up - 1)] < 0
    carry = int(negative)
    for limb in range(low, up):
        found = int(sums[at_place(at + HEAD + limb)])
        if negative:
            found = (LIMB - (found & LIMB)) + carry
            carry = found >> BITS
            found &= LIMB
        room[at_place(limb)] = found
    return up


def spread(sums: Ints, at: int, squares: Ints, other: int, count: int, room: Ints) -> tuple[int, int]:
    """Write the limbs of r into the room, with zeros below them.

    Returns the lowest that is not 0 and the end of the others; the same if r is 0.
    """
    propagate(sums, at)
    propagate(squares, other)
    low, end = lowest(squares, other), int(squares[at_place(other + UP)])
    first, up = lowest(sums, at), put_magnitude(sums, at, room)
    least, most = min(low, 2 * first), max(end + 1, 2 * up)
    if end == 0:
        return 0, 0
    for limb in range(least - LONGEST, most + 1):
        room[at_place(R + limb)] = 0
    for limb in range(low, end):
        put_product(room, limb, count, int(squares[at_place(other + HEAD + limb)]), 1)
    for one in range(first, up):
        put_product(room, 2 * one, int(room[at_place(one)]), int(room[at_place(one)]), -1)
        for two in range(one + 1, up):
            put_product(room, one + two, int(room[at_place(one)]), int(room[at_place(two)]), -2)
    carry = 0
    for limb in range(R + least, R + most):
        value = room[at_place(limb)] + carry
        room[at_place(limb)] = value & LIMB
        carry = value >> BITS
    while most > least and room[at_place(R + most - 1)] == 0:
        most -= 1
    while least < most and room[at_place(R + least)] == 0:
        least += 1
    return least, most


@inlined
def divide(room: Ints, low: int, up: int, divisor: int) -> int:
    """Divide limbs of r, rounding down; 1 if something is left over."""
    rest, by = np.uint64(0), np.uint64(divisor)
    for limb in range(R + up - 1, R + low - 1, -1):
        value = (rest << WIDE) | np.uint64(room[at_place(limb)])
        room[at_place(limb)] = np.int64(value // by)
        rest = value % by
    return int(rest != np.uint64(0))


@inlined
def half_word(room: Ints, bit: int) -> int:
    """The HALF bits of r from a bit on."""
    limb, shift = R + (bit >> 5), bit & 31
    low, high = int(room[at_place(limb)]), int(room[at_place(limb + 1)])
    return int(((low >> shift) | (high << (BITS - shift))) & LOWER)


@inlined
def rounded(room: Ints, low: int, up: int, rest: int, exponent: int) -> float:
    """Limbs of r times 2 ** exponent, as a double; `rest` is 1 if something lies below them."""
    while room[at_place(R + up - 1)] == 0:
        up -= 1
    size = math.frexp(float(room[at_place(R + up - 1)]))[1]
    bit = BITS * (up - 1) + size - 2 * HALF
    for limb in range(low, bit >> 5):
        rest |= int(room[at_place(R + limb)] != 0)
    rest |= int(room[at_place(R + (bit >> 5))] & ((1 << (bit & 31)) - 1) != 0)
    return small((half_word(room, bit + HALF) << HALF) | half_word(room, bit) | rest, bit + exponent)


@inlined
def deviation(r: float, count: int) -> float:
    """The deviation of so many values; infinite where r is."""
    return math.sqrt(r / (float(count) * float(count - 1)))


@inlined
def binary(sums: Ints, at: int, squares: Ints, other: int, count: int, exponent: int, room: Ints) -> float:
    """The deviation of values whose unit is 2 ** exponent."""
    if count < 2:
        return math.inf
    low, up = spread(sums, at, squares, other, count, room)
    if low == up:
        return 0.0
    return deviation(rounded(room, low, up, 0, 2 * exponent), count)


def deviation_of_doubles(sums: Ints, at: int, squares: Ints, other: int, count: int, room: Ints) -> float:
    """The deviation of so many doubles, below 2 ** 32; infinite of fewer than two, and where it is no double.

    The room is of ROOM numbers.
    """
    return binary(sums, at, squares, other, count, LEAST_EXPONENT, room)


def deviation_of_longs(sums: Ints, at: int, squares: Ints, other: int, count: int, room: Ints) -> float:
    """The same of longs."""
    return binary(sums, at, squares, other, count, 0, room)


def deviation_of_decimals(sums: Ints, at: int, squares: Ints, other: int, count: int, room: Ints) -> float:
    """The same of decimals, whose unit is no power of two."""
    if count < 2:
        return math.inf
    low, up = spread(sums, at, squares, other, count, room)
    if low == up:
        return 0.0
    rest = int(low < up - LONGEST)
    low = up - LONGEST
    for _ in range(4):
        rest |= divide(room, low, up, NANO)
    return deviation(rounded(room, low, up, rest, 0), count)
