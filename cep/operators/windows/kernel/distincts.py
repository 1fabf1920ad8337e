"""How many different values ranges have: each is counted as it comes and goes."""

from __future__ import annotations

from cep.exact.kernel.layout import Ints, ReadOnlyInts, at_place
from cep.operators.windows.kernel.layout import Ranges


def count_distinct(
    codes: ReadOnlyInts, counts: ReadOnlyInts, ranges: Ranges, seen: Ints, found: Ints
) -> None:
    """For each range the number of different codes among the items that have a value.

    `seen` has a 0 for every code.
    """
    low, high, different = 0, 0, 0
    for number in range(len(ranges.firsts)):
        first, end = int(ranges.firsts[at_place(number)]), int(ranges.ends[at_place(number)])
        back = first < low or end < high
        until = high if back or first >= high else first
        for item in range(low, until):
            if counts[at_place(item)] > 0:
                code = codes[at_place(item)]
                seen[at_place(code)] -= 1
                different -= int(seen[at_place(code)] == 0)
        for item in range(first if until == high else high, end):
            if counts[at_place(item)] > 0:
                code = codes[at_place(item)]
                different += int(seen[at_place(code)] == 0)
                seen[at_place(code)] += 1
        low, high = first, end
        found[at_place(number)] = different
