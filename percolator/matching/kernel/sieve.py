"""The sieve: words that cannot mean anything to any segment in use are left out before they get a number.

It knows the keys of all words and patterns (`dictionary`) by their first sixteen bytes, ASCII letters made
small, and may take a word for one of them that is none: then its list is empty, and nothing is lost but time.
"""

from __future__ import annotations

import numpy as np

from kernels.family import inlined
from percolator.matching.kernel.arrays import SegmentArrays, Sieve
from percolator.matching.kernel.blocks import below, bytes_from, first_bytes, lowered, trailing_zeros
from percolator.matching.kernel.hashing import MIX, ZERO, absorbed, add_bits, has_bits, mixed, whole
from percolator.matching.kernel.layout import (
    ENTRY,
    ENTRY_LENGTH,
    ENTRY_TEXT,
    ENTRY_WHERE,
    H_ENTRY,
    H_MASK,
    H_TABLE,
    KIND_ANY,
    KIND_EXACT,
    KIND_INFIX,
    KIND_PREFIX,
    KIND_SUFFIX,
    KIND_WORD,
    KINDS,
    LONGEST_INFIX,
    QUESTION,
)

KEY = 16
"""Bytes of a word that the sieve looks at."""
LETTERS = 1 << 15
"""Of three letters five bits each."""
WHOLE = 1 << KEY
"""In `Sieve.beginnings`, beside the lengths of beginnings."""
LONGEST_END = 8

V_ENDS, V_INSIDES, V_ENTRIES, V_COUNTS = range(4)
"""Of `Sieve.shapes`: which lengths ends of words and what stands inside have, as bits; the entries so far."""

_TAG_END, _TAG_INSIDE = 32, 64
_ONE_OF, _SECOND_OF, _THIRD_OF = np.uint64(31), np.uint64(31 << 5), np.uint64(31 << 10)
_TO_SECOND, _TO_THIRD = np.uint64(3), np.uint64(6)
_ONE = np.uint64(1)


@inlined
def beginning_of(key: np.uint64) -> int:
    """Five bits of each of the first three letters."""
    return whole((key & _ONE_OF) | (key >> _TO_SECOND & _SECOND_OF) | (key >> _TO_THIRD & _THIRD_OF))


@inlined
def hash_of(key: np.uint64, second: np.uint64, tag: int) -> np.uint64:
    """The hash of a key of a kind."""
    return mixed(key ^ (second ^ np.uint64(tag)) * MIX)


@inlined
def holds(key: np.uint64, second: np.uint64, tag: int, sieve: Sieve) -> bool:
    """False if no entry has that key."""
    return has_bits(sieve.bits, hash_of(key, second, tag))


def hold_beginning(key: np.uint64, second: np.uint64, length: int, is_word: bool, sieve: Sieve) -> None:
    """Adds a word, or what words begin with: the first KEY of `length` bytes."""
    if length > KEY:
        length, is_word = KEY, False
    mark = WHOLE if is_word else 1 << (length - 1)
    add_bits(sieve.bits, hash_of(key, second, 0 if is_word else length))
    first = beginning_of(key)
    step = LETTERS if is_word or length >= 3 else 1 << (5 * length)
    for place in range(first, LETTERS, step):
        sieve.beginnings[place] |= mark


def piece_of(segment: SegmentArrays, start: int, end: int, kind: int) -> tuple[int, int]:
    """Where the letters of an entry stand by which words are found: at its begin, its end, or the longest."""
    found, found_end = start, start
    at = start
    while at < end:
        behind = at
        while behind < end and segment.text[behind] < QUESTION:
            behind += 1
        if kind == KIND_SUFFIX or behind - at > found_end - found:
            found, found_end = at, behind
        if kind == KIND_PREFIX:
            return found, found_end
        at = behind + 1
    return found, found_end


def enter_piece(segment: SegmentArrays, start: int, end: int, kind: int, small: bool, sieve: Sieve) -> None:
    """Adds the key of an entry; `small` with small letters for capitals."""
    if kind == KIND_SUFFIX:
        start = max(start, end - LONGEST_END)
    if kind == KIND_INFIX:
        end = min(end, start + LONGEST_INFIX)
    key, second, rest = ZERO, ZERO, ZERO
    ascii_ = True
    for at in range(start, min(end, start + KEY)):
        ascii_ = ascii_ and segment.text[at] < 128
        key, second, rest = absorbed(key, second, rest, int(segment.text[at]), at - start)
    if small and ascii_:
        key, second = lowered(key), lowered(second)
    length = end - start
    if kind == KIND_SUFFIX:
        sieve.shapes[V_ENDS] |= 1 << length
        add_bits(sieve.bits, hash_of(key, second, _TAG_END + length))
    elif kind == KIND_INFIX:
        sieve.shapes[V_INSIDES] |= 1 << length
        add_bits(sieve.bits, hash_of(key, second, _TAG_INSIDE + length))
    else:
        hold_beginning(key, second, length, kind != KIND_PREFIX, sieve)


def enter_sieve(segment: SegmentArrays, sieve: Sieve) -> None:
    """Adds the keys of all entries of a segment."""
    ints = segment.ints
    table = int(segment.longs[H_TABLE])
    for slot in range(int(segment.longs[H_MASK]) + 1):
        number = int(ints[table + 2 * slot + 1])
        if number == 0:
            continue
        row = int(segment.longs[H_ENTRY]) + (number - 1) * ENTRY
        kind = int(ints[row + ENTRY_WHERE]) % KINDS
        if kind == KIND_ANY:
            continue
        start = int(ints[row + ENTRY_TEXT])
        end = start + int(ints[row + ENTRY_LENGTH])
        if kind != KIND_WORD and kind != KIND_EXACT:
            start, end = piece_of(segment, start, end, kind)
        enter_piece(segment, start, end, kind, False, sieve)
        if kind == KIND_EXACT:
            enter_piece(segment, start, end, kind, True, sieve)
        sieve.shapes[V_ENTRIES] += 1


def may_end(key: np.uint64, second: np.uint64, length: int, sieve: Sieve) -> bool:
    """False if no pattern's end or inside is in a word of at most KEY bytes."""
    ends, insides = int(sieve.shapes[V_ENDS]), int(sieve.shapes[V_INSIDES])
    for size in range(1, min(length, LONGEST_END) + 1):
        if ends >> size & 1:
            place = length - size
            last = bytes_from(key, second, place)
            if holds(first_bytes(last, size), ZERO, _TAG_END + size, sieve):
                return True
    for size in range(1, LONGEST_INFIX + 1):
        if insides >> size & 1:
            for place in range(length - size + 1):
                last = bytes_from(key, second, place)
                if holds(first_bytes(last, size), ZERO, _TAG_INSIDE + size, sieve):
                    return True
    return False


@inlined
def may_mean(key: np.uint64, second: np.uint64, length: int, sieve: Sieve) -> bool:
    """False if a word means nothing: its first KEY bytes, and how many it has."""
    lengths = int(sieve.beginnings[beginning_of(key)])
    if lengths & WHOLE and length <= KEY and holds(key, second, 0, sieve):
        return True
    left = np.uint64(lengths) & below(min(length, KEY))
    while left != ZERO:
        size = trailing_zeros(left) + 1
        left &= left - _ONE
        if holds(first_bytes(key, size), first_bytes(second, size - 8), size, sieve):
            return True
    if sieve.shapes[V_ENDS] | sieve.shapes[V_INSIDES] == 0:
        return False
    return length > KEY or may_end(key, second, length, sieve)
