"""Items and words in another place: two runs of keys as one, parts of an array behind one another."""

from __future__ import annotations

from cep.exact.kernel.layout import Ints, ReadOnlyInts, at_place


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
