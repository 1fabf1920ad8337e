"""The words and patterns of a segment, found by hash: of a whole text, or of a piece of a pattern."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from percolator.matching.kernel.arrays import FOUND, Bytes, DocumentState, Ints, KeptBytes, SegmentArrays
from percolator.matching.kernel.counters import C_FOUND
from percolator.matching.kernel.hashing import HALF, PRIME, SEED, hashed, mixed, whole
from percolator.matching.kernel.layout import (
    ENTRY,
    ENTRY_LEAF,
    ENTRY_LENGTH,
    ENTRY_TEXT,
    ENTRY_WHERE,
    H_ENTRY,
    H_MASK,
    H_SPACE,
    H_TABLE,
    KIND_ANY,
    KIND_INFIX,
    KIND_PREFIX,
    KIND_SUFFIX,
    KINDS,
    LONGEST_INFIX,
    LONGEST_PREFIX,
    QUESTION,
    SPACE,
    SPACE_INFIXES,
    SPACE_KINDS,
    SPACE_PREFIXES,
    SPACE_SUFFIXES,
    STAR,
)

_TAG = np.uint64(0x7FFFFFFF)


class Form(NamedTuple):
    """One form of a surface word: where its letters are."""

    letters: Bytes
    start: int
    length: int


def where(space: int, kind: int) -> np.uint64:
    """The first part of the hash of an entry."""
    return (np.uint64(space * KINDS + kind) ^ SEED) * PRIME


def enter(ints: Ints, table: Ints, text: KeptBytes, entries: int) -> None:
    """Puts entries, rows of `ints`, into the hash table: pairs (tag, entry + 1).

    The key of each is its text without STAR and QUESTION up to its kind's length, where the rows' last two
    columns say.
    """
    mask = table.size // 2 - 1
    for number in range(entries):
        row = number * (ENTRY + 2)
        start = int(ints[row + ENTRY])
        value = where(ints[row + ENTRY_WHERE] // KINDS, ints[row + ENTRY_WHERE] % KINDS)
        value = mixed(hashed(value, text, start, start + int(ints[row + ENTRY + 1])))
        slot = whole(value >> HALF) & mask
        while table[2 * slot + 1] != 0:
            slot = (slot + 1) & mask
        table[2 * slot] = whole(value & _TAG)
        table[2 * slot + 1] = number + 1


def add_leaf(leaf: int, state: DocumentState) -> None:
    """Notes a leaf of a word, once."""
    if state.truth[leaf] & FOUND == 0:
        state.truth[leaf] |= FOUND
        state.found[state.counters[C_FOUND]] = leaf
        state.counters[C_FOUND] += 1


def fits(text: KeptBytes, start: int, length: int, form: Form) -> bool:
    """True if a word has the form of a pattern of letters, STAR and QUESTION (one code point)."""
    letters = form.letters
    p, stop = start, start + length
    w, end = form.start, form.start + form.length
    star, back = -1, 0
    while w < end:
        if p < stop and text[p] == STAR:
            star = p
            back = w
            p += 1
            continue
        if p < stop and text[p] == QUESTION:
            w += 1
            while w < end and letters[w] & 0xC0 == 0x80:
                w += 1
            p += 1
            continue
        if p < stop and text[p] == letters[w]:
            p += 1
            w += 1
            continue
        if star < 0:
            return False
        back += 1
        while back < end and letters[back] & 0xC0 == 0x80:
            back += 1
        w = back
        p = star + 1
    while p < stop and text[p] == STAR:
        p += 1
    return p == stop


def probe(segment: SegmentArrays, value: np.uint64, place: int, form: Form, state: DocumentState) -> None:
    """Adds the leaves of all entries under one key whose whole text fits the word.

    `place` is the entry's space and kind, `value` the hash of the key, not yet mixed.
    """
    longs, ints = segment.longs, segment.ints
    value = mixed(value)
    table = int(longs[H_TABLE])
    mask = int(longs[H_MASK])
    slot = whole(value >> HALF) & mask
    tag = whole(value & _TAG)
    while True:
        number = int(ints[table + 2 * slot + 1])
        if number == 0:
            return
        if ints[table + 2 * slot] == tag:
            row = int(longs[H_ENTRY]) + (number - 1) * ENTRY
            if ints[row + ENTRY_WHERE] == place and fits(
                segment.text, int(ints[row + ENTRY_TEXT]), int(ints[row + ENTRY_LENGTH]), form
            ):
                add_leaf(int(ints[row + ENTRY_LEAF]), state)
        slot = (slot + 1) & mask


def probe_whole(segment: SegmentArrays, space: int, kind: int, form: Form, state: DocumentState) -> None:
    """Adds the leaves of entries that are found by the whole word."""
    value = hashed(where(space, kind), form.letters, form.start, form.start + form.length)
    probe(segment, value, space * KINDS + kind, form, state)


def look_up(segment: SegmentArrays, space: int, form: Form, state: DocumentState) -> None:
    """Adds the leaves whose patterns one form of a word fits."""
    longs = segment.longs
    row = int(longs[H_SPACE]) + space * SPACE
    kinds = longs[row + SPACE_KINDS]
    end = form.start + form.length
    if kinds & (1 << KIND_PREFIX):
        lengths = longs[row + SPACE_PREFIXES]
        value = where(space, KIND_PREFIX)
        for i in range(min(form.length, LONGEST_PREFIX)):
            value = (value ^ np.uint64(form.letters[form.start + i])) * PRIME
            if (lengths >> (i + 1)) & 1:
                probe(segment, value, space * KINDS + KIND_PREFIX, form, state)
    if kinds & (1 << KIND_SUFFIX):
        lengths = longs[row + SPACE_SUFFIXES]
        for size in range(1, min(form.length, LONGEST_PREFIX) + 1):
            if (lengths >> size) & 1:
                value = hashed(where(space, KIND_SUFFIX), form.letters, end - size, end)
                probe(segment, value, space * KINDS + KIND_SUFFIX, form, state)
    if kinds & (1 << KIND_INFIX):
        lengths = longs[row + SPACE_INFIXES]
        for begin in range(form.start, end):
            value = where(space, KIND_INFIX)
            for i in range(begin, min(end, begin + LONGEST_INFIX)):
                value = (value ^ np.uint64(form.letters[i])) * PRIME
                if (lengths >> (i - begin + 1)) & 1:
                    probe(segment, value, space * KINDS + KIND_INFIX, form, state)
    if kinds & (1 << KIND_ANY):
        probe(segment, where(space, KIND_ANY), space * KINDS + KIND_ANY, form, state)
