"""Lists of spans, start << 32 | end, one node's behind the other's up to C_SPANS."""

from __future__ import annotations

from percolator.matching.kernel.arrays import Longs
from percolator.matching.kernel.counters import C_BUDGET, C_SPANS, DONE, NEED_SPANS, OVER_BUDGET
from percolator.matching.kernel.sorting import sort

END = 0xFFFFFFFF


def no_room(spans: Longs, counters: Longs, begin: int) -> int:
    """NEED_SPANS if more room would help a node whose spans begin there, else OVER_BUDGET."""
    most = counters[C_BUDGET]
    if counters[C_SPANS] - begin > most or spans.size >= 8 * most:
        return OVER_BUDGET
    return NEED_SPANS


def append(span: int, spans: Longs, counters: Longs, begin: int) -> int:
    """Adds a span to those of a node, which begin there; DONE, or what is missing."""
    if counters[C_SPANS] >= spans.size or counters[C_SPANS] - begin > counters[C_BUDGET]:
        return no_room(spans, counters, begin)
    spans[counters[C_SPANS]] = span
    counters[C_SPANS] += 1
    return DONE


def first_from(spans: Longs, low: int, high: int, start: int) -> int:
    """The first span of a sorted list that begins at a position or behind it."""
    key = start << 32
    while low < high:
        middle = (low + high) // 2
        if spans[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


def tidied(spans: Longs, begin: int, end: int) -> int:
    """Sorts a list of spans and drops repetitions; its new end."""
    sort(spans, begin, end)
    kept = begin
    for i in range(begin, end):
        if i == begin or spans[i] != spans[kept - 1]:
            spans[kept] = spans[i]
            kept += 1
    return kept
