"""The matching kernel: one function that interprets a rule's tables over a shard's events of one batch.

Written in the subset of Python that numba compiles. `compiled` compiles this very source when many
events flow; otherwise it runs as it is. Everything lives in flat int64 arrays (automaton.md): `tables` is
the rule (`cep.automata.tables` writes it), and pools hold rows that point at each other by offset:

    lists    one per key with runs: its runs in order of their first event
    runs     a run: its ways in order of preference
    threads  a way: state, times, the events taken so far (a node), registers
    nodes    an event taken by a step, after the node before it; forks share them
    matches  what was raised, in order of decision

A run is a priority automaton (Cox, Regular Expression Matching: the Virtual Machine Approach, 2009): an
event that fits several edges forks the thread in their order; a thread that matched drops all lower ones;
a run is raised when its first thread has matched. All constants stand here, since numba's cache notices a
change of this file only.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]

# Programs: (operation, a, b, dst) over slots.
(
    NULL, CONSTANT, COLUMN, REGISTER, COPY,
    TO_FLOAT, TO_WHOLE,
    ADD_I, SUBTRACT_I, MULTIPLY_I, REMAINDER_I, NEGATE_I, ABS_I,
    ADD_F, SUBTRACT_F, MULTIPLY_F, DIVIDE_F, REMAINDER_F, NEGATE_F, ABS_F, ROUND,
    EQUAL_I, UNEQUAL_I, LESS_I, AT_MOST_I,
    EQUAL_F, UNEQUAL_F, LESS_F, AT_MOST_F,
    LESS_T, AT_MOST_T,
    AND, OR, NOT, IS_NULL, IS_KNOWN, COALESCE, CHOOSE, DISTANCE,
) = range(39)  # fmt: skip

# Updates: (operation, register, column, other register or number).
(
    SET, SHIFT, NTH, COUNT, KNOWN, SUM_I, SUM_F,
    LEAST_I, LEAST_F, LEAST_T, GREATEST_I, GREATEST_F, GREATEST_T,
) = range(13)  # fmt: skip
INSTRUCTION = 4

# The head of a rule's tables; places of parts are offsets into the same array.
(
    H_STATES, H_EDGES, H_INITIAL, H_WITHIN, H_SKIP, H_SKIP_STEP, H_REGISTERS, H_NULL_WORDS,
    H_THREAD, H_LIMIT, H_FORK, HEAD,
) = range(12)  # fmt: skip
SKIP_PAST_LAST, SKIP_TO_NEXT, SKIP_TO_FIRST, SKIP_TO_LAST, SKIP_NONE = range(5)

# A state: the edges that leave it, whether the pattern may end there, and the timed step that waits there.
(
    S_EDGE, S_EDGES, S_ACCEPT, S_COUNTER, S_LEAST, S_TIMER, S_GUARD, S_PROGRAM, S_LENGTH, S_PREVENTED, STATE,
) = range(11)  # fmt: skip
NO_TIMER, UNTIL_WITHIN = -1, -2

# An edge: what an event must satisfy, what taking it changes, and where it leads.
(
    E_PLACE, E_PROGRAM, E_LENGTH, E_STRICT, E_COUNTER, E_LEAST, E_MOST, E_UPDATE, E_UPDATES,
    E_TARGET, E_STEP, EDGE,
) = range(12)  # fmt: skip

L_KEY, L_FIRST, L_LAST, L_RUNS, L_THREADS, L_SEEN, L_DEADLINE, LIST = range(8)
R_NEXT, R_THREAD, R_START, R_TIME, RUN = range(5)
T_NEXT, T_STATE, T_TIME, T_SEQUENCE, T_DEADLINE, T_NODE, T_NULLS = range(7)
N_PREVIOUS, N_STEP, N_EVENT, N_SEQUENCE, NODE = range(5)
M_TIME, M_BY_EVENT, M_NODE, M_KEY, M_START, MATCH = range(6)

# What goes on between calls: where the loop stands, and the pools' free rows.
(
    C_POSITION, C_SETTLED, C_THREAD, C_THREADS, C_RUN, C_RUNS, C_LISTS, C_NODES, C_MATCHES,
    C_DROPPED, C_OVERFLOWS, C_NEED, C_SEQUENCE, C_EVENT, C_EVENTS, C_WATERMARK, C_BLANK, C_TRACES, C_AT,
    CURSOR,
) = range(20)  # fmt: skip

# What a trace says, if one is asked for (C_TRACES is not NONE): a row for each thing that happened to a run.
(
    X_KIND, X_EVENT, X_TIME, X_START, X_FORK, X_PARENT, X_KEY, X_NODE, X_STEP, X_WHY, TRACE,
) = range(11)  # fmt: skip
(
    BEGAN, TOOK, TRIED, PREVENTED, BROKEN, EXPIRED, SKIPPED, DROPPED, MATCHES, FORKED, TIMED_OUT, GAVE_UP,
    PASSED,
) = range(13)  # fmt: skip
WHY_ALONE, WHY_EARLIER, WHY_NEXT, WHY_WITHIN, WHY_GUARD = range(5)

MATCHED = -1
NONE = -1
NO_SEQUENCE = -1
END_OF_TIME = 2**63 - 1
LEAST, GREATEST = -(2**63), 2**63 - 1
DONE, MORE_ROOM = 0, 1
NULL_BITS = 62
FIRSTS = 1 << 20
EARTH_RADIUS_KM = 6371.0088


def note(
    trace: Ints, cursor: Ints, kind: int, event: int, time: int, start: int, key: int, node: int, step: int,
    why: int,
) -> None:  # fmt: skip
    """Say what happened to a run, if somebody asked. `event` -1: time alone; `why` as the kind needs it."""
    at = cursor[C_TRACES]
    if at < 0:
        return
    trace[at + X_KIND] = kind
    trace[at + X_EVENT] = -1 if event < 0 else cursor[C_EVENT] + event
    trace[at + X_TIME] = time
    trace[at + X_START] = start
    trace[at + X_FORK] = 0
    trace[at + X_PARENT] = NONE
    trace[at + X_KEY] = key
    trace[at + X_NODE] = node
    trace[at + X_STEP] = step
    trace[at + X_WHY] = why
    cursor[C_TRACES] = at + TRACE


def later(time: int, duration: int) -> int:
    """Time plus duration, at most the end of time."""
    if time > END_OF_TIME - duration:
        return END_OF_TIME
    return time + duration


def rounded(value: float) -> float:
    """A double to a whole one, halves away from zero."""
    below = float(math.floor(abs(value)))
    if abs(value) - below >= 0.5:
        below += 1.0
    return math.copysign(below, value)


def distance(latitude: float, longitude: float, latitude2: float, longitude2: float) -> float:
    """Great-circle kilometres, as cep.expressions.functions."""
    a = math.radians(latitude)
    b = math.radians(latitude2)
    across = math.sin(math.radians(longitude2 - longitude) / 2)
    along = math.sin((b - a) / 2)
    chord = along * along + math.cos(a) * math.cos(b) * across * across
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(min(1.0, chord)))


def product_overflows(x: int, y: int) -> bool:
    """Whether the product of two longs is none."""
    if x == 0 or y == 0:
        return False
    if x == LEAST or y == LEAST:
        return not (x == 1 or y == 1)
    most = GREATEST // abs(y)
    if abs(x) <= most:
        return False
    # One product lies outside on one side only: the least long.
    return (x < 0) == (y < 0) or GREATEST % abs(y) != abs(y) - 1 or abs(x) != most + 1


def is_null(threads: Ints, row: int, register: int) -> int:
    """Whether a register of a thread is null."""
    return int((threads[row + T_NULLS + register // NULL_BITS] >> (register % NULL_BITS)) & 1)


def set_null(threads: Ints, row: int, register: int, null: int) -> None:
    """Mark a register as null or known."""
    word = row + T_NULLS + register // NULL_BITS
    bit = np.int64(1) << np.int64(register % NULL_BITS)
    if null:
        threads[word] |= bit
    else:
        threads[word] &= ~bit


def holds(
    tables: Ints, at: int, length: int, i: int, row: int, constants: Ints, columns: Ints, nulls: Bytes, ranks:
    Ints, threads: Ints, slots: Ints, floats: Floats, unknown: Ints, cursor: Ints,
) -> bool:  # fmt: skip
    """Whether a program is true for the event i and the registers of a thread; no program is true."""
    if length == 0:
        return True
    registers = row + T_NULLS + tables[H_NULL_WORDS]
    n = cursor[C_EVENTS]
    dst = 0
    for k in range(at, at + length * INSTRUCTION, INSTRUCTION):
        operation = tables[k]
        a = tables[k + 1]
        b = tables[k + 2]
        dst = tables[k + 3]
        if operation == COLUMN:
            slots[dst] = columns[a * n + i]
            unknown[dst] = nulls[a * n + i]
        elif operation == REGISTER:
            slots[dst] = threads[registers + a]
            unknown[dst] = is_null(threads, row, a)
        elif operation == CONSTANT:
            slots[dst] = constants[a]
            unknown[dst] = 0
        elif operation == NULL:
            slots[dst] = 0
            unknown[dst] = 1
        elif operation == COPY:
            slots[dst] = slots[a]
            unknown[dst] = unknown[a]
        elif operation in (AND, OR):
            decisive = 0 if operation == AND else 1
            if (unknown[a] == 0 and slots[a] == decisive) or (unknown[b] == 0 and slots[b] == decisive):
                slots[dst] = decisive
                unknown[dst] = 0
            else:
                slots[dst] = 1 - decisive
                unknown[dst] = unknown[a] | unknown[b]
        elif operation == IS_NULL:
            slots[dst] = unknown[a]
            unknown[dst] = 0
        elif operation == IS_KNOWN:
            slots[dst] = 1 - unknown[a]
            unknown[dst] = 0
        elif operation == COALESCE:
            chosen = b if unknown[a] else a
            slots[dst] = slots[chosen]
            unknown[dst] = unknown[chosen]
        elif operation == CHOOSE:
            chosen = b if unknown[a] == 0 and slots[a] == 1 else b + 1
            slots[dst] = slots[chosen]
            unknown[dst] = unknown[chosen]
        elif operation == DISTANCE:
            unknown[dst] = unknown[a] | unknown[a + 1] | unknown[a + 2] | unknown[a + 3]
            if unknown[dst] == 0:
                floats[dst] = distance(floats[a], floats[a + 1], floats[a + 2], floats[a + 3])
        else:
            two = operation not in (
                NOT, TO_FLOAT, TO_WHOLE, NEGATE_I, ABS_I, NEGATE_F, ABS_F, ROUND,
            )  # fmt: skip
            if unknown[a] or (two and unknown[b]):
                slots[dst] = 0
                unknown[dst] = 1
            else:
                unknown[dst] = strict(operation, a, b if two else a, dst, slots, floats, ranks)
                if unknown[dst]:
                    slots[dst] = 0
                    if unknown[dst] == 2:
                        cursor[C_OVERFLOWS] += 1
                        unknown[dst] = 1
    return bool(unknown[dst] == 0 and slots[dst] == 1)


def strict(operation: int, a: int, b: int, dst: int, slots: Ints, floats: Floats, ranks: Ints) -> int:
    """An operation on known values: 0, or 1 if its result is null, 2 if it has none for want of room."""
    if operation == EQUAL_I:
        slots[dst] = 1 if slots[a] == slots[b] else 0
    elif operation == UNEQUAL_I:
        slots[dst] = 1 if slots[a] != slots[b] else 0
    elif operation == LESS_I:
        slots[dst] = 1 if slots[a] < slots[b] else 0
    elif operation == AT_MOST_I:
        slots[dst] = 1 if slots[a] <= slots[b] else 0
    elif operation == EQUAL_F:
        slots[dst] = 1 if floats[a] == floats[b] else 0
    elif operation == UNEQUAL_F:
        slots[dst] = 1 if floats[a] != floats[b] else 0
    elif operation == LESS_F:
        slots[dst] = 1 if floats[a] < floats[b] else 0
    elif operation == AT_MOST_F:
        slots[dst] = 1 if floats[a] <= floats[b] else 0
    elif operation == LESS_T:
        slots[dst] = 1 if ranks[slots[a]] < ranks[slots[b]] else 0
    elif operation == AT_MOST_T:
        slots[dst] = 1 if ranks[slots[a]] <= ranks[slots[b]] else 0
    elif operation == NOT:
        slots[dst] = 1 - slots[a]
    elif operation == TO_FLOAT:
        floats[dst] = float(slots[a])
    elif operation == TO_WHOLE:
        near = rounded(float(floats[a]))
        if not (near >= -9223372036854775808.0 and near < 9223372036854775808.0):
            return 2
        slots[dst] = int(near)
    elif operation >= ADD_I and operation <= ABS_I:
        x = int(slots[a])
        y = int(slots[b])
        if operation == ADD_I:
            if (y > 0 and x > GREATEST - y) or (y < 0 and x < LEAST - y):
                return 2
            slots[dst] = x + y
        elif operation == SUBTRACT_I:
            if (y < 0 and x > GREATEST + y) or (y > 0 and x < LEAST + y):
                return 2
            slots[dst] = x - y
        elif operation == MULTIPLY_I:
            if product_overflows(x, y):
                return 2
            slots[dst] = x * y
        elif operation == REMAINDER_I:
            if y == 0:
                return 1
            if y == -1 or y == 1:
                slots[dst] = 0
            else:
                rest = x % y
                if rest != 0 and (rest < 0) != (x < 0):
                    rest -= y
                slots[dst] = rest
        elif x == LEAST and operation in (NEGATE_I, ABS_I):
            return 2
        elif operation == NEGATE_I or x < 0:
            slots[dst] = -x
        else:
            slots[dst] = x
    else:
        p = float(floats[a])
        q = float(floats[b])
        value = 0.0
        if operation == ADD_F:
            value = p + q
        elif operation == SUBTRACT_F:
            value = p - q
        elif operation == MULTIPLY_F:
            value = p * q
        elif operation == DIVIDE_F:
            if q == 0.0:
                return 1
            value = p / q
        elif operation == REMAINDER_F:
            if q == 0.0:
                return 1
            value = float(np.fmod(p, q))
        elif operation == NEGATE_F:
            value = -p
        elif operation == ABS_F:
            value = abs(p)
        elif operation == ROUND:
            value = rounded(p)
        if not math.isfinite(value):
            return 2
        floats[dst] = value
    return 0


def take(
    tables: Ints, at: int, length: int, i: int, row: int, columns: Ints, nulls: Bytes, ranks: Ints, threads:
    Ints, bits: Ints, reals: Floats, cursor: Ints,
) -> None:  # fmt: skip
    """Update a thread's registers by the event i. `bits` and `reals` are one scratch pair, read both ways."""
    registers = row + T_NULLS + tables[H_NULL_WORDS]
    n = cursor[C_EVENTS]
    for k in range(at, at + length * INSTRUCTION, INSTRUCTION):
        operation = tables[k]
        register = tables[k + 1]
        column = tables[k + 2]
        other = tables[k + 3]
        if operation == COUNT:
            threads[registers + register] += 1
            continue
        if operation == SHIFT:
            threads[registers + register] = threads[registers + other]
            set_null(threads, row, register, is_null(threads, row, other))
            continue
        value = columns[column * n + i]
        null = nulls[column * n + i]
        if operation == NTH:
            if threads[registers + other // FIRSTS] == other % FIRSTS:
                threads[registers + register] = value
                set_null(threads, row, register, null)
            continue
        if operation == SET:
            threads[registers + register] = value
            set_null(threads, row, register, null)
            continue
        if null:
            continue
        if operation == KNOWN:
            threads[registers + register] += 1
            continue
        old = threads[registers + register]
        if is_null(threads, row, register):
            # A sum that overflowed is null for good: it is told from an empty one by its bits.
            if old == 0 or (operation != SUM_I and operation != SUM_F):
                threads[registers + register] = value
                set_null(threads, row, register, 0)
            continue
        if operation == SUM_I:
            x = int(old)
            y = int(value)
            if (y > 0 and x > GREATEST - y) or (y < 0 and x < LEAST - y):
                set_null(threads, row, register, 1)
                threads[registers + register] = 1
                cursor[C_OVERFLOWS] += 1
            else:
                threads[registers + register] = x + y
        elif operation == LEAST_I:
            if value < old:
                threads[registers + register] = value
        elif operation == GREATEST_I:
            if value > old:
                threads[registers + register] = value
        elif operation == LEAST_T:
            if ranks[value] < ranks[old]:
                threads[registers + register] = value
        elif operation == GREATEST_T:
            if ranks[value] > ranks[old]:
                threads[registers + register] = value
        else:
            bits[0] = old
            bits[1] = value
            p = float(reals[0])
            q = float(reals[1])
            if operation == SUM_F:
                total = p + q
                if math.isfinite(total):
                    reals[0] = total
                    threads[registers + register] = bits[0]
                else:
                    set_null(threads, row, register, 1)
                    threads[registers + register] = 1
                    cursor[C_OVERFLOWS] += 1
            elif (operation == LEAST_F and q < p) or (operation == GREATEST_F and q > p):
                threads[registers + register] = value


def free_thread(threads: Ints, row: int, cursor: Ints) -> None:
    """Give a thread's row back."""
    threads[row + T_NEXT] = cursor[C_THREAD]
    cursor[C_THREAD] = row
    cursor[C_THREADS] += 1


def new_thread(threads: Ints, cursor: Ints) -> int:
    """A free row. The caller has made sure that there is one."""
    row = cursor[C_THREAD]
    cursor[C_THREAD] = threads[row + T_NEXT]
    cursor[C_THREADS] -= 1
    threads[row + T_NEXT] = NONE
    return int(row)


def free_run(lists: Ints, runs: Ints, threads: Ints, at: int, before: int, run: int, cursor: Ints) -> None:
    """Take a run and its threads out of its list; `before` is the run before it, or none."""
    after = runs[run + R_NEXT]
    if before >= 0:
        runs[before + R_NEXT] = after
    else:
        lists[at + L_FIRST] = after
    if after < 0:
        lists[at + L_LAST] = before
    row = runs[run + R_THREAD]
    while row >= 0:
        following = threads[row + T_NEXT]
        free_thread(threads, row, cursor)
        lists[at + L_THREADS] -= 1
        row = following
    lists[at + L_RUNS] -= 1
    runs[run + R_NEXT] = cursor[C_RUN]
    cursor[C_RUN] = run
    cursor[C_RUNS] += 1


def raised(
    tables: Ints, lists: Ints, runs: Ints, threads: Ints, nodes: Ints, matches: Ints, at: int, run: int, time:
    int, by_event: int, cursor: Ints, trace: Ints,
) -> int:  # fmt: skip
    """Record the match of a run's first thread. Returns the sequence number before which begun runs end."""
    row = runs[run + R_THREAD]
    start = runs[run + R_START]
    match = cursor[C_MATCHES]
    matches[match + M_TIME] = threads[row + T_TIME] if time == END_OF_TIME else time
    matches[match + M_BY_EVENT] = by_event
    matches[match + M_NODE] = threads[row + T_NODE]
    matches[match + M_KEY] = lists[at + L_KEY]
    matches[match + M_START] = start
    cursor[C_MATCHES] = match + MATCH
    event = cursor[C_AT] if by_event else NONE
    note(
        trace,
        cursor,
        MATCHES,
        event,
        matches[match + M_TIME],
        start,
        lists[at + L_KEY],
        threads[row + T_NODE],
        NONE,
        NONE,
    )
    skip = tables[H_SKIP]
    if skip == SKIP_PAST_LAST:
        return int(threads[row + T_SEQUENCE] + 1)
    if skip == SKIP_TO_NEXT:
        return int(start + 1)
    if skip == SKIP_NONE:
        return int(start)
    found = start
    node = threads[row + T_NODE]
    while node >= 0:
        if nodes[node + N_STEP] == tables[H_SKIP_STEP]:
            found = nodes[node + N_SEQUENCE]
            if skip == SKIP_TO_LAST:
                break
        node = nodes[node + N_PREVIOUS]
    return int(found if found > start else start + 1)


def skipped(
    lists: Ints, runs: Ints, threads: Ints, at: int, run: int, i: int, time: int, by: int, cursor: Ints,
    trace: Ints,
) -> None:  # fmt: skip
    """Say that the match of the run that began at sequence number `by` ended another."""
    if cursor[C_TRACES] >= 0:
        node = threads[runs[run + R_THREAD] + T_NODE]
        note(trace, cursor, SKIPPED, i, time, runs[run + R_START], lists[at + L_KEY], node, NONE, by)


def expire(
    tables: Ints, lists: Ints, runs: Ints, threads: Ints, at: int, bound: int, cursor: Ints, trace: Ints
) -> None:
    """Drop the runs of a list that end by `bound` with nothing to raise: their order does not matter."""
    before = NONE
    run = lists[at + L_FIRST]
    while run >= 0:
        following = runs[run + R_NEXT]
        silent = True
        row = runs[run + R_THREAD]
        while row >= 0 and silent:
            state = tables[H_STATES] + threads[row + T_STATE] * STATE
            silent = (
                threads[row + T_STATE] != MATCHED
                and threads[row + T_DEADLINE] <= bound
                and not timed(tables, state, row, threads)
            )
            row = threads[row + T_NEXT]
        if silent:
            first = runs[run + R_THREAD]
            note(
                trace, cursor, EXPIRED, NONE, threads[first + T_DEADLINE], runs[run + R_START],
                lists[at + L_KEY], threads[first + T_NODE], NONE, WHY_WITHIN,
            )  # fmt: skip
            free_run(lists, runs, threads, at, before, run, cursor)
        else:
            before = run
        run = following


def settle(
    tables: Ints, lists: Ints, runs: Ints, threads: Ints, nodes: Ints, matches: Ints, at: int, bound: int,
    cursor: Ints, trace: Ints,
) -> None:  # fmt: skip
    """Settle what is due in one list up to and including `bound`, in order of time, then of first events."""
    expire(tables, lists, runs, threads, at, bound, cursor, trace)
    while lists[at + L_DEADLINE] <= bound:
        due = END_OF_TIME
        found = False
        best_run = best_before = best_row = best_above = NONE
        before = NONE
        run = lists[at + L_FIRST]
        while run >= 0:
            above = NONE
            row = runs[run + R_THREAD]
            while row >= 0:
                if threads[row + T_STATE] != MATCHED:
                    deadline = threads[row + T_DEADLINE]
                    if deadline < due or (deadline == due and not found):
                        found = True
                        due = deadline
                        best_run, best_before, best_row, best_above = run, before, row, above
                above = row
                row = threads[row + T_NEXT]
            before = run
            run = runs[run + R_NEXT]
        lists[at + L_DEADLINE] = due
        if not found:
            lists[at + L_DEADLINE] = END_OF_TIME
            return
        if due > bound:
            return
        state = tables[H_STATES] + threads[best_row + T_STATE] * STATE
        if due < END_OF_TIME and timed(tables, state, best_row, threads):
            # The timed step is complete, and with it the pattern; what was less preferred goes.
            note(
                trace, cursor, PASSED, NONE, due, runs[best_run + R_START], lists[at + L_KEY],
                threads[best_row + T_NODE], tables[state + S_GUARD], NONE,
            )  # fmt: skip
            threads[best_row + T_STATE] = MATCHED
            row = threads[best_row + T_NEXT]
            threads[best_row + T_NEXT] = NONE
            while row >= 0:
                following = threads[row + T_NEXT]
                free_thread(threads, row, cursor)
                lists[at + L_THREADS] -= 1
                row = following
        else:
            following = threads[best_row + T_NEXT]
            if best_above >= 0:
                threads[best_above + T_NEXT] = following
            else:
                runs[best_run + R_THREAD] = following
            free_thread(threads, best_row, cursor)
            lists[at + L_THREADS] -= 1
            if runs[best_run + R_THREAD] < 0 and due < END_OF_TIME:
                note(
                    trace, cursor, EXPIRED, NONE, due, runs[best_run + R_START], lists[at + L_KEY],
                    threads[best_row + T_NODE], NONE, WHY_WITHIN,
                )  # fmt: skip
        row = runs[best_run + R_THREAD]
        if row < 0:
            free_run(lists, runs, threads, at, best_before, best_run, cursor)
        elif threads[row + T_STATE] == MATCHED:
            start = runs[best_run + R_START]
            blocked = raised(
                tables, lists, runs, threads, nodes, matches, at, best_run, due, 0, cursor, trace
            )
            free_run(lists, runs, threads, at, best_before, best_run, cursor)
            run = lists[at + L_FIRST] if best_before < 0 else runs[best_before + R_NEXT]
            while run >= 0 and runs[run + R_START] < blocked:
                following = runs[run + R_NEXT]
                skipped(lists, runs, threads, at, run, NONE, due, start, cursor, trace)
                free_run(lists, runs, threads, at, best_before, run, cursor)
                run = following
        if lists[at + L_FIRST] < 0:
            lists[at + L_DEADLINE] = END_OF_TIME


def reached(tables: Ints, state: int, row: int, threads: Ints) -> bool:
    """Whether a thread has made the rounds that must be made before its state may be left."""
    counter = tables[state + S_COUNTER]
    if counter < 0:
        return True
    return bool(threads[row + T_NULLS + tables[H_NULL_WORDS] + counter] >= tables[state + S_LEAST])


def timed(tables: Ints, state: int, row: int, threads: Ints) -> bool:
    """Whether a timed step is among what a thread waits for."""
    return tables[state + S_TIMER] != NO_TIMER and reached(tables, state, row, threads)


def wait(tables: Ints, threads: Ints, row: int, began: int) -> int:
    """Set when a thread is due. Returns 1 where it may go on, else 0; plus 2 where the pattern may end."""
    state = tables[H_STATES] + threads[row + T_STATE] * STATE
    registers = row + T_NULLS + tables[H_NULL_WORDS]
    goes_on = 0
    for edge in range(tables[state + S_EDGE], tables[state + S_EDGE] + tables[state + S_EDGES] * EDGE, EDGE):
        counter = tables[edge + E_COUNTER]
        if counter < 0 or (
            threads[registers + counter] >= tables[edge + E_LEAST]
            and threads[registers + counter] < tables[edge + E_MOST]
        ):
            goes_on = 1
            break
    end = END_OF_TIME
    if tables[H_WITHIN] >= 0:
        end = later(began, tables[H_WITHIN])
    if timed(tables, state, row, threads):
        goes_on = 1
        if tables[state + S_TIMER] != UNTIL_WITHIN:
            end = later(threads[row + T_TIME], tables[state + S_TIMER])
    threads[row + T_DEADLINE] = end
    return goes_on + (2 if tables[state + S_ACCEPT] == 1 and reached(tables, state, row, threads) else 0)


def fork(
    tables: Ints, edge: int, parent: int, i: int, t: int, began: int, columns: Ints, nulls: Bytes, ranks:
    Ints, threads: Ints, nodes: Ints, bits: Ints, reals: Floats, cursor: Ints,
) -> int:  # fmt: skip
    """A thread that took event i along an edge. Returns its row, which may have matched.

    Where the pattern may end but also go on, the row goes on and is followed by a row that matched.
    """
    row = new_thread(threads, cursor)
    width = tables[H_THREAD]
    for k in range(T_STATE, width):
        threads[row + k] = threads[parent + k]
    node = cursor[C_NODES]
    cursor[C_NODES] = node + NODE
    nodes[node + N_PREVIOUS] = threads[row + T_NODE]
    nodes[node + N_STEP] = tables[edge + E_STEP]
    nodes[node + N_EVENT] = cursor[C_EVENT] + i
    nodes[node + N_SEQUENCE] = cursor[C_SEQUENCE] + i
    threads[row + T_NODE] = node
    threads[row + T_STATE] = tables[edge + E_TARGET]
    threads[row + T_TIME] = t
    threads[row + T_SEQUENCE] = cursor[C_SEQUENCE] + i
    take(
        tables, tables[edge + E_UPDATE], tables[edge + E_UPDATES], i, row, columns, nulls, ranks, threads,
        bits, reals, cursor,
    )  # fmt: skip
    outcome = wait(tables, threads, row, began)
    if outcome == 2:
        threads[row + T_STATE] = MATCHED
    elif outcome == 3:
        end = new_thread(threads, cursor)
        for k in range(T_STATE, width):
            threads[end + k] = threads[row + k]
        threads[end + T_STATE] = MATCHED
        threads[row + T_NEXT] = end
    return row


def begin(
    tables: Ints, lists: Ints, runs: Ints, threads: Ints, nodes: Ints, at: int, i: int, t: int, constants:
    Ints, places: Bytes, columns: Ints, nulls: Bytes, ranks: Ints, slots: Ints, floats: Floats, unknown: Ints,
    bits: Ints, reals: Floats, cursor: Ints, trace: Ints,
) -> int:  # fmt: skip
    """Begin a run at event i if it fits a first step. Returns the run, or none."""
    n = cursor[C_EVENTS]
    state = tables[H_STATES]
    blank = cursor[C_BLANK]
    first = last = NONE
    made = 0
    start = cursor[C_SEQUENCE] + i
    key = lists[at + L_KEY]
    for edge in range(tables[state + S_EDGE], tables[state + S_EDGE] + tables[state + S_EDGES] * EDGE, EDGE):
        if places[tables[edge + E_PLACE] * n + i] == 0:
            note(trace, cursor, TRIED, i, t, NONE, key, NONE, tables[edge + E_STEP], WHY_ALONE)
            continue
        if not holds(
            tables, tables[edge + E_PROGRAM], tables[edge + E_LENGTH], i, blank, constants, columns, nulls,
            ranks, threads, slots, floats, unknown, cursor,
        ):  # fmt: skip
            note(trace, cursor, TRIED, i, t, NONE, key, NONE, tables[edge + E_STEP], WHY_EARLIER)
            continue
        row = fork(tables, edge, blank, i, t, t, columns, nulls, ranks, threads, nodes, bits, reals, cursor)
        note(trace, cursor, BEGAN, i, t, start, key, threads[row + T_NODE], tables[edge + E_STEP], NONE)
        if first < 0:
            first = row
        else:
            threads[last + T_NEXT] = row
        last = row
        made += 1
        if threads[row + T_NEXT] >= 0:
            last = threads[row + T_NEXT]
            made += 1
        if threads[last + T_STATE] == MATCHED:
            break
    if first < 0:
        return NONE
    run = cursor[C_RUN]
    cursor[C_RUN] = runs[run + R_NEXT]
    cursor[C_RUNS] -= 1
    runs[run + R_NEXT] = NONE
    runs[run + R_THREAD] = first
    runs[run + R_START] = cursor[C_SEQUENCE] + i
    runs[run + R_TIME] = t
    if lists[at + L_LAST] >= 0:
        runs[lists[at + L_LAST] + R_NEXT] = run
    else:
        lists[at + L_FIRST] = run
    lists[at + L_LAST] = run
    lists[at + L_RUNS] += 1
    lists[at + L_THREADS] += made
    return int(run)


def advance(
    tables: Ints, lists: Ints, runs: Ints, threads: Ints, nodes: Ints, at: int, run: int, i: int, t: int,
    constants: Ints, places: Bytes, columns: Ints, nulls: Bytes, ranks: Ints, slots: Ints, floats: Floats,
    unknown: Ints, bits: Ints, reals: Floats, cursor: Ints, trace: Ints,
) -> None:  # fmt: skip
    """Show event i to the threads of a run, most preferred first."""
    n = cursor[C_EVENTS]
    start = runs[run + R_START]
    key = lists[at + L_KEY]
    began = runs[run + R_TIME]
    inside = tables[H_WITHIN] < 0 or t < later(began, tables[H_WITHIN])
    seen = lists[at + L_SEEN]
    registers = T_NULLS + tables[H_NULL_WORDS]
    last = NONE
    row = runs[run + R_THREAD]
    runs[run + R_THREAD] = NONE
    change = 0
    matched = False
    while row >= 0 and not matched:
        following = threads[row + T_NEXT]
        if threads[row + T_STATE] == MATCHED:
            matched = True
            keep = True
        else:
            state = tables[H_STATES] + threads[row + T_STATE] * STATE
            keep = False
            fits = False
            first_edge = tables[state + S_EDGE]
            for edge in range(first_edge, first_edge + tables[state + S_EDGES] * EDGE, EDGE):
                counter = tables[edge + E_COUNTER]
                if counter >= 0:
                    count = threads[row + registers + counter]
                    if count < tables[edge + E_LEAST] or count >= tables[edge + E_MOST]:
                        continue
                is_strict = tables[edge + E_STRICT] == 1
                if not inside or (is_strict and threads[row + T_SEQUENCE] != seen):
                    continue
                why = NONE
                if places[tables[edge + E_PLACE] * n + i] == 0:
                    why = WHY_ALONE
                elif not holds(
                    tables, tables[edge + E_PROGRAM], tables[edge + E_LENGTH], i, row, constants, columns,
                    nulls, ranks, threads, slots, floats, unknown, cursor,
                ):  # fmt: skip
                    why = WHY_EARLIER
                if why != NONE:
                    keep = keep or not is_strict
                    note(
                        trace, cursor, TRIED, i, t, start, key, threads[row + T_NODE],
                        tables[edge + E_STEP], why,
                    )  # fmt: skip
                    if is_strict:
                        note(
                            trace, cursor, BROKEN, i, t, start, key, threads[row + T_NODE],
                            tables[edge + E_STEP], WHY_NEXT,
                        )  # fmt: skip
                    continue
                fits = True
                new = fork(
                    tables, edge, row, i, t, began, columns, nulls, ranks, threads, nodes, bits, reals, cursor
                )
                note(
                    trace, cursor, TOOK, i, t, start, key, threads[new + T_NODE], tables[edge + E_STEP], NONE
                )
                if last < 0:
                    runs[run + R_THREAD] = new
                else:
                    threads[last + T_NEXT] = new
                last = new
                change += 1
                if threads[new + T_NEXT] >= 0:
                    last = threads[new + T_NEXT]
                    change += 1
                if threads[last + T_STATE] == MATCHED:
                    matched = True
                    break
            if fits:
                keep = False
            elif timed(tables, state, row, threads):
                keep = True
                if places[tables[state + S_GUARD] * n + i] == 1 and holds(
                    tables, tables[state + S_PROGRAM], tables[state + S_LENGTH], i, row, constants, columns,
                    nulls, ranks, threads, slots, floats, unknown, cursor,
                ):  # fmt: skip
                    # The absence is prevented; what else the thread waited for lives on, if it still can.
                    note(
                        trace, cursor, PREVENTED, i, t, start, key, threads[row + T_NODE],
                        tables[state + S_GUARD], NONE,
                    )  # fmt: skip
                    keep = False
                    if inside and tables[state + S_PREVENTED] >= 0:
                        keep = may_still(tables, state, row, registers, threads)
                        threads[row + T_STATE] = tables[state + S_PREVENTED]
                        wait(tables, threads, row, began)
                        if threads[row + T_DEADLINE] < lists[at + L_DEADLINE]:
                            lists[at + L_DEADLINE] = threads[row + T_DEADLINE]
                else:
                    note(
                        trace, cursor, TRIED, i, t, start, key, threads[row + T_NODE],
                        tables[state + S_GUARD], WHY_GUARD,
                    )  # fmt: skip
        if keep:
            if last < 0:
                runs[run + R_THREAD] = row
            else:
                threads[last + T_NEXT] = row
            threads[row + T_NEXT] = NONE
            last = row
        else:
            free_thread(threads, row, cursor)
            change -= 1
        row = following
    while row >= 0:
        following = threads[row + T_NEXT]
        free_thread(threads, row, cursor)
        change -= 1
        row = following
    lists[at + L_THREADS] += change


def may_still(tables: Ints, state: int, row: int, registers: int, threads: Ints) -> bool:
    """Whether a thread that event after event passed by still waits for one: on a relaxed edge."""
    for edge in range(tables[state + S_EDGE], tables[state + S_EDGE] + tables[state + S_EDGES] * EDGE, EDGE):
        counter = tables[edge + E_COUNTER]
        if tables[edge + E_STRICT] == 0 and (
            counter < 0
            or (
                threads[row + registers + counter] >= tables[edge + E_LEAST]
                and threads[row + registers + counter] < tables[edge + E_MOST]
            )
        ):
            return True
    return False


def least_deadline(lists: Ints, runs: Ints, threads: Ints, at: int, run: int) -> None:
    """Lower a list's least deadline to those of a run's threads."""
    row = runs[run + R_THREAD]
    while row >= 0:
        if threads[row + T_STATE] != MATCHED and threads[row + T_DEADLINE] < lists[at + L_DEADLINE]:
            lists[at + L_DEADLINE] = threads[row + T_DEADLINE]
        row = threads[row + T_NEXT]


def show(
    tables: Ints, lists: Ints, runs: Ints, threads: Ints, nodes: Ints, matches: Ints, at: int, i: int, t: int,
    constants: Ints, places: Bytes, columns: Ints, nulls: Bytes, ranks: Ints, slots: Ints, floats: Floats,
    unknown: Ints, bits: Ints, reals: Floats, cursor: Ints, trace: Ints,
) -> None:  # fmt: skip
    """Show event i to the runs of its key, earliest first; then it may begin one."""
    if lists[at + L_DEADLINE] <= t:
        settle(tables, lists, runs, threads, nodes, matches, at, t, cursor, trace)
    cursor[C_AT] = i
    blocked = by = NO_SEQUENCE
    before = NONE
    run = lists[at + L_FIRST]
    while run >= 0:
        following = runs[run + R_NEXT]
        if runs[run + R_START] < blocked:
            skipped(lists, runs, threads, at, run, i, t, by, cursor, trace)
            free_run(lists, runs, threads, at, before, run, cursor)
        else:
            advance(
                tables, lists, runs, threads, nodes, at, run, i, t, constants, places, columns, nulls, ranks,
                slots, floats, unknown, bits, reals, cursor, trace,
            )  # fmt: skip
            row = runs[run + R_THREAD]
            if row < 0:
                free_run(lists, runs, threads, at, before, run, cursor)
            elif threads[row + T_STATE] == MATCHED:
                by = runs[run + R_START]
                blocked = raised(tables, lists, runs, threads, nodes, matches, at, run, t, 1, cursor, trace)
                free_run(lists, runs, threads, at, before, run, cursor)
            else:
                least_deadline(lists, runs, threads, at, run)
                before = run
        run = following
    if cursor[C_SEQUENCE] + i >= blocked:
        run = begin(
            tables, lists, runs, threads, nodes, at, i, t, constants, places, columns, nulls, ranks,
            slots, floats, unknown, bits, reals, cursor, trace,
        )  # fmt: skip
        if run >= 0:
            if threads[runs[run + R_THREAD] + T_STATE] == MATCHED:
                raised(tables, lists, runs, threads, nodes, matches, at, run, t, 1, cursor, trace)
                free_run(lists, runs, threads, at, before, run, cursor)
            else:
                least_deadline(lists, runs, threads, at, run)
                if lists[at + L_RUNS] > tables[H_LIMIT]:
                    oldest = lists[at + L_FIRST]
                    note(
                        trace, cursor, DROPPED, i, t, runs[oldest + R_START], lists[at + L_KEY],
                        threads[runs[oldest + R_THREAD] + T_NODE], NONE, NONE,
                    )  # fmt: skip
                    free_run(lists, runs, threads, at, NONE, oldest, cursor)
                    cursor[C_DROPPED] += 1
    lists[at + L_SEEN] = cursor[C_SEQUENCE] + i


def crowded(
    tables: Ints, lists: Ints, nodes: Ints, matches: Ints, at: int, cursor: Ints, trace: Ints
) -> bool:
    """Whether an event might find too little room in a pool; what it needs is noted in the cursor."""
    living = 1 if at < 0 else lists[at + L_THREADS] + 1
    need = living * tables[H_FORK]
    cursor[C_NEED] = need
    return bool(
        cursor[C_THREADS] < need
        or cursor[C_RUNS] < 1
        or cursor[C_LISTS] + LIST > len(lists)
        or cursor[C_NODES] + need * NODE > len(nodes)
        or cursor[C_MATCHES] + (2 * living + 1) * MATCH > len(matches)
        or (cursor[C_TRACES] >= 0 and cursor[C_TRACES] + 4 * (need + 4) * TRACE > len(trace))
    )


def run(
    tables: Ints, constants: Ints, wake: Ints, keys: Ints, times: Ints, places: Bytes, columns: Ints, nulls:
    Bytes, ranks: Ints, list_of_key: Ints, lists: Ints, runs: Ints, threads: Ints, nodes: Ints, matches: Ints,
    slots: Ints, unknown: Ints, cursor: Ints, trace: Ints,
) -> int:  # fmt: skip
    """Run one rule over a shard's events: first the events in `wake`, then what is due by the watermark.

    The events are in order of key, then of time; `keys` and `times` are theirs, `places`, `columns` and
    `nulls` hold a row of them per condition and column. `list_of_key` gives the list of a key, or -1.
    Returns DONE, or MORE_ROOM: then the caller lets the pools grow and calls again.
    """
    n = cursor[C_EVENTS]
    floats = slots.view(np.float64)
    # The last two slots are scratch for updates.
    bits = slots[len(slots) - 2 :]
    reals = floats[len(slots) - 2 :]
    first = tables[H_STATES]
    while cursor[C_POSITION] < len(wake):
        i = wake[cursor[C_POSITION]]
        key = keys[i]
        at = list_of_key[key]
        if at < 0 or lists[at + L_FIRST] < 0:
            starts = False
            first_edge = tables[first + S_EDGE]
            for edge in range(first_edge, first_edge + tables[first + S_EDGES] * EDGE, EDGE):
                if places[tables[edge + E_PLACE] * n + i] == 1:
                    starts = True
                    break
            if not starts and cursor[C_TRACES] < 0:  # a trace tells why nothing began
                cursor[C_POSITION] += 1
                continue
        if crowded(tables, lists, nodes, matches, at, cursor, trace):
            return MORE_ROOM
        if at < 0:
            at = cursor[C_LISTS]
            cursor[C_LISTS] += LIST
            list_of_key[key] = at
            lists[at + L_KEY] = key
            lists[at + L_FIRST] = NONE
            lists[at + L_LAST] = NONE
            lists[at + L_RUNS] = 0
            lists[at + L_THREADS] = 0
            lists[at + L_DEADLINE] = END_OF_TIME
        show(
            tables, lists, runs, threads, nodes, matches, at, i, times[i], constants, places, columns,
            nulls, ranks, slots, floats, unknown, bits, reals, cursor, trace,
        )  # fmt: skip
        cursor[C_POSITION] += 1
    while cursor[C_SETTLED] < cursor[C_LISTS]:
        at = cursor[C_SETTLED]
        if lists[at + L_DEADLINE] <= cursor[C_WATERMARK] and lists[at + L_FIRST] >= 0:
            if crowded(tables, lists, nodes, matches, at, cursor, trace):
                return MORE_ROOM
            settle(tables, lists, runs, threads, nodes, matches, at, cursor[C_WATERMARK], cursor, trace)
        cursor[C_SETTLED] += LIST
    return DONE


def collect(
    lists: Ints, runs: Ints, threads: Ints, nodes: Ints, list_rows: Ints, run_rows: Ints, thread_rows: Ints,
    run_counts: Ints, thread_counts: Ints, marks: Ints, counts: Ints, cursor: Ints,
) -> None:  # fmt: skip
    """Walk all live rows in order: their offsets, how many belong to each, and the nodes that they name."""
    listed = ran = threaded = 0
    for at in range(0, cursor[C_LISTS], LIST):
        run = lists[at + L_FIRST]
        if run < 0:
            continue
        list_rows[listed] = at
        run_counts[listed] = lists[at + L_RUNS]
        listed += 1
        while run >= 0:
            run_rows[ran] = run
            row = runs[run + R_THREAD]
            while row >= 0:
                thread_rows[threaded] = row
                threaded += 1
                thread_counts[ran] += 1
                node = threads[row + T_NODE]
                while node >= 0 and marks[node // NODE] == 0:
                    marks[node // NODE] = 1
                    node = nodes[node + N_PREVIOUS]
                row = threads[row + T_NEXT]
            ran += 1
            run = runs[run + R_NEXT]
    counts[0] = listed
    counts[1] = ran
    counts[2] = threaded


def mark(nodes: Ints, heads: Ints, marks: Ints) -> None:
    """Mark the nodes of the chains that end at `heads`."""
    for k in range(len(heads)):
        node = heads[k]
        while node >= 0 and marks[node // NODE] == 0:
            marks[node // NODE] = 1
            node = nodes[node + N_PREVIOUS]


def replay(
    tables: Ints, threads: Ints, nodes: Ints, updates: Ints, columns: Ints, nulls: Bytes, ranks: Ints, bits:
    Ints, reals: Floats, cursor: Ints, path: Ints,
) -> None:  # fmt: skip
    """Work out the registers of all threads anew from the events that they took.

    `threads` are compact rows (without the link); `updates` gives each step's updates (place, number);
    `path` is room for the longest chain of nodes.
    """
    width = tables[H_THREAD] - 1
    words = tables[H_NULL_WORDS]
    for row in range(-1, len(threads) - 1, width):
        # A linked row begins one before the compact one.
        for k in range(words):
            threads[row + T_NULLS + k] = tables[tables[H_INITIAL] + k]
        for k in range(T_NULLS + words, width + 1):
            threads[row + k] = 0
        length = 0
        node = threads[row + T_NODE]
        while node >= 0:
            path[length] = node
            length += 1
            node = nodes[node + N_PREVIOUS]
        for k in range(length - 1, -1, -1):
            step = nodes[path[k] + N_STEP]
            take(
                tables, updates[2 * step], updates[2 * step + 1], nodes[path[k] + N_EVENT], row, columns,
                nulls, ranks, threads, bits, reals, cursor,
            )  # fmt: skip


def lengths(nodes: Ints, heads: Ints, found: Ints) -> None:
    """How many events each of the chains that end at `heads` holds."""
    for k in range(len(heads)):
        node = heads[k]
        count = 0
        while node >= 0:
            count += 1
            node = nodes[node + N_PREVIOUS]
        found[k] = count


def unroll(nodes: Ints, heads: Ints, ends: Ints, steps: Ints, events: Ints, sequences: Ints) -> None:
    """Write the chains out, first event first; the k-th ends before place `ends[k]`."""
    for k in range(len(heads)):
        node = heads[k]
        at = ends[k] - 1
        while node >= 0:
            steps[at] = nodes[node + N_STEP]
            events[at] = nodes[node + N_EVENT]
            sequences[at] = nodes[node + N_SEQUENCE]
            at -= 1
            node = nodes[node + N_PREVIOUS]
