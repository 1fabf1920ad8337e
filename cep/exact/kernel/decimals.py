"""Sums of decimals.

A decimal comes as the two words of its 128 bits, the lower first, as Arrow has them: a whole number of 1e-18,
of at most 38 digits.
"""

from __future__ import annotations

from cep.exact.kernel.layout import BITS, HEAD, LIMB, UP, Ints, at_place
from cep.exact.kernel.limbs import deposit, propagate, reach
from cep.exact.kernel.longs import HALF, LOWER, bits_from, word_from, word_of
from kernels.family import inlined
from rules.decimals import DIGITS

PARTS = 5
"""Of HALF bits each; the last has the sign."""
LIMIT = 10**DIGITS
MOST_LOW, MOST_HIGH = (LIMIT - 1) % 2**64 - 2**63, LIMIT - 1 >> 64
LEAST_LOW, LEAST_HIGH = (1 - LIMIT) % 2**64 - 2**63, 1 - LIMIT >> 64
"""The words of the greatest and the least decimal, the lower ones with their highest bit turned over: so
they compare as if they had no sign."""
LEAST = -(2**63)


@inlined
def put_decimal(sums: Ints, at: int, low: int, high: int, sign: int) -> None:
    """Add a decimal to a sum, or with sign -1 take it away."""
    sums[at_place(at + HEAD)] += sign * (low & LIMB)
    sums[at_place(at + HEAD + 1)] += sign * ((low >> BITS) & LIMB)
    sums[at_place(at + HEAD + 2)] += sign * (high & LIMB)
    sums[at_place(at + HEAD + 3)] += sign * (high >> BITS)
    reach(sums, at, 0, 4, 1)


@inlined
def part(low: int, high: int, number: int) -> int:
    """One of the parts that a decimal is the sum of: part * 2 ** (HALF * number)."""
    if number == 0:
        return int(low & LOWER)
    if number == 1:
        return int((low >> HALF) & LOWER)
    if number == 2:
        return int(((low >> 2 * HALF) & 3) | ((high << 2) & LOWER))
    return int((high >> 29) & LOWER if number == 3 else high >> 60)


def put_decimal_square(squares: Ints, at: int, low: int, high: int, sign: int) -> None:
    """Add a decimal's square to a sum of squares, or take it away."""
    for one in range(PARTS):
        for two in range(one, PARTS):
            product = sign * part(low, high, one) * part(low, high, two)
            deposit(squares, at, product, HALF * (one + two) + int(one != two))
    reach(squares, at, 0, 10, PARTS * PARTS)


def sum_of_decimals(sums: Ints, at: int) -> tuple[bool, int, int]:
    """True and the two words of the sum, or False where it is no decimal."""
    propagate(sums, at)
    low, high = word_from(sums, at, 0), word_from(sums, at, 2)
    fill = LIMB if high < 0 else 0
    turned = low ^ LEAST
    fits = sums[at_place(at + UP)] <= 5 and bits_from(sums, at, 4) == fill
    fits = fits and (high < MOST_HIGH or (high == MOST_HIGH and turned <= MOST_LOW))
    fits = fits and (high > LEAST_HIGH or (high == LEAST_HIGH and turned >= LEAST_LOW))
    return fits, low, high


@inlined
def divided(limb: int, before: int, count: int) -> tuple[int, int]:
    """A limb of a quotient, rounded down, and the rest that goes on to the limb below."""
    value = (before << BITS) + limb
    return value // count, value % count


def mean_of_decimals(sums: Ints, at: int, count: int) -> tuple[bool, int, int]:
    """True and the words of the sum divided by the number of values, or False where the sum is no decimal.

    It is rounded half away from zero. The number is from 1 to 2 ** 31 - 1.
    """
    fits, low, high = sum_of_decimals(sums, at)
    if not fits:
        return False, 0, 0
    top, rest = divided(high >> BITS, 0, count)
    third, rest = divided(high & LIMB, rest, count)
    second, rest = divided((low >> BITS) & LIMB, rest, count)
    first, rest = divided(low & LIMB, rest, count)
    low_word, high_word = word_of(second, first), (top << BITS) | third
    if 2 * rest > count or (2 * rest == count and high >= 0):
        # The quotient so far is the one below.
        low_word += 1
        high_word += int(low_word == 0)
    return True, low_word, high_word
