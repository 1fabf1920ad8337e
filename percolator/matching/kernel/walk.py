"""The words of one document in order: the leaves that they make true, phrases by a trie."""

from __future__ import annotations

import numpy as np

from kernels.family import inlined
from percolator.matching.kernel.arrays import (
    GAP,
    RUN,
    RUN_DOCUMENT,
    RUN_END,
    RUN_FIELD,
    RUN_START,
    DocumentBatch,
    DocumentState,
    Room,
    SegmentArrays,
    WordLists,
    Words,
    WordTable,
)
from percolator.matching.kernel.boundaries import PARAGRAPH_END
from percolator.matching.kernel.counters import (
    C_DOCUMENT,
    C_RUN,
    C_STAMP,
    DONE,
    NEED_LOG,
    NEED_POOL,
    NEED_STATES,
    TOO_LONG,
)
from percolator.matching.kernel.hashing import HALF, add_bits, has_bits, mixed
from percolator.matching.kernel.layout import (
    FIELD,
    FIELD_PRESENT,
    H_FIELD,
    H_TRIE_ACCEPT,
    H_TRIE_FIRST,
    H_TRIE_LEAF,
    H_UNITS,
    H_USE,
    USE_PLACES,
)
from percolator.matching.kernel.learn import (
    LIST,
    LIST_CONTINUES,
    LIST_PLACES,
    LIST_STARTS,
    LIST_TRUE,
    child_of,
    learn,
)
from percolator.matching.kernel.truth import FIELDS, PARAGRAPHS, SENTENCES, begin_unit, put, stamp

VALUE_GAP = 100
FIELD_GAP = 1 << 23
"""More than any distance, slop and length of a query together."""
LAST_POSITION = (1 << 31) - (1 << 25)


@inlined
def edge_hash(state: int, leaf: int) -> np.uint64:
    """The hash of the edge by which a leaf leaves a state."""
    return mixed(np.uint64(state) << HALF | np.uint64(leaf))


def enter_edges(segment: SegmentArrays, edges: Words) -> None:
    """Adds the edges of the trie, but those from its root, which `learn` follows, to `WordLists.edges`."""
    first, entered = int(segment.longs[H_TRIE_FIRST]), int(segment.longs[H_TRIE_LEAF])
    for state in range(1, entered - first - 1):
        for child in range(segment.ints[first + state], segment.ints[first + state + 1]):
            add_bits(edges, edge_hash(state, int(segment.ints[entered + child])))


@inlined
def step(
    segment: SegmentArrays, lists: WordLists, state: DocumentState, room: Room, list_: int, here: int,
    active: int, position: int,
) -> tuple[int, int]:  # fmt: skip
    """Goes from `active` states of the trie, from `here` on, to those after a word with that list.

    Where they begin and how many they are; -1 less what is missing instead.
    """
    ints, states, pool = segment.ints, room.states, lists.pool
    first_child, accepts = int(segment.longs[H_TRIE_FIRST]), int(segment.longs[H_TRIE_ACCEPT])
    limit = states.size // 2
    there = limit - here
    starts = list_ + LIST + int(pool[list_ + LIST_TRUE])
    begin = starts + int(pool[list_ + LIST_STARTS])
    behind = begin + int(pool[list_ + LIST_CONTINUES])
    count = 0
    if behind > begin:
        for j in range(here, here + active):
            low = int(ints[first_child + states[j]])
            high = int(ints[first_child + states[j] + 1])
            for i in range(begin, behind):
                # Nearly always no phrase goes on: that is told without a search.
                if not has_bits(lists.edges, edge_hash(int(states[j]), int(pool[i]))):
                    continue
                child = child_of(segment, low, high, int(pool[i]))
                if child < 0:
                    continue
                leaf = int(ints[accepts + child])
                if leaf >= 0:
                    stamp(leaf, state)
                    placed = ints[int(segment.longs[H_USE]) + leaf] & USE_PLACES
                    if placed and not put(leaf, position, state, room.log):
                        return here, -1 - NEED_LOG
                if ints[first_child + child] < ints[first_child + child + 1]:
                    if count >= limit:
                        return here, -1 - NEED_STATES
                    states[there + count] = child
                    count += 1
    if count + begin - starts > limit:
        return here, -1 - NEED_STATES
    for i in range(starts, begin):
        states[there + count] = pool[i]
        count += 1
    return there, count


@inlined
def walk_run(
    segment: SegmentArrays, lists: WordLists, state: DocumentState, room: Room, words: WordTable,
    batch: DocumentBatch, run: int, position: int,
) -> int:  # fmt: skip
    """Walks over the words of one run, which begins in `batch.runs` there: the position of its last word.

    `position` is the last one before it. Where something is missing, -1 less what.
    """
    pool, seen = lists.pool, words.seen
    moment = state.counters[C_STAMP]
    units = segment.longs[H_UNITS] != 0
    here, active = 0, 0
    for at in range(batch.runs[run + RUN_START], batch.runs[run + RUN_END]):
        word = int(batch.tokens[at])
        if word < 0:
            if word < GAP:
                position += GAP - word
                active = 0
            elif units:
                begin_unit(SENTENCES, position + 1, state, room)
                if word == PARAGRAPH_END:
                    begin_unit(PARAGRAPHS, position + 1, state, room)
            continue
        position += 1
        list_ = int(lists.lists[word])
        if list_ < 0:
            list_ = learn(segment, lists, state, words, word, lists.lists[:0])
            if list_ < 0:
                return -1 - NEED_POOL
        if list_ == 0:
            active = 0
            continue
        starts = list_ + LIST + int(pool[list_ + LIST_TRUE])
        if seen[word] != moment:
            for i in range(list_ + LIST, starts):
                stamp(int(pool[i]), state)
            if starts > list_ + LIST:
                seen[word] = moment
        continues = starts + int(pool[list_ + LIST_STARTS])
        if continues - starts + active > 0:
            here, active = step(segment, lists, state, room, list_, here, active, position)
            if active < 0:
                return active
        places = continues + int(pool[list_ + LIST_CONTINUES])
        for i in range(places, places + int(pool[list_ + LIST_PLACES])):
            if not put(int(pool[i]), position, state, room.log):
                return -1 - NEED_LOG
    return position


@inlined
def walk(
    segment: SegmentArrays,
    lists: WordLists,
    state: DocumentState,
    room: Room,
    words: WordTable,
    batch: DocumentBatch,
) -> int:
    """Notes the leaves that the words of one document make true, and the places of those that need them.

    Begins at the run C_RUN and leaves the next document's first run there. DONE, or what is missing.
    """
    runs = batch.runs
    units = segment.longs[H_UNITS] != 0
    run = int(state.counters[C_RUN]) * RUN
    before = -1
    position = -1
    while run < runs.size and runs[run + RUN_DOCUMENT] == state.counters[C_DOCUMENT]:
        field = int(lists.fields[runs[run + RUN_FIELD]])
        if field >= 0:
            if field == before:
                position += VALUE_GAP
            else:
                position += FIELD_GAP if before >= 0 else 0
                begin_unit(FIELDS, position + 1, state, room)
                present = int(segment.ints[int(segment.longs[H_FIELD]) + field * FIELD + FIELD_PRESENT])
                if present >= 0:
                    stamp(present, state)
            before = field
            if position > LAST_POSITION:
                return TOO_LONG
            if units:
                begin_unit(SENTENCES, position + 1, state, room)
                begin_unit(PARAGRAPHS, position + 1, state, room)
            position = walk_run(segment, lists, state, room, words, batch, run, position)
            if position < -1:
                return -1 - position
        run += RUN
    state.counters[C_RUN] = run // RUN
    return DONE
