"""Chains of nodes: the events that alternatives took, shared by those that took the same (decision 0022)."""

from __future__ import annotations

from cep.operators.patterns.kernel.layout import (
    BACKBONES,
    C_EVENT,
    C_JOINS,
    C_NODES,
    C_SEQUENCE,
    C_SHOWN,
    C_TRACES,
    EACH,
    HALF,
    JOIN_SLOTS,
    LOWER,
    MATCHED,
    N_EDGE,
    N_EVENT,
    N_PREVIOUS,
    N_SEQUENCE,
    NODE,
    NONE,
    SPLICE,
    T_NEXT,
    T_NODE,
    T_STATE,
    Ints,
)
from cep.operators.patterns.kernel.tables import H_STEPS


def without_last(nodes: Ints, chain: int) -> int:
    """The chain without its last node, or none."""
    node = chain & LOWER
    splice = chain >> HALF
    if splice > 0 and nodes[node + N_SEQUENCE] == nodes[splice - 1 + N_SEQUENCE]:
        return int(nodes[splice - 1 + N_EVENT])
    previous = nodes[node + N_PREVIOUS]
    return NONE if previous < 0 else int(previous + (splice << HALF))


def taken_node(nodes: Ints, chain: int, edge: int, i: int, backbones: int, cursor: Ints) -> int:
    """The chain of an alternative after event i along an edge, of nodes that others made where it can be."""
    previous = NONE if chain < 0 else chain & LOWER
    splice = 0 if chain < 0 else chain >> HALF
    node = cursor[C_NODES]
    slot = C_JOINS + edge % JOIN_SLOTS * BACKBONES
    count = 0
    while count < BACKBONES:
        known = cursor[slot + count]
        if not (cursor[C_SHOWN] <= known < node and nodes[known + N_EDGE] == edge):
            break
        if nodes[known + N_PREVIOUS] == previous:
            return int(known + (splice << HALF))
        count += 1
    cursor[C_NODES] = node + NODE
    nodes[node + N_SEQUENCE] = cursor[C_SEQUENCE] + i
    if 0 < count >= backbones and cursor[C_TRACES] < 0:
        nodes[node + N_PREVIOUS] = NONE
        nodes[node + N_EDGE] = SPLICE
        nodes[node + N_EVENT] = chain
        return int(cursor[slot] + ((node + 1) << HALF))
    nodes[node + N_PREVIOUS] = previous
    nodes[node + N_EDGE] = edge
    nodes[node + N_EVENT] = cursor[C_EVENT] + i
    if count < BACKBONES:
        cursor[slot + count] = node
    return int(node + (splice << HALF))


def taken_by(tables: Ints, nodes: Ints, chain: int, step: int) -> int:
    """A chain up to its last node that is of a step."""
    while chain >= 0 and tables[tables[H_STEPS] + nodes[(chain & LOWER) + N_EDGE]] != step:
        chain = without_last(nodes, chain)
    return chain


def earlier(nodes: Ints, one: int, other: int) -> bool:
    """True if of two chains the first comes before the other, by arrival of the events taken, in order."""
    longer = 0
    chain = one
    while chain >= 0:
        longer += 1
        chain = without_last(nodes, chain)
    chain = other
    while chain >= 0:
        longer -= 1
        chain = without_last(nodes, chain)
    comes_first = longer < 0
    while longer > 0:
        one = without_last(nodes, one)
        longer -= 1
    while longer < 0:
        other = without_last(nodes, other)
        longer += 1
    # Walking back, the difference seen last is the first one.
    while one >= 0 and one != other:
        mine = nodes[(one & LOWER) + N_SEQUENCE]
        its = nodes[(other & LOWER) + N_SEQUENCE]
        if mine != its:
            comes_first = mine < its
        one = without_last(nodes, one)
        other = without_last(nodes, other)
    return bool(comes_first)


def earliest(rows: Ints, nodes: Ints, head: int, best: int) -> int:
    """The complete alternative that comes first, of these and the one given."""
    if head < 0:
        return best
    if rows[head + T_STATE] == MATCHED:
        if best < 0 or earlier(nodes, rows[head + T_NODE], rows[best + T_NODE]):
            return head
        return best
    if rows[head + T_STATE] == EACH:
        fork = rows[head + T_NODE]
        while fork >= 0:
            best = earliest(rows, nodes, rows[fork + T_NODE], best)
            fork = rows[fork + T_NEXT]
    return best
