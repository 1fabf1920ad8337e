"""Times that decide something about an alternative: `within`, gaps between steps, timed steps."""

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
    N_COUNTER,
    N_KIND,
    N_NUMBER,
    NEED,
    NOTHING_TAKEN,
    O_DURATION,
    O_SINCE,
    OPTION,
    OVER,
    S_TRANSITION,
    S_TRANSITIONS,
    STATE,
    THE_END,
    TIME_AHEAD,
    TIME_REACHED,
    TIMER,
    TRANSITION,
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


def end_of(tables: Ints, rows: Ints, row: int, since: int, duration: int, cursor: Ints) -> int:
    """A duration after the state was entered, or after a counter's time; -1: the end of `within`."""
    if duration < 0:
        return end_of_within(tables, cursor)
    if since < 0:
        return later(rows[row + T_TIME], duration)
    return later(rows[row + tables[H_COUNTERS] + since], duration)


def over(tables: Ints, rows: Ints, row: int, transition: int, cursor: Ints) -> int:
    """The time at which all durations of a transition are over."""
    found = LEAST
    at = tables[transition + F_OVER]
    for k in range(at, at + tables[transition + F_OVERS] * OVER, OVER):
        end = end_of(tables, rows, row, tables[k + O_SINCE], tables[k + O_DURATION], cursor)
        if end > found:
            found = end
    return found


@inlined
def deadline(tables: Ints, rows: Ints, row: int, transition: int, cursor: Ints) -> int:
    """The time that decides a transition: an option is too late, a timer is over, an end is reached.

    What was over before the state was entered is over then: absences may last longer than `within`.
    """
    kind = tables[transition + F_KIND]
    if kind == TIMER:
        return int(max(over(tables, rows, row, transition, cursor), rows[row + T_TIME]))
    if kind == THE_END:
        return END_OF_TIME
    end = end_of_within(tables, cursor)
    if kind == ENDING:
        return int(max(end, rows[row + T_TIME]))
    if tables[transition + F_GAP] >= 0:
        return min(end, later(rows[row + T_LAST], tables[transition + F_GAP]))
    return end


@inlined
def set_due(tables: Ints, rows: Ints, row: int, cursor: Ints) -> None:
    """Note when time next decides something about an alternative."""
    if tables[H_PLAIN] == 1:
        rows[row + T_DEADLINE] = end_of_within(tables, cursor)
        return
    state = tables[H_STATES] + rows[row + T_STATE] * STATE
    found = END_OF_TIME
    for number in range(tables[state + S_TRANSITIONS]):
        if alive(rows, row, number):
            end = deadline(tables, rows, row, tables[state + S_TRANSITION] + number * TRANSITION, cursor)
            if end < found:
                found = end
    rows[row + T_DEADLINE] = found


@inlined
def is_open(tables: Ints, rows: Ints, row: int, transition: int, cursor: Ints) -> bool:
    """True if an alternative that has come to its state waits for a transition of it."""
    counters = row + tables[H_COUNTERS]
    at = tables[transition + F_NEED]
    for k in range(at, at + tables[transition + F_NEEDS] * NEED, NEED):
        kind = tables[k + N_KIND]
        number = tables[k + N_NUMBER]
        value = rows[counters + tables[k + N_COUNTER]]
        if kind == TIME_AHEAD:
            fine = rows[row + T_TIME] < over(tables, rows, row, transition, cursor)
        elif kind == TIME_REACHED:
            end = end_of(tables, rows, row, tables[k + N_COUNTER], number, cursor)
            fine = rows[row + T_TIME] >= end
        elif kind == AT_LEAST:
            fine = value + 1 >= number
        elif kind == BELOW:
            fine = value + 1 < number
        elif kind == NOTHING_TAKEN:
            fine = rows[counters + tables[H_TAKEN]] == value
        else:
            fine = rows[counters + tables[H_TAKEN]] > value
        if not fine:
            return False
    return not (
        tables[transition + F_KIND] == OPTION
        and rows[row + T_TIME] >= deadline(tables, rows, row, transition, cursor)
    )


def soonest(rows: Ints, head: int) -> int:
    """The time that next decides something about any of the alternatives."""
    found = END_OF_TIME
    row = head
    while row >= 0:
        due = soonest(rows, rows[row + T_NODE]) if rows[row + T_STATE] <= EACH else rows[row + T_DEADLINE]
        if due < found:
            found = due
        row = rows[row + T_NEXT]
    return int(found)
