"""Ways: rows that are free and taken, lists of them in order of preference, forks of independent ones."""

from __future__ import annotations

import numpy as np

from cep.operators.patterns.kernel.layout import (
    BITS,
    C_BLANK,
    C_FRESH_THREAD,
    C_THREAD,
    C_THREADS,
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
from cep.operators.patterns.kernel.tables import H_MASKS, H_STATES, H_THREAD, S_LEAVES
from kernels.family import inlined


@inlined
def free_thread(threads: Ints, row: int, cursor: Ints) -> None:
    """Give a thread's row back."""
    threads[row + T_NEXT] = cursor[C_THREAD]
    cursor[C_THREAD] = row
    cursor[C_THREADS] += 1


@inlined
def new_thread(threads: Ints, cursor: Ints) -> int:
    """A free row. The caller has made sure that there is one."""
    row = cursor[C_THREAD]
    if row >= 0:
        cursor[C_THREAD] = threads[row + T_NEXT]
    else:
        row = cursor[C_FRESH_THREAD]
        cursor[C_FRESH_THREAD] = row + cursor[C_WIDTH]
    cursor[C_THREADS] -= 1
    threads[row + T_NEXT] = NONE
    return int(row)


def free_list(threads: Ints, head: int, cursor: Ints) -> None:
    """Give back ways and all that is in them."""
    row = head
    while row >= 0:
        following = threads[row + T_NEXT]
        if threads[row + T_STATE] <= EACH:
            free_list(threads, threads[row + T_NODE], cursor)
        free_thread(threads, row, cursor)
        row = following


@inlined
def copied(tables: Ints, threads: Ints, row: int, cursor: Ints) -> int:
    """Another way like this one, in no list."""
    new = new_thread(threads, cursor)
    for k in range(T_STATE, tables[H_THREAD]):
        threads[new + k] = threads[row + k]
    return new


@inlined
def joined(threads: Ints, head: int, tail: int, more: int, cursor: Ints) -> tuple[int, int]:
    """Ways followed by more of them, first and last; behind a complete one nothing is needed."""
    if more < 0:
        return head, tail
    if head < 0:
        head = more
    elif threads[tail + T_STATE] == MATCHED:
        free_list(threads, more, cursor)
        return head, tail
    else:
        threads[tail + T_NEXT] = more
    tail = more
    while threads[tail + T_NEXT] >= 0:
        tail = threads[tail + T_NEXT]
    return head, tail


def forked(threads: Ints, head: int, tail: int, ways: int, cursor: Ints) -> tuple[int, int]:
    """Forks followed by one more, which is some ways; forks of forks lie beside one another."""
    if ways < 0:
        return head, tail
    if threads[ways + T_STATE] == EACH and threads[ways + T_NEXT] < 0:
        more = threads[ways + T_NODE]
        free_thread(threads, ways, cursor)
    else:
        more = new_thread(threads, cursor)
        threads[more + T_STATE] = FORK
        threads[more + T_NODE] = ways
    if head < 0:
        head = more
    else:
        threads[tail + T_NEXT] = more
    tail = more
    while threads[tail + T_NEXT] >= 0:
        tail = threads[tail + T_NEXT]
    return head, tail


def each_of(threads: Ints, forks: int, cursor: Ints) -> int:
    """The ways that forks are: of one, its own."""
    if forks < 0:
        return NONE
    if threads[forks + T_NEXT] < 0:
        ways = threads[forks + T_NODE]
        free_thread(threads, forks, cursor)
        return int(ways)
    row = new_thread(threads, cursor)
    threads[row + T_STATE] = EACH
    threads[row + T_NODE] = forks
    return row


@inlined
def alive(threads: Ints, row: int, leaf: int) -> bool:
    """True if a way still waits at a leaf of its state."""
    return bool((threads[row + T_MASK + leaf // BITS] >> (leaf % BITS)) & 1)


def any_alive(threads: Ints, row: int, low: int, high: int) -> bool:
    """True if a way still waits at one of some leaves."""
    for leaf in range(low, high):  # noqa: SIM110 - numba knows no any()
        if alive(threads, row, leaf):
            return True
    return False


@inlined
def kill(threads: Ints, row: int, leaf: int) -> None:
    """The way waits there no more."""
    threads[row + T_MASK + leaf // BITS] &= ~(np.int64(1) << np.int64(leaf % BITS))


def waits(tables: Ints, threads: Ints, row: int) -> bool:
    """True if a way waits for anything."""
    for word in range(tables[H_MASKS]):  # noqa: SIM110 - numba knows no any()
        if threads[row + T_MASK + word] != 0:
            return True
    return False


def complete_way(tables: Ints, threads: Ints, row: int, cursor: Ints) -> int:
    """Another way like this one that is complete."""
    new = copied(tables, threads, row, cursor)
    threads[new + T_STATE] = MATCHED
    threads[new + T_DEADLINE] = END_OF_TIME
    return new


def finished(threads: Ints, head: int) -> bool:
    """True if one of the ways is complete and nothing preferred to it is left."""
    if head < 0:
        return False
    if threads[head + T_STATE] != EACH:
        return bool(threads[head + T_STATE] == MATCHED)
    fork = threads[head + T_NODE]
    while fork >= 0:
        if finished(threads, threads[fork + T_NODE]):
            return True
        fork = threads[fork + T_NEXT]
    return False


def first_way(threads: Ints, head: int) -> int:
    """The most preferred way."""
    row = head
    while threads[row + T_STATE] <= EACH:
        row = threads[row + T_NODE]
    return row


def ways_in(threads: Ints, head: int) -> int:
    """Number of ways, those in forks included."""
    count = 0
    row = head
    while row >= 0:
        count += 1 if threads[row + T_STATE] > EACH else ways_in(threads, threads[row + T_NODE])
        row = threads[row + T_NEXT]
    return int(count)


@inlined
def first_of_all(tables: Ints, threads: Ints, cursor: Ints) -> int:
    """The way from which a run begins: it waits for every first step."""
    row = copied(tables, threads, cursor[C_BLANK], cursor)
    for leaf in range(tables[tables[H_STATES] + S_LEAVES]):
        threads[row + T_MASK + leaf // BITS] |= np.int64(1) << np.int64(leaf % BITS)
    return row


def detached(threads: Ints, head: int) -> int:
    """The last of several ways if it is complete, taken out of their list."""
    before = NONE
    row = head
    while threads[row + T_NEXT] >= 0:
        before = row
        row = threads[row + T_NEXT]
    if before < 0 or threads[row + T_STATE] != MATCHED:
        return NONE
    threads[before + T_NEXT] = NONE
    return row
