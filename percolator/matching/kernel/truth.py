"""The truth of leaves on one document, and the places of those that need them."""

from __future__ import annotations

from kernels.family import inlined
from percolator.matching.kernel.arrays import MEMO, PLACED, TRUE, DocumentState, Ints, Room, SegmentArrays
from percolator.matching.kernel.counters import (
    C_BORDERS,
    C_LOG,
    C_PARAGRAPHS,
    C_SENTENCES,
    C_SPANS,
    C_STEPS,
    C_TOUCHED,
)
from percolator.matching.kernel.layout import H_NODES

FIELDS, SENTENCES, PARAGRAPHS = range(3)
"""The lists of borders, in the order of C_BORDERS ..., each with a third of the room."""


@inlined
def stamp(leaf: int, state: DocumentState) -> None:
    """Makes a leaf true for this document."""
    if state.truth[leaf] == 0:
        state.touched[state.counters[C_TOUCHED]] = leaf
        state.counters[C_TOUCHED] += 1
    state.truth[leaf] |= TRUE


@inlined
def put(leaf: int, position: int, state: DocumentState, log: Ints) -> bool:
    """Notes where a leaf stands, in a chain from its last place to its first; False without room."""
    size = int(state.counters[C_LOG])
    if 2 * size + 2 > log.size:
        return False
    if state.truth[leaf] & PLACED == 0:
        if state.truth[leaf] == 0:
            state.touched[state.counters[C_TOUCHED]] = leaf
            state.counters[C_TOUCHED] += 1
        state.truth[leaf] |= PLACED
        state.chains[leaf] = -1
    log[2 * size] = position
    log[2 * size + 1] = state.chains[leaf]
    state.chains[leaf] = size
    state.counters[C_LOG] = size + 1
    return True


@inlined
def begin_unit(unit: int, position: int, state: DocumentState, room: Room) -> None:
    """Notes that a field, sentence or paragraph begins at a position."""
    at = unit * (room.borders.size // 3) + int(state.counters[C_BORDERS + unit])
    room.borders[at] = position
    state.counters[C_BORDERS + unit] += 1


@inlined
def forget(segment: SegmentArrays, state: DocumentState) -> None:
    """Makes everything about a document untrue again."""
    counters = state.counters
    for i in range(counters[C_TOUCHED]):
        state.truth[state.touched[i]] = 0
    counters[C_TOUCHED] = 0
    known = MEMO * int(segment.longs[H_NODES])
    for i in range(counters[C_STEPS]):
        state.nodes[MEMO * state.nodes[known + i]] = 0
    counters[C_STEPS] = 0
    counters[C_LOG] = 0
    counters[C_SPANS] = 0
    counters[C_BORDERS] = 0
    counters[C_SENTENCES] = 0
    counters[C_PARAGRAPHS] = 0
