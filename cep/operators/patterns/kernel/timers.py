"""Times that decide something about a way: `within`, gaps between steps, timed steps."""

from __future__ import annotations

from cep.operators.patterns.kernel.alternatives import alive
from cep.operators.patterns.kernel.layout import (
    C_BEGAN,
    EACH,
    END_OF_TIME,
    LEAST,
    T_DEADLINE,
    T_LAST,
    T_NEXT,
    T_NODE,
    T_STATE,
    T_TIME,
    Ints,
)
from cep.operators.patterns.kernel.tables import (
    AT_LEAST,
    BELOW,
    ENDING,
    F_GAP,
    F_KIND,
    F_NEED,
    F_NEEDS,
    F_OVER,
    F_OVERS,
    H_COUNTERS,
    H_PLAIN,
    H_STATES,
    H_TAKEN,
    H_WITHIN,
    LEAF,
    N_COUNTER,
    N_KIND,
    N_NUMBER,
    NEED,
    NOTHING_TAKEN,
    O_DURATION,
    O_SINCE,
    OPTION,
    OVER,
    S_LEAF,
    S_LEAVES,
    STATE,
    THE_END,
    TIME_AHEAD,
    TIME_REACHED,
    TIMER,
)
from kernels.family import inlined


@inlined
def later(time: int, duration: int) -> int:
    """Time plus duration, at most the end of time."""
    if time > END_OF_TIME - duration:
        return END_OF_TIME
    return time + duration


@inlined
def end_of_within(tables: Ints, cursor: Ints) -> int:
    """The time from which on the run at hand can take nothing."""
    return END_OF_TIME if tables[H_WITHIN] < 0 else later(cursor[C_BEGAN], tables[H_WITHIN])


def end_of(tables: Ints, threads: Ints, row: int, since: int, duration: int, cursor: Ints) -> int:
    """So long after the way came to its state, or after a counter's time; -1: the end of `within`."""
    if duration < 0:
        return end_of_within(tables, cursor)
    if since < 0:
        return later(threads[row + T_TIME], duration)
    return later(threads[row + tables[H_COUNTERS] + since], duration)


def over(tables: Ints, threads: Ints, row: int, leaf: int, cursor: Ints) -> int:
    """Time at which all the times of a leaf are over."""
    found = LEAST
    at = tables[leaf + F_OVER]
    for k in range(at, at + tables[leaf + F_OVERS] * OVER, OVER):
        end = end_of(tables, threads, row, tables[k + O_SINCE], tables[k + O_DURATION], cursor)
        if end > found:
            found = end
    return found


@inlined
def deadline(tables: Ints, threads: Ints, row: int, leaf: int, cursor: Ints) -> int:
    """Time that decides a leaf: an option is too late, a timer is over, an end is reached.

    What was over before the way came here is so when it comes: absences may last longer than `within`.
    """
    kind = tables[leaf + F_KIND]
    if kind == TIMER:
        return int(max(over(tables, threads, row, leaf, cursor), threads[row + T_TIME]))
    if kind == THE_END:
        return END_OF_TIME
    end = end_of_within(tables, cursor)
    if kind == ENDING:
        return int(max(end, threads[row + T_TIME]))
    if tables[leaf + F_GAP] >= 0:
        return min(end, later(threads[row + T_LAST], tables[leaf + F_GAP]))
    return end


@inlined
def set_due(tables: Ints, threads: Ints, row: int, cursor: Ints) -> None:
    """Note when time next decides something about a way."""
    if tables[H_PLAIN] == 1:
        threads[row + T_DEADLINE] = end_of_within(tables, cursor)
        return
    state = tables[H_STATES] + threads[row + T_STATE] * STATE
    found = END_OF_TIME
    for number in range(tables[state + S_LEAVES]):
        if alive(threads, row, number):
            end = deadline(tables, threads, row, tables[state + S_LEAF] + number * LEAF, cursor)
            if end < found:
                found = end
    threads[row + T_DEADLINE] = found


@inlined
def is_open(tables: Ints, threads: Ints, row: int, leaf: int, cursor: Ints) -> bool:
    """True if a way that has come to its state waits at a leaf of it."""
    counters = row + tables[H_COUNTERS]
    at = tables[leaf + F_NEED]
    for k in range(at, at + tables[leaf + F_NEEDS] * NEED, NEED):
        kind = tables[k + N_KIND]
        number = tables[k + N_NUMBER]
        value = threads[counters + tables[k + N_COUNTER]]
        if kind == TIME_AHEAD:
            fine = threads[row + T_TIME] < over(tables, threads, row, leaf, cursor)
        elif kind == TIME_REACHED:
            end = end_of(tables, threads, row, tables[k + N_COUNTER], number, cursor)
            fine = threads[row + T_TIME] >= end
        elif kind == AT_LEAST:
            fine = value + 1 >= number
        elif kind == BELOW:
            fine = value + 1 < number
        elif kind == NOTHING_TAKEN:
            fine = threads[counters + tables[H_TAKEN]] == value
        else:
            fine = threads[counters + tables[H_TAKEN]] > value
        if not fine:
            return False
    return not (
        tables[leaf + F_KIND] == OPTION
        and threads[row + T_TIME] >= deadline(tables, threads, row, leaf, cursor)
    )


def soonest(threads: Ints, head: int) -> int:
    """Time that next decides something about ways."""
    found = END_OF_TIME
    row = head
    while row >= 0:
        if threads[row + T_STATE] <= EACH:
            due = soonest(threads, threads[row + T_NODE])
        else:
            due = threads[row + T_DEADLINE]
        if due < found:
            found = due
        row = threads[row + T_NEXT]
    return int(found)
