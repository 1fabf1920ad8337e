"""Range lookup: numbers, dates and addresses find the ranges that they lie in."""

from __future__ import annotations

from kernels.family import inlined
from percolator.matching.kernel.arrays import (
    VALUE,
    VALUE_FIELD,
    VALUE_HIGH,
    VALUE_LOW,
    DocumentState,
    KeptLongs,
    Longs,
    SegmentArrays,
    WordLists,
)
from percolator.matching.kernel.counters import C_DOCUMENT, C_VALUE
from percolator.matching.kernel.layout import (
    FIELD,
    FIELD_POINT_COUNT,
    FIELD_POINTS,
    FIELD_PRESENT,
    FIELD_TREE,
    FIELD_TREE_SIZE,
    H_FIELD,
)
from percolator.matching.kernel.truth import stamp


def interval_of(longs: KeptLongs, first: int, count: int, high: int, low: int) -> int:
    """The elementary interval of a value among `count` points from `first` on."""
    begin, end = 0, count
    while begin < end:
        middle = first + 2 * ((begin + end) // 2)
        if longs[middle] < high or (longs[middle] == high and longs[middle + 1] < low):
            begin = (begin + end) // 2 + 1
        else:
            end = (begin + end) // 2
    at = first + 2 * begin
    if begin < count and longs[at] == high and longs[at + 1] == low:
        return 2 * begin + 1
    return 2 * begin


@inlined
def look_up_ranges(segment: SegmentArrays, lists: WordLists, state: DocumentState, values: Longs) -> None:
    """Notes the leaves of ranges that the values of one document lie in.

    Points are sorted pairs of longs; between them and on them lie 2 n + 1 elementary intervals, the
    leaves of a segment tree (Bentley 1977) whose nodes list the ranges that cover them.
    """
    ints = segment.ints
    value = int(state.counters[C_VALUE]) * VALUE
    while value < values.size and values[value] == state.counters[C_DOCUMENT]:
        field = int(lists.fields[values[value + VALUE_FIELD]])
        if field >= 0:
            place = int(segment.longs[H_FIELD]) + field * FIELD
            if ints[place + FIELD_PRESENT] >= 0:
                stamp(int(ints[place + FIELD_PRESENT]), state)
            if ints[place + FIELD_POINT_COUNT] > 0:
                first, count = int(ints[place + FIELD_POINTS]), int(ints[place + FIELD_POINT_COUNT])
                interval = interval_of(
                    segment.longs, first, count, values[value + VALUE_HIGH], values[value + VALUE_LOW]
                )
                tree = int(ints[place + FIELD_TREE])
                node = int(ints[place + FIELD_TREE_SIZE]) + interval
                while node >= 1:
                    for i in range(ints[tree + node], ints[tree + node + 1]):
                        stamp(int(ints[i]), state)
                    node >>= 1
        value += VALUE
    state.counters[C_VALUE] = value // VALUE
