"""Decimal digits to whole numbers, eight at a time.

Source of the products: D. Lemire, "Quickly parsing eight digits", 2022.
"""

from __future__ import annotations

import numpy as np

from cep.decode.kernel.layout import Data, at_place
from kernels.family import inlined
from kernels.instructions import trailing_zeros, word_at

ZEROS = np.uint64(0x3030303030303030)
HIGH = np.uint64(0x8080808080808080)
ABOVE_NINE = np.uint64(0x7676767676767676)
EIGHT, SIXTEEN, HALF, ALL = np.uint64(8), np.uint64(16), np.uint64(32), np.uint64(64)
PAIRS = np.uint64(0x000000FF000000FF)
UPPER = np.uint64(100 + (1_000_000 << 32))
LOWER = np.uint64(1 + (10_000 << 32))
TEN = np.uint64(10)
NOTHING = np.uint64(0)
POWERS = np.array([10**n for n in range(20)], np.uint64)
MOST = 19
"""Digits of a number that always fit into a word."""


@inlined
def digits_before(values: np.uint64) -> int:
    """The number of digits, up to eight, that a word begins with, of which ZEROS have been taken away."""
    return trailing_zeros(((values + ABOVE_NINE) | values) & HIGH) >> 3


@inlined
def number_of(values: np.uint64) -> np.uint64:
    """The number that eight digits are, each a byte from 0 to 9, the first the lowest."""
    pairs = values * TEN + (values >> EIGHT)
    return ((pairs & PAIRS) * UPPER + ((pairs >> SIXTEEN) & PAIRS) * LOWER) >> HALF


@inlined
def digits_at(data: Data, at: int, before: np.uint64) -> tuple[np.uint64, int]:
    """Go on from a number with all digits from a place on; that number, and where they end.

    Of more than MOST digits, with those before, the number means nothing.
    """
    while True:
        values = word_at(data, at) ^ ZEROS
        count = digits_before(values)
        if count == 8:
            before = before * POWERS[8] + number_of(values)
            at += 8
            continue
        if count > 0:
            before = before * POWERS[at_place(count)] + number_of(values << (ALL - EIGHT * np.uint64(count)))
            at += count
        return before, at
