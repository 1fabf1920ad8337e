"""The sieve: words that cannot mean anything to any segment in use are left out before they get a number.

It knows the keys of all words and patterns (`dictionary`) by their first sixteen bytes, whatever the case of
ASCII letters. A word that only stands in phrases is known by its neighbours there. What is taken for one of
them and is none has an empty list: nothing is lost but time.
"""

from __future__ import annotations

import numpy as np

from kernels.family import inlined
from percolator.matching.kernel.arrays import SegmentArrays, Sieve, Words
from percolator.matching.kernel.blocks import below, bytes_from, first_bytes, small, trailing_zeros
from percolator.matching.kernel.hashing import LOW, MIX, ZERO, absorbed, add_bits, folded, has_bits, whole
from percolator.matching.kernel.layout import (
    ENTRY,
    ENTRY_LEAF,
    ENTRY_LENGTH,
    ENTRY_TEXT,
    ENTRY_WHERE,
    H_ENTRY,
    H_MASK,
    H_TABLE,
    H_TRIE_FIRST,
    H_TRIE_LEAF,
    H_USE,
    KIND_ANY,
    KIND_EXACT,
    KIND_INFIX,
    KIND_PREFIX,
    KIND_SUFFIX,
    KIND_WORD,
    KINDS,
    LONGEST_INFIX,
    QUESTION,
    USE_PLACES,
    USE_TRUE,
)

KEY = 16
"""Bytes of a word that the sieve looks at."""
LETTERS = 1 << 15
"""Of three letters five bits each."""
HEAD = 4
"""Bytes of a word by which `Sieve.heads` tells if a beginning may be its."""
HEADS = 1 << 9
"""Words of `Sieve.heads`, 64 bits each."""
LONGEST_END = 8

V_ENDS, V_INSIDES, V_SHORT, V_PAIRS, V_COUNTS = range(5)
"""Of `Sieve.shapes`: which lengths ends of words and what stands inside have, as bits; not 0 if there are
beginnings of one or two bytes, phrases."""

_TAG_END, _TAG_INSIDE = 32, 64
_ONE_OF, _SECOND_OF, _THIRD_OF = np.uint64(31), np.uint64(31 << 5), np.uint64(31 << 10)
_TO_SECOND, _TO_THIRD = np.uint64(3), np.uint64(6)
_ONE, _BIT = np.uint64(1), np.uint64(63)
_TO_HEAD, _TO_WORD = np.uint64(49), np.uint64(6)
_TURN, _TURN_BACK = np.uint64(21), np.uint64(43)
MANY = np.uint64(1)
"""In place of a leaf's hash, if it is no word or several."""
STRANGE = MIX
"""In a pair, the hash of a word that is not ASCII."""


@inlined
def beginning_of(key: np.uint64) -> int:
    """Five bits of each of the first three letters."""
    return whole((key & _ONE_OF) | (key >> _TO_SECOND & _SECOND_OF) | (key >> _TO_THIRD & _THIRD_OF))


@inlined
def head_of(key: np.uint64) -> np.uint64:
    """The bit of `Sieve.heads` that the first HEAD bytes choose."""
    return ((small(key) & LOW) * MIX) >> _TO_HEAD


@inlined
def has_head(key: np.uint64, sieve: Sieve) -> int:
    """0 if no beginning of HEAD bytes or more is that of a word, else 1."""
    head = head_of(key)
    return whole(sieve.heads[whole(head >> _TO_WORD)] >> (head & _BIT) & _ONE)


@inlined
def hash_of(key: np.uint64, second: np.uint64, tag: int) -> np.uint64:
    """The hash of a key of a kind, whatever the case; with tag 0 that of a word by its first KEY bytes."""
    return folded(small(key) ^ (small(second) ^ np.uint64(tag)) * MIX)


@inlined
def pair_of(first: np.uint64, second: np.uint64) -> np.uint64:
    """The hash of two words that follow each other, by theirs."""
    return first ^ (second << _TURN | second >> _TURN_BACK)


@inlined
def holds(key: np.uint64, second: np.uint64, tag: int, sieve: Sieve) -> bool:
    """False if no entry has that key."""
    return has_bits(sieve.bits, hash_of(key, second, tag))


def is_in_words(byte: int) -> bool:
    """True of small letters, digits and joiners, and of 0, which stands behind a word."""
    return byte in (0, 39, 46, 95) or 48 <= byte <= 57 or 97 <= byte <= 122


def hold_heads(key: np.uint64, length: int, sieve: Sieve) -> None:
    """Adds the heads of all words with a beginning; for the shortest every word is asked."""
    if length < HEAD - 1:
        sieve.shapes[V_SHORT] = 1
        return
    for last in range(128 if length < HEAD else 1):
        if is_in_words(last):
            head = head_of(key | np.uint64(last << 24))
            sieve.heads[whole(head >> _TO_WORD)] |= _ONE << (head & _BIT)


def hold_beginning(key: np.uint64, second: np.uint64, length: int, sieve: Sieve) -> None:
    """Adds what words begin with."""
    add_bits(sieve.bits, hash_of(key, second, length))
    first = beginning_of(key)
    step = LETTERS if length >= 3 else 1 << (5 * length)
    for place in range(first, LETTERS, step):
        sieve.beginnings[place] |= 1 << (length - 1)
    hold_heads(key, length, sieve)


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


def key_of(segment: SegmentArrays, start: int, end: int) -> tuple[np.uint64, np.uint64]:
    """The first KEY bytes of a text."""
    key, second, rest = ZERO, ZERO, ZERO
    for at in range(start, min(end, start + KEY)):
        key, second, rest = absorbed(key, second, rest, int(segment.text[at]), at - start)
    return key, second


def hash_of_entry(segment: SegmentArrays, row: int) -> np.uint64:
    """The hash of an entry's whole text as of a word."""
    start = int(segment.ints[row + ENTRY_TEXT])
    key, second = key_of(segment, start, start + int(segment.ints[row + ENTRY_LENGTH]))
    return hash_of(key, second, 0)


def enter_pattern(segment: SegmentArrays, row: int, kind: int, sieve: Sieve) -> None:
    """Adds the key of a pattern."""
    start = int(segment.ints[row + ENTRY_TEXT])
    start, end = piece_of(segment, start, start + int(segment.ints[row + ENTRY_LENGTH]), kind)
    if kind == KIND_SUFFIX:
        start = max(start, end - LONGEST_END)
    if kind == KIND_INFIX:
        end = min(end, start + LONGEST_INFIX)
    key, second = key_of(segment, start, end)
    length = end - start
    if kind == KIND_SUFFIX:
        sieve.shapes[V_ENDS] |= 1 << length
        add_bits(sieve.bits, hash_of(key, second, _TAG_END + length))
    elif kind == KIND_INFIX:
        sieve.shapes[V_INSIDES] |= 1 << length
        add_bits(sieve.bits, hash_of(key, second, _TAG_INSIDE + length))
    else:
        hold_beginning(key, second, min(length, KEY), sieve)


def enter_entries(segment: SegmentArrays, sieve: Sieve, hashes: Words) -> None:
    """Adds the keys of what is found by more than a word, and by leaf the hash of the one word that it is.

    MANY if a leaf is no word, or several.
    """
    ints = segment.ints
    table = int(segment.longs[H_TABLE])
    for slot in range(int(segment.longs[H_MASK]) + 1):
        number = int(ints[table + 2 * slot + 1])
        if number == 0:
            continue
        row = int(segment.longs[H_ENTRY]) + (number - 1) * ENTRY
        kind = int(ints[row + ENTRY_WHERE]) % KINDS
        leaf = int(ints[row + ENTRY_LEAF])
        if kind == KIND_WORD:
            value = hash_of_entry(segment, row)
            hashes[leaf] = value if hashes[leaf] == ZERO or hashes[leaf] == value else MANY
            continue
        hashes[leaf] = MANY
        if kind == KIND_EXACT:
            add_bits(sieve.bits, hash_of_entry(segment, row))
        elif kind != KIND_ANY:
            enter_pattern(segment, row, kind, sieve)


def enter_pair(first: int, second: int, sieve: Sieve, hashes: Words) -> None:
    """Adds two leaves that follow each other in a phrase. One beside a leaf that is no word counts alone."""
    one, other = hashes[first], hashes[second]
    if one > MANY and other > MANY:
        sieve.shapes[V_PAIRS] = 1
        add_bits(sieve.bits, pair_of(one, other))
        for value in (one, other):
            add_bits(sieve.bits, pair_of(value, STRANGE))
            add_bits(sieve.bits, pair_of(STRANGE, value))
        return
    for value in (one, other):
        if value > MANY:
            add_bits(sieve.bits, value)


def enter_sieve(segment: SegmentArrays, sieve: Sieve, hashes: Words) -> None:
    """Adds what all entries of a segment are found by; `hashes` are zeros, one for each leaf.

    A word that only stands in phrases is known by the pairs that it makes there with its neighbours.
    """
    ints = segment.ints
    enter_entries(segment, sieve, hashes)
    first, entered = int(segment.longs[H_TRIE_FIRST]), int(segment.longs[H_TRIE_LEAF])
    for state in range(1, entered - first - 1):
        for child in range(ints[first + state], ints[first + state + 1]):
            enter_pair(int(ints[entered + state]), int(ints[entered + child]), sieve, hashes)
    table = int(segment.longs[H_TABLE])
    for slot in range(int(segment.longs[H_MASK]) + 1):
        number = int(ints[table + 2 * slot + 1])
        if number == 0:
            continue
        row = int(segment.longs[H_ENTRY]) + (number - 1) * ENTRY
        if ints[row + ENTRY_WHERE] % KINDS == KIND_WORD:
            leaf = int(ints[row + ENTRY_LEAF])
            use = int(ints[int(segment.longs[H_USE]) + leaf])
            if hashes[leaf] <= MANY or use & (USE_TRUE | USE_PLACES) != 0:
                add_bits(sieve.bits, hash_of_entry(segment, row))


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


def may_fit(key: np.uint64, second: np.uint64, length: int, sieve: Sieve) -> bool:
    """False if no pattern fits a word: its first KEY bytes, and how many it has."""
    left = np.uint64(sieve.beginnings[beginning_of(key)]) & below(min(length, KEY))
    while left != ZERO:
        size = trailing_zeros(left) + 1
        left &= left - _ONE
        if holds(first_bytes(key, size), first_bytes(second, size - 8), size, sieve):
            return True
    if sieve.shapes[V_ENDS] | sieve.shapes[V_INSIDES] == 0:
        return False
    return length > KEY or may_end(key, second, length, sieve)


@inlined
def may_mean(key: np.uint64, second: np.uint64, length: int, sieve: Sieve) -> bool:
    """False if a value that is one word means nothing: its first KEY bytes, and how many it has."""
    return holds(key, second, 0, sieve) or may_fit(key, second, length, sieve)
