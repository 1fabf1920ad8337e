"""Fuzzy words: those of a segment within some edits of a word."""

from __future__ import annotations

import numpy as np

from percolator.matching.kernel.arrays import DocumentState, Ints, SegmentArrays
from percolator.matching.kernel.dictionary import Form, add_leaf
from percolator.matching.kernel.hashing import HALF, ZERO
from percolator.matching.kernel.layout import (
    FUZZY,
    FUZZY_DISTANCE,
    FUZZY_HIGH,
    FUZZY_LEAF,
    FUZZY_LENGTH,
    FUZZY_LOW,
    FUZZY_SIZE,
    FUZZY_TEXT,
    H_FUZZY,
    H_SPACE,
    SPACE,
    SPACE_FUZZY,
    SPACE_FUZZY_END,
)
from percolator.matching.kernel.utf8 import code_points

MOST_EDITS = 2


def room_for_edits(segment: SegmentArrays, space: int) -> int:
    """The number of cells that `look_up_fuzzy` needs: two words and three rows of distances."""
    head = int(segment.longs[H_SPACE]) + space * SPACE
    last = int(segment.longs[head + SPACE_FUZZY_END])
    if last == segment.longs[head + SPACE_FUZZY]:
        return 0
    longest = int(segment.ints[int(segment.longs[H_FUZZY]) + (last - 1) * FUZZY + FUZZY_SIZE])
    return 5 * (longest + MOST_EDITS + 1)


def signature(points: Ints) -> np.uint64:
    """A bit for each letter: an edit changes two of them at most."""
    found = ZERO
    for i in range(points.size):
        found |= np.uint64(1) << np.uint64(int(points[i]) & 63)
    return found


def first_of_size(segment: SegmentArrays, low: int, high: int, size: int) -> int:
    """The first fuzzy word in [low, high) with so many code points or more."""
    base = int(segment.longs[H_FUZZY])
    while low < high:
        middle = (low + high) // 2
        if segment.ints[base + middle * FUZZY + FUZZY_SIZE] < size:
            low = middle + 1
        else:
            high = middle
    return low


def within_edits(one: Ints, other: Ints, most: int, room: Ints) -> bool:
    """Damerau's distance, a swap of neighbours being one edit (optimal string alignment), is at most that.

    Of words whose lengths differ by no more. `room` has three rows, each a cell longer than the other word.
    """
    n = other.size
    before, last, row = room[: n + 1], room[n + 1 : 2 * n + 2], room[2 * n + 2 : 3 * n + 3]
    for j in range(n + 1):
        last[j] = j
    best_before = 0
    for i in range(1, one.size + 1):
        row[0] = i
        best = i
        for j in range(1, n + 1):
            cost = 0 if one[i - 1] == other[j - 1] else 1
            least = min(int(last[j]) + 1, int(row[j - 1]) + 1, int(last[j - 1]) + cost)
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                least = min(least, int(before[j - 2]) + 1)
            row[j] = least
            best = min(best, least)
        # A swap looks two rows back.
        if best > most and best_before + 1 > most:
            return False
        best_before = best
        before, last, row = last, row, before
    return bool(last[n] <= most)


def unsigned(value: int) -> np.uint64:
    """The low half of a number."""
    return np.uint64(value & 0xFFFFFFFF)


def bits_of(value: np.uint64) -> int:
    """The number of bits that are set."""
    count = 0
    while value != ZERO:
        value &= value - np.uint64(1)
        count += 1
    return count


def look_up_fuzzy(segment: SegmentArrays, space: int, form: Form, state: DocumentState, room: Ints) -> None:
    """Adds the fuzzy leaves that are near enough to the word. Rows are sorted by size."""
    ints = segment.ints
    head = int(segment.longs[H_SPACE]) + space * SPACE
    low = int(segment.longs[head + SPACE_FUZZY])
    last = int(segment.longs[head + SPACE_FUZZY_END])
    if low == last:
        return
    base = int(segment.longs[H_FUZZY])
    longest = int(ints[base + (last - 1) * FUZZY + FUZZY_SIZE]) + MOST_EDITS
    size = code_points(form.letters, form.start, form.length, room[:longest])
    if size > longest:
        return
    word, room = room[:size], room[longest:]
    bits = signature(word)
    low = first_of_size(segment, low, last, size - MOST_EDITS)
    for row in range(base + low * FUZZY, base + last * FUZZY, FUZZY):
        length = int(ints[row + FUZZY_SIZE])
        if length > size + MOST_EDITS:
            return
        most = int(ints[row + FUZZY_DISTANCE])
        theirs = unsigned(int(ints[row + FUZZY_HIGH])) << HALF | unsigned(int(ints[row + FUZZY_LOW]))
        if abs(length - size) > most or bits_of(bits ^ theirs) > 2 * most:
            continue
        other = room[:length]
        code_points(segment.text, int(ints[row + FUZZY_TEXT]), int(ints[row + FUZZY_LENGTH]), other)
        if within_edits(other, word, most, room[length:]):
            add_leaf(int(ints[row + FUZZY_LEAF]), state)
