"""The ways that a way is which has come to a state."""

from __future__ import annotations

import numpy as np

from cep.operators.patterns.kernel.alternatives import (
    alive,
    any_alive,
    complete_way,
    copied,
    each_of,
    forked,
    free_thread,
    joined,
    kill,
)
from cep.operators.patterns.kernel.bytecode import true_of
from cep.operators.patterns.kernel.layout import (
    BITS,
    END_OF_TIME,
    MATCHED,
    NONE,
    T_DEADLINE,
    T_MASK,
    T_NEXT,
    T_NODE,
    T_STATE,
    T_TIME,
    Alternatives,
    Ints,
    Rule,
)
from cep.operators.patterns.kernel.tables import (
    A_LEAF,
    AN_EACH,
    ENDING,
    F_KIND,
    H_HAVING,
    H_HAVING_LENGTH,
    H_MASKS,
    H_STATES,
    K_BEFORE,
    K_END,
    K_KIND,
    K_LEAF,
    LEAF,
    OPTION,
    S_FORKS,
    S_LEAF,
    S_LEAVES,
    S_TOKEN,
    S_TOKENS,
    STATE,
    THE_END,
    TIMER,
    TOKEN,
)
from cep.operators.patterns.kernel.timers import is_open, set_due
from cep.operators.patterns.kernel.trace import REFUSED, note
from kernels.family import inlined


def restricted(tables: Ints, threads: Ints, row: int, low: int, high: int, cursor: Ints) -> int:
    """Another way like this one that waits at some of its leaves only."""
    new = copied(tables, threads, row, cursor)
    state = tables[H_STATES] + threads[row + T_STATE] * STATE
    for leaf in range(tables[state + S_LEAVES]):
        if leaf < low or leaf >= high:
            kill(threads, new, leaf)
    set_due(tables, threads, new, cursor)
    return new


def children_alive(tables: Ints, threads: Ints, row: int, token: int) -> int:
    """Number of children of `each` that still wait for something."""
    count = 0
    child = token + TOKEN
    while child < tables[token + K_END]:
        end = tables[child + K_END]
        if any_alive(threads, row, tables[child + K_BEFORE], tables[end + K_BEFORE]):
            count += 1
        child = end
    return count


def drop_behind(tables: Ints, threads: Ints, row: int, token: int, end: int) -> bool:
    """Wait for nothing between two tokens behind what is complete, or of which an independent way is.

    Returns whether nothing is preferred to that.
    """
    k = token
    preferred = True
    while k < end:
        kind = tables[k + K_KIND]
        complete = False
        if kind == AN_EACH and children_alive(tables, threads, row, k) > 1:
            after = tables[k + K_END]
            child = k + TOKEN
            while child < after:
                if drop_behind(tables, threads, row, child + TOKEN, tables[child + K_END]):
                    complete = True
                child = tables[child + K_END]
        elif kind == A_LEAF and alive(threads, row, tables[k + K_BEFORE]):
            after = k + TOKEN
            complete = tables[tables[k + K_LEAF] + F_KIND] == THE_END
        else:
            k += TOKEN
            continue
        if complete:
            for leaf in range(tables[after + K_BEFORE], tables[end + K_BEFORE]):
                kill(threads, row, leaf)
            return preferred
        preferred = False
        k = after
    return False


def spread(tables: Ints, threads: Ints, row: int, token: int, end: int, cursor: Ints) -> tuple[int, int]:
    """The ways, first and last, that a way's leaves between two tokens are.

    Leaves that wait together are one way; a complete end and one that may be prevented stand for themselves
    between those preferred to them and the others; what `each` holds goes on independently.
    """
    head = tail = NONE
    if token >= end:
        return NONE, NONE
    drop_behind(tables, threads, row, token, end)
    begin = k = token
    count = 0
    sole = NONE
    while True:
        separator = NONE
        if k < end:
            kind = tables[k + K_KIND]
            if kind == AN_EACH and children_alive(tables, threads, row, k) > 1:
                count += 1
                sole = k
                k = tables[k + K_END]
                continue
            if kind != A_LEAF or not alive(threads, row, tables[k + K_BEFORE]):
                k += TOKEN
                continue
            leaf = tables[k + K_LEAF]
            if tables[leaf + F_KIND] == OPTION or tables[leaf + F_KIND] == TIMER:
                count += 1
                sole = NONE
                k += TOKEN
                continue
            separator = tables[leaf + F_KIND]
        if count == 1 and sole >= 0:
            forks = last = NONE
            child = sole + TOKEN
            while child < tables[sole + K_END]:
                after = tables[child + K_END]
                ways, _ = spread(tables, threads, row, child + TOKEN, after, cursor)
                forks, last = forked(threads, forks, last, ways, cursor)
                child = after
            head, tail = joined(threads, head, tail, each_of(threads, forks, cursor), cursor)
        elif count:
            new = restricted(tables, threads, row, tables[begin + K_BEFORE], tables[k + K_BEFORE], cursor)
            head, tail = joined(threads, head, tail, new, cursor)
        if separator == NONE:
            return head, tail
        if separator == THE_END:
            head, tail = joined(threads, head, tail, complete_way(tables, threads, row, cursor), cursor)
            return head, tail
        number = tables[k + K_BEFORE]
        new = restricted(tables, threads, row, number, number + 1, cursor)
        head, tail = joined(threads, head, tail, new, cursor)
        k += TOKEN
        begin = k
        count = 0
        sole = NONE


@inlined
def arrived(rule: Rule, alternatives: Alternatives, row: int) -> int:
    """The ways that a way is which has come to a state; it is given up for them."""
    tables = rule.tables
    threads, cursor, trace = alternatives.threads, alternatives.cursor, alternatives.trace
    state = tables[H_STATES] + threads[row + T_STATE] * STATE
    first = tables[state + S_LEAF]
    for word in range(tables[H_MASKS]):
        threads[row + T_MASK + word] = 0
    simple = tables[state + S_FORKS] == 0
    waits = False
    for number in range(tables[state + S_LEAVES]):
        leaf = first + number * LEAF
        if not is_open(tables, threads, row, leaf, cursor):
            continue
        kind = tables[leaf + F_KIND]
        if kind == THE_END:
            if not true_of(rule, tables[H_HAVING], tables[H_HAVING_LENGTH], NONE, row, threads, cursor):
                note(trace, cursor, REFUSED, NONE, threads[row + T_TIME], threads[row + T_NODE], NONE, NONE)
                continue
            if simple:
                if not waits:
                    threads[row + T_STATE] = MATCHED
                    threads[row + T_DEADLINE] = END_OF_TIME
                    return row
                threads[row + T_NEXT] = complete_way(tables, threads, row, cursor)
                break
        elif kind == ENDING:
            simple = False
        threads[row + T_MASK + number // BITS] |= np.int64(1) << np.int64(number % BITS)
        waits = True
    if simple and waits:
        set_due(tables, threads, row, cursor)
        return row
    ways = NONE
    if waits:
        token = tables[state + S_TOKEN]
        ways, _ = spread(tables, threads, row, token, token + tables[state + S_TOKENS] * TOKEN, cursor)
    free_thread(threads, row, cursor)
    return ways
