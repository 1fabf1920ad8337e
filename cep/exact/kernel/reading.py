"""Whole numbers of limbs to doubles, correctly rounded: to nearest, ties to even."""

from __future__ import annotations

import numpy as np

from cep.exact.kernel.layout import BITS, HEAD, LEAST_EXPONENT, LIMB, UP, Ints, at_place
from cep.exact.kernel.limbs import lowest
from kernels.family import inlined

POWERS = np.array([*(2.0**n for n in range(LEAST_EXPONENT, 1024)), np.inf])
"""The powers of two that are doubles, and what is more than all of them."""


@inlined
def power(exponent: int) -> float:
    """2 ** exponent, from LEAST_EXPONENT on, or infinity."""
    return float(POWERS[at_place(min(exponent, 1024) - LEAST_EXPONENT)])


@inlined
def leading(sums: Ints, at: int) -> tuple[int, int]:
    """A sum that is not 0, its carries propagated, as word * 2 ** exponent units; both are returned.

    Where it has more bits than that, the word has 55 or more of them, and its lowest bit is set if any of
    those left out is: it rounds as the sum does, as doubles have 53 bits, and numbers halfway between 54.
    """
    base, low = at + HEAD, lowest(sums, at)
    limb = int(sums[at_place(at + UP)]) - 1
    word = int(sums[at_place(base + limb)])
    if word == -1 and limb > low:
        limb -= 1
        word = int(sums[at_place(base + limb)]) - LIMB - 1
    exponent, rest = BITS * limb, 0
    size = word ^ (word >> 63)
    more = 30 + 8 * (int(size < 1 << 24) + int(size < 1 << 16) + int(size < 1 << 8))
    while more > 0 and limb > low:
        limb -= 1
        bits = min(more, BITS)
        below = int(sums[at_place(base + limb)])
        word = (word << bits) | (below >> (BITS - bits))
        rest = below & (LIMB >> bits)
        more -= bits
        exponent -= bits
    return word | int(rest != 0 or limb > low), exponent


def small(word: int, exponent: int) -> float:
    """A word of up to 62 bits, not negative, times 2 ** exponent, as a double that may be subnormal."""
    if exponent >= LEAST_EXPONENT:
        return float(word) * power(exponent)
    drop = LEAST_EXPONENT - exponent
    if drop <= 2:
        return float(word) / (1 << drop) * power(LEAST_EXPONENT)
    drop = min(drop, 63)
    whole, rest, half = word >> drop, word & ((1 << drop) - 1), 1 << (drop - 1)
    whole += int(rest > half or (rest == half and whole & 1 == 1))
    return float(whole) * power(LEAST_EXPONENT)
