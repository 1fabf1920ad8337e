"""Runs that live on are written out, and what matches took; nodes that nothing names are dropped."""

from __future__ import annotations

from cep.operators.patterns.kernel.chains import without_last
from cep.operators.patterns.kernel.layout import (
    A_EDGE,
    A_SEQUENCE,
    AN_EVENT,
    C_ALT,
    C_ALTS,
    C_BLANK,
    C_FRESH_ALT,
    C_FRESH_RUN,
    C_FULL,
    C_KEPT_ALTS,
    C_KEPT_LISTS,
    C_KEPT_NODES,
    C_KEPT_RUNS,
    C_LIST_NODES,
    C_LISTS,
    C_MATCHES,
    C_NODES,
    C_OWN_LISTS,
    C_RUN,
    C_RUNS,
    C_TAKEN,
    C_WIDTH,
    C_WRITTEN,
    EACH,
    END_OF_TIME,
    G_PLACE,
    G_UNTIL,
    GREATEST,
    HALF,
    KEPT_ALTS,
    KEPT_DUE,
    KEPT_FORK,
    KEPT_KEY,
    KEPT_LIST,
    KEPT_NODES,
    KEPT_RULE,
    KEPT_RUN,
    KEPT_RUN_ALTS,
    KEPT_RUNS,
    KEPT_SEEN,
    KEPT_START,
    KEPT_TIME,
    L_FIRST,
    L_KEY,
    L_NEXT,
    L_PARKED,
    L_RULE,
    L_SEEN,
    LEAST,
    LIST,
    LOWER,
    M_NODE,
    MARK,
    MATCH,
    N_EDGE,
    N_EVENT,
    N_PREVIOUS,
    N_SEQUENCE,
    NODE,
    NONE,
    R_ALT,
    R_DEADLINE,
    R_FORK,
    R_NEXT,
    R_START,
    R_TIME,
    RULE,
    RUN,
    SPLICE,
    T_NEXT,
    T_NODE,
    T_STATE,
    TAKEN,
    U_RULE,
    U_TABLES,
    U_TABLES_END,
    Alternatives,
    Batch,
    Ints,
    Output,
    Pools,
)
from cep.operators.patterns.kernel.tables import H_ALT, H_NULLS, H_VALUES
from cep.operators.patterns.kernel.wait_index import unpark
from kernels.family import inlined


def unmark(nodes: int, marks: Ints) -> None:
    """Let so many nodes be named by nothing (`mark`), and have no new place."""
    for node in range(0, nodes * MARK, MARK):
        marks[node + G_PLACE] = 0
        marks[node + G_UNTIL] = GREATEST


def mark(nodes: Ints, chain: int, marks: Ints) -> None:
    """Mark the nodes of a chain, and its splices: G_UNTIL is the sequence number down to which chains go on
    from a node to those before it."""
    while chain >= 0:
        node = chain & LOWER
        splice = (chain >> HALF) - 1
        until = LEAST if splice < 0 else nodes[splice + N_SEQUENCE]
        while node >= 0 and marks[node // NODE * MARK + G_UNTIL] > until:
            marks[node // NODE * MARK + G_UNTIL] = until
            node = NONE if nodes[node + N_SEQUENCE] == until else nodes[node + N_PREVIOUS]
        if splice < 0 or marks[splice // NODE * MARK + G_UNTIL] == LEAST:
            return
        marks[splice // NODE * MARK + G_UNTIL] = LEAST
        chain = nodes[splice + N_EVENT]


def mark_alternatives(rows: Ints, nodes: Ints, head: int, marks: Ints) -> None:
    """Mark the nodes that alternatives and those in them name."""
    row = head
    while row >= 0:
        if rows[row + T_STATE] <= EACH:
            mark_alternatives(rows, nodes, rows[row + T_NODE], marks)
        else:
            mark(nodes, rows[row + T_NODE], marks)
        row = rows[row + T_NEXT]


def mark_runs(runs: Ints, rows: Ints, nodes: Ints, run: int, marks: Ints) -> None:
    """Mark the nodes that a run and those after it name."""
    while run >= 0:
        mark_alternatives(rows, nodes, runs[run + R_ALT], marks)
        run = runs[run + R_NEXT]


def keep_nodes(nodes: Ints, node: int, marks: Ints, kept: Ints, cursor: Ints) -> int:
    """Write out a marked node and those before it that are not there yet, the first one first; its number.

    G_PLACE of a node that is there is its number within the list, and one more.
    """
    fresh = 0
    one = node
    while one >= 0 and marks[one // NODE * MARK + G_PLACE] == 0:
        fresh += 1
        one = (
            NONE
            if nodes[one + N_SEQUENCE] <= marks[one // NODE * MARK + G_UNTIL]
            else nodes[one + N_PREVIOUS]
        )
    previous = NONE if one < 0 else marks[one // NODE * MARK + G_PLACE] - 1
    first = cursor[C_KEPT_NODES] - cursor[C_LIST_NODES]
    one = node
    for number in range(first + fresh - 1, first - 1, -1):
        at = (cursor[C_LIST_NODES] + number) * NODE
        kept[at + N_PREVIOUS] = number - 1 if number > first else previous
        kept[at + N_EDGE] = nodes[one + N_EDGE]
        kept[at + N_EVENT] = nodes[one + N_EVENT]
        kept[at + N_SEQUENCE] = nodes[one + N_SEQUENCE]
        marks[one // NODE * MARK + G_PLACE] = number + 1
        one = nodes[one + N_PREVIOUS]
    cursor[C_KEPT_NODES] += fresh
    return int(marks[node // NODE * MARK + G_PLACE] - 1)


@inlined
def keep_chain(nodes: Ints, chain: int, marks: Ints, kept: Ints, cursor: Ints) -> int:
    """Write out what of a marked chain is not there yet; the chain by its numbers within the list."""
    found = named_by = NONE
    while chain >= 0:
        number = keep_nodes(nodes, chain & LOWER, marks, kept, cursor)
        splice = (chain >> HALF) - 1
        fresh = splice >= 0 and marks[splice // NODE * MARK + G_PLACE] == 0
        if fresh:
            marks[splice // NODE * MARK + G_PLACE] = cursor[C_KEPT_NODES] - cursor[C_LIST_NODES] + 1
            at = cursor[C_KEPT_NODES] * NODE
            kept[at + N_PREVIOUS] = NONE
            kept[at + N_EDGE] = SPLICE
            kept[at + N_EVENT] = NONE
            kept[at + N_SEQUENCE] = nodes[splice + N_SEQUENCE]
            cursor[C_KEPT_NODES] += 1
        if splice >= 0:
            number += marks[splice // NODE * MARK + G_PLACE] << HALF
        if named_by < 0:
            found = number
        else:
            kept[named_by] = number
        if not fresh:
            break
        named_by = at + N_EVENT
        chain = nodes[splice + N_EVENT]
    return int(found)


@inlined
def keep_alternative(tables: Ints, alternatives: Alternatives, output: Output, row: int) -> None:
    """Write out an alternative that is no fork, with the nodes that it names."""
    rows, kept, cursor = alternatives.rows, output.rows, alternatives.cursor
    width = cursor[C_WIDTH]
    at = cursor[C_KEPT_ALTS] * width
    cursor[C_KEPT_ALTS] += 1
    own = tables[H_ALT]
    kept[at + T_NEXT] = 1
    for k in range(T_STATE, own):
        kept[at + k] = rows[row + k]
    for k in range(own, width):
        kept[at + k] = 0
    kept[at + T_NODE] = keep_chain(alternatives.nodes, rows[row + T_NODE], output.marks, output.nodes, cursor)


def keep_alternatives(tables: Ints, alternatives: Alternatives, output: Output, head: int) -> None:
    """Write out alternatives, each before those in it, with the nodes that they name."""
    rows, kept, cursor = alternatives.rows, output.rows, alternatives.cursor
    width = cursor[C_WIDTH]
    row = head
    while row >= 0:
        if rows[row + T_STATE] > EACH:
            keep_alternative(tables, alternatives, output, row)
        else:
            place = cursor[C_KEPT_ALTS]
            cursor[C_KEPT_ALTS] = place + 1
            at = place * width
            # A fork has no values of its own: they are null.
            for k in range(width):
                kept[at + k] = 0
            kept[at + T_STATE] = rows[row + T_STATE]
            for k in range(tables[H_NULLS], tables[H_VALUES]):
                kept[at + k] = -1
            keep_alternatives(tables, alternatives, output, rows[row + T_NODE])
            kept[at + T_NEXT] = cursor[C_KEPT_ALTS] - place
        row = rows[row + T_NEXT]


@inlined
def list_by_key(list_of_key: Ints, listed: Ints, lists: Ints, cursor: Ints) -> None:
    """Link the lists of the rule at hand that have runs to those of earlier rules with the same key."""
    for at in range(cursor[C_OWN_LISTS], cursor[C_LISTS], LIST):
        key = lists[at + L_KEY]
        list_of_key[key] = NONE
        if lists[at + L_FIRST] < 0:
            continue
        before = listed[2 * key + 1]
        if before < 0:
            listed[2 * key] = at
        else:
            lists[before + L_NEXT] = at
        listed[2 * key + 1] = at
        lists[at + L_NEXT] = NONE


def write_taken(nodes: Ints, matches: Ints, taken: Ints, cursor: Ints) -> bool:
    """Write out what the matches of a block took, first event first; False where there is too little room."""
    total = 0
    for match in range(cursor[C_WRITTEN], cursor[C_MATCHES], MATCH):
        chain = matches[match + M_NODE]
        while chain >= 0:
            total += TAKEN
            chain = without_last(nodes, chain)
    if cursor[C_TAKEN] + total > len(taken):
        cursor[C_FULL] = cursor[C_TAKEN] + total
        return False
    for match in range(cursor[C_WRITTEN], cursor[C_MATCHES], MATCH):
        head = matches[match + M_NODE]
        chain = head
        while chain >= 0:
            cursor[C_TAKEN] += TAKEN
            chain = without_last(nodes, chain)
        matches[match + M_NODE] = cursor[C_TAKEN] // TAKEN
        at = cursor[C_TAKEN]
        chain = head
        while chain >= 0:
            node = chain & LOWER
            at -= TAKEN
            taken[at + A_EDGE] = nodes[node + N_EDGE]
            taken[at + AN_EVENT] = nodes[node + N_EVENT]
            taken[at + A_SEQUENCE] = nodes[node + N_SEQUENCE]
            chain = without_last(nodes, chain)
    cursor[C_WRITTEN] = cursor[C_MATCHES]
    return True


@inlined
def keep_list(batch: Batch, pools: Pools, output: Output, at: int) -> None:
    """Write out a list with all that belongs to it."""
    lists, runs = pools.lists, pools.runs
    alternatives = pools.alternatives
    rows, cursor = alternatives.rows, alternatives.cursor
    u = lists[at + L_RULE] * RULE
    own = batch.tables[batch.rules[u + U_TABLES] : batch.rules[u + U_TABLES_END]]
    to = cursor[C_KEPT_LISTS] * KEPT_LIST
    before = cursor[C_KEPT_RUNS]
    first_alt = cursor[C_KEPT_ALTS]
    cursor[C_LIST_NODES] = cursor[C_KEPT_NODES]
    mark_runs(runs, rows, alternatives.nodes, lists[at + L_FIRST], output.marks)
    due = END_OF_TIME
    run = lists[at + L_FIRST]
    while run >= 0:
        alts = cursor[C_KEPT_ALTS]
        head = runs[run + R_ALT]
        if rows[head + T_NEXT] < 0 and rows[head + T_STATE] > EACH:
            keep_alternative(own, alternatives, output, head)
        else:
            keep_alternatives(own, alternatives, output, head)
        one = cursor[C_KEPT_RUNS] * KEPT_RUN
        output.runs[one + KEPT_START] = runs[run + R_START]
        output.runs[one + KEPT_TIME] = runs[run + R_TIME]
        output.runs[one + KEPT_FORK] = runs[run + R_FORK]
        output.runs[one + KEPT_RUN_ALTS] = cursor[C_KEPT_ALTS] - alts
        if runs[run + R_DEADLINE] < due:
            due = runs[run + R_DEADLINE]
        cursor[C_KEPT_RUNS] += 1
        run = runs[run + R_NEXT]
    output.lists[to + KEPT_KEY] = lists[at + L_KEY]
    output.lists[to + KEPT_RULE] = batch.rules[u + U_RULE]
    output.lists[to + KEPT_SEEN] = lists[at + L_SEEN]
    output.lists[to + KEPT_RUNS] = cursor[C_KEPT_RUNS] - before
    output.lists[to + KEPT_ALTS] = cursor[C_KEPT_ALTS] - first_alt
    output.lists[to + KEPT_NODES] = cursor[C_KEPT_NODES] - cursor[C_LIST_NODES]
    output.lists[to + KEPT_DUE] = due
    cursor[C_KEPT_LISTS] += 1


@inlined
def keep(batch: Batch, pools: Pools, output: Output, listed: Ints, first_key: int, end_key: int) -> bool:
    """Write out the lists of a block that have runs, key by key; False where there is too little room."""
    lists, runs = pools.lists, pools.runs
    alternatives = pools.alternatives
    rows, cursor = alternatives.rows, alternatives.cursor
    width = cursor[C_WIDTH]
    if (
        cursor[C_KEPT_LISTS] + cursor[C_LISTS] // LIST > len(output.lists) // KEPT_LIST
        or cursor[C_KEPT_RUNS] + len(runs) // RUN - cursor[C_RUNS] > len(output.runs) // KEPT_RUN
        or cursor[C_KEPT_ALTS] + len(rows) // width - cursor[C_ALTS] > len(output.rows) // width
        or cursor[C_KEPT_NODES] + cursor[C_NODES] // NODE > len(output.nodes) // NODE
    ):
        cursor[C_FULL] = 1
        return False
    unmark(cursor[C_NODES] // NODE, output.marks)
    for key in range(first_key, end_key):
        at = listed[2 * key]
        listed[2 * key] = listed[2 * key + 1] = NONE
        while at >= 0:
            keep_list(batch, pools, output, at)
            at = lists[at + L_NEXT]
    return True


def vacate(lists: Ints, runs: Ints, rows: Ints, wait_index: Ints, cursor: Ints) -> None:
    """Empty the pools, so that what comes next lies where this was."""
    for at in range(0, cursor[C_LISTS], LIST):
        if lists[at + L_PARKED] == 1:
            run = lists[at + L_FIRST]
            while run >= 0:
                unpark(runs, wait_index, run, cursor)
                run = runs[run + R_NEXT]
    cursor[C_LISTS] = cursor[C_NODES] = cursor[C_FRESH_RUN] = 0
    cursor[C_RUN] = cursor[C_ALT] = NONE
    cursor[C_RUNS] = len(runs) // RUN
    # The first row is the blank alternative from which runs begin.
    cursor[C_FRESH_ALT] = cursor[C_BLANK] + cursor[C_WIDTH]
    cursor[C_ALTS] = len(rows) // cursor[C_WIDTH] - 1


def moved_chain(chain: int, marks: Ints) -> int:
    """A chain by where its nodes are now."""
    if chain < 0:
        return NONE
    splice = chain >> HALF
    found = marks[(chain & LOWER) // NODE * MARK + G_PLACE]
    return int(found if splice == 0 else found + ((marks[(splice - 1) // NODE * MARK + G_PLACE] + 1) << HALF))


def move_alternatives(rows: Ints, head: int, marks: Ints) -> None:
    """Let alternatives and those in them name their nodes where these are now."""
    row = head
    while row >= 0:
        if rows[row + T_STATE] <= EACH:
            move_alternatives(rows, rows[row + T_NODE], marks)
        else:
            rows[row + T_NODE] = moved_chain(rows[row + T_NODE], marks)
        row = rows[row + T_NEXT]


def drop_nodes(pools: Pools, marks: Ints) -> None:
    """Leave out the nodes that no alternative and no match names."""
    lists, runs, matches = pools.lists, pools.runs, pools.matches
    alternatives = pools.alternatives
    rows, nodes, cursor = alternatives.rows, alternatives.nodes, alternatives.cursor
    unmark(cursor[C_NODES] // NODE, marks)
    for at in range(0, cursor[C_LISTS], LIST):
        mark_runs(runs, rows, nodes, lists[at + L_FIRST], marks)
    for match in range(cursor[C_WRITTEN], cursor[C_MATCHES], MATCH):
        mark(nodes, matches[match + M_NODE], marks)
    to = 0
    for node in range(0, cursor[C_NODES], NODE):
        until = marks[node // NODE * MARK + G_UNTIL]
        if until == GREATEST:
            continue
        # A node stands after the one before it, so that that one has its place already.
        previous = NONE if nodes[node + N_SEQUENCE] <= until else nodes[node + N_PREVIOUS]
        nodes[to + N_PREVIOUS] = NONE if previous < 0 else marks[previous // NODE * MARK + G_PLACE]
        nodes[to + N_EDGE] = nodes[node + N_EDGE]
        nodes[to + N_EVENT] = nodes[node + N_EVENT]
        nodes[to + N_SEQUENCE] = nodes[node + N_SEQUENCE]
        marks[node // NODE * MARK + G_PLACE] = to
        to += NODE
    for node in range(0, to, NODE):
        if nodes[node + N_EDGE] == SPLICE:
            nodes[node + N_EVENT] = moved_chain(nodes[node + N_EVENT], marks)
    cursor[C_NODES] = to
    for at in range(0, cursor[C_LISTS], LIST):
        run = lists[at + L_FIRST]
        while run >= 0:
            move_alternatives(rows, runs[run + R_ALT], marks)
            run = runs[run + R_NEXT]
    for match in range(cursor[C_WRITTEN], cursor[C_MATCHES], MATCH):
        matches[match + M_NODE] = moved_chain(matches[match + M_NODE], marks)
