"""Sums of plain values: the meaning of `sum`, `avg` and `stddev`, and what interpreted engines call.

Values are of one type: longs, finite doubles or decimals. A result that its type cannot hold is None.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import Self

from rules.decimals import EXACT, fitting

Number = int | float | Decimal

LEAST_LONG, GREATEST_LONG = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True)
class Sums:
    """The number of some values, their sum and that of their squares. Panes are added, taken away."""

    count: int = 0
    total: Fraction = Fraction(0)
    squares: Fraction = Fraction(0)

    @classmethod
    def of(cls, values: Sequence[Number]) -> Self:
        units, part = _units(values)
        return cls(len(units), Fraction(sum(units), part), Fraction(sum(n * n for n in units), part * part))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.count + other.count, self.total + other.total, self.squares + other.squares)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.count - other.count, self.total - other.total, self.squares - other.squares)

    def double(self) -> float | None:
        """The sum of doubles."""
        return _quotient(self.total.numerator, self.total.denominator)

    def long(self) -> int | None:
        """The sum of longs."""
        return _long(self.total.numerator)

    def decimal(self) -> Decimal | None:
        """The sum of decimals."""
        return fitting(EXACT.divide(Decimal(self.total.numerator), Decimal(self.total.denominator)))

    def deviation(self) -> float | None:
        """The standard deviation of the sample; None of fewer than two values."""
        r = self.count * self.squares - self.total**2
        return _deviation(self.count, r.numerator, r.denominator)


def total_of(values: Sequence[Number]) -> Number | None:
    """The exact sum of one value or more, rounded once if they are doubles; never -0.0."""
    match values[0]:
        case float():
            try:
                return math.fsum(values) + 0.0
            except OverflowError:  # fsum raises it of sums on the way, too
                return Sums.of(values).double()
        case int():
            return _long(sum(values))  # type: ignore[arg-type]
        case Decimal():
            return fitting(reduce(EXACT.add, values))  # type: ignore[arg-type]


def mean_of(values: Sequence[Number]) -> Number | None:
    """The sum divided by the number of values: a double, of decimals a decimal; None where the sum is, but of
    longs there is always one."""
    if isinstance(values[0], int):
        return float(sum(values)) / len(values)
    return mean(total_of(values), len(values))


def mean(total: Number | None, count: int) -> Number | None:
    """A sum divided by a number of values that is not 0."""
    match total:
        case None:
            return None
        case Decimal():
            return fitting(EXACT.divide(total, Decimal(count)))
        case _:
            return float(total) / count


def deviation_of(values: Sequence[Number]) -> float | None:
    """The standard deviation of the sample; None of fewer than two values."""
    count = len(values)
    units, part = _units(values)
    return _deviation(count, count * sum(n * n for n in units) - sum(units) ** 2, part * part)


def _units(values: Sequence[Number]) -> tuple[list[int], int]:
    """The values as whole numbers of a common part of one, and how many such parts one has."""
    ratios = [value.as_integer_ratio() for value in values]
    part = math.lcm(*(divisor for _, divisor in ratios))
    return [number * (part // divisor) for number, divisor in ratios], part


def _long(value: int) -> int | None:
    return value if LEAST_LONG <= value <= GREATEST_LONG else None


def _quotient(above: int, below: int) -> float | None:
    """The double nearest to a quotient, ties to even."""
    try:
        return above / below
    except OverflowError:
        return None


def _deviation(count: int, above: int, below: int) -> float | None:
    """sqrt(r / (n (n - 1))), r being n S2 - S1 ** 2: a quotient, exact and rounded once."""
    r = _quotient(above, below)
    return None if count < 2 or r is None else math.sqrt(r / (count * (count - 1)))
