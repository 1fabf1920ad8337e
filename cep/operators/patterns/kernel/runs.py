"""Runs, and the lists that hold those of a rule and key."""

from __future__ import annotations

from cep.operators.patterns.kernel.alternatives import finished, free_list, free_row, most_preferred
from cep.operators.patterns.kernel.layout import (
    C_BEGAN,
    C_FORKS,
    C_FRESH_RUN,
    C_KEY,
    C_LISTS,
    C_OF_FORK,
    C_RUN,
    C_RUNS,
    C_START,
    C_TRACES,
    EACH,
    END_OF_TIME,
    L_ALTS,
    L_DEADLINE,
    L_FIRST,
    L_KEY,
    L_LAST,
    L_PARKED,
    L_RULE,
    L_RUNS,
    L_SEEN,
    LIST,
    MATCHED,
    NO_CANDIDATE,
    NO_SEQUENCE,
    NONE,
    R_ALT,
    R_BEFORE,
    R_CANDIDATE,
    R_DEADLINE,
    R_DONE,
    R_ENTRY,
    R_FORK,
    R_NEXT,
    R_START,
    R_TIME,
    RUN,
    T_DEADLINE,
    T_NEXT,
    T_NODE,
    T_STATE,
    Ints,
    Pools,
)
from cep.operators.patterns.kernel.timers import soonest
from cep.operators.patterns.kernel.trace import FORKED, TRACE, X_PARENT, note
from cep.operators.patterns.kernel.wait_index import park, unpark
from kernels.family import inlined


def free_run(lists: Ints, runs: Ints, rows: Ints, wait_index: Ints, at: int, run: int, cursor: Ints) -> None:
    """Take a run out of its list, and give its alternatives back."""
    if lists[at + L_PARKED] == 1:
        unpark(runs, wait_index, run, cursor)
    before = runs[run + R_BEFORE]
    after = runs[run + R_NEXT]
    if before >= 0:
        runs[before + R_NEXT] = after
    else:
        lists[at + L_FIRST] = after
    if after >= 0:
        runs[after + R_BEFORE] = before
    else:
        lists[at + L_LAST] = before
    free_list(rows, runs[run + R_ALT], cursor)
    lists[at + L_RUNS] -= 1
    runs[run + R_NEXT] = cursor[C_RUN]
    cursor[C_RUN] = run
    cursor[C_RUNS] += 1


def new_list(list_of_key: Ints, lists: Ints, key: int, rule: int, cursor: Ints) -> int:
    """An empty list of a key. The caller has made sure that there is room."""
    at = cursor[C_LISTS]
    cursor[C_LISTS] = at + LIST
    list_of_key[key] = at
    lists[at + L_KEY] = key
    lists[at + L_RULE] = rule
    lists[at + L_FIRST] = NONE
    lists[at + L_LAST] = NONE
    lists[at + L_RUNS] = 0
    lists[at + L_ALTS] = 0
    lists[at + L_SEEN] = NO_SEQUENCE
    lists[at + L_DEADLINE] = END_OF_TIME
    lists[at + L_PARKED] = 0
    return int(at)


@inlined
def new_run(lists: Ints, runs: Ints, at: int, before: int, start: int, time: int, cursor: Ints) -> int:
    """A run in a list, right after another one or first, with no alternatives yet."""
    run = cursor[C_RUN]
    if run >= 0:
        cursor[C_RUN] = runs[run + R_NEXT]
    else:
        run = cursor[C_FRESH_RUN]
        cursor[C_FRESH_RUN] = run + RUN
    cursor[C_RUNS] -= 1
    if before >= 0:
        after = runs[before + R_NEXT]
        runs[before + R_NEXT] = run
    else:
        after = lists[at + L_FIRST]
        lists[at + L_FIRST] = run
    if after >= 0:
        runs[after + R_BEFORE] = run
    else:
        lists[at + L_LAST] = run
    runs[run + R_NEXT] = after
    runs[run + R_BEFORE] = before
    lists[at + L_RUNS] += 1
    runs[run + R_START] = start
    runs[run + R_TIME] = time
    runs[run + R_FORK] = 0
    runs[run + R_ENTRY] = NONE
    runs[run + R_CANDIDATE] = NO_CANDIDATE
    return int(run)


@inlined
def this_run(lists: Ints, runs: Ints, at: int, run: int, cursor: Ints) -> None:
    """Make a run the one at hand: its start, fork and key go to the cursor."""
    cursor[C_BEGAN] = runs[run + R_TIME]
    cursor[C_START] = runs[run + R_START]
    cursor[C_OF_FORK] = runs[run + R_FORK]
    cursor[C_KEY] = lists[at + L_KEY]


@inlined
def assess(lists: Ints, runs: Ints, rows: Ints, at: int, run: int) -> None:
    """Note when time next decides something about a run, and whether it is to be raised."""
    head = runs[run + R_ALT]
    if rows[head + T_NEXT] < 0 and rows[head + T_STATE] > EACH:
        due = rows[head + T_DEADLINE]
        runs[run + R_DONE] = 1 if rows[head + T_STATE] == MATCHED else 0
    else:
        due = soonest(rows, head)
        runs[run + R_DONE] = 1 if finished(rows, head) else 0
    runs[run + R_DEADLINE] = due
    if due < lists[at + L_DEADLINE]:
        lists[at + L_DEADLINE] = due


def settled_down(tables: Ints, pools: Pools, at: int, run: int, i: int, t: int) -> int:
    """Make each fork of a run a run of its own. Returns the last of them, which keeps the run's name."""
    lists, runs, wait_index = pools.lists, pools.runs, pools.wait_index
    alternatives = pools.alternatives
    rows, cursor, trace = alternatives.rows, alternatives.cursor, alternatives.trace
    head = runs[run + R_ALT]
    if rows[head + T_STATE] == EACH and rows[head + T_NEXT] < 0:
        name = runs[run + R_FORK]
        fork = rows[head + T_NODE]
        free_row(rows, head, cursor)
        while True:
            alts = rows[fork + T_NODE]
            following = rows[fork + T_NEXT]
            free_row(rows, fork, cursor)
            runs[run + R_ALT] = alts
            if following < 0:
                break
            cursor[C_FORKS] += 1
            runs[run + R_FORK] = cursor[C_FORKS]
            cursor[C_OF_FORK] = cursor[C_FORKS]
            note(trace, cursor, FORKED, i, t, rows[most_preferred(rows, alts) + T_NODE], NONE, NONE)
            if cursor[C_TRACES] >= 0:
                trace[cursor[C_TRACES] - TRACE + X_PARENT] = name
            assess(lists, runs, rows, at, run)
            if lists[at + L_PARKED] == 1:
                park(tables, lists, runs, rows, wait_index, at, run, cursor)
            run = new_run(lists, runs, at, run, runs[run + R_START], runs[run + R_TIME], cursor)
            fork = following
        runs[run + R_FORK] = name
    assess(lists, runs, rows, at, run)
    if lists[at + L_PARKED] == 1:
        park(tables, lists, runs, rows, wait_index, at, run, cursor)
    return run


def complete(runs: Ints, run: int, last: int, first: int, count: int) -> tuple[int, int]:
    """The first run that is to be raised and how many are, with those between two runs."""
    while True:
        if runs[run + R_DONE] == 1:
            count += 1
            if first < 0:
                first = run
        if run == last:
            return first, count
        run = runs[run + R_NEXT]
