"""Candidates: from the true leaves of one document to the queries that it hits."""

from __future__ import annotations

from kernels.family import inlined
from percolator.matching.kernel.arrays import (
    DOUBTED,
    HIT,
    KILLED,
    TRUE,
    DocumentBatch,
    DocumentState,
    MatchOutput,
    Room,
    SegmentArrays,
    WordLists,
    WordTable,
)
from percolator.matching.kernel.counters import (
    C_DOCUMENT,
    C_DOUBTS,
    C_HITS,
    C_MODE,
    C_RUN,
    C_STAMP,
    C_STATUS,
    C_TOUCHED,
    C_VALUE,
    C_WORK,
    COUNTING,
    DONE,
    NEED_HITS,
    OVER_BUDGET,
    WALKING,
)
from percolator.matching.kernel.layout import (
    GO_TRUE,
    H_CODE,
    H_LEAVES,
    H_POSTED,
    H_POSTINGS,
    H_QUERIES,
)
from percolator.matching.kernel.positions import settle
from percolator.matching.kernel.ranges import look_up_ranges
from percolator.matching.kernel.sorting import sort, sort_by_query
from percolator.matching.kernel.truth import forget, stamp
from percolator.matching.kernel.walk import walk

_QUERY = 0xFFFFFFFF


@inlined
def code_truth(segment: SegmentArrays, at: int, state: DocumentState, room: Room) -> int:
    """Runs jump code: 1, 0, or what is missing to know it (negative)."""
    ints, tallies = segment.ints, room.tallies
    leaves = int(segment.longs[H_LEAVES])
    code = int(segment.longs[H_CODE])
    steps = 0
    while True:
        steps += 1
        test = int(ints[at])
        if test >= 0:
            if test < leaves:
                true = state.truth[test] & TRUE != 0
            else:
                known = settle(segment, test - leaves, state, room)
                if known < 0:
                    state.counters[C_WORK] += steps
                    return known
                true = known > 0
        else:
            register = (-1 - test) // 2
            true = (-1 - test) % 2 == 0
            if true:
                tallies[register] = ints[at + 2]
            else:
                tallies[register] -= 1
                true = tallies[register] <= 0
        at = int(ints[at + 1]) if true else int(ints[at + 2])
        if at < 0:
            state.counters[C_WORK] += steps
            return 1 if at == GO_TRUE else 0
        at += code


def doubt(query: int, state: DocumentState, results: MatchOutput) -> int:
    """Notes once that a query is not decided; DONE, or what is missing."""
    counters = state.counters
    if results.marks[query] & DOUBTED == 0:
        if counters[C_DOUBTS] >= results.doubts.size:
            return NEED_HITS
        results.marks[query] |= DOUBTED
        results.doubts[counters[C_DOUBTS]] = counters[C_DOCUMENT] << 32 | query
        counters[C_DOUBTS] += 1
    return DONE


@inlined
def collect_candidates(segment: SegmentArrays, state: DocumentState, room: Room, results: MatchOutput) -> int:
    """Adds the queries that one document hits, in any order; DONE, or what is missing.

    While COUNTING, `results.spent` gets by query its work: one for each look at it and each step.
    """
    ints, truth, counters = segment.ints, state.truth, state.counters
    hits, marks, spent = results.hits, results.marks, results.spent
    postings, posted = int(segment.longs[H_POSTINGS]), int(segment.longs[H_POSTED])
    code = int(segment.longs[H_CODE])
    document = counters[C_DOCUMENT] << 32
    counting = counters[C_MODE] == COUNTING
    for i in range(counters[C_TOUCHED]):
        leaf = int(state.touched[i])
        if truth[leaf] & TRUE == 0:
            continue
        start, end = int(ints[postings + leaf]), int(ints[postings + leaf + 1])
        for at in range(posted + 2 * start, posted + 2 * end, 2):
            query = int(ints[at + 1])
            if counting:
                spent[query if query >= 0 else ints[code - query - 1]] += 1
            if truth[ints[at]] & TRUE == 0:
                continue
            if query < 0:
                place = code - query - 1
                query = int(ints[place])
                if marks[query] & (HIT | KILLED):
                    continue
                before = counters[C_WORK]
                known = code_truth(segment, place + 1, state, room)
                if counting:
                    spent[query] += counters[C_WORK] - before
                if known == 0:
                    continue
                if known < 0:
                    status = doubt(query, state, results) if known == -OVER_BUDGET else -known
                    if status != DONE:
                        return status
                    continue
            elif marks[query] & (HIT | KILLED):
                continue
            if counters[C_HITS] >= hits.size:
                return NEED_HITS
            marks[query] |= HIT
            hits[counters[C_HITS]] = document | query
            counters[C_HITS] += 1
    return DONE


@inlined
def decide(segment: SegmentArrays, state: DocumentState, room: Room, results: MatchOutput) -> int:
    """Adds the hits and doubts of one document in order, or nothing; DONE, or what is missing."""
    counters, marks, doubts = state.counters, results.marks, results.doubts
    first_hit, first_doubt = int(counters[C_HITS]), int(counters[C_DOUBTS])
    status = collect_candidates(segment, state, room, results)
    kept = first_doubt
    for i in range(first_doubt, counters[C_DOUBTS]):
        query = int(doubts[i] & _QUERY)
        marks[query] &= 255 - DOUBTED
        if marks[query] & HIT == 0:
            doubts[kept] = doubts[i]
            kept += 1
    for i in range(first_hit, counters[C_HITS]):
        marks[results.hits[i] & _QUERY] &= 255 - HIT
    if status != DONE:
        counters[C_HITS] = first_hit
        counters[C_DOUBTS] = first_doubt
        return status
    counters[C_DOUBTS] = kept
    queries = int(segment.longs[H_QUERIES])
    sort_by_query(results.hits, first_hit, int(counters[C_HITS]), queries, results.spare)
    sort(doubts, first_doubt, kept)
    return DONE


def match(
    segment: SegmentArrays, lists: WordLists, state: DocumentState, room: Room, words: WordTable,
    batch: DocumentBatch, results: MatchOutput,
) -> None:  # fmt: skip
    """Finds the hits of one segment in the documents from C_DOCUMENT on, in order, as C_MODE says.

    Stops before a document for which something is too small, with what is to be enlarged in C_STATUS.
    """
    counters = state.counters
    counters[C_STATUS] = DONE
    while counters[C_DOCUMENT] < batch.documents:
        run, value = counters[C_RUN], counters[C_VALUE]
        counters[C_STAMP] += 1
        stamp(0, state)
        status = walk(segment, lists, state, room, words, batch)
        if status == DONE:
            look_up_ranges(segment, lists, state, batch.values)
            if counters[C_MODE] != WALKING:
                status = decide(segment, state, room, results)
        forget(segment, state)
        if status != DONE:
            counters[C_STATUS] = status
            counters[C_RUN], counters[C_VALUE] = run, value
            return
        counters[C_DOCUMENT] += 1
