"""Stored runs come back to the pools; under another plan their registers are evaluated again."""

from __future__ import annotations

from cep.operators.patterns.kernel.alternatives import new_row
from cep.operators.patterns.kernel.bytecode import take
from cep.operators.patterns.kernel.layout import (
    C_ALTS,
    C_FORKS,
    C_LISTS,
    C_NEED,
    C_NODES,
    C_NODES_NEED,
    C_RUNS,
    C_WIDTH,
    EACH,
    HALF,
    KEPT_ALTS,
    KEPT_FORK,
    KEPT_KEY,
    KEPT_LIST,
    KEPT_NODES,
    KEPT_RUN,
    KEPT_RUN_ALTS,
    KEPT_RUNS,
    KEPT_SEEN,
    KEPT_START,
    KEPT_TIME,
    L_ALTS,
    L_SEEN,
    LIST,
    LOWER,
    N_EDGE,
    N_EVENT,
    N_PREVIOUS,
    N_SEQUENCE,
    NODE,
    NONE,
    R_ALT,
    R_FORK,
    SPLICE,
    T_NEXT,
    T_NODE,
    T_STATE,
    Ints,
    Pools,
    ReadOnlyInts,
    Rule,
    StoredRuns,
)
from cep.operators.patterns.kernel.runs import assess, new_list, new_run
from cep.operators.patterns.kernel.tables import H_INITIAL, H_NULLS, H_VALUES
from kernels.family import inlined


def placed(chain: int, base: int) -> int:
    """A chain of a list whose nodes lie from `base` on, by its numbers of nodes within the list."""
    if chain < 0:
        return NONE
    splice = chain >> HALF
    found = base + (chain & LOWER) * NODE
    return int(found if splice == 0 else found + ((base + (splice - 1) * NODE + 1) << HALF))


@inlined
def copy_stored(stored: ReadOnlyInts, at: int, own: int, node: int, rows: Ints, cursor: Ints) -> int:
    """Copy a stored alternative that is no fork into a free row; `own` and `node` as in `copy_all_stored`."""
    new = new_row(rows, cursor)
    for k in range(T_STATE, own):
        rows[new + k] = stored[at + k]
    rows[new + T_NODE] = placed(stored[at + T_NODE], node)
    return new


def copy_all_stored(
    stored: ReadOnlyInts, row: int, end: int, own: int, node: int, rows: Ints, cursor: Ints
) -> int:
    """Copy stored alternatives, each before those in it, into free rows and link them; the first of them.

    `own` is how many columns the rule has of a row; `node` where the nodes of the list begin.
    """
    head = tail = NONE
    while row < end:
        at = row * cursor[C_WIDTH]
        after = row + stored[at + T_NEXT]
        if stored[at + T_STATE] > EACH:
            new = copy_stored(stored, at, own, node, rows, cursor)
        else:
            new = new_row(rows, cursor)
            for k in range(T_STATE, own):
                rows[new + k] = stored[at + k]
            rows[new + T_NODE] = copy_all_stored(stored, row + 1, after, own, node, rows, cursor)
        if head < 0:
            head = new
        else:
            rows[tail + T_NEXT] = new
        tail = new
        row = after
    return int(head)


@inlined
def load_nodes(stored: StoredRuns, nodes: Ints, cursor: Ints, number: int) -> None:
    """Copy the nodes of a stored list behind those that are there."""
    base = cursor[C_NODES]
    first = stored.firsts[3 * number + 2]
    count = stored.lists[number * KEPT_LIST + KEPT_NODES]
    for k in range(count):
        node = base + k * NODE
        one = (first + k) * NODE
        previous = stored.nodes[one + N_PREVIOUS]
        nodes[node + N_PREVIOUS] = NONE if previous < 0 else base + previous * NODE
        nodes[node + N_EDGE] = stored.nodes[one + N_EDGE]
        event = stored.nodes[one + N_EVENT]
        nodes[node + N_EVENT] = placed(event, base) if stored.nodes[one + N_EDGE] == SPLICE else event
        nodes[node + N_SEQUENCE] = stored.nodes[one + N_SEQUENCE]
    cursor[C_NODES] = base + count * NODE


@inlined
def load(stored: StoredRuns, pools: Pools, list_of_key: Ints, rule: int, own: int, number: int) -> bool:
    """Load a stored list of the rule in that row, whose alternatives have `own` columns.

    Returns False where there is too little room for it.
    """
    lists, runs = pools.lists, pools.runs
    alternatives = pools.alternatives
    rows, nodes, cursor = alternatives.rows, alternatives.nodes, alternatives.cursor
    source = number * KEPT_LIST
    count = stored.lists[source + KEPT_RUNS]
    need = max(count, stored.lists[source + KEPT_ALTS], stored.lists[source + KEPT_NODES])
    cursor[C_NEED] = cursor[C_NODES_NEED] = need
    if (
        cursor[C_ALTS] < need
        or cursor[C_RUNS] < need
        or cursor[C_LISTS] + LIST > len(lists)
        or cursor[C_NODES] + need * NODE > len(nodes)
    ):
        return False
    at = new_list(list_of_key, lists, stored.lists[source + KEPT_KEY], rule, cursor)
    lists[at + L_SEEN] = stored.lists[source + KEPT_SEEN]
    lists[at + L_ALTS] = stored.lists[source + KEPT_ALTS]
    base = cursor[C_NODES]
    load_nodes(stored, nodes, cursor, number)
    row = stored.firsts[3 * number + 1]
    before = NONE
    for k in range(stored.firsts[3 * number], stored.firsts[3 * number] + count):
        one = k * KEPT_RUN
        run = new_run(
            lists, runs, at, before, stored.runs[one + KEPT_START], stored.runs[one + KEPT_TIME], cursor
        )
        runs[run + R_FORK] = stored.runs[one + KEPT_FORK]
        if stored.runs[one + KEPT_FORK] > cursor[C_FORKS]:
            cursor[C_FORKS] = stored.runs[one + KEPT_FORK]
        end = row + stored.runs[one + KEPT_RUN_ALTS]
        first = row * cursor[C_WIDTH]
        if end == row + 1 and stored.rows[first + T_STATE] > EACH:
            runs[run + R_ALT] = copy_stored(stored.rows, first, own, base, rows, cursor)
        else:
            runs[run + R_ALT] = copy_all_stored(stored.rows, row, end, own, base, rows, cursor)
        assess(lists, runs, rows, at, run)
        before = run
        row = end
    return True


@inlined
def unfolded(nodes: Ints, chain: int, base: int, path: Ints) -> int:
    """Write a stored chain's nodes, of a list that begins at `base`, into `path`, last first; how many."""
    length = 0
    while chain >= 0:
        path[length] = base + (chain & LOWER) * NODE
        splice = base + ((chain >> HALF) - 1) * NODE
        previous = nodes[path[length] + N_PREVIOUS]
        if splice >= base and nodes[path[length] + N_SEQUENCE] == nodes[splice + N_SEQUENCE]:
            chain = nodes[splice + N_EVENT]
        else:
            chain = NONE if previous < 0 else previous + (chain >> HALF << HALF)
        length += 1
    return length


def replay(rule: Rule, lists: Ints, rows: Ints, nodes: Ints, updates: Ints, path: Ints, cursor: Ints) -> None:
    """Evaluate the registers of a rule's stored alternatives again from the events that they took.

    `lists`, `rows` and `nodes` are rows as they are stored. `updates` gives each edge's updates (place,
    number); `path` is room for the longest chain of nodes. The last two slots are scratch.
    """
    tables = rule.tables
    width = cursor[C_WIDTH]
    row = base = 0
    for at in range(0, len(lists), KEPT_LIST):
        end = row + lists[at + KEPT_ALTS] * width
        while row < end:
            for k in range(tables[H_NULLS], width):
                rows[row + k] = 0
            for k in range(tables[H_VALUES] - tables[H_NULLS]):
                rows[row + tables[H_NULLS] + k] = tables[tables[H_INITIAL] + k]
            chain = rows[row + T_NODE] if rows[row + T_STATE] > EACH else NONE
            for k in range(unfolded(nodes, chain, base, path) - 1, -1, -1):
                edge = nodes[path[k] + N_EDGE]
                event = nodes[path[k] + N_EVENT]
                take(rule, updates[2 * edge], updates[2 * edge + 1], event, row, rows, cursor)
            row += width
        base += lists[at + KEPT_NODES] * NODE
