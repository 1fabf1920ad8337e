"""Complete runs are raised, and end others; runs that time ends are noted, or raised as timeouts."""

from __future__ import annotations

from cep.operators.patterns.kernel.alternatives import (
    each_of,
    forked,
    free_list,
    free_row,
    joined,
    most_preferred,
)
from cep.operators.patterns.kernel.chains import earliest, without_last
from cep.operators.patterns.kernel.layout import (
    C_DROPPED,
    C_MATCHES,
    C_TRACES,
    EACH,
    END_OF_TIME,
    L_FIRST,
    L_KEY,
    L_RULE,
    L_RUNS,
    LOWER,
    M_BY_EVENT,
    M_KEY,
    M_NODE,
    M_RULE,
    M_START,
    M_TIME,
    M_TIMEOUT,
    MATCH,
    MATCHED,
    N_EDGE,
    N_SEQUENCE,
    NO_SEQUENCE,
    NONE,
    R_ALT,
    R_BEFORE,
    R_DONE,
    R_FORK,
    R_NEXT,
    R_START,
    R_TIME,
    T_LAST,
    T_NEXT,
    T_NODE,
    T_STATE,
    Ints,
    Pools,
)
from cep.operators.patterns.kernel.runs import free_run, settled_down, this_run
from cep.operators.patterns.kernel.tables import (
    H_LIMIT,
    H_SKIP,
    H_SKIP_STEP,
    H_STEPS,
    H_TIMEOUT,
    H_WITHIN,
    SKIP_NONE,
    SKIP_PAST_LAST,
    SKIP_TO_LAST,
    SKIP_TO_NEXT,
)
from cep.operators.patterns.kernel.timers import later
from cep.operators.patterns.kernel.trace import DROPPED, EXPIRED, MATCHES, SKIPPED, TIMED_OUT, note
from kernels.family import inlined


def ripe(rows: Ints, head: int, done: int, cursor: Ints) -> tuple[int, int]:
    """The complete alternatives, added to those in `done`; and the others without them and their reserve."""
    if head < 0:
        return done, NONE
    if rows[head + T_STATE] == MATCHED:
        free_list(rows, rows[head + T_NEXT], cursor)
        rows[head + T_NEXT] = done
        return head, NONE
    if rows[head + T_STATE] != EACH:
        return done, head
    before = done
    forks = last = NONE
    fork = rows[head + T_NODE]
    while fork >= 0:
        following = rows[fork + T_NEXT]
        done, alts = ripe(rows, rows[fork + T_NODE], done, cursor)
        free_row(rows, fork, cursor)
        forks, last = forked(rows, forks, last, alts, cursor)
        fork = following
    reserve = rows[head + T_NEXT]
    free_row(rows, head, cursor)
    rest = each_of(rows, forks, cursor)
    if done != before:
        free_list(rows, reserve, cursor)
        return done, rest
    first, tail = joined(rows, NONE, NONE, rest, cursor)
    first, _ = joined(rows, first, tail, reserve, cursor)
    return done, first


def raised(tables: Ints, pools: Pools, at: int, run: int, row: int, time: int, i: int) -> int:
    """Record a complete alternative. Returns the sequence number before which begun runs end."""
    lists, runs, matches = pools.lists, pools.runs, pools.matches
    alternatives = pools.alternatives
    rows, nodes, cursor, trace = alternatives
    start = runs[run + R_START]
    this_run(lists, runs, at, run, cursor)
    match = cursor[C_MATCHES]
    matches[match + M_TIME] = rows[row + T_LAST] if time == END_OF_TIME else time
    matches[match + M_BY_EVENT] = 0 if i < 0 else 1
    matches[match + M_NODE] = rows[row + T_NODE]
    matches[match + M_KEY] = lists[at + L_KEY]
    matches[match + M_START] = start
    matches[match + M_TIMEOUT] = 0
    matches[match + M_RULE] = lists[at + L_RULE]
    cursor[C_MATCHES] = match + MATCH
    note(trace, cursor, MATCHES, i, matches[match + M_TIME], rows[row + T_NODE], NONE, NONE)
    skip = tables[H_SKIP]
    last = nodes[(rows[row + T_NODE] & LOWER) + N_SEQUENCE]
    if skip == SKIP_PAST_LAST:
        return int(last + 1)
    if skip == SKIP_TO_NEXT:
        return int(start + 1)
    if skip == SKIP_NONE:
        return int(start)
    found = start
    chain = rows[row + T_NODE]
    while chain >= 0:
        node = chain & LOWER
        if tables[tables[H_STEPS] + nodes[node + N_EDGE]] == tables[H_SKIP_STEP]:
            found = nodes[node + N_SEQUENCE]
            if skip == SKIP_TO_LAST:
                break
        chain = without_last(nodes, chain)
    return int(found if found > start else start + 1)


def began_together(runs: Ints, one: int, other: int) -> bool:
    """True if two runs are forks of one."""
    return bool(runs[one + R_START] == runs[other + R_START])


def decide(tables: Ints, pools: Pools, at: int, first: int, count: int, time: int, i: int) -> int:
    """Raise what is complete, the earliest start first, and end the runs that each match ends.

    So many runs are complete, from `first` on. Returns the sequence number before which begun runs end.
    """
    lists, runs, wait_index = pools.lists, pools.runs, pools.wait_index
    alternatives = pools.alternatives
    rows, nodes, cursor, trace = alternatives
    blocked = by = looked = NO_SEQUENCE
    by_fork = NONE
    run = first
    # A match ends all that began with it.
    while run >= 0 and runs[run + R_BEFORE] >= 0 and began_together(runs, runs[run + R_BEFORE], run):
        run = runs[run + R_BEFORE]
    while run >= 0 and (count > 0 or runs[run + R_START] < blocked):
        following = runs[run + R_NEXT]
        start = runs[run + R_START]
        if start < blocked:
            if cursor[C_TRACES] >= 0 and not (start == by and runs[run + R_FORK] == by_fork):
                this_run(lists, runs, at, run, cursor)
                node = rows[most_preferred(rows, runs[run + R_ALT]) + T_NODE]
                note(trace, cursor, SKIPPED, i, time, node, by_fork, by)
            count -= runs[run + R_DONE]
            free_run(lists, runs, rows, wait_index, at, run, cursor)
            run = following
            continue
        if runs[run + R_DONE] == 1 and tables[H_SKIP] == SKIP_NONE:
            count -= 1
            done, rest = ripe(rows, runs[run + R_ALT], NONE, cursor)
            runs[run + R_ALT] = rest
            while done >= 0:
                more = rows[done + T_NEXT]
                raised(tables, pools, at, run, done, time, i)
                free_row(rows, done, cursor)
                done = more
            if rest < 0:
                free_run(lists, runs, rows, wait_index, at, run, cursor)
            else:
                settled_down(tables, pools, at, run, i, time)
            run = following
            continue
        if tables[H_SKIP] != SKIP_NONE and start != looked:
            # Of the forks that began together the first that is complete counts.
            looked = start
            best = NONE
            other = of = run
            while other >= 0 and runs[other + R_START] == start:
                if runs[other + R_DONE] == 1:
                    found = earliest(rows, nodes, runs[other + R_ALT], best)
                    if found != best:
                        best = found
                        of = other
                other = runs[other + R_NEXT]
            if best >= 0:
                blocked = raised(tables, pools, at, of, best, time, i)
                by = start
                by_fork = runs[of + R_FORK]
                continue
        run = following
    return int(blocked)


def time_out(tables: Ints, pools: Pools, at: int, run: int, node: int, time: int) -> None:
    """A run has ended by time alone: note that, and raise it where the rule has `on timeout`."""
    lists, runs, matches = pools.lists, pools.runs, pools.matches
    alternatives = pools.alternatives
    cursor, trace = alternatives.cursor, alternatives.trace
    note(trace, cursor, TIMED_OUT if tables[H_TIMEOUT] == 1 else EXPIRED, NONE, time, node, NONE, NONE)
    if tables[H_TIMEOUT] == 1:
        match = cursor[C_MATCHES]
        matches[match + M_TIME] = time
        matches[match + M_BY_EVENT] = 0
        matches[match + M_NODE] = node
        matches[match + M_KEY] = lists[at + L_KEY]
        matches[match + M_START] = runs[run + R_START]
        matches[match + M_TIMEOUT] = 1
        matches[match + M_RULE] = lists[at + L_RULE]
        cursor[C_MATCHES] = match + MATCH


@inlined
def expire(tables: Ints, pools: Pools, at: int, bound: int) -> None:
    """Drop the first runs of a list while `within` ends them by `bound` with nothing to raise."""
    lists, runs, wait_index = pools.lists, pools.runs, pools.wait_index
    alternatives = pools.alternatives
    rows, cursor, trace = alternatives.rows, alternatives.cursor, alternatives.trace
    run = lists[at + L_FIRST]
    while run >= 0 and later(runs[run + R_TIME], tables[H_WITHIN]) <= bound:
        row = runs[run + R_ALT]
        while row >= 0 and rows[row + T_STATE] >= 0:
            row = rows[row + T_NEXT]
        if row >= 0:
            return
        following = runs[run + R_NEXT]
        if cursor[C_TRACES] >= 0:
            this_run(lists, runs, at, run, cursor)
            end = later(runs[run + R_TIME], tables[H_WITHIN])
            note(trace, cursor, EXPIRED, NONE, end, rows[runs[run + R_ALT] + T_NODE], NONE, NONE)
        free_run(lists, runs, rows, wait_index, at, run, cursor)
        run = following


@inlined
def keep_to_limit(tables: Ints, pools: Pools, at: int, time: int, i: int) -> None:
    """Drop the runs with the oldest first events of a list while there are more than the rule's limit."""
    lists, runs, wait_index = pools.lists, pools.runs, pools.wait_index
    alternatives = pools.alternatives
    rows, cursor, trace = alternatives.rows, alternatives.cursor, alternatives.trace
    while lists[at + L_RUNS] > tables[H_LIMIT]:
        oldest = lists[at + L_FIRST]
        this_run(lists, runs, at, oldest, cursor)
        node = rows[most_preferred(rows, runs[oldest + R_ALT]) + T_NODE]
        note(trace, cursor, DROPPED, i, time, node, NONE, NONE)
        free_run(lists, runs, rows, wait_index, at, oldest, cursor)
        cursor[C_DROPPED] += 1
