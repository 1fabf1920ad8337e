"""The greatest value of ranges: a queue of items, each of which is greater than all after it."""

from __future__ import annotations

from cep.exact.kernel.layout import Ints, ReadOnlyInts, at_place
from cep.operators.windows.kernel.layout import Ranges


def find_greatest(
    ranks: ReadOnlyInts, counts: ReadOnlyInts, ranges: Ranges, queue: Ints, found: Ints
) -> None:
    """For each range an item of the greatest rank among those that have a value; -1 where none has.

    The queue has room for all items.
    """
    low, high, head, tail = 0, 0, 0, 0
    for number in range(len(ranges.firsts)):
        first, end = int(ranges.firsts[at_place(number)]), int(ranges.ends[at_place(number)])
        if first < low or end < high or first >= high:
            high, head, tail = first, 0, 0
        for item in range(high, end):
            if counts[at_place(item)] > 0:
                rank = ranks[at_place(item)]
                while tail > head and ranks[at_place(queue[at_place(tail - 1)])] <= rank:
                    tail -= 1
                queue[at_place(tail)] = item
                tail += 1
        while head < tail and queue[at_place(head)] < first:
            head += 1
        low, high = first, end
        found[at_place(number)] = queue[at_place(head)] if head < tail else -1
