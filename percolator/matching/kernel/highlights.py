"""The highlights of documents: the ranges that made queries true, by codes in postfix order.

Each row of a code begins with its kind and size. MARK_SOME takes a number of results from the stack and is
true if enough of them are.
"""

from __future__ import annotations

from typing import NamedTuple

from kernels.family import inlined
from percolator.matching.kernel.arrays import (
    EDGE,
    EDGE_END,
    EDGE_FIRST_END,
    EDGE_START,
    RUN,
    RUN_DOCUMENT,
    RUN_END,
    RUN_FIELD,
    RUN_POINTS,
    RUN_START,
    WANTED,
    Bytes,
    DocumentState,
    Ints,
    Longs,
    SegmentArrays,
    WordLists,
)
from percolator.matching.kernel.counters import (
    C_FOUND,
    C_LOG,
    C_RANGES,
    C_RUN,
    C_STATUS,
    C_TOUCHED,
    DONE,
    NEED_LOG,
    NEED_SPANS,
    NEED_WORDS,
)
from percolator.matching.kernel.layout import H_TRIE_LEAF
from percolator.matching.kernel.learn import LIST, LIST_CONTINUES, LIST_PLACES, LIST_STARTS, LIST_TRUE
from percolator.matching.kernel.sorting import sort_runs
from percolator.matching.kernel.spans import END

MARK_WORDS, MARK_GIVEN, MARK_SOME, MARK_NOT, MARK_NAME, MARK_END = range(6)
MARK_KIND, MARK_SIZE, MARK_ARGUMENT, MARK_ENOUGH, MARK_LEAVES = range(5)
MARK_UNIT = MARK_ENOUGH
MOST_NAMES = 62
"""One bit each."""


class HighlightText(NamedTuple):
    """The documents: their tokens, each of which may be highlighted."""

    tokens: Ints
    runs: Longs
    edges: Ints
    rows: Ints
    """By field of the matcher its row among the text fields, in their order; -1 for another."""
    owners: Ints
    """Room for the place of each token's run in `runs`."""
    bases: Longs
    """Room for the code point of its document at which each run begins."""
    borders: Longs
    """Room for where each text field begins, ascending."""


class HighlightCodes(NamedTuple):
    """The codes of pairs of a document and a query; what is found has room to be given back."""

    cells: Ints
    documents: Ints
    """By pair its document, ascending."""
    chosen: Ints
    """By pair where the code begins; its first cell is how high its stack grows."""
    given: Bytes
    """One pair's behind the other's, the results that were found elsewhere."""
    results: Bytes
    """The stack: what is true."""
    begins: Longs
    """The stack: where the ranges of each result begin."""
    names: Longs
    """By pair the bits of the true named parts, -1 where it is not true."""
    ends: Longs
    """By pair and text field, where its ranges end."""


class HighlightRoom(NamedTuple):
    """Room for what is found; `log` (C_STATUS NEED_LOG) and `ranges` (NEED_SPANS) may be too small."""

    log: Ints
    """Pairs (leaf, token)."""
    words: Ints
    """Half as many: the tokens of each wanted leaf."""
    spans: Longs
    """As many: start << 32 | end of each in its document."""
    ranges: Longs
    """start << 32 | end within a field, those of each pair and field in order and apart; C_RANGES of them."""


@inlined
def wanted_leaves(state: DocumentState, codes: HighlightCodes, first: int, behind: int) -> None:
    """Marks the leaves that the code of some pair asks for, and lists them in `touched`."""
    cells, counters = codes.cells, state.counters
    counters[C_TOUCHED] = 0
    for number in range(first, behind):
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


@inlined
def place_run(run: int, row: int, point: int, text: HighlightText) -> int:
    """Notes where a run begins, and the text fields from `row` up to its own, which is returned."""
    own = int(text.rows[text.runs[run + RUN_FIELD]])
    for field in range(row, own + 1):
        text.borders[field] = point
    text.bases[run // RUN] = point
    return own + 1


@inlined
def log_run(
    segment: SegmentArrays, lists: WordLists, state: DocumentState, text: HighlightText, log: Ints, run: int
) -> int:
    """Notes which tokens of a run wanted leaves are true of, behind the C_LOG that are noted, and their run.

    `chains` counts the tokens of each leaf. DONE, or what is missing.
    """
    pool, found, counters = lists.pool, state.found, state.counters
    entered = int(segment.longs[H_TRIE_LEAF])
    field = int(lists.fields[text.runs[run + RUN_FIELD]])
    if field < 0:
        return DONE
    size = int(counters[C_LOG])
    for token in range(text.runs[run + RUN_START], text.runs[run + RUN_END]):
        text.owners[token] = run
        number = int(text.tokens[token])
        list_ = int(lists.lists[number]) if number >= 0 else 0  # below are words that mean nothing
        if list_ == 0:
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


@inlined
def log_words(
    segment: SegmentArrays, lists: WordLists, state: DocumentState, text: HighlightText, log: Ints,
    document: int,
) -> int:  # fmt: skip
    """Notes the same of the runs of a document, and where they and its fields begin.

    The document is that of the run C_RUN or a later one. DONE, or what is missing.
    """
    runs, counters = text.runs, state.counters
    row, point = 0, 0
    counters[C_LOG] = 0
    run = int(counters[C_RUN]) * RUN
    while run < runs.size and runs[run + RUN_DOCUMENT] < document:
        run += RUN
    counters[C_RUN] = run // RUN
    while run < runs.size and runs[run + RUN_DOCUMENT] == document:
        if text.rows[runs[run + RUN_FIELD]] >= 0:
            row = place_run(run, row, point, text)
            point += int(runs[run + RUN_POINTS]) + 1
            status = log_run(segment, lists, state, text, log, run)
            if status != DONE:
                return status
        run += RUN
    for field in range(row, text.borders.size):
        text.borders[field] = point
    return DONE


@inlined
def span_of(text: HighlightText, token: int, last: int, edge: int) -> int:
    """start << 32 | end, in code points of the document, of so many tokens more than one."""
    base = int(text.bases[text.owners[token] // RUN])
    begin = base + int(text.edges[EDGE * token + EDGE_START])
    return begin << 32 | base + int(text.edges[EDGE * (token + last) + edge])


@inlined
def order_words(text: HighlightText, state: DocumentState, room: HighlightRoom) -> None:
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
        leaf, token = int(room.log[2 * i]), int(room.log[2 * i + 1])
        room.words[found[leaf]] = token
        room.spans[found[leaf]] = span_of(text, token, 0, EDGE_END)
        found[leaf] += 1
    state.counters[C_LOG] = 0


@inlined
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


@inlined
def follow(
    text: HighlightText, codes: HighlightCodes, state: DocumentState, words: Ints, at: int, token: int
) -> bool:
    """True if the words of a row of code stand one behind the other from a token on, in its field."""
    run = int(text.owners[token])
    last = int(codes.cells[at + MARK_SIZE]) - MARK_LEAVES - 1
    if (
        text.runs[run + RUN_FIELD] != codes.cells[at + MARK_ARGUMENT]
        or token + last >= text.runs[run + RUN_END]
    ):
        return False
    for j in range(1, last + 1):
        if not has_word(words, state, int(codes.cells[at + MARK_LEAVES + j]), token + j):
            return False
    return True


@inlined
def phrases_found(
    text: HighlightText, codes: HighlightCodes, state: DocumentState, room: HighlightRoom, at: int, size: int
) -> int:
    """Adds the ranges of a row of code behind `size` others; their number, -1 without room."""
    leaf = int(codes.cells[at + MARK_LEAVES])
    behind = int(state.found[leaf])
    last = int(codes.cells[at + MARK_SIZE]) - MARK_LEAVES - 1
    edge = EDGE_FIRST_END if codes.cells[at + MARK_UNIT] else EDGE_END
    for i in range(behind - int(state.chains[leaf]), behind):
        token = int(room.words[i])
        if follow(text, codes, state, room.words, at, token):
            if size >= room.ranges.size:
                return -1
            room.ranges[size] = span_of(text, token, last, edge)
            size += 1
    return size


@inlined
def words_found(
    text: HighlightText, codes: HighlightCodes, state: DocumentState, room: HighlightRoom, at: int, size: int
) -> int:
    """The same of a row that is one word, whose places are known: those in its field."""
    row = int(text.rows[codes.cells[at + MARK_ARGUMENT]])
    low = text.borders[row]
    high = text.borders[row + 1] if row + 1 < text.borders.size else 1 << 32
    leaf = int(codes.cells[at + MARK_LEAVES])
    behind = int(state.found[leaf])
    first = behind - int(state.chains[leaf])
    if size + behind - first > room.ranges.size:
        return -1
    for i in range(first, behind):
        span = room.spans[i]
        if low <= span >> 32 < high:
            room.ranges[size] = span
            size += 1
    return size


@inlined
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
            if cells[at + MARK_SIZE] == MARK_LEAVES + 1 and cells[at + MARK_UNIT] == 0:
                size = words_found(text, codes, state, room, at, size)
            else:
                size = phrases_found(text, codes, state, room, at, size)
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


@inlined
def divide(
    number: int, text: HighlightText, codes: HighlightCodes, ranges: Longs, first: int, size: int
) -> int:
    """Makes of a code's ranges, from `first` on, those of each field, in order and apart; the new size."""
    borders = text.borders
    sort_runs(ranges, first, size)
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


@inlined
def highlight_document(
    segment: SegmentArrays, lists: WordLists, state: DocumentState,
    text: HighlightText, codes: HighlightCodes, room: HighlightRoom, first: int, behind: int,
) -> int:  # fmt: skip
    """Adds the highlights of the pairs of one document; DONE, or what is missing."""
    counters = state.counters
    wanted_leaves(state, codes, first, behind)
    status = log_words(segment, lists, state, text, room.log, int(codes.documents[first]))
    for i in range(counters[C_TOUCHED]):
        state.truth[state.touched[i]] = 0
    if status != DONE:
        return status
    order_words(text, state, room)
    for number in range(first, behind):
        size = run_code(number, text, codes, state, room)
        if size < 0:
            return NEED_SPANS
        counters[C_RANGES] = divide(number, text, codes, room.ranges, int(counters[C_RANGES]), size)
    return DONE


def highlight(
    segment: SegmentArrays, lists: WordLists, state: DocumentState,
    text: HighlightText, codes: HighlightCodes, room: HighlightRoom,
) -> None:  # fmt: skip
    """Finds the highlights of pairs by codes.

    C_STATUS is then DONE, names the array that is too small, or says that words are not learnt (NEED_WORDS).
    """
    counters = state.counters
    counters[C_STATUS] = DONE
    counters[C_RANGES] = counters[C_FOUND] = counters[C_RUN] = 0
    first = 0
    while first < codes.chosen.size and counters[C_STATUS] == DONE:
        behind = first + 1
        while behind < codes.chosen.size and codes.documents[behind] == codes.documents[first]:
            behind += 1
        counters[C_STATUS] = highlight_document(segment, lists, state, text, codes, room, first, behind)
        first = behind
    counters[C_TOUCHED] = counters[C_FOUND] = counters[C_LOG] = 0
