"""Items and words in another place: two runs of keys as one, parts of an array behind one another.

Rows are words of one width, behind one another.
"""

from __future__ import annotations

from cep.exact.kernel.layout import Ints, ReadOnlyInts, at_place
from cep.operators.windows.kernel.layout import Ranges


def merge_keys(one: ReadOnlyInts, two: ReadOnlyInts, order: Ints) -> None:
    """The order in which two arrays of keys that rise are one: places in both behind one another, those of
    the first before equal ones of the second."""
    first, second = 0, 0
    for place in range(len(order)):
        if second == len(two) or (first < len(one) and one[at_place(first)] <= two[at_place(second)]):
            order[at_place(place)] = first
            first += 1
        else:
            order[at_place(place)] = len(one) + second
            second += 1


def take_both(one: ReadOnlyInts, two: ReadOnlyInts, order: ReadOnlyInts, found: Ints) -> None:
    """Take numbers of two arrays in an order of places in both behind one another."""
    for place in range(len(order)):
        at = int(order[at_place(place)])
        found[at_place(place)] = one[at_place(at)] if at < len(one) else two[at_place(at - len(one))]


def copy_parts(
    words: ReadOnlyInts, firsts: ReadOnlyInts, sizes: ReadOnlyInts, target: Ints, places: ReadOnlyInts
) -> None:
    """Copy parts of an array, each from its first word on, to places of another."""
    for part in range(len(firsts)):
        first, to = int(firsts[at_place(part)]), int(places[at_place(part)])
        for word in range(int(sizes[at_place(part)])):
            target[at_place(to + word)] = words[at_place(first + word)]


def take_words(
    words: ReadOnlyInts,
    begins: ReadOnlyInts,
    column: int,
    two: ReadOnlyInts,
    order: ReadOnlyInts,
    found: Ints,
) -> None:
    """As `take_both`; the first numbers are a column of rows that each begin somewhere among words."""
    for place in range(len(order)):
        at = int(order[at_place(place)])
        if at < len(begins):
            found[at_place(place)] = words[at_place(begins[at_place(at)] + column)]
        else:
            found[at_place(place)] = two[at_place(at - len(begins))]


def take_bits(
    words: ReadOnlyInts,
    begins: ReadOnlyInts,
    column: int,
    bit: int,
    two: ReadOnlyInts,
    order: ReadOnlyInts,
    found: Ints,
) -> None:
    """As `take_words`; of the words one bit."""
    for place in range(len(order)):
        at = int(order[at_place(place)])
        if at < len(begins):
            found[at_place(place)] = (words[at_place(begins[at_place(at)] + column)] >> bit) & 1
        else:
            found[at_place(place)] = two[at_place(at - len(begins))]


def put_words(values: ReadOnlyInts, parts: Ranges, words: Ints, column: int, width: int) -> None:
    """Write a column of rows: the values of parts of an array, behind one another."""
    to = column
    for part in range(len(parts.firsts)):
        for item in range(parts.firsts[at_place(part)], parts.ends[at_place(part)]):
            words[at_place(to)] = values[at_place(item)]
            to += width


def put_bits(counts: ReadOnlyInts, parts: Ranges, words: Ints, column: int, width: int, bit: int) -> None:
    """Set a bit of a column where a number is not 0."""
    to = column
    for part in range(len(parts.firsts)):
        for item in range(parts.firsts[at_place(part)], parts.ends[at_place(part)]):
            words[at_place(to)] |= int(counts[at_place(item)] > 0) << bit
            to += width


def put_named(parts: Ranges, newest: int, words: Ints, column: int, width: int, bit: int) -> None:
    """Write a column of rows in which a bit says that they are among so many at the end of their part."""
    to = column
    for part in range(len(parts.firsts)):
        end = int(parts.ends[at_place(part)])
        for item in range(parts.firsts[at_place(part)], end):
            words[at_place(to)] = int(end - item <= newest) << bit
            to += width
