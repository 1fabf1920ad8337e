"""Sorts keys where they stand."""

from __future__ import annotations

from kernels.family import inlined
from percolator.matching.kernel.arrays import Longs

_FEW = 64
_SHORT = 16
"""So few keys are sorted by insertion sooner than merged."""
_DIGIT_BITS, _MANY_DIGIT_BITS = 8, 11
_MANY = 1 << 11
"""So many keys pay for the larger tallies of longer digits."""


def sink(keys: Longs, start: int, root: int, count: int) -> None:
    """Moves a key of the heap that begins at `start` down to where none below it is greater."""
    key = keys[start + root]
    child = 2 * root + 1
    while child < count:
        if child + 1 < count and keys[start + child + 1] > keys[start + child]:
            child += 1
        if keys[start + child] <= key:
            break
        keys[start + root] = keys[start + child]
        root = child
        child = 2 * root + 1
    keys[start + root] = key


def sort(keys: Longs, start: int, end: int) -> None:
    """Sorts keys of which most stand in order already, else by a heap (Williams 1964)."""
    ordered = start + 1
    while ordered < end and keys[ordered - 1] <= keys[ordered]:
        ordered += 1
    if ordered >= end:
        return
    count = end - start
    if count <= _FEW:
        for i in range(ordered, end):
            key = keys[i]
            j = i
            while j > start and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key
        return
    for root in range(count // 2 - 1, -1, -1):
        sink(keys, start, root, count)
    for last in range(count - 1, 0, -1):
        key = keys[start]
        keys[start] = keys[start + last]
        keys[start + last] = key
        sink(keys, start, 0, last)


@inlined
def run_end(keys: Longs, begin: int, first: int, count: int) -> int:
    """The place behind the ascending run that starts at `first` of so many keys from `begin` on."""
    at = first + 1
    while at < count and keys[begin + at - 1] <= keys[begin + at]:
        at += 1
    return at


@inlined
def merge(keys: Longs, first: int, middle: int, behind: int, target: int) -> None:
    """Writes two neighbouring runs as one."""
    left, right = first, middle
    while left < middle and right < behind:
        one, other = keys[left], keys[right]
        is_left = int(one <= other)
        keys[target] = one if one <= other else other
        left += is_left
        right += 1 - is_left
        target += 1
    while left < middle:
        keys[target] = keys[left]
        left += 1
        target += 1
    while right < behind:
        keys[target] = keys[right]
        right += 1
        target += 1


def sort_runs(keys: Longs, start: int, end: int) -> None:
    """Sorts keys that stand in a few ascending runs, by merging neighbours (Knuth, volume 3, 5.2.4, N).

    Uses as many cells behind `end`, where there are so many.
    """
    count = end - start
    if count <= _SHORT or end + count > keys.size:
        sort(keys, start, end)
        return
    if run_end(keys, start, 0, count) == count:
        return
    here, there, runs = start, end, 2
    while runs > 1:
        runs = at = 0
        while at < count:
            middle = run_end(keys, here, at, count)
            behind = run_end(keys, here, middle, count) if middle < count else middle
            merge(keys, here + at, here + middle, here + behind, there + at)
            at = behind
            runs += 1
        here, there = there, here
    if here != start:
        for i in range(count):
            keys[start + i] = keys[here + i]


def sort_by_query(keys: Longs, start: int, end: int, queries: int, spare: Longs) -> None:
    """Sorts keys that differ in their query alone: digit by digit, where they are many.

    `spare` has a cell for each key and SORTING more.
    """
    count = end - start
    if count <= _FEW:
        sort(keys, start, end)
        return
    bits = _DIGIT_BITS if count < _MANY else _MANY_DIGIT_BITS
    digits = 1 << bits
    tally = spare[count : count + digits + 1]
    here, there = keys[start:end], spare[:count]
    shift = 0
    while queries >> shift > 0:
        for i in range(digits + 1):
            tally[i] = 0
        for i in range(count):
            tally[((here[i] >> shift) & (digits - 1)) + 1] += 1
        for i in range(digits - 1):
            tally[i + 1] += tally[i]
        for i in range(count):
            digit = (here[i] >> shift) & (digits - 1)
            there[tally[digit]] = here[i]
            tally[digit] += 1
        here, there = there, here
        shift += bits
    if (shift // bits) % 2 == 1:
        for i in range(count):
            keys[start + i] = spare[i]
