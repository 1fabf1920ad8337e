"""Loops over a column of doubles, to be compiled: exact sums of windows, and other ways to add."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from cep.exact.kernel.deviations import deviation_of_doubles
from cep.exact.kernel.doubles import mean_of_doubles, put_double, put_square, sum_of_doubles
from cep.exact.kernel.layout import SUM, Ints, at_place
from cep.exact.kernel.limbs import clear, merge
from cep.exact.kernel.packed import pack, put_packed
from kernels.family import READ_ONLY, inlined

Doubles = npt.NDArray[np.float64]


class Work(NamedTuple):
    """A column, its windows, and room."""

    values: Annotated[Doubles, READ_ONLY]
    bits: Annotated[Ints, READ_ONLY]
    """The same memory."""
    width: Ints
    """One number: so many values are in a window, the one at hand the last."""
    found: Doubles
    """What is read at each value; of ways that do not read, the sum of all at the end in the first place."""
    partials: Doubles
    sums: Ints
    """Accumulators, SUM numbers apart."""
    room: Ints


@inlined
def slide(work: Work, row: int) -> None:
    """Add the value of a row, and take away the one that leaves."""
    put_double(work.sums, 0, work.bits[at_place(row)], 1)
    if row >= work.width[0]:
        put_double(work.sums, 0, work.bits[at_place(row - work.width[0])], -1)


@inlined
def slide_squares(work: Work, row: int) -> None:
    """Add the square of a row's value, and take away that of the one that leaves."""
    put_square(work.sums, SUM, work.bits[at_place(row)], 1)
    if row >= work.width[0]:
        put_square(work.sums, SUM, work.bits[at_place(row - work.width[0])], -1)


def added(work: Work) -> None:
    """Add every value."""
    for row in range(len(work.bits)):
        put_double(work.sums, 0, work.bits[at_place(row)], 1)
    work.found[0] = sum_of_doubles(work.sums, 0)


def slid(work: Work) -> None:
    """Add and take away."""
    for row in range(len(work.bits)):
        slide(work, row)


def read(work: Work) -> None:
    """The same, and read the sum."""
    for row in range(len(work.bits)):
        slide(work, row)
        work.found[at_place(row)] = sum_of_doubles(work.sums, 0)


def averaged(work: Work) -> None:
    """The same, and read the mean."""
    for row in range(len(work.bits)):
        slide(work, row)
        work.found[at_place(row)] = mean_of_doubles(work.sums, 0, min(row + 1, work.width[0]))


def squared(work: Work) -> None:
    """Add and take away squares."""
    for row in range(len(work.bits)):
        slide_squares(work, row)


def deviated(work: Work) -> None:
    """Add and take away values and squares, and read the deviation."""
    for row in range(len(work.bits)):
        slide(work, row)
        slide_squares(work, row)
        count = min(row + 1, work.width[0])
        work.found[at_place(row)] = deviation_of_doubles(work.sums, 0, work.sums, SUM, count, work.room)


def merged(work: Work) -> None:
    """Add every value to a pane, and each pane to the whole."""
    for row in range(len(work.bits)):
        put_double(work.sums, 0, work.bits[at_place(row)], 1)
        merge(work.sums, SUM, work.sums, 0, 1)
        clear(work.sums, 0)
    work.found[0] = sum_of_doubles(work.sums, SUM)


def packed_and_back(work: Work) -> None:
    """Add every value to a sum that is kept packed."""
    for row in range(len(work.bits)):
        clear(work.sums, 0)
        put_packed(work.sums, 0, work.sums, SUM, 1)
        put_double(work.sums, 0, work.bits[at_place(row)], 1)
        pack(work.sums, 0, work.sums, SUM)
    work.found[0] = sum_of_doubles(work.sums, 0)


def left_to_right(work: Work) -> None:
    """Add every value to a double."""
    total = 0.0
    for row in range(len(work.values)):
        total += work.values[at_place(row)]
    work.found[0] = total


def afresh(work: Work) -> None:
    """Add the values of each window from left to right."""
    for row in range(len(work.values)):
        total = 0.0
        for one in range(max(0, row + 1 - work.width[0]), row + 1):
            total += work.values[at_place(one)]
        work.found[at_place(row)] = total


def in_and_out(work: Work) -> None:
    """Add every value to a double, and subtract the one that leaves."""
    total = 0.0
    for row in range(len(work.values)):
        total += work.values[at_place(row)]
        if row >= work.width[0]:
            total -= work.values[at_place(row - work.width[0])]
        work.found[at_place(row)] = total


@inlined
def put_partial(partials: Doubles, end: int, value: float) -> int:
    """Add a double to Shewchuk's partials, as math.fsum does; how many there are then."""
    to = 0
    for one in range(end):
        other = float(partials[at_place(one)])
        if abs(value) < abs(other):
            value, other = other, value
        high = value + other
        low = other - (high - value)
        if low != 0.0:
            partials[at_place(to)] = low
            to += 1
        value = high
    partials[at_place(to)] = value
    return to + 1


@inlined
def rounded(partials: Doubles, end: int) -> float:
    """The sum of one partial or more, rounded once."""
    at = end - 1
    high, low = float(partials[at_place(at)]), 0.0
    while at > 0 and low == 0.0:
        at -= 1
        value, other = high, float(partials[at_place(at)])
        high = value + other
        low = other - (high - value)
    if at > 0 and low * partials[at_place(at - 1)] > 0.0:
        value = high + 2.0 * low
        if value - high == 2.0 * low:
            high = value
    return high


def partials(work: Work) -> None:
    """Add every value to partials, take away the one that leaves, and read the sum."""
    end = 0
    for row in range(len(work.values)):
        end = put_partial(work.partials, end, float(work.values[at_place(row)]))
        if row >= work.width[0]:
            end = put_partial(work.partials, end, -float(work.values[at_place(row - work.width[0])]))
        work.found[at_place(row)] = rounded(work.partials, end)
