"""Ranges of numbers, dates and addresses as one segment tree a field: a value finds its ranges on one path.

Bentley, "Algorithms for Klee's rectangle problems", 1977. The bounds of all ranges divide the values into
2 n + 1 elementary intervals, on the bounds and between them; a range is listed at the O(log n) nodes that
cover it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from percolator.leaves import RangeTest
from percolator.matching.kernel import layout
from percolator.parts import Parts


def add_ranges(
    tests: Sequence[RangeTest], names: Sequence[str], fields: npt.NDArray[np.int32], parts: Parts, base: int
) -> npt.NDArray[np.int64]:
    """The points of all fields, to stand at `base` of a segment's longs; fills in the rows of `fields`."""
    found: list[npt.NDArray[np.int64]] = []
    for number, name in enumerate(names):
        mine = [test for test in tests if test.field == name]
        if not mine:
            continue
        points = sorted({bound for test in mine for bound in (test.low, test.high)})
        rank = {bound: place for place, bound in enumerate(points)}
        size = 1
        while size < 2 * len(points) + 1:
            size *= 2
        nodes: list[int] = []
        leaves: list[int] = []
        for test in mine:
            if test.low > test.high:
                continue
            low, high = size + 2 * rank[test.low] + 1, size + 2 * rank[test.high] + 2
            while low < high:
                if low & 1:
                    nodes.append(low)
                    leaves.append(test.leaf)
                    low += 1
                if high & 1:
                    high -= 1
                    nodes.append(high)
                    leaves.append(test.leaf)
                low >>= 1
                high >>= 1
        order = np.argsort(np.array(nodes, np.int64), kind="stable")
        starts = np.concatenate(([0], np.cumsum(np.bincount(np.array(nodes, np.int64), minlength=2 * size))))
        lists = parts.add(np.array(leaves, np.int64)[order])
        fields[number, layout.FIELD_TREE] = parts.add(starts + lists)
        fields[number, layout.FIELD_TREE_SIZE] = size
        fields[number, layout.FIELD_POINTS] = base + sum(map(len, found))
        fields[number, layout.FIELD_POINT_COUNT] = len(points)
        found.append(np.array(points, np.int64).ravel())
    return np.concatenate(found) if found else np.empty(0, np.int64)
