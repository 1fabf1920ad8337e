"""Percentiles of ranges: of small ones from the values in order; of large ones from how many of the values of
a key are there, in a tree of sums (Fenwick, 1994) over their order."""

from __future__ import annotations

import numpy as np

from cep.exact.kernel.layout import Ints, ReadOnlyInts, at_place
from cep.operators.windows.kernel.layout import Doubles, Ranges, ReadOnlyDoubles


def place_of(ordered: Doubles, size: int, value: float) -> int:
    """Where among so many values in order the first one stands that is not less."""
    low, high = 0, size
    while low < high:
        middle = (low + high) >> 1
        if ordered[at_place(middle)] < value:
            low = middle + 1
        else:
            high = middle
    return low


def put_value(ordered: Doubles, size: int, value: float) -> None:
    """Put a value among so many in order."""
    place = place_of(ordered, size, value)
    for at in range(size, place, -1):
        ordered[at_place(at)] = ordered[at_place(at - 1)]
    ordered[at_place(place)] = value


def take_value(ordered: Doubles, size: int, value: float) -> None:
    """Take a value out of so many in order, one of which it is."""
    for at in range(place_of(ordered, size, value), size - 1):
        ordered[at_place(at)] = ordered[at_place(at + 1)]


def percentile(ordered: Doubles, size: int, part: float) -> float:
    """Between the two values around rank `part * (size - 1)`, by its distance from them."""
    rank = part * (size - 1)
    below = int(rank)
    low, high = ordered[at_place(below)], ordered[at_place(min(below + 1, size - 1))]
    return float(low + (high - low) * (rank - below))


def count_at(tree: Ints, place: int, change: int) -> None:
    """Add to the count at a place."""
    node = place + 1
    while node < len(tree):
        tree[at_place(node)] += change
        node += node & -node


def place_at(tree: Ints, rank: int, top: int) -> int:
    """The place of the value of a rank, from 0 on; `top` is the greatest power of two below its size."""
    place, step = 0, top
    while step > 0:
        if place + step < len(tree) and tree[at_place(place + step)] <= rank:
            place += step
            rank -= int(tree[at_place(place)])
        step >>= 1
    return place


def find_percentiles_of_many(
    ordered: ReadOnlyDoubles,
    places: ReadOnlyInts,
    counts: ReadOnlyInts,
    ranges: Ranges,
    parts: ReadOnlyDoubles,
    tree: Ints,
    found: Doubles,
) -> None:
    """As `find_percentiles`, with the values of all items in order, and the place of each among them.

    `tree` has a 0 for each place, and one more.
    """
    low, high, size, top = 0, 0, 0, 1
    while 2 * top < len(tree):
        top *= 2
    for number in range(len(ranges.firsts)):
        first, end = int(ranges.firsts[at_place(number)]), int(ranges.ends[at_place(number)])
        back = first < low or end < high or first >= high
        for item in range(low, high if back else first):
            if counts[at_place(item)] > 0:
                count_at(tree, places[at_place(item)], -1)
                size -= 1
        for item in range(first if back else high, end):
            if counts[at_place(item)] > 0:
                count_at(tree, places[at_place(item)], 1)
                size += 1
        low, high = first, end
        for one in range(len(parts)):
            place = number * len(parts) + one
            found[at_place(place)] = np.inf
            if size > 0:
                rank = parts[at_place(one)] * (size - 1)
                below = int(rank)
                least = ordered[at_place(place_at(tree, below, top))]
                most = ordered[at_place(place_at(tree, min(below + 1, size - 1), top))]
                found[at_place(place)] = least + (most - least) * (rank - below)


def find_percentiles(
    values: ReadOnlyDoubles,
    counts: ReadOnlyInts,
    ranges: Ranges,
    parts: ReadOnlyDoubles,
    ordered: Doubles,
    found: Doubles,
) -> None:
    """For each range its percentiles, one for each of `parts`; infinite of no value.

    `ordered` has room for the values of any range.
    """
    low, high, size = 0, 0, 0
    for number in range(len(ranges.firsts)):
        first, end = int(ranges.firsts[at_place(number)]), int(ranges.ends[at_place(number)])
        if first < low or end < high or first >= high:
            low, high, size = first, first, 0
        for item in range(low, first):
            if counts[at_place(item)] > 0:
                take_value(ordered, size, values[at_place(item)])
                size -= 1
        for item in range(high, end):
            if counts[at_place(item)] > 0:
                put_value(ordered, size, values[at_place(item)])
                size += 1
        low, high = first, end
        for one in range(len(parts)):
            place = number * len(parts) + one
            found[at_place(place)] = percentile(ordered, size, parts[at_place(one)]) if size > 0 else np.inf
