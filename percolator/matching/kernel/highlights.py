"""The highlights of one document: the ranges that made queries true, by codes in postfix order.

Each row of a code begins with its kind and size. MARK_SOME takes a number of results from the stack and is
true if enough of them are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from percolator.matching.kernel.arrays import (
    EDGE,
    EDGE_END,
    EDGE_FIRST_END,
    EDGE_START,
    PIECE,
    PIECE_END,
    PIECE_START,
    RUN,
    RUN_END,
    RUN_FIELD,
    RUN_START,
    WANTED,
    Bytes,
    DocumentState,
    Ints,
    KeptBytes,
    KeptLongs,
    Longs,
    SegmentArrays,
    WordLists,
)
from percolator.matching.kernel.counters import (
    C_FOUND,
    C_LOG,
    C_RANGES,
    C_STATUS,
    C_TOUCHED,
    DONE,
    NEED_LOG,
    NEED_SPANS,
    NEED_WORDS,
)
from percolator.matching.kernel.hashing import HALF, mixed, whole
from percolator.matching.kernel.layout import H_TRIE_LEAF
from percolator.matching.kernel.learn import LIST, LIST_CONTINUES, LIST_PLACES, LIST_STARTS, LIST_TRUE
from percolator.matching.kernel.sorting import sort
from percolator.matching.kernel.spans import END
from percolator.matching.kernel.walk import VALUE_GAP

MARK_WORDS, MARK_GIVEN, MARK_SOME, MARK_NOT, MARK_NAME, MARK_END = range(6)
MARK_KIND, MARK_SIZE, MARK_ARGUMENT, MARK_ENOUGH, MARK_LEAVES = range(5)
MARK_UNIT = MARK_ENOUGH
MOST_NAMES = 62
"""One bit each."""


class HighlightText(NamedTuple):
    """The document: its tokens, each of which may be highlighted."""

    tokens: Ints
    runs: Longs
    edges: Ints
    """In code points, from the first of the first field on."""
    borders: Longs
    """Where each text field begins, ascending."""
    owners: Ints
    """Room for the field of each token."""
    places: Ints
    """Room for its position."""


class HighlightCodes(NamedTuple):
    """The codes; what is found has room to be given back."""

    cells: Ints
    chosen: Ints
    """Where each code begins; its first cell is how high its stack grows."""
    given: Bytes
    """One code's behind the other's, the results that were found elsewhere."""
    results: Bytes
    """The stack: what is true."""
    begins: Longs
    """The stack: where the ranges of each result begin."""
    names: Longs
    """By code the bits of the true named parts, -1 where it is not true."""
    ends: Ints
    """By code and field, where the numbers of its ranges end."""


class HighlightRoom(NamedTuple):
    """Room for what is found; `log` (C_STATUS NEED_LOG) and what follows it (NEED_SPANS) may be too small."""

    log: Ints
    """Pairs (leaf, token)."""
    words: Ints
    """Half as many: the tokens of each wanted leaf."""
    ranges: Longs
    """start << 32 | end within a field, each once, C_RANGES of them; a power of two."""
    which: Ints
    """As many: the numbers of the ranges of each code and field, in order and apart."""
    table: Ints
    """Twice as many."""


def wanted_leaves(state: DocumentState, codes: HighlightCodes) -> None:
    """Marks the leaves that some code asks for, and lists them in `touched`."""
    cells, counters = codes.cells, state.counters
    counters[C_TOUCHED] = 0
    for number in range(codes.chosen.size):
        at = int(codes.chosen[number]) + 1
        while cells[at + MARK_KIND] != MARK_END:
            following = at + int(cells[at + MARK_SIZE])
            if cells[at + MARK_KIND] == MARK_WORDS:
                for i in range(at + MARK_LEAVES, following):
                    leaf = int(cells[i])
                    if state.truth[leaf] & WANTED == 0:
                        state.truth[leaf] |= WANTED
                        state.touched[counters[C_TOUCHED]] = leaf
                        state.found[leaf] = -1
                        state.chains[leaf] = 0
                        counters[C_TOUCHED] += 1
            at = following


def log_words(
    segment: SegmentArrays, lists: WordLists, state: DocumentState, text: HighlightText, log: Ints
) -> int:
    """Notes which tokens wanted leaves are true of, and the field and position of every token.

    `chains` counts the tokens of each leaf. DONE, or what is missing.
    """
    pool, found, counters = lists.pool, state.found, state.counters
    entered = int(segment.longs[H_TRIE_LEAF])
    size = 0
    position = 0
    for run in range(0, text.runs.size, RUN):
        position += VALUE_GAP
        field = int(lists.fields[text.runs[run + RUN_FIELD]])
        for token in range(text.runs[run + RUN_START], text.runs[run + RUN_END]):
            text.owners[token] = text.runs[run + RUN_FIELD]
            text.places[token] = position
            position += 1
            list_ = int(lists.lists[text.tokens[token]])
            if field < 0 or list_ == 0:
                continue
            if list_ < 0:
                return NEED_WORDS
            before = list_ + LIST + int(pool[list_ + LIST_TRUE])
            behind = before + int(pool[list_ + LIST_STARTS])
            end = behind + int(pool[list_ + LIST_CONTINUES]) + int(pool[list_ + LIST_PLACES])
            if 2 * (size + end - list_) > log.size:
                return NEED_LOG
            for at in range(list_ + LIST, end):
                leaf = int(segment.ints[entered + int(pool[at])]) if before <= at < behind else int(pool[at])
                # A word may have a leaf in several lists.
                if state.truth[leaf] & WANTED and found[leaf] != token:
                    found[leaf] = token
                    state.chains[leaf] += 1
                    log[2 * size] = leaf
                    log[2 * size + 1] = token
                    size += 1
    counters[C_LOG] = size
    return DONE


def order_words(state: DocumentState, room: HighlightRoom) -> None:
    """Makes of the log the words of each wanted leaf, ascending, one leaf's behind the other's.

    Those of a leaf end at its place in `found`; `chains` has their number.
    """
    found = state.found
    start = 0
    for i in range(state.counters[C_TOUCHED]):
        leaf = int(state.touched[i])
        found[leaf] = start
        start += int(state.chains[leaf])
    for i in range(state.counters[C_LOG]):
        leaf = int(room.log[2 * i])
        room.words[found[leaf]] = room.log[2 * i + 1]
        found[leaf] += 1
    state.counters[C_LOG] = 0


def has_word(words: Ints, state: DocumentState, leaf: int, token: int) -> bool:
    """True if a leaf is true of a token."""
    end = int(state.found[leaf])
    low = end - int(state.chains[leaf])
    high = end
    while low < high:
        middle = (low + high) // 2
        if words[middle] < token:
            low = middle + 1
        else:
            high = middle
    return bool(low < end and words[low] == token)


def follow(
    text: HighlightText, codes: HighlightCodes, state: DocumentState, words: Ints, at: int, token: int
) -> bool:
    """True if the words of a row of code stand one behind the other from a token on, in its field."""
    field = codes.cells[at + MARK_ARGUMENT]
    last = int(codes.cells[at + MARK_SIZE]) - MARK_LEAVES - 1
    if text.owners[token] != field or token + last >= text.tokens.size:
        return False
    if text.places[token + last] - text.places[token] != last or text.owners[token + last] != field:
        return False
    for j in range(1, last + 1):
        if not has_word(words, state, int(codes.cells[at + MARK_LEAVES + j]), token + j):
            return False
    return True


def words_found(
    text: HighlightText, codes: HighlightCodes, state: DocumentState, room: HighlightRoom, at: int, size: int
) -> int:
    """Adds the ranges of the words of a row of code behind `size` others; their number, -1 without room."""
    cells, edges = codes.cells, text.edges
    leaf = int(cells[at + MARK_LEAVES])
    behind = int(state.found[leaf])
    last = int(cells[at + MARK_SIZE]) - MARK_LEAVES - 1
    edge = EDGE_FIRST_END if cells[at + MARK_UNIT] else EDGE_END
    for i in range(behind - int(state.chains[leaf]), behind):
        token = int(room.words[i])
        if follow(text, codes, state, room.words, at, token):
            if size >= room.ranges.size:
                return -1
            begin = int(edges[EDGE * token + EDGE_START])
            room.ranges[size] = begin << 32 | int(edges[EDGE * (token + last) + edge])
            size += 1
    return size


def run_code(
    number: int, text: HighlightText, codes: HighlightCodes, state: DocumentState, room: HighlightRoom
) -> int:
    """Adds the ranges of one code, which begin at C_RANGES, and its given results at C_FOUND.

    Returns the number of ranges from then on, -1 where there is no room.
    """
    cells, results, begins = codes.cells, codes.results, codes.begins
    size = int(state.counters[C_RANGES])
    depth = 0
    at = int(codes.chosen[number]) + 1
    codes.names[number] = 0
    while cells[at + MARK_KIND] != MARK_END:
        kind, argument = int(cells[at + MARK_KIND]), int(cells[at + MARK_ARGUMENT])
        if kind == MARK_WORDS:
            begins[depth] = size
            size = words_found(text, codes, state, room, at, size)
            if size < 0:
                return -1
            results[depth] = 1 if size > begins[depth] else 0
            depth += 1
        elif kind == MARK_GIVEN:
            begins[depth] = size
            results[depth] = codes.given[state.counters[C_FOUND]]
            state.counters[C_FOUND] += 1
            depth += 1
        elif kind == MARK_SOME:
            true_ones = 0
            for i in range(depth - argument, depth):
                true_ones += int(results[i])
            depth -= argument
            if argument == 0:
                begins[depth] = size
            results[depth] = 1 if true_ones >= cells[at + MARK_ENOUGH] else 0
            if results[depth] == 0:
                size = int(begins[depth])
            depth += 1
        elif kind == MARK_NOT:
            size = int(begins[depth - 1])
            results[depth - 1] = 1 - results[depth - 1]
        elif results[depth - 1]:  # MARK_NAME
            codes.names[number] |= 1 << argument
        at += int(cells[at + MARK_SIZE])
    if results[0] == 0:
        codes.names[number] = -1
    return size


def divide(
    number: int, text: HighlightText, codes: HighlightCodes, ranges: Longs, first: int, size: int
) -> int:
    """Makes of a code's ranges, from `first` on, those of each field, in order and apart; the new size."""
    borders = text.borders
    sort(ranges, first, size)
    low = kept = first
    for row in range(borders.size):
        base = int(borders[row])
        limit = int(borders[row + 1]) if row + 1 < borders.size else 1 << 32
        field = kept
        while low < size and ranges[low] >> 32 < limit:
            start, end = int(ranges[low] >> 32) - base, int(ranges[low] & END) - base
            if kept > field and start < ranges[kept - 1] & END:
                if end > ranges[kept - 1] & END:
                    ranges[kept - 1] = (ranges[kept - 1] >> 32) << 32 | end
            else:
                ranges[kept] = start << 32 | end
                kept += 1
            low += 1
        codes.ends[number * borders.size + row] = kept
    return kept


def each_once(room: HighlightRoom, size: int) -> int:
    """Leaves each range once, and notes the number of each in `which`; how many are left."""
    ranges, table = room.ranges, room.table
    slots = 16
    while slots < 2 * size:
        slots *= 2
    for slot in range(slots):
        table[slot] = -1
    count = 0
    for i in range(size):
        key = ranges[i]
        slot = whole(mixed(np.uint64(key)) >> HALF) & (slots - 1)
        while table[slot] >= 0 and ranges[table[slot]] != key:
            slot = (slot + 1) & (slots - 1)
        if table[slot] < 0:
            table[slot] = count
            ranges[count] = key
            count += 1
        room.which[i] = table[slot]
    return count


def highlight(
    segment: SegmentArrays, lists: WordLists, state: DocumentState,
    text: HighlightText, codes: HighlightCodes, room: HighlightRoom,
) -> None:  # fmt: skip
    """Finds the highlights of one document by codes.

    C_STATUS is then DONE, names the array that is too small, or says that words are not learnt (NEED_WORDS).
    """
    counters = state.counters
    wanted_leaves(state, codes)
    counters[C_STATUS] = log_words(segment, lists, state, text, room.log)
    for i in range(counters[C_TOUCHED]):
        state.truth[state.touched[i]] = 0
    if counters[C_STATUS] == DONE:
        order_words(state, room)
        counters[C_RANGES] = 0
        counters[C_FOUND] = 0
        for number in range(codes.chosen.size):
            size = run_code(number, text, codes, state, room)
            if size < 0:
                counters[C_STATUS] = NEED_SPANS
                break
            counters[C_RANGES] = divide(number, text, codes, room.ranges, int(counters[C_RANGES]), size)
        if counters[C_STATUS] == DONE:
            counters[C_RANGES] = each_once(room, int(counters[C_RANGES]))
    counters[C_TOUCHED] = 0


def code_point_edges(data: KeptBytes, pieces: KeptLongs, bases: KeptLongs, edges: Ints, runs: Longs) -> None:
    """Makes of bytes in `edges` code points; `bases` has, by piece, the first and how many there are."""
    for piece in range(pieces.size // PIECE):
        at = int(pieces[piece * PIECE + PIECE_START])
        point = int(bases[2 * piece])
        first = EDGE * int(runs[piece * RUN + RUN_START])
        behind = EDGE * int(runs[piece * RUN + RUN_END])
        if bases[2 * piece + 1] == pieces[piece * PIECE + PIECE_END] - at:
            for i in range(first, behind):
                edges[i] += point - at
            continue
        for i in range(first, behind, EDGE):
            while at < edges[i + EDGE_START]:
                if data[at] & 0xC0 != 0x80:
                    point += 1
                at += 1
            first_end = point
            end = point
            for j in range(at, edges[i + EDGE_END]):
                if data[j] & 0xC0 != 0x80:
                    end += 1
                    if j < edges[i + EDGE_FIRST_END]:
                        first_end += 1
            edges[i + EDGE_START] = point
            edges[i + EDGE_END] = end
            edges[i + EDGE_FIRST_END] = first_end
