"""Kept runs come back to the pools; their registers are worked out anew under another plan."""

from __future__ import annotations

from cep.operators.patterns.kernel.alternatives import new_thread
from cep.operators.patterns.kernel.bytecode import take
from cep.operators.patterns.kernel.layout import (
    C_FORKS,
    C_LISTS,
    C_NEED,
    C_NODES,
    C_NODES_NEED,
    C_RUNS,
    C_THREADS,
    C_WIDTH,
    EACH,
    HALF,
    KEPT_FORK,
    KEPT_KEY,
    KEPT_LIST,
    KEPT_NODES,
    KEPT_RUN,
    KEPT_RUNS,
    KEPT_SEEN,
    KEPT_START,
    KEPT_THREADS,
    KEPT_TIME,
    KEPT_WAYS,
    L_SEEN,
    L_THREADS,
    LIST,
    LOWER,
    N_EDGE,
    N_EVENT,
    N_PREVIOUS,
    N_SEQUENCE,
    NODE,
    NONE,
    R_FORK,
    R_THREAD,
    SPLICE,
    T_NEXT,
    T_NODE,
    T_STATE,
    Ints,
    Kept,
    KeptInts,
    Pools,
    Rule,
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
def way_of(kept: KeptInts, at: int, own: int, node: int, threads: Ints, cursor: Ints) -> int:
    """Copy a kept way that is no fork into a free row; `own` and `node` as in `ways_of`."""
    new = new_thread(threads, cursor)
    for k in range(T_STATE, own):
        threads[new + k] = kept[at + k]
    threads[new + T_NODE] = placed(kept[at + T_NODE], node)
    return new


def ways_of(kept: KeptInts, row: int, end: int, own: int, node: int, threads: Ints, cursor: Ints) -> int:
    """Copy kept ways, each before those in it, into free rows and link them; the first of them.

    `own` is how many columns the rule has of a row; `node` where the nodes of the list begin.
    """
    head = tail = NONE
    while row < end:
        at = row * cursor[C_WIDTH]
        after = row + kept[at + T_NEXT]
        if kept[at + T_STATE] > EACH:
            new = way_of(kept, at, own, node, threads, cursor)
        else:
            new = new_thread(threads, cursor)
            for k in range(T_STATE, own):
                threads[new + k] = kept[at + k]
            threads[new + T_NODE] = ways_of(kept, row + 1, after, own, node, threads, cursor)
        if head < 0:
            head = new
        else:
            threads[tail + T_NEXT] = new
        tail = new
        row = after
    return int(head)


@inlined
def load_nodes(kept: Kept, nodes: Ints, cursor: Ints, number: int) -> None:
    """Copy the nodes of a kept list behind those that are there."""
    base = cursor[C_NODES]
    first = kept.firsts[3 * number + 2]
    count = kept.lists[number * KEPT_LIST + KEPT_NODES]
    for k in range(count):
        node = base + k * NODE
        one = (first + k) * NODE
        previous = kept.nodes[one + N_PREVIOUS]
        nodes[node + N_PREVIOUS] = NONE if previous < 0 else base + previous * NODE
        nodes[node + N_EDGE] = kept.nodes[one + N_EDGE]
        event = kept.nodes[one + N_EVENT]
        nodes[node + N_EVENT] = placed(event, base) if kept.nodes[one + N_EDGE] == SPLICE else event
        nodes[node + N_SEQUENCE] = kept.nodes[one + N_SEQUENCE]
    cursor[C_NODES] = base + count * NODE


@inlined
def load(kept: Kept, pools: Pools, list_of_key: Ints, rule: int, own: int, number: int) -> bool:
    """Bring a kept list back to life, of the rule in that row, whose ways have `own` columns.

    Returns False where there is too little room for it.
    """
    lists, runs = pools.lists, pools.runs
    alternatives = pools.alternatives
    threads, nodes, cursor = alternatives.threads, alternatives.nodes, alternatives.cursor
    source = number * KEPT_LIST
    count = kept.lists[source + KEPT_RUNS]
    need = max(count, kept.lists[source + KEPT_THREADS], kept.lists[source + KEPT_NODES])
    cursor[C_NEED] = cursor[C_NODES_NEED] = need
    if (
        cursor[C_THREADS] < need
        or cursor[C_RUNS] < need
        or cursor[C_LISTS] + LIST > len(lists)
        or cursor[C_NODES] + need * NODE > len(nodes)
    ):
        return False
    at = new_list(list_of_key, lists, kept.lists[source + KEPT_KEY], rule, cursor)
    lists[at + L_SEEN] = kept.lists[source + KEPT_SEEN]
    lists[at + L_THREADS] = kept.lists[source + KEPT_THREADS]
    base = cursor[C_NODES]
    load_nodes(kept, nodes, cursor, number)
    row = kept.firsts[3 * number + 1]
    before = NONE
    for k in range(kept.firsts[3 * number], kept.firsts[3 * number] + count):
        one = k * KEPT_RUN
        run = new_run(
            lists, runs, at, before, kept.runs[one + KEPT_START], kept.runs[one + KEPT_TIME], cursor
        )
        runs[run + R_FORK] = kept.runs[one + KEPT_FORK]
        if kept.runs[one + KEPT_FORK] > cursor[C_FORKS]:
            cursor[C_FORKS] = kept.runs[one + KEPT_FORK]
        end = row + kept.runs[one + KEPT_WAYS]
        first = row * cursor[C_WIDTH]
        if end == row + 1 and kept.threads[first + T_STATE] > EACH:
            runs[run + R_THREAD] = way_of(kept.threads, first, own, base, threads, cursor)
        else:
            runs[run + R_THREAD] = ways_of(kept.threads, row, end, own, base, threads, cursor)
        assess(lists, runs, threads, at, run)
        before = run
        row = end
    return True


@inlined
def unfolded(nodes: Ints, chain: int, base: int, path: Ints) -> int:
    """Write the nodes of a kept chain, whose list's begin at `base`, into `path`, last first; how many."""
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


def replay(
    rule: Rule, lists: Ints, threads: Ints, nodes: Ints, updates: Ints, path: Ints, cursor: Ints
) -> None:
    """Work out the registers of a rule's kept ways anew from the events that they took.

    `lists`, `threads` and `nodes` are rows as they are kept. `updates` gives each edge's updates (place,
    number); `path` is room for the longest chain of nodes. The last two slots are scratch.
    """
    tables = rule.tables
    width = cursor[C_WIDTH]
    row = base = 0
    for at in range(0, len(lists), KEPT_LIST):
        end = row + lists[at + KEPT_THREADS] * width
        while row < end:
            for k in range(tables[H_NULLS], width):
                threads[row + k] = 0
            for k in range(tables[H_VALUES] - tables[H_NULLS]):
                threads[row + tables[H_NULLS] + k] = tables[tables[H_INITIAL] + k]
            chain = threads[row + T_NODE] if threads[row + T_STATE] > EACH else NONE
            for k in range(unfolded(nodes, chain, base, path) - 1, -1, -1):
                edge = nodes[path[k] + N_EDGE]
                event = nodes[path[k] + N_EVENT]
                take(rule, updates[2 * edge], updates[2 * edge + 1], event, row, threads, cursor)
            row += width
        base += lists[at + KEPT_NODES] * NODE
