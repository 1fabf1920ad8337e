"""Numbers in order by buckets, in the subset of Python that numba compiles."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt

from kernels.family import inlined

Numbers = Annotated[npt.NDArray[np.int64], "read only"]
Ints = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]

MOVES = 4
"""Places by which a row is moved in its bucket, on average, before this is given up."""


@inlined
def bucket_of(number: np.int64, least: np.int64, shift: np.uint64) -> np.int64:
    """The upper bits of the distance between two numbers, which may be more than fits an int64."""
    return np.int64((np.uint64(number) - np.uint64(least)) >> shift)


def order_numbers(numbers: Numbers, places: Places, order: Ints) -> bool:
    """Fill in the rows by number, equal ones as they stand; False: it was given up.

    There is at least one row; `places` is zero, and has a place more than there are buckets. The numbers of a
    bucket differ in their lower bits only, and are put in order by insertion: little is moved where they are
    spread evenly, are nearly in order, or are as few as the buckets.
    Source: Dobosiewicz, Sorting by distributive partitioning, 1978.
    """
    least, most = numbers[0], numbers[0]
    for row in range(1, len(numbers)):
        least, most = min(least, numbers[row]), max(most, numbers[row])
    shift = np.uint64(0)
    while bucket_of(most, least, shift) >= len(places) - 1 or bucket_of(most, least, shift) < 0:
        shift += np.uint64(1)
    for row in range(len(numbers)):
        places[bucket_of(numbers[row], least, shift) + 1] += 1
    for place in range(1, len(places)):
        places[place] += places[place - 1]
    for row in range(len(numbers)):
        bucket = bucket_of(numbers[row], least, shift)
        order[places[bucket]] = row
        places[bucket] += 1
    if shift == np.uint64(0):
        return True
    left = MOVES * len(order)
    for place in range(1, len(order)):
        row = order[place]
        at = place
        while at > 0 and numbers[order[at - 1]] > numbers[row]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = row
        left -= place - at
        if left < 0:
            return False
    return True
