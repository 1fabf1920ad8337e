"""An alternative enters a state: the alternatives that it splits into there (epsilon closure)."""

from __future__ import annotations

import numpy as np

from cep.operators.patterns.kernel.alternatives import (
    alive,
    any_alive,
    completed,
    copied,
    each_of,
    forked,
    free_row,
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
    A_TRANSITION,
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
    K_TRANSITION,
    OPTION,
    S_FORKS,
    S_TOKEN,
    S_TOKENS,
    S_TRANSITION,
    S_TRANSITIONS,
    STATE,
    THE_END,
    TIMER,
    TOKEN,
    TRANSITION,
)
from cep.operators.patterns.kernel.timers import is_open, set_due
from cep.operators.patterns.kernel.trace import REFUSED, note
from kernels.family import inlined


def restricted(tables: Ints, rows: Ints, row: int, low: int, high: int, cursor: Ints) -> int:
    """A copy of an alternative that waits for its transitions from `low` up to `high` only."""
    new = copied(tables, rows, row, cursor)
    state = tables[H_STATES] + rows[row + T_STATE] * STATE
    for transition in range(tables[state + S_TRANSITIONS]):
        if transition < low or transition >= high:
            kill(rows, new, transition)
    set_due(tables, rows, new, cursor)
    return new


def children_alive(tables: Ints, rows: Ints, row: int, token: int) -> int:
    """Number of children of `each` that still wait for something."""
    count = 0
    child = token + TOKEN
    while child < tables[token + K_END]:
        end = tables[child + K_END]
        if any_alive(rows, row, tables[child + K_BEFORE], tables[end + K_BEFORE]):
            count += 1
        child = end
    return count


def drop_behind(tables: Ints, rows: Ints, row: int, token: int, end: int) -> bool:
    """Between two tokens, wait for nothing behind a complete alternative, or behind forks one of which is.

    Returns True if nothing is preferred to that.
    """
    k = token
    preferred = True
    while k < end:
        kind = tables[k + K_KIND]
        complete = False
        if kind == AN_EACH and children_alive(tables, rows, row, k) > 1:
            after = tables[k + K_END]
            child = k + TOKEN
            while child < after:
                if drop_behind(tables, rows, row, child + TOKEN, tables[child + K_END]):
                    complete = True
                child = tables[child + K_END]
        elif kind == A_TRANSITION and alive(rows, row, tables[k + K_BEFORE]):
            after = k + TOKEN
            complete = tables[tables[k + K_TRANSITION] + F_KIND] == THE_END
        else:
            k += TOKEN
            continue
        if complete:
            for transition in range(tables[after + K_BEFORE], tables[end + K_BEFORE]):
                kill(rows, row, transition)
            return preferred
        preferred = False
        k = after
    return False


def spread(tables: Ints, rows: Ints, row: int, token: int, end: int, cursor: Ints) -> tuple[int, int]:
    """The alternatives, first and last, that the transitions of one between two tokens split into.

    Transitions that wait together stay one alternative. A complete end, and one that may be prevented, is an
    alternative of its own between those preferred to it and the others. What `each` holds goes on
    independently.
    """
    head = tail = NONE
    if token >= end:
        return NONE, NONE
    drop_behind(tables, rows, row, token, end)
    begin = k = token
    count = 0
    sole = NONE
    while True:
        separator = NONE
        if k < end:
            kind = tables[k + K_KIND]
            if kind == AN_EACH and children_alive(tables, rows, row, k) > 1:
                count += 1
                sole = k
                k = tables[k + K_END]
                continue
            if kind != A_TRANSITION or not alive(rows, row, tables[k + K_BEFORE]):
                k += TOKEN
                continue
            transition = tables[k + K_TRANSITION]
            if tables[transition + F_KIND] == OPTION or tables[transition + F_KIND] == TIMER:
                count += 1
                sole = NONE
                k += TOKEN
                continue
            separator = tables[transition + F_KIND]
        if count == 1 and sole >= 0:
            forks = last = NONE
            child = sole + TOKEN
            while child < tables[sole + K_END]:
                after = tables[child + K_END]
                alts, _ = spread(tables, rows, row, child + TOKEN, after, cursor)
                forks, last = forked(rows, forks, last, alts, cursor)
                child = after
            head, tail = joined(rows, head, tail, each_of(rows, forks, cursor), cursor)
        elif count:
            new = restricted(tables, rows, row, tables[begin + K_BEFORE], tables[k + K_BEFORE], cursor)
            head, tail = joined(rows, head, tail, new, cursor)
        if separator == NONE:
            return head, tail
        if separator == THE_END:
            head, tail = joined(rows, head, tail, completed(tables, rows, row, cursor), cursor)
            return head, tail
        number = tables[k + K_BEFORE]
        new = restricted(tables, rows, row, number, number + 1, cursor)
        head, tail = joined(rows, head, tail, new, cursor)
        k += TOKEN
        begin = k
        count = 0
        sole = NONE


@inlined
def arrived(rule: Rule, alternatives: Alternatives, row: int) -> int:
    """The alternatives that one splits into which has come to a state; its own row is given up for them."""
    tables = rule.tables
    rows, cursor, trace = alternatives.rows, alternatives.cursor, alternatives.trace
    state = tables[H_STATES] + rows[row + T_STATE] * STATE
    first = tables[state + S_TRANSITION]
    for word in range(tables[H_MASKS]):
        rows[row + T_MASK + word] = 0
    simple = tables[state + S_FORKS] == 0
    waits = False
    for number in range(tables[state + S_TRANSITIONS]):
        transition = first + number * TRANSITION
        if not is_open(tables, rows, row, transition, cursor):
            continue
        kind = tables[transition + F_KIND]
        if kind == THE_END:
            if not true_of(rule, tables[H_HAVING], tables[H_HAVING_LENGTH], NONE, row, rows, cursor):
                note(trace, cursor, REFUSED, NONE, rows[row + T_TIME], rows[row + T_NODE], NONE, NONE)
                continue
            if simple:
                if not waits:
                    rows[row + T_STATE] = MATCHED
                    rows[row + T_DEADLINE] = END_OF_TIME
                    return row
                rows[row + T_NEXT] = completed(tables, rows, row, cursor)
                break
        elif kind == ENDING:
            simple = False
        rows[row + T_MASK + number // BITS] |= np.int64(1) << np.int64(number % BITS)
        waits = True
    if simple and waits:
        set_due(tables, rows, row, cursor)
        return row
    alts = NONE
    if waits:
        token = tables[state + S_TOKEN]
        alts, _ = spread(tables, rows, row, token, token + tables[state + S_TOKENS] * TOKEN, cursor)
    free_row(rows, row, cursor)
    return alts
