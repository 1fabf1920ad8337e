"""Room in the pools for the next event; what it needs is noted in the cursor."""

from __future__ import annotations

from cep.operators.patterns.kernel.layout import (
    C_ALTS,
    C_CHAINS,
    C_LISTS,
    C_MATCHES,
    C_NEED,
    C_NODES,
    C_NODES_NEED,
    C_RUNS,
    C_SHORT,
    C_TRACES,
    EACH,
    L_ALTS,
    L_FIRST,
    L_RUNS,
    LIST,
    MATCH,
    MATCHED,
    NODE,
    NONE,
    R_ALT,
    R_NEXT,
    T_NEXT,
    T_NODE,
    T_STATE,
    Ints,
    Pools,
)
from cep.operators.patterns.kernel.tables import (
    H_FORK,
    H_MOST_ALTS,
    H_PARK,
    H_QUESTIONS,
    H_STATES,
    S_ROWS,
    S_TRANSITIONS,
    STATE,
)
from cep.operators.patterns.kernel.trace import TRACE
from kernels.family import inlined

# A thinned run has less than so many rows for each alternative: its own, and forks around it. From so many
# rows on that an event might need at most it is measured how many it needs.
ROWS_PER_ALTERNATIVE = 4
MEASURED_FROM = 1 << 18


def most_rows(tables: Ints, rows: Ints, head: int, nodes: int) -> tuple[int, int]:
    """The rows that alternatives may need for an event before they give any back; nodes, added to `nodes`."""
    count = 0
    row = head
    while row >= 0:
        state = rows[row + T_STATE]
        if state <= EACH:
            more, nodes = most_rows(tables, rows, rows[row + T_NODE], nodes)
            count += 1 + more
        elif state != MATCHED:
            at = tables[H_STATES] + state * STATE
            count += tables[at + S_ROWS]
            nodes += tables[at + S_TRANSITIONS]
        row = rows[row + T_NEXT]
    return int(count), int(nodes)


def measure(tables: Ints, lists: Ints, runs: Ints, rows: Ints, at: int, cursor: Ints) -> None:
    """Note how much room an event needs, run by run: each is thinned before the next one is shown it."""
    total = most = tables[tables[H_STATES] + S_ROWS]
    nodes = tables[tables[H_STATES] + S_TRANSITIONS]
    run = NONE if at < 0 else lists[at + L_FIRST]
    while run >= 0:
        count, nodes = most_rows(tables, rows, runs[run + R_ALT], nodes)
        total += min(count, ROWS_PER_ALTERNATIVE * (tables[H_MOST_ALTS] + 1))
        most = max(most, count)
        run = runs[run + R_NEXT]
    cursor[C_NEED] = total + most
    cursor[C_NODES_NEED] = nodes


@inlined
def too_small(lists: Ints, nodes: Ints, matches: Ints, cursor: Ints, trace: Ints) -> bool:
    """True if some pool lacks the room that the cursor says is needed."""
    need = cursor[C_NEED]
    return bool(
        cursor[C_ALTS] < need
        or cursor[C_RUNS] < need
        or cursor[C_SHORT] == 1
        or cursor[C_LISTS] + LIST > len(lists)
        or cursor[C_NODES] + cursor[C_NODES_NEED] * NODE > len(nodes)
        or cursor[C_MATCHES] + (need + 1) * MATCH > len(matches)
        or (cursor[C_TRACES] >= 0 and cursor[C_TRACES] + 4 * (need + 4) * TRACE > len(trace))
    )


@inlined
def crowded(tables: Ints, pools: Pools, at: int) -> bool:
    """True if an event might find too little room in a pool; what it needs is noted in the cursor."""
    lists, runs, matches = pools.lists, pools.runs, pools.matches
    alternatives = pools.alternatives
    rows, nodes, cursor, trace = alternatives
    living = 1 if at < 0 else lists[at + L_ALTS] + 1
    need = living * tables[H_FORK]
    cursor[C_NEED] = cursor[C_NODES_NEED] = need
    if cursor[C_CHAINS] == 0 and tables[H_QUESTIONS] > 0 and at >= 0 and lists[at + L_RUNS] > tables[H_PARK]:
        cursor[C_SHORT] = 1
    if not too_small(lists, nodes, matches, cursor, trace):
        return False
    if need <= MEASURED_FROM:
        return True
    measure(tables, lists, runs, rows, at, cursor)
    return too_small(lists, nodes, matches, cursor, trace)
