"""Spans within fields, sentences and paragraphs: at least, first, together."""

from __future__ import annotations

from kernels.family import inlined
from percolator.matching.kernel.arrays import DocumentState, Ints, Longs, Room, Slice
from percolator.matching.kernel.counters import C_BORDERS
from percolator.matching.kernel.spans import END
from percolator.matching.kernel.truth import FIELDS


@inlined
def borders_of(unit: int, state: DocumentState, room: Room) -> Slice:
    """The cells of `Room.borders` with the positions where fields, sentences or paragraphs begin."""
    first = unit * (room.borders.size // 3)
    return Slice(first, first + state.counters[C_BORDERS + unit])


def border_of(borders: Ints, own: Slice, position: int) -> int:
    """The last border of some at or before a position."""
    low, high = own.begin, own.end
    while high - low > 1:
        middle = (low + high) // 2
        if borders[middle] <= position:
            low = middle
        else:
            high = middle
    return low


@inlined
def at_least(spans: Longs, mine: Slice, wanted: int, state: DocumentState, room: Room) -> bool:
    """True if so many spans begin in one field."""
    borders, fields = room.borders, borders_of(FIELDS, state, room)
    field, count = -1, 0
    for i in range(mine.begin, mine.end):
        found = border_of(borders, fields, int(spans[i] >> 32))
        count = count + 1 if found == field else 1
        field = found
        if count >= wanted:
            return True
    return False


@inlined
def within_first(spans: Longs, mine: Slice, words: int, state: DocumentState, room: Room) -> bool:
    """True if a span ends within so many words of a field."""
    borders, fields = room.borders, borders_of(FIELDS, state, room)
    for i in range(mine.begin, mine.end):
        if (spans[i] & END) - borders[border_of(borders, fields, int(spans[i] >> 32))] < words:
            return True
    return False


def units_of(spans: Longs, mine: Slice, borders: Ints, units: Slice, target: int) -> int:
    """Writes the sentences or paragraphs in which whole spans lie, ascending; how many there are."""
    count = 0
    for i in range(mine.begin, mine.end):
        unit = border_of(borders, units, int(spans[i] >> 32))
        if unit == border_of(borders, units, int(spans[i] & END)) and (
            count == 0 or spans[target + count - 1] != unit
        ):
            spans[target + count] = unit
            count += 1
    return count


def in_both(spans: Longs, begin: int, count: int, others: int) -> int:
    """Keeps of `count` units those that are also among the `others` behind them; how many are left."""
    kept, j = 0, begin + count
    for k in range(begin, begin + count):
        while j < begin + count + others and spans[j] < spans[k]:
            j += 1
        if j < begin + count + others and spans[j] == spans[k]:
            spans[begin + kept] = spans[k]
            kept += 1
    return kept
