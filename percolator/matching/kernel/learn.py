"""New words: what each means to a segment, once and for all.

The list of a word is four counts, then the leaves that it makes true, the states of the trie that it starts,
the leaves by which it continues phrases, and the leaves whose places are wanted.
"""

from __future__ import annotations

from kernels.family import inlined
from percolator.matching.kernel.arrays import (
    FOUND,
    W_EXACT,
    W_FIELD,
    W_FOLD,
    W_LOWER,
    W_TERM,
    WORD,
    DocumentState,
    Ints,
    SegmentArrays,
    WordLists,
    WordTable,
    wide,
)
from percolator.matching.kernel.counters import C_FOUND, C_POOL
from percolator.matching.kernel.dictionary import Form, add_leaf, look_up, probe_whole
from percolator.matching.kernel.edits import look_up_fuzzy, room_for_edits
from percolator.matching.kernel.layout import (
    FIELD,
    FIELD_SPACES,
    FIELD_SPACES_END,
    H_FIELD,
    H_ROOTS,
    H_SPACE,
    H_TRIE_LEAF,
    H_USE,
    KIND_EXACT,
    KIND_WORD,
    SPACE,
    SPACE_KINDS,
)

LIST_TRUE, LIST_STARTS, LIST_CONTINUES, LIST_PLACES, LIST = range(5)
"""The counts, in the order of the bits USE_TRUE ... that a leaf has."""


def child_of(segment: SegmentArrays, low: int, high: int, leaf: int) -> int:
    """The state among [low, high) that is entered by a leaf; -1 where there is none. They are sorted."""
    ints = segment.ints
    leaves = int(segment.longs[H_TRIE_LEAF])
    end = high
    while low < high:
        middle = (low + high) // 2
        if ints[leaves + middle] < leaf:
            low = middle + 1
        else:
            high = middle
    if low < end and ints[leaves + low] == leaf:
        return low
    return -1


def write_list(segment: SegmentArrays, lists: WordLists, state: DocumentState) -> int:
    """Writes the list of the leaves that were found; where it begins."""
    pool = lists.pool
    start = int(state.counters[C_POOL])
    use = int(segment.longs[H_USE])
    roots = int(segment.longs[H_ROOTS])
    at = start + LIST
    for part in range(LIST):
        before = at
        for i in range(state.counters[C_FOUND]):
            leaf = int(state.found[i])
            if segment.ints[use + leaf] & (1 << part):
                pool[at] = child_of(segment, 0, roots, leaf) if part == LIST_STARTS else leaf
                at += 1
        pool[start + part] = at - before
    state.counters[C_POOL] = at
    return start


def form_of(words: WordTable, cell: int) -> Form:
    """The form whose place and length stand in the rows from a cell on."""
    return Form(words.letters, wide(words.rows[cell]), wide(words.rows[cell + 1]))


@inlined
def look_up_forms(
    segment: SegmentArrays, space: int, state: DocumentState, words: WordTable, row: int, room: Ints
) -> None:
    """Adds the leaves that a word, by its row, has in a space; `room` is what `room_for_edits` asks for."""
    kinds = segment.longs[int(segment.longs[H_SPACE]) + space * SPACE + SPACE_KINDS]
    term = form_of(words, row + W_TERM)
    if kinds & (1 << KIND_WORD):
        probe_whole(segment, space, KIND_WORD, term, state)
    if kinds & (1 << KIND_EXACT):
        probe_whole(segment, space, KIND_EXACT, form_of(words, row + W_EXACT), state)
    look_up(segment, space, term, state)
    fold = form_of(words, row + W_FOLD)
    look_up_fuzzy(segment, space, fold, state, room)
    if fold.start != term.start:
        look_up(segment, space, fold, state)
    lower = form_of(words, row + W_LOWER)
    if lower.start != fold.start:
        look_up(segment, space, lower, state)


def learn(
    segment: SegmentArrays, lists: WordLists, state: DocumentState, words: WordTable, word: int, extra: Ints
) -> int:
    """The list of a new word, written to the pool; 0 where it has none, -1 where there is no room.

    `extra` are leaves that were found elsewhere (regular expressions).
    """
    counters = state.counters
    row = word * WORD
    field = int(lists.fields[words.rows[row + W_FIELD]])
    if field < 0:
        lists.lists[word] = 0
        return 0
    place = int(segment.longs[H_FIELD]) + field * FIELD
    first, behind = int(segment.ints[place + FIELD_SPACES]), int(segment.ints[place + FIELD_SPACES_END])
    free = lists.pool[counters[C_POOL] :]
    for i in range(first, behind):
        if free.size < room_for_edits(segment, int(segment.ints[i])):
            return -1
    counters[C_FOUND] = 0
    for i in range(first, behind):
        look_up_forms(segment, int(segment.ints[i]), state, words, row, free)
    for i in range(extra.size):
        add_leaf(int(extra[i]), state)
    for i in range(counters[C_FOUND]):
        state.truth[state.found[i]] &= 255 - FOUND
    if counters[C_FOUND] == 0:
        lists.lists[word] = 0
        return 0
    if free.size < LIST + 4 * counters[C_FOUND]:
        return -1
    lists.lists[word] = write_list(segment, lists, state)
    return int(lists.lists[word])


def learn_all(
    segment: SegmentArrays, lists: WordLists, state: DocumentState, words: WordTable, new: Ints, extra: Ints,
    ends: Ints,
) -> int:  # fmt: skip
    """Learns words with leaves found elsewhere: those of word i end at `ends[i]`. How many were learnt."""
    begin = 0
    for i in range(new.size):
        if learn(segment, lists, state, words, int(new[i]), extra[begin : ends[i]]) < 0:
            return i
        begin = int(ends[i])
    return int(new.size)
