"""Items and words in another place: what was kept and what came key by key, parts of an array one after
another.

Rows are words of one width, behind one another.
"""

from __future__ import annotations

from cep.exact.kernel.layout import Ints, ReadOnlyInts, at_place
from cep.operators.windows.kernel.layout import BitColumn, KeyParts, Ranges


def join_keys(
    keys: ReadOnlyInts, items: ReadOnlyInts, words: ReadOnlyInts, of_events: ReadOnlyInts, found: KeyParts
) -> int:
    """The keys that rise of heads, each once, and of events, each with what it has of both; how many they
    are. `items` says how many a head has, `words` where those of its items begin."""
    head, event, place = 0, 0, 0
    while head < len(keys) or event < len(of_events):
        mine = head < len(keys) and (
            event == len(of_events) or keys[at_place(head)] <= of_events[at_place(event)]
        )
        key = int(keys[at_place(head)]) if mine else int(of_events[at_place(event)])
        found.kept[at_place(place)] = items[at_place(head)] if mine else 0
        found.words[at_place(place)] = words[at_place(head)] if mine else 0
        head += int(mine)
        first = event
        while event < len(of_events) and of_events[at_place(event)] == key:
            event += 1
        found.keys[at_place(place)], found.came[at_place(place)] = key, event - first
        place += 1
    return place


def join_places(parts: KeyParts, order: Ints) -> None:
    """Where each item stands among all that were kept and then all that came, key by key."""
    first, place = 0, 0
    second = 0
    for key in range(len(parts.keys)):
        second += int(parts.kept[at_place(key)])
    for key in range(len(parts.keys)):
        for _ in range(int(parts.kept[at_place(key)])):
            order[at_place(place)] = first
            first, place = first + 1, place + 1
        for _ in range(int(parts.came[at_place(key)])):
            order[at_place(place)] = second
            second, place = second + 1, place + 1


def join_both(parts: KeyParts, one: ReadOnlyInts, two: ReadOnlyInts, found: Ints) -> None:
    """Numbers of the items that were kept and of those that came, key by key."""
    first, second, place = 0, 0, 0
    for key in range(len(parts.keys)):
        for _ in range(int(parts.kept[at_place(key)])):
            found[at_place(place)] = one[at_place(first)]
            first, place = first + 1, place + 1
        for _ in range(int(parts.came[at_place(key)])):
            found[at_place(place)] = two[at_place(second)]
            second, place = second + 1, place + 1


def copy_parts(
    words: ReadOnlyInts, firsts: ReadOnlyInts, sizes: ReadOnlyInts, target: Ints, places: ReadOnlyInts
) -> None:
    """Copy parts of an array, each from its first word on, to places of another."""
    for part in range(len(firsts)):
        first, to = int(firsts[at_place(part)]), int(places[at_place(part)])
        for word in range(int(sizes[at_place(part)])):
            target[at_place(to + word)] = words[at_place(first + word)]


def join_words(
    parts: KeyParts, words: ReadOnlyInts, column: int, width: int, two: ReadOnlyInts, found: Ints
) -> None:
    """As `join_both`; those that were kept have a column of rows of so many words."""
    second, place = 0, 0
    for key in range(len(parts.keys)):
        at = int(parts.words[at_place(key)]) + column
        for _ in range(int(parts.kept[at_place(key)])):
            found[at_place(place)] = words[at_place(at)]
            at, place = at + width, place + 1
        for _ in range(int(parts.came[at_place(key)])):
            found[at_place(place)] = two[at_place(second)]
            second, place = second + 1, place + 1


def join_bits(
    parts: KeyParts, words: ReadOnlyInts, column: BitColumn, width: int, two: ReadOnlyInts, found: Ints
) -> None:
    """As `join_words`; of the words one bit."""
    second, place = 0, 0
    for key in range(len(parts.keys)):
        at = int(parts.words[at_place(key)]) + column.column
        for _ in range(int(parts.kept[at_place(key)])):
            found[at_place(place)] = (words[at_place(at)] >> column.bit) & 1
            at, place = at + width, place + 1
        for _ in range(int(parts.came[at_place(key)])):
            found[at_place(place)] = two[at_place(second)]
            second, place = second + 1, place + 1


def put_words(values: ReadOnlyInts, parts: Ranges, words: Ints, column: int, width: int) -> None:
    """Write a column of rows: the values of parts of an array, behind one another."""
    to = column
    for part in range(len(parts.firsts)):
        for item in range(parts.firsts[at_place(part)], parts.ends[at_place(part)]):
            words[at_place(to)] = values[at_place(item)]
            to += width


def put_bits(
    parts: Ranges, bits: ReadOnlyInts, newest: int, words: Ints, column: BitColumn, width: int
) -> None:
    """Write a column of rows: bits of items, and the one that says that they are among so many at the end of
    their part."""
    to = column.column
    for part in range(len(parts.firsts)):
        end = int(parts.ends[at_place(part)])
        for item in range(parts.firsts[at_place(part)], end):
            words[at_place(to)] = bits[at_place(item)] | (int(end - item <= newest) << column.bit)
            to += width
