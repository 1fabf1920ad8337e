"""Sums of longs."""

from __future__ import annotations

from cep.exact.kernel.layout import BITS, HEAD, LIMB, UP, Ints, at_place
from cep.exact.kernel.limbs import deposit, propagate, reach
from cep.exact.kernel.reading import leading, power
from kernels.family import inlined

HALF = 31
LOWER = 0x7FFFFFFF
QUARTER = 16
LOWEST = 0xFFFF


@inlined
def put_long(sums: Ints, at: int, value: int, sign: int) -> None:
    """Add a long to a sum, or with sign -1 take it away."""
    sums[at_place(at + HEAD)] += sign * (value & LIMB)
    sums[at_place(at + HEAD + 1)] += sign * (value >> BITS)
    reach(sums, at, 0, 2, 1)


@inlined
def put_long_square(squares: Ints, at: int, value: int, sign: int) -> None:
    """Add a long's square to a sum of squares, or take it away: in parts each of which is a word."""
    upper, lower = value >> HALF, value & LOWER
    deposit(squares, at, sign * lower * lower, 0)
    deposit(squares, at, sign * upper * lower, HALF + 1)
    deposit(squares, at, sign * upper * (upper & LOWEST), 2 * HALF)
    deposit(squares, at, sign * upper * (upper >> QUARTER), 2 * HALF + QUARTER)
    reach(squares, at, 0, 5, 4)


@inlined
def bits_from(sums: Ints, at: int, limb: int) -> int:
    """The bits of a limb of a sum whose carries are propagated, the sign's too."""
    up = int(sums[at_place(at + UP)])
    if limb < up:
        return int(sums[at_place(at + HEAD + limb)]) & LIMB
    return LIMB if up > 0 and sums[at_place(at + HEAD + up - 1)] == -1 else 0


@inlined
def word_of(high: int, low: int) -> int:
    """Two limbs of bits as a word with a sign."""
    return ((high - ((high >> HALF) << BITS)) << BITS) | low


@inlined
def word_from(sums: Ints, at: int, limb: int) -> int:
    """The 64 bits from a limb on, as a word with a sign."""
    return word_of(bits_from(sums, at, limb + 1), bits_from(sums, at, limb))


@inlined
def sum_of_longs(sums: Ints, at: int) -> tuple[bool, int]:
    """True and the sum, or False where it is no long."""
    propagate(sums, at)
    word = word_from(sums, at, 0)
    fill = LIMB if word < 0 else 0
    return sums[at_place(at + UP)] <= 3 and bits_from(sums, at, 2) == fill, word


@inlined
def mean_of_longs(sums: Ints, at: int, count: int) -> float:
    """The sum, rounded to a double, divided by the number of values, which is not 0; no sum is too large."""
    propagate(sums, at)
    if sums[at_place(at + UP)] == 0:
        return 0.0
    word, exponent = leading(sums, at)
    return float(word) * power(exponent) / count
