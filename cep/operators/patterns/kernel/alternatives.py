"""Rows of alternatives, free and taken; lists of them in order of preference; forks of independent ones."""

from __future__ import annotations

import numpy as np

from cep.operators.patterns.kernel.layout import (
    BITS,
    C_ALT,
    C_ALTS,
    C_BLANK,
    C_FRESH_ALT,
    C_WIDTH,
    EACH,
    END_OF_TIME,
    FORK,
    MATCHED,
    NONE,
    T_DEADLINE,
    T_MASK,
    T_NEXT,
    T_NODE,
    T_STATE,
    Ints,
)
from cep.operators.patterns.kernel.tables import H_ALT, H_MASKS, H_STATES, S_TRANSITIONS
from kernels.family import inlined


@inlined
def free_row(rows: Ints, row: int, cursor: Ints) -> None:
    """Give a row back."""
    rows[row + T_NEXT] = cursor[C_ALT]
    cursor[C_ALT] = row
    cursor[C_ALTS] += 1


@inlined
def new_row(rows: Ints, cursor: Ints) -> int:
    """A free row. The caller has made sure that there is one."""
    row = cursor[C_ALT]
    if row >= 0:
        cursor[C_ALT] = rows[row + T_NEXT]
    else:
        row = cursor[C_FRESH_ALT]
        cursor[C_FRESH_ALT] = row + cursor[C_WIDTH]
    cursor[C_ALTS] -= 1
    rows[row + T_NEXT] = NONE
    return int(row)


def free_list(rows: Ints, head: int, cursor: Ints) -> None:
    """Give back a list of alternatives, with all that is in their forks."""
    row = head
    while row >= 0:
        following = rows[row + T_NEXT]
        if rows[row + T_STATE] <= EACH:
            free_list(rows, rows[row + T_NODE], cursor)
        free_row(rows, row, cursor)
        row = following


@inlined
def copied(tables: Ints, rows: Ints, row: int, cursor: Ints) -> int:
    """A copy of an alternative, in no list."""
    new = new_row(rows, cursor)
    for k in range(T_STATE, tables[H_ALT]):
        rows[new + k] = rows[row + k]
    return new


@inlined
def joined(rows: Ints, head: int, tail: int, more: int, cursor: Ints) -> tuple[int, int]:
    """Two lists as one, its first and last; behind a complete alternative nothing is needed."""
    if more < 0:
        return head, tail
    if head < 0:
        head = more
    elif rows[tail + T_STATE] == MATCHED:
        free_list(rows, more, cursor)
        return head, tail
    else:
        rows[tail + T_NEXT] = more
    tail = more
    while rows[tail + T_NEXT] >= 0:
        tail = rows[tail + T_NEXT]
    return head, tail


def forked(rows: Ints, head: int, tail: int, alts: int, cursor: Ints) -> tuple[int, int]:
    """Forks and one more, which is a list of alternatives; forks of forks lie beside one another."""
    if alts < 0:
        return head, tail
    if rows[alts + T_STATE] == EACH and rows[alts + T_NEXT] < 0:
        more = rows[alts + T_NODE]
        free_row(rows, alts, cursor)
    else:
        more = new_row(rows, cursor)
        rows[more + T_STATE] = FORK
        rows[more + T_NODE] = alts
    if head < 0:
        head = more
    else:
        rows[tail + T_NEXT] = more
    tail = more
    while rows[tail + T_NEXT] >= 0:
        tail = rows[tail + T_NEXT]
    return head, tail


def each_of(rows: Ints, forks: int, cursor: Ints) -> int:
    """One alternative that stands for forks; of a single fork, its own alternatives."""
    if forks < 0:
        return NONE
    if rows[forks + T_NEXT] < 0:
        alts = rows[forks + T_NODE]
        free_row(rows, forks, cursor)
        return int(alts)
    row = new_row(rows, cursor)
    rows[row + T_STATE] = EACH
    rows[row + T_NODE] = forks
    return row


@inlined
def alive(rows: Ints, row: int, transition: int) -> bool:
    """True if an alternative still waits for a transition, by its number within the state."""
    return bool((rows[row + T_MASK + transition // BITS] >> (transition % BITS)) & 1)


def any_alive(rows: Ints, row: int, low: int, high: int) -> bool:
    """True if an alternative still waits for any of the transitions from `low` up to `high`."""
    for transition in range(low, high):  # noqa: SIM110 - numba knows no any()
        if alive(rows, row, transition):
            return True
    return False


@inlined
def kill(rows: Ints, row: int, transition: int) -> None:
    """Let an alternative wait for a transition no more."""
    rows[row + T_MASK + transition // BITS] &= ~(np.int64(1) << np.int64(transition % BITS))


def waits(tables: Ints, rows: Ints, row: int) -> bool:
    """True if an alternative waits for any transition."""
    for word in range(tables[H_MASKS]):  # noqa: SIM110 - numba knows no any()
        if rows[row + T_MASK + word] != 0:
            return True
    return False


def completed(tables: Ints, rows: Ints, row: int, cursor: Ints) -> int:
    """A copy of an alternative that is complete."""
    new = copied(tables, rows, row, cursor)
    rows[new + T_STATE] = MATCHED
    rows[new + T_DEADLINE] = END_OF_TIME
    return new


def finished(rows: Ints, head: int) -> bool:
    """True if one of the alternatives is complete and none that is preferred to it is left."""
    if head < 0:
        return False
    if rows[head + T_STATE] != EACH:
        return bool(rows[head + T_STATE] == MATCHED)
    fork = rows[head + T_NODE]
    while fork >= 0:
        if finished(rows, rows[fork + T_NODE]):
            return True
        fork = rows[fork + T_NEXT]
    return False


def most_preferred(rows: Ints, head: int) -> int:
    """The most preferred alternative of a list, within forks too."""
    row = head
    while rows[row + T_STATE] <= EACH:
        row = rows[row + T_NODE]
    return row


def count_alternatives(rows: Ints, head: int) -> int:
    """The number of alternatives of a list, those in forks included."""
    count = 0
    row = head
    while row >= 0:
        count += 1 if rows[row + T_STATE] > EACH else count_alternatives(rows, rows[row + T_NODE])
        row = rows[row + T_NEXT]
    return int(count)


@inlined
def initial(tables: Ints, rows: Ints, cursor: Ints) -> int:
    """The alternative from which a run begins: it waits for every first step."""
    row = copied(tables, rows, cursor[C_BLANK], cursor)
    for transition in range(tables[tables[H_STATES] + S_TRANSITIONS]):
        rows[row + T_MASK + transition // BITS] |= np.int64(1) << np.int64(transition % BITS)
    return row


def detached(rows: Ints, head: int) -> int:
    """The last of several alternatives if it is complete, taken out of their list; or NONE."""
    before = NONE
    row = head
    while rows[row + T_NEXT] >= 0:
        before = row
        row = rows[row + T_NEXT]
    if before < 0 or rows[row + T_STATE] != MATCHED:
        return NONE
    rows[before + T_NEXT] = NONE
    return row
