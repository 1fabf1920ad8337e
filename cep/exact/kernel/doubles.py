"""Sums of doubles.

A double comes as its 64 bits, as a view of its array as int64 has them. It is neither NaN nor infinite:
whoever calls leaves those out. With sign 1 it is added, with -1 taken away; what is taken away was added
before. What is read is infinite where it has no finite double: it is null then.
"""

from __future__ import annotations

from cep.exact.kernel.layout import LEAST_EXPONENT, UP, Ints, at_place
from cep.exact.kernel.limbs import deposit, propagate, reach
from cep.exact.kernel.reading import leading, power
from kernels.family import inlined

FRACTION = 52
EXPONENT = 0x7FF
HALF = 31
LOWER = 0x7FFFFFFF


@inlined
def parts(bits: int) -> tuple[int, int]:
    """The digits of a double's value without its sign, and their place: digits * 2 ** place units."""
    field = (bits >> FRACTION) & EXPONENT
    normal = int(field != 0)
    return (bits & ((1 << FRACTION) - 1)) | (normal << FRACTION), field - normal


@inlined
def square(digits: int) -> tuple[int, int]:
    """The square of less than 2 ** 58 as high * 2 ** 62 + low: low, below 2 ** 63, and high."""
    upper, lower = digits >> HALF, digits & LOWER
    across = 2 * upper * lower
    return lower * lower + ((across & LOWER) << HALF), upper * upper + (across >> HALF)


@inlined
def put_double(sums: Ints, at: int, bits: int, sign: int) -> None:
    """Add a double to a sum, or take it away."""
    digits, place = parts(bits)
    if digits != 0:
        negative = bits >> 63
        deposit(sums, at, sign * ((digits ^ negative) - negative), place)
        reach(sums, at, place >> 5, (place >> 5) + 3, 1)


@inlined
def put_square(squares: Ints, at: int, bits: int, sign: int) -> None:
    """Add a double's square to a sum of squares, or take it away."""
    digits, place = parts(bits)
    if digits != 0:
        low, high = square(digits)
        deposit(squares, at, sign * low, 2 * place)
        deposit(squares, at, sign * high, 2 * place + 2 * HALF)
        reach(squares, at, place >> 4, ((2 * place + 2 * HALF) >> 5) + 3, 2)


@inlined
def sum_of_doubles(sums: Ints, at: int) -> float:
    """The sum, rounded once; never -0.0."""
    propagate(sums, at)
    if sums[at_place(at + UP)] == 0:
        return 0.0
    word, exponent = leading(sums, at)
    return float(word) * power(exponent + LEAST_EXPONENT)


@inlined
def mean_of_doubles(sums: Ints, at: int, count: int) -> float:
    """The sum divided by the number of values, which is not 0."""
    return sum_of_doubles(sums, at) / count
