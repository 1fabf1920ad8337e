"""Positional nodes: evaluated when the code of a query asks, each once in a document, operands first."""

from __future__ import annotations

from kernels.family import inlined
from percolator.matching.kernel.arrays import (
    KNOWN,
    MEMO,
    PLACED,
    SPANS_BEGIN,
    SPANS_COUNT,
    DocumentState,
    Room,
    SegmentArrays,
    Slice,
    wide,
)
from percolator.matching.kernel.borders import at_least, borders_of, in_both, units_of, within_first
from percolator.matching.kernel.counters import (
    C_SPANS,
    C_STEPS,
    C_WORK,
    DONE,
    NEED_PARTS,
    NEED_SPANS,
    OVER_BUDGET,
)
from percolator.matching.kernel.layout import (
    H_NODE,
    H_NODES,
    N_A,
    N_B,
    N_COUNT,
    N_FIRST,
    N_INNER,
    N_KIND,
    NODE,
    NODE_AT_LEAST,
    NODE_FIRST,
    NODE_LEAF,
    NODE_NEAR,
    NODE_NOT_NEAR,
    NODE_OR,
    NODE_SLOP,
)
from percolator.matching.kernel.near import has_pair, pair_up
from percolator.matching.kernel.sloppy import all_together, cells_of, parts_in, stand_together
from percolator.matching.kernel.spans import END, first_from, no_room, tidied

_IS_KNOWN, _OVER_BUDGET = 1, 2
_NOT_YET, _OPERAND_FIRST = -1, -2


@inlined
def spans_of(node: int, state: DocumentState) -> Slice:
    """The spans of a node that is known."""
    begin = wide(state.nodes[MEMO * node + SPANS_BEGIN])
    return Slice(begin, begin + int(state.nodes[MEMO * node + SPANS_COUNT]))


@inlined
def places_of_leaf(leaf: int, length: int, state: DocumentState, room: Room) -> int:
    """Appends the spans of a leaf, `length` words each; its chain goes from the last to the first."""
    spans, log, counters = room.spans, room.log, state.counters
    if state.truth[leaf] & PLACED == 0:
        return DONE
    begin = int(counters[C_SPANS])
    at = int(state.chains[leaf])
    count = 0
    while at >= 0:
        count += 1
        at = int(log[2 * at + 1])
    if begin + count > spans.size:
        return no_room(spans, counters, begin)
    counters[C_SPANS] = begin + count
    at = int(state.chains[leaf])
    while at >= 0:
        count -= 1
        position = int(log[2 * at])
        spans[begin + count] = ((position - length + 1) << 32) | position
        at = int(log[2 * at + 1])
    return DONE


@inlined
def any_of(segment: SegmentArrays, first: int, behind: int, state: DocumentState, room: Room) -> int:
    """Appends the spans of all operands."""
    spans, counters = room.spans, state.counters
    begin = int(counters[C_SPANS])
    for i in range(first, behind):
        operand = spans_of(int(segment.ints[i]), state)
        if counters[C_SPANS] + operand.end - operand.begin > spans.size:
            return no_room(spans, counters, begin)
        for j in range(operand.begin, operand.end):
            spans[counters[C_SPANS]] = spans[j]
            counters[C_SPANS] += 1
    return DONE


@inlined
def near(segment: SegmentArrays, row: int, state: DocumentState, room: Room) -> int:
    """Appends what encloses a span of each operand, in either order or in theirs."""
    ints, spans, counters = segment.ints, room.spans, state.counters
    distance, ordered = int(ints[row + N_A]), ints[row + N_B] != 0
    operands = int(ints[row + N_FIRST])
    one, other = spans_of(int(ints[operands]), state), spans_of(int(ints[operands + 1]), state)
    if ints[row + N_INNER] == 0:
        if has_pair(spans, one, other, distance) or (not ordered and has_pair(spans, other, one, distance)):
            counters[C_SPANS] += 1
        return DONE
    begin = int(counters[C_SPANS])
    status = pair_up(spans, one, other, distance, counters, begin)
    if status == DONE and not ordered:
        status = pair_up(spans, other, one, distance, counters, begin)
    return status


@inlined
def sloppy(segment: SegmentArrays, row: int, state: DocumentState, room: Room) -> int:
    """Appends the spans of a phrase whose words may move."""
    ints = segment.ints
    inner = ints[row + N_INNER] != 0
    first, count, slop = int(ints[row + N_FIRST]), int(ints[row + N_COUNT]), int(ints[row + N_A])
    if cells_of(count, slop, inner) > room.parts.size:
        return NEED_PARTS
    parts = parts_in(room.parts, count, slop)
    for i in range(count):
        places = spans_of(int(ints[first + i]), state)
        parts.starts[i] = places.begin
        parts.ends[i] = places.end
    if inner:
        return all_together(room.spans, parts, slop, state.counters)
    if stand_together(room.spans, parts, slop, state.counters):
        state.counters[C_SPANS] += 1
    return DONE


@inlined
def not_near(segment: SegmentArrays, row: int, state: DocumentState, room: Room) -> int:
    """Appends the spans of the first operand that have none of the second within the distance."""
    ints, spans, counters = segment.ints, room.spans, state.counters
    operands, distance = int(ints[row + N_FIRST]), int(ints[row + N_A])
    mine, other = spans_of(int(ints[operands]), state), spans_of(int(ints[operands + 1]), state)
    begin = int(counters[C_SPANS])
    # The greatest end among the spans up to each.
    reach = begin + mine.end - mine.begin
    if reach + other.end - other.begin > spans.size:
        return no_room(spans, counters, begin)
    greatest = -1
    for i in range(other.end - other.begin):
        greatest = max(greatest, int(spans[other.begin + i] & END))
        spans[reach + i] = greatest
    for i in range(mine.begin, mine.end):
        low, high = spans[i] >> 32, spans[i] & END
        behind = first_from(spans, other.begin, other.end, high + distance + 1) - other.begin
        if behind == 0 or spans[reach + behind - 1] < low - distance:
            spans[counters[C_SPANS]] = spans[i]
            counters[C_SPANS] += 1
            if ints[row + N_INNER] == 0:
                break
    return DONE


@inlined
def together(segment: SegmentArrays, row: int, state: DocumentState, room: Room) -> int:
    """Appends something if all operands have a span in one and the same sentence or paragraph."""
    ints, spans, counters = segment.ints, room.spans, state.counters
    units = borders_of(1 + int(ints[row + N_A]), state, room)
    first = int(ints[row + N_FIRST])
    begin = int(counters[C_SPANS])
    count = 0
    for i in range(first, first + int(ints[row + N_COUNT])):
        mine = spans_of(int(ints[i]), state)
        if begin + count + mine.end - mine.begin > spans.size:
            return no_room(spans, counters, begin)
        found = units_of(spans, mine, room.borders, units, begin + count)
        count = found if i == first else in_both(spans, begin, count, found)
    if count > 0:
        counters[C_SPANS] = begin + 1
    return DONE


@inlined
def evaluate(segment: SegmentArrays, row: int, state: DocumentState, room: Room) -> int:
    """Appends the spans of one node, whose operands are known; DONE, or what is missing."""
    ints = segment.ints
    kind, a = int(ints[row + N_KIND]), int(ints[row + N_A])
    if kind == NODE_LEAF:
        return places_of_leaf(a, int(ints[row + N_B]), state, room)
    first = int(ints[row + N_FIRST])
    behind = first + int(ints[row + N_COUNT])
    for i in range(first, behind):
        state.counters[C_WORK] += state.nodes[MEMO * ints[i] + SPANS_COUNT]
    if kind == NODE_OR:
        return any_of(segment, first, behind, state, room)
    if kind == NODE_NEAR:
        return near(segment, row, state, room)
    if kind == NODE_SLOP:
        return sloppy(segment, row, state, room)
    if kind == NODE_NOT_NEAR:
        return not_near(segment, row, state, room)
    if kind != NODE_AT_LEAST and kind != NODE_FIRST:
        return together(segment, row, state, room)
    mine = spans_of(int(ints[first]), state)
    found = (
        at_least(room.spans, mine, a, state, room)
        if kind == NODE_AT_LEAST
        else within_first(room.spans, mine, a, state, room)
    )
    if found:
        state.counters[C_SPANS] += 1
    return DONE


@inlined
def before_evaluation(segment: SegmentArrays, row: int, depth: int, state: DocumentState) -> int:
    """DONE or OVER_BUDGET where the operands of a node decide it, _NOT_YET where it is to be evaluated,
    _OPERAND_FIRST where one is not known, which is then on the stack at `depth`.
    """
    ints, nodes = segment.ints, state.nodes
    kind = int(ints[row + N_KIND])
    first = int(ints[row + N_FIRST])
    status = _NOT_YET
    for i in range(first, first + int(ints[row + N_COUNT])):
        operand = MEMO * int(ints[i])
        if nodes[operand + KNOWN] == 0:
            nodes[(MEMO + 1) * int(segment.longs[H_NODES]) + depth] = ints[i]
            return _OPERAND_FIRST
        if nodes[operand + KNOWN] == _OVER_BUDGET:
            status = OVER_BUDGET
        elif nodes[operand + SPANS_COUNT] == 0:
            if kind != NODE_OR and not (kind == NODE_NOT_NEAR and i > first):
                return DONE
        elif kind == NODE_OR and ints[row + N_INNER] == 0:
            state.counters[C_SPANS] += 1
            return DONE
    return status


@inlined
def settle(segment: SegmentArrays, wanted: int, state: DocumentState, room: Room) -> int:
    """The truth of a positional node on the document: 1, 0, or what is missing (negative).

    A list of spans is sorted; a node that is no operand stops at its first span.
    """
    nodes, counters = state.nodes, state.counters
    stack = (MEMO + 1) * int(segment.longs[H_NODES])
    nodes[stack] = wanted
    depth = 1 if nodes[MEMO * wanted + KNOWN] == 0 else 0
    while depth > 0:
        node = int(nodes[stack + depth - 1])
        row = int(segment.longs[H_NODE]) + node * NODE
        begin = int(counters[C_SPANS])
        status = before_evaluation(segment, row, depth, state)
        if status == _OPERAND_FIRST:
            depth += 1
            continue
        if status == _NOT_YET:
            status = evaluate(segment, row, state, room)
        if status in (NEED_SPANS, NEED_PARTS):
            return -status
        end = int(counters[C_SPANS])
        if status == DONE and end > begin + 1 and segment.ints[row + N_KIND] != NODE_LEAF:
            end = tidied(room.spans, begin, end)
        counters[C_SPANS] = end
        nodes[MEMO * node + KNOWN] = _IS_KNOWN if status == DONE else _OVER_BUDGET
        nodes[MEMO * node + SPANS_BEGIN] = begin
        nodes[MEMO * node + SPANS_COUNT] = end - begin
        nodes[MEMO * int(segment.longs[H_NODES]) + counters[C_STEPS]] = node
        counters[C_STEPS] += 1
        counters[C_WORK] += segment.ints[row + N_COUNT] + end - begin
        depth -= 1
    if nodes[MEMO * wanted + KNOWN] == _OVER_BUDGET:
        return -OVER_BUDGET
    return 1 if nodes[MEMO * wanted + SPANS_COUNT] > 0 else 0
