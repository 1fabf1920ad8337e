"""NEAR and NOT NEAR: pairs of lists of spans."""

from __future__ import annotations

from percolator.matching.kernel.arrays import Longs, Slice
from percolator.matching.kernel.counters import DONE
from percolator.matching.kernel.spans import END, append, first_from


def pair_up(spans: Longs, one: Slice, other: Slice, distance: int, counters: Longs, begin: int) -> int:
    """Appends what encloses a span of the first list and one of the second that follows within the distance.

    DONE, or what is missing.
    """
    for i in range(one.begin, one.end):
        start, end = spans[i] >> 32, spans[i] & END
        j = first_from(spans, other.begin, other.end, end + 1)
        while j < other.end and (spans[j] >> 32) <= end + 1 + distance:
            status = append((start << 32) | (spans[j] & END), spans, counters, begin)
            if status != DONE:
                return status
            j += 1
    return DONE


def has_pair(spans: Longs, one: Slice, other: Slice, distance: int) -> bool:
    """True if a span of the second list follows one of the first within the distance."""
    for i in range(one.begin, one.end):
        end = spans[i] & END
        j = first_from(spans, other.begin, other.end, end + 1)
        if j < other.end and (spans[j] >> 32) <= end + 1 + distance:
            return True
    return False
