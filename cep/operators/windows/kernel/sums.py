"""Exact sums over ranges of items, and what is read of them."""

from __future__ import annotations

from cep.exact.kernel.decimals import (
    mean_of_decimals,
    put_decimal,
    put_decimal_square,
    sum_of_decimals,
)
from cep.exact.kernel.deviations import deviation_of_decimals, deviation_of_doubles, deviation_of_longs
from cep.exact.kernel.doubles import mean_of_doubles, put_double, put_square, sum_of_doubles
from cep.exact.kernel.layout import Ints, at_place
from cep.exact.kernel.limbs import clear
from cep.exact.kernel.longs import mean_of_longs, put_long, put_long_square, sum_of_longs
from cep.exact.kernel.packed import MOST_OF_SQUARES, MOST_OF_SUM, pack, put_packed
from cep.operators.windows.kernel.layout import DOUBLE, LONG, Accumulators, Ranges, Read, Values
from kernels.family import inlined


@inlined
def put_sum(kind: int, values: Values, item: int, sums: Ints, sign: int) -> None:
    """Add an item to a sum, or take it away."""
    place = int(values.sums[at_place(item)]) if len(values.sums) > 0 else -1
    if place >= 0:
        put_packed(sums, 0, values.packed, place, sign)
    elif kind == DOUBLE:
        put_double(sums, 0, values.low[at_place(item)], sign)
    elif kind == LONG:
        put_long(sums, 0, values.low[at_place(item)], sign)
    else:
        put_decimal(sums, 0, values.low[at_place(item)], values.high[at_place(item)], sign)


@inlined
def put_squares(kind: int, values: Values, item: int, squares: Ints, sign: int) -> None:
    """Add an item to a sum of squares, or take it away."""
    place = int(values.squares[at_place(item)]) if len(values.squares) > 0 else -1
    if place >= 0:
        put_packed(squares, 0, values.packed, place, sign)
    elif kind == DOUBLE:
        put_square(squares, 0, values.low[at_place(item)], sign)
    elif kind == LONG:
        put_long_square(squares, 0, values.low[at_place(item)], sign)
    else:
        put_decimal_square(squares, 0, values.low[at_place(item)], values.high[at_place(item)], sign)


@inlined
def put_items(
    kind: int, values: Values, span: tuple[int, int], into: Accumulators, squared: bool, sign: int
) -> int:
    """Add items to the sums, or take them away; how many values they have, with the sign."""
    count = 0
    for item in range(span[0], span[1]):
        if values.counts[at_place(item)] > 0:
            put_sum(kind, values, item, into.sums, sign)
            if squared:
                put_squares(kind, values, item, into.squares, sign)
            count += int(values.counts[at_place(item)])
    return sign * count


@inlined
def read_totals(kind: int, sums: Ints, number: int, read: Read) -> None:
    """Read a sum."""
    if kind == DOUBLE:
        read.doubles[at_place(number)] = sum_of_doubles(sums, 0)
        return
    if kind == LONG:
        fits, low = sum_of_longs(sums, 0)
    else:
        fits, low, high = sum_of_decimals(sums, 0)
        read.high[at_place(number)] = high
    read.low[at_place(number)] = low
    read.fits[at_place(number)] = int(fits)


@inlined
def read_mean(kind: int, sums: Ints, count: int, number: int, read: Read) -> None:
    """Read the mean of some values."""
    if kind == DOUBLE:
        read.means[at_place(number)] = mean_of_doubles(sums, 0, count)
    elif kind == LONG:
        read.means[at_place(number)] = mean_of_longs(sums, 0, count)
    else:
        fits, low, high = mean_of_decimals(sums, 0, count)
        read.mean_low[at_place(number)] = low
        read.mean_high[at_place(number)] = high
        read.fits[at_place(number)] = int(fits)


@inlined
def read_deviation(kind: int, work: Accumulators, count: int, number: int, read: Read) -> None:
    """Read the deviation of some values."""
    if kind == DOUBLE:
        found = deviation_of_doubles(work.sums, 0, work.squares, 0, count, work.room)
    elif kind == LONG:
        found = deviation_of_longs(work.sums, 0, work.squares, 0, count, work.room)
    else:
        found = deviation_of_decimals(work.sums, 0, work.squares, 0, count, work.room)
    read.deviations[at_place(number)] = found


def sum_ranges(kind: int, values: Values, ranges: Ranges, work: Accumulators, read: Read) -> None:
    """Read the sums of ranges."""
    low, high, count = 0, 0, 0
    squared = len(read.deviations) > 0
    for number in range(len(ranges.firsts)):
        first, end = int(ranges.firsts[at_place(number)]), int(ranges.ends[at_place(number)])
        if first < low or end < high or first >= high:
            clear(work.sums, 0)
            clear(work.squares, 0)
            low, high, count = first, first, 0
        count += put_items(kind, values, (high, end), work, squared, 1)
        count += put_items(kind, values, (low, first), work, squared, -1)
        low, high = first, end
        read.counts[at_place(number)] = count
        if count == 0:
            continue
        if len(read.low) > 0 or len(read.doubles) > 0:
            read_totals(kind, work.sums, number, read)
        if len(read.means) > 0 or len(read.mean_low) > 0:
            read_mean(kind, work.sums, count, number, read)
        if squared:
            read_deviation(kind, work, count, number, read)


def pack_ranges(
    kind: int, squared: bool, values: Values, ranges: Ranges, work: Accumulators, words: Ints, places: Ints
) -> int:
    """Write the packed sums of ranges, or those of squares, from the first range whose place is -1 on.

    Where in `words` each begins goes to `places`, and a last place says where they end. Returns the number of
    ranges that are done: of the next `words` has no room, if there is one.
    """
    number = 0
    while number < len(ranges.firsts) and places[at_place(number)] >= 0 and places[at_place(number + 1)] >= 0:
        number += 1
    to = max(int(places[at_place(number)]), 0)
    sums = work.squares if squared else work.sums
    most = MOST_OF_SQUARES if squared else MOST_OF_SUM
    while number < len(ranges.firsts) and to + most <= len(words):
        clear(sums, 0)
        for item in range(int(ranges.firsts[at_place(number)]), int(ranges.ends[at_place(number)])):
            if values.counts[at_place(item)] > 0:
                if squared:
                    put_squares(kind, values, item, sums, 1)
                else:
                    put_sum(kind, values, item, sums, 1)
        places[at_place(number)] = to
        to = pack(sums, 0, words, to)
        places[at_place(number + 1)] = to
        number += 1
    return number
