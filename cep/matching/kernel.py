"""The matching kernel: one function that interprets rules' tables over a shard's events of one batch.

Written in the subset of Python that numba compiles. `compiled` compiles this very source when many
events flow; otherwise it runs as it is. Everything lives in flat int64 arrays (automaton.md): `tables` is
the rule (`cep.automata.tables` writes it), and pools, which the rules of a space share, hold rows that
point at each other by offset:

    lists    one per rule and key with runs: its runs in order of their first event, forks side by side
    runs     a run: its ways in order of preference
    threads  a way: state, times, what it still waits for, the events taken so far (a node), registers;
             or a fork: ways that go on independently although a preferred way may still decide
    nodes    an event taken along an edge, after the node before it; ways share them
    matches  what was raised, by rule in order of decision
    index    in crowded lists: chains of the runs that wait for an event with some value, by hash

Rules run over a block of keys at a time, one rule after the other. Behind the last of them what lives on is
written out, key by key, and the pools are empty again: so they stay small enough for a processor's cache.

A run is a priority automaton (Cox, Regular Expression Matching: the Virtual Machine Approach, 2009) whose
ways wait for several things together. What a way waits for after an event or a time is a row of leaves of
its state: options (a step), timers (a timed step), an end that a last `=> not` may still prevent, the end.
The first event that fits any of them decides, and the rest are given up; of several that it fits each
becomes a way, in their order of preference. A run is raised when its first way is complete. All constants
stand here, since numba's cache notices a change of this file only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated

import numpy as np
import numpy.typing as npt

from kernels.family import READ_ONLY, compiled_as, inlined

Ints = npt.NDArray[np.int64]
Kept = Annotated[Ints, READ_ONLY]
Bytes = npt.NDArray[np.uint8]
KeptBytes = Annotated[Bytes, READ_ONLY]
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
    AND, OR, NOT, IS_NULL, IS_KNOWN, COALESCE, CHOOSE, DISTANCE, OUTSIDE,
) = range(40)  # fmt: skip

# Updates: (operation, register, column, other register or number).
(
    SET, SHIFT, NTH, COUNT, KNOWN, SUM_I, SUM_F,
    LEAST_I, LEAST_F, LEAST_T, GREATEST_I, GREATEST_F, GREATEST_T, RESET,
) = range(14)  # fmt: skip
INSTRUCTION = 4

# The head of a rule's tables; places of parts are offsets into the same array.
(
    H_STATES, H_INITIAL, H_WITHIN, H_SKIP, H_SKIP_STEP, H_STEPS, H_MASKS, H_COUNTERS, H_NULLS,
    H_VALUES, H_THREAD, H_LIMIT, H_FORK, H_PLAIN, H_TIMEOUT, H_TAKEN, H_HAVING, H_HAVING_LENGTH,
    H_SLEEP, H_PLACES, H_QUESTION, H_QUESTIONS, H_NEXT_DECIDES, H_MERGE, H_COPIES, H_WAYS, H_ALL_WAYS,
    H_BACKBONES, HEAD,
) = range(29)  # fmt: skip
SKIP_PAST_LAST, SKIP_TO_NEXT, SKIP_TO_FIRST, SKIP_TO_LAST, SKIP_NONE = range(5)

# A state: its leaves, in order of preference, and the tokens that say how they stand to one another.
# Plain: all that waits in it waits together, and what happens first decides. Then the most rows that one
# event can make of a way, and its traits.
S_LEAF, S_LEAVES, S_TOKEN, S_TOKENS, S_FORKS, S_PLAIN, S_ROWS, S_TRAIT, S_TRAITS, STATE = range(10)
# A token: a leaf, or `each` with its children, or a child; the leaves before it; the token after its last.
K_KIND, K_LEAF, K_BEFORE, K_END, TOKEN = range(5)
A_LEAF, AN_EACH, A_CHILD = range(3)

# A leaf. Sub-lists are (place, number of rows).
(
    F_KIND, F_PLACE, F_PROGRAM, F_LENGTH, F_SIGN, F_TARGET, F_EDGE, F_STEP, F_GAP,
    F_OVER, F_OVERS, F_UNTIL, F_UNTILS, F_WATCH, F_WATCHES, F_NEED, F_NEEDS, F_ACTION, F_ACTIONS,
    F_UPDATE, F_UPDATES, F_LOOK, F_LOOKS, F_WANTS, F_ASK, F_ASKS, LEAF,
) = range(27)  # fmt: skip
OPTION, TIMER, ENDING, THE_END = range(4)
RELAXED, STRICT, ANY = range(3)
# When a timed step is over: so long after the way came here (-1) or after a counter's time; -1: `within`.
O_SINCE, O_DURATION, OVER = range(3)
# A guard: until when it is watched (as above, or NEVER), and from which number of events taken on.
W_PLACE, W_PROGRAM, W_LENGTH, W_NEXT_ONLY, W_SINCE, W_DURATION, W_AFTER, W_GUARD, WATCH = range(9)
NEVER = -2
# Of an `until` instead of that number: the loop has taken nothing, and such an event does not begin it.
BEGINS = -3
# What must be so for a leaf to be open when a way arrives.
N_KIND, N_COUNTER, N_NUMBER, NEED = range(4)
AT_LEAST, BELOW, NOTHING_TAKEN, SOMETHING_TAKEN, TIME_REACHED, TIME_AHEAD = range(6)
# What passing along a leaf does to counters.
ZERO, ONE_MORE, AS_MANY, NOW = range(4)
ACTION = 2
# A look back: the column with the time of the last such event, and how long there must have been none.
B_COLUMN, B_DURATION, LOOK = range(3)

# A trait: what of a way that waits in a state its future can depend on, besides what it waits for
# (cep.automata.traits): a number in its row, as it is or up to a bound; whether anything was taken since a
# counter was set; whether it came by the newest event; whether a register is null; its value if it is not;
# the events that a step took.
D_KIND, D_PLACE, D_MORE, TRAIT = range(4)
EXACTLY, UP_TO, TAKEN_SINCE, JUST_NOW, NULLNESS, IF_KNOWN, TAKEN_BY = range(7)
# The ways of a run that are more than MERGE_BEYOND are merged where nothing tells them apart, whenever they
# have become more; a run then keeps MOST_WAYS of them, or less where its key has many runs: its share of
# ALL_WAYS, but no less than MERGE_BEYOND. A place in the table of those that were seen: in which pass, the
# way, its hash, how many like it.
MERGE_BEYOND = 8
MOST_WAYS = 256
ALL_WAYS = 1 << 13
V_PASS, V_WAY, V_HASH, V_COUNT, SEEN = range(5)
MOST_SEEN = 1024
# As many runs of a list cost about as much to walk past as one way costs to be asked.
RUNS_A_STEP = 16
# Of the rows of a thinned run there are less than so many a way: the way, and forks around it. From so many
# rows on that an event might need at most it is measured how many it needs.
ROWS_PER_WAY = 4
MEASURED_FROM = 1 << 18

# In a list of more than SLEEP_BEYOND runs an event is shown only to those that it can matter to; the others
# sleep. A run wants all events of some places (a bit each; the last bits are shared, or mean every event).
# Of others it wants only those with some value in a column: it stands in the chain of list, question and
# value, where a question is a place and a column. A leaf asks questions about registers.
SLEEP_BEYOND = 8
OTHER_PLACES, EVERY_EVENT = 61, 62
Q_PLACE, Q_COLUMN, QUESTION = range(3)
Q_NUMBER, Q_REGISTER, ASK = range(3)

(
    L_KEY, L_FIRST, L_LAST, L_RUNS, L_THREADS, L_SEEN, L_DEADLINE, L_SLEEPS, L_WANTS, L_RULE, L_NEXT,
    LIST,
) = range(12)  # fmt: skip
(
    R_NEXT, R_THREAD, R_START, R_TIME, R_FORK, R_DEADLINE, R_DONE, R_BEFORE, R_WANTS, R_ENTRY, R_CALLED, RUN,
) = range(12)  # fmt: skip
# A place in a chain, one before and after another, and the next of the same run. The chains come first.
E_NEXT, E_BEFORE, E_HASH, E_LIST, E_RUN, E_OF_RUN, ENTRY = range(7)
T_NEXT, T_STATE, T_TIME, T_LAST, T_SEQUENCE, T_DEADLINE, T_NODE, T_MASK = range(8)
N_PREVIOUS, N_EDGE, N_EVENT, N_SEQUENCE, NODE = range(5)
# What is noted of a node while nodes are written out or dropped: where it goes, how far back it is needed.
G_PLACE, G_UNTIL, MARK = range(3)
# Ways of many runs that take the same events share nodes although they began apart. Where a way joins a node
# of others it gets a splice, a row among the nodes: the way's chain runs along N_PREVIOUS down to and
# including the node with the splice's N_SEQUENCE, and what comes before that is the chain in the splice's
# N_EVENT. What names a chain is a node, and in the higher half of the number the place after its first
# splice, or 0 (docs/decisions/0022).
SPLICE = -1
HALF, LOWER = 32, 2**32 - 1
# By edge the first nodes that were made of the event at hand. Another way that takes it along that edge names
# the one after its own last node; if there is none and there are so many, it joins the first.
JOIN_SLOTS, BACKBONES = 256, 16
# Once its block is done a match has for its node where the events that it took end in `taken`.
M_TIME, M_BY_EVENT, M_NODE, M_KEY, M_START, M_TIMEOUT, M_RULE, MATCH = range(8)
A_EDGE, AN_EVENT, A_SEQUENCE, TAKEN = range(4)

# What is kept of a list and of a run between batches; ways and nodes keep their rows, but a way has for its
# link how many rows it and those in it take, and nodes are numbered within their list, each after the one
# before it.
KEPT_KEY, KEPT_RULE, KEPT_SEEN, KEPT_RUNS, KEPT_THREADS, KEPT_NODES, KEPT_DUE, KEPT_LIST = range(8)
KEPT_START, KEPT_TIME, KEPT_FORK, KEPT_WAYS, KEPT_RUN = range(5)

# A rule among those that run together: its number in the space; where its tables and constants are (from,
# to), where its columns begin, its pairs of place and atom, its kept lists that are still to come; since when
# it watches. Then what came of it: where its part of the trace ends, and counters. Elsewhere a rule is its
# row among them.
(
    U_RULE, U_TABLES, U_TABLES_END, U_CONSTANTS, U_CONSTANTS_END, U_COLUMNS, U_PAIRS,
    U_PAIRS_END, U_KEPT, U_KEPT_END, U_SINCE, U_TRACES, U_DROPPED, U_OVERFLOWS, U_GIVEN_UP, RULE,
) = range(16)  # fmt: skip
WAKING, RUNNING = range(2)
# A block of keys: before which event and which key it ends.
B_EVENT, B_KEY, BLOCK = range(3)

# Instead of a state: a way that is complete; ways that go on independently, and each of them. The child of
# the last two stands where a way has its node.
MATCHED, EACH, FORK = -1, -2, -3

# What goes on between calls: where the loop stands, the pools' free rows (those given back are linked, those
# after the fresh one were never used), and what is being moved.
(
    C_POSITION, C_SETTLED, C_THREAD, C_THREADS, C_RUN, C_RUNS, C_LISTS, C_NODES, C_MATCHES,
    C_DROPPED, C_OVERFLOWS, C_NEED, C_SEQUENCE, C_EVENT, C_EVENTS, C_WATERMARK, C_BLANK, C_TRACES, C_SINCE,
    C_HOOK, C_FORKS, C_MODE, C_BEGAN, C_SEEN, C_START, C_OF_FORK, C_KEY,
    C_CHAINS, C_ENTRY, C_ENTRIES, C_SHORT, C_FRESH_THREAD, C_FRESH_RUN,
    C_BLOCK, C_RULE, C_STAGE, C_AWAKE, C_OWN_LISTS, C_WIDTH,
    C_KEPT_LISTS, C_KEPT_RUNS, C_KEPT_THREADS, C_KEPT_NODES, C_LIST_NODES, C_TOLD, C_TAKEN, C_FULL,
    C_NODES_NEED, C_PASS, C_GIVEN_UP, C_EFFORT, C_SHOWN, C_JOINS,
) = range(53)  # fmt: skip
CURSOR = C_JOINS + BACKBONES * JOIN_SLOTS

# What a trace says, if one is asked for (C_TRACES is not NONE): a row for each thing that happened to a run.
(
    X_KIND, X_EVENT, X_TIME, X_START, X_FORK, X_PARENT, X_KEY, X_NODE, X_STEP, X_WHY, TRACE,
) = range(11)  # fmt: skip
(
    BEGAN, TOOK, TRIED, PREVENTED, BROKEN, EXPIRED, SKIPPED, DROPPED, MATCHES, FORKED, TIMED_OUT, STOPPED,
    REFUSED, PASSED, GAVE_UP,
) = range(15)  # fmt: skip
WHY_ALONE, WHY_EARLIER, WHY_LOOK, WHY_GUARD, WHY_UNTIL = range(5)

NONE = -1
NOT_CALLED = -2
NO_SEQUENCE = -1
END_OF_TIME = 2**63 - 1
LEAST, GREATEST = -(2**63), 2**63 - 1
DONE, MORE_ROOM, LATER = 0, 1, 2
DIES, STAYS, FITS = range(3)
NOTHING, FITTED, SOME_DIED = range(3)
BY_EVENT, BY_TIME, AT_BEGIN, AT_END = range(4)
BITS = 62
FIRSTS = 1 << 20
FOLD = 2**31 - 1
EARTH_RADIUS_KM = 6371.0088

JUDGES: dict[int, Callable[[int, int, int], int]] = {}
"""What judges conditions that no program expresses, by C_HOOK: (condition, event, way) to 1, 0, or -1 for
unknown. Rules with such conditions run interpreted; a judge is here while its rule runs."""


def nobody(_hook: int, _condition: int, _event: int, _way: int) -> int:
    """Rules that ask outside never run compiled."""
    return -1


@compiled_as(nobody)
def outside(hook: int, condition: int, event: int, way: int) -> int:
    """Ask the judge. The compiled form has none."""
    return JUDGES[hook](condition, event, way)


def note(trace: Ints, cursor: Ints, kind: int, event: int, time: int, node: int, step: int, why: int) -> None:
    """Say what happens to the run at hand, if somebody asked. `event` -1: time alone."""
    at = cursor[C_TRACES]
    if at < 0:
        return
    trace[at + X_KIND] = kind
    trace[at + X_EVENT] = -1 if event < 0 else cursor[C_EVENT] + event
    trace[at + X_TIME] = time
    begins = kind == TRIED and cursor[C_MODE] == AT_BEGIN
    trace[at + X_START] = NONE if begins else cursor[C_START]
    trace[at + X_FORK] = cursor[C_OF_FORK]
    trace[at + X_PARENT] = NONE
    trace[at + X_KEY] = cursor[C_KEY]
    trace[at + X_NODE] = node
    trace[at + X_STEP] = step
    trace[at + X_WHY] = why
    cursor[C_TRACES] = at + TRACE


def unsay_guards(trace: Ints, cursor: Ints, since: int) -> None:
    """Take back what was said of guards since a place: what waited beside what fits is given up."""
    end = cursor[C_TRACES]
    at = since
    for k in range(since, end, TRACE):
        kind = trace[k + X_KIND]
        if kind in (PREVENTED, STOPPED, BROKEN) or (kind == TRIED and trace[k + X_WHY] == WHY_GUARD):
            continue
        for n in range(TRACE):
            trace[at + n] = trace[k + n]
        at += TRACE
    if end >= 0:
        cursor[C_TRACES] = at


@inlined
def later(time: int, duration: int) -> int:
    """Time plus duration, at most the end of time."""
    if time > END_OF_TIME - duration:
        return END_OF_TIME
    return time + duration


def rounded(value: float) -> float:
    """A double to a whole one, halves away from zero."""
    below = float(np.floor(abs(value)))
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


@inlined
def is_null(threads: Ints, nulls: int, register: int) -> int:
    """Whether a register of a thread is null, whose null words are there."""
    return int((threads[nulls + register // BITS] >> (register % BITS)) & 1)


@inlined
def set_null(threads: Ints, nulls: int, register: int, null: int) -> None:
    """Mark a register as null or known."""
    word = nulls + register // BITS
    bit = np.int64(1) << np.int64(register % BITS)
    if null:
        threads[word] |= bit
    else:
        threads[word] &= ~bit


@inlined
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


@inlined
def holds(
    tables: Ints, at: int, length: int, i: int, row: int, constants: Ints, columns: Ints, nulls: Bytes, ranks:
    Ints, threads: Ints, slots: Ints, floats: Floats, unknown: Ints, cursor: Ints,
) -> bool:  # fmt: skip
    """Whether a program is true for the event i and the registers of a thread; no program is true."""
    if length == 0:
        return True
    registers = row + tables[H_VALUES]
    unknowns = row + tables[H_NULLS]
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
            unknown[dst] = is_null(threads, unknowns, a)
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
        elif operation == OUTSIDE:
            answer = outside(cursor[C_HOOK], a, i, row)
            unknown[dst] = 1 if answer < 0 else 0
            slots[dst] = 1 if answer > 0 else 0
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


def true_of(
    tables: Ints, at: int, length: int, i: int, row: int, constants: Ints, columns: Ints, nulls: Bytes, ranks:
    Ints, threads: Ints, slots: Ints, floats: Floats, unknown: Ints, cursor: Ints,
) -> bool:  # fmt: skip
    """`holds`, for what is asked too rarely to stand at every place that asks."""
    return length == 0 or holds(
        tables, at, length, i, row, constants, columns, nulls, ranks, threads, slots, floats, unknown, cursor
    )


@inlined
def take(
    tables: Ints, at: int, length: int, i: int, row: int, columns: Ints, nulls: Bytes, ranks: Ints, threads:
    Ints, slots: Ints, floats: Floats, cursor: Ints,
) -> None:  # fmt: skip
    """Update a thread's registers by the event i. The last two slots are scratch."""
    registers = row + tables[H_VALUES]
    unknowns = row + tables[H_NULLS]
    n = cursor[C_EVENTS]
    one = len(slots) - 2
    two = len(slots) - 1
    for k in range(at, at + length * INSTRUCTION, INSTRUCTION):
        operation = tables[k]
        register = tables[k + 1]
        column = tables[k + 2]
        other = tables[k + 3]
        if operation == COUNT:
            threads[registers + register] += 1
            continue
        if operation == RESET:
            set_null(threads, unknowns, register, 1)
            continue
        if operation == SHIFT:
            threads[registers + register] = threads[registers + other]
            set_null(threads, unknowns, register, is_null(threads, unknowns, other))
            continue
        value = columns[column * n + i]
        null = nulls[column * n + i]
        if operation == NTH:
            if threads[registers + other // FIRSTS] == other % FIRSTS:
                threads[registers + register] = value
                set_null(threads, unknowns, register, null)
            continue
        if operation == SET:
            threads[registers + register] = value
            set_null(threads, unknowns, register, null)
            continue
        if null:
            continue
        if operation == KNOWN:
            threads[registers + register] += 1
            continue
        old = threads[registers + register]
        if is_null(threads, unknowns, register):
            # A sum that overflowed is null for good: it is told from an empty one by its bits.
            if old == 0 or (operation != SUM_I and operation != SUM_F):
                threads[registers + register] = value
                set_null(threads, unknowns, register, 0)
            continue
        if operation == SUM_I:
            x = int(old)
            y = int(value)
            if (y > 0 and x > GREATEST - y) or (y < 0 and x < LEAST - y):
                set_null(threads, unknowns, register, 1)
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
            slots[one] = old
            slots[two] = value
            p = float(floats[one])
            q = float(floats[two])
            if operation == SUM_F:
                total = p + q
                if math.isfinite(total):
                    floats[one] = total
                    threads[registers + register] = slots[one]
                else:
                    set_null(threads, unknowns, register, 1)
                    threads[registers + register] = 1
                    cursor[C_OVERFLOWS] += 1
            elif (operation == LEAST_F and q < p) or (operation == GREATEST_F and q > p):
                threads[registers + register] = value


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


def without_last(nodes: Ints, chain: int) -> int:
    """The chain without its last node, or none."""
    node = chain & LOWER
    splice = chain >> HALF
    if splice > 0 and nodes[node + N_SEQUENCE] == nodes[splice - 1 + N_SEQUENCE]:
        return int(nodes[splice - 1 + N_EVENT])
    previous = nodes[node + N_PREVIOUS]
    return NONE if previous < 0 else int(previous + (splice << HALF))


def taken_node(nodes: Ints, chain: int, edge: int, i: int, backbones: int, cursor: Ints) -> int:
    """The chain of a way that takes event i along an edge, of nodes that other ways made where it can be."""
    previous = NONE if chain < 0 else chain & LOWER
    splice = 0 if chain < 0 else chain >> HALF
    node = cursor[C_NODES]
    slot = C_JOINS + edge % JOIN_SLOTS * BACKBONES
    count = 0
    while count < BACKBONES:
        known = cursor[slot + count]
        if not (cursor[C_SHOWN] <= known < node and nodes[known + N_EDGE] == edge):
            break
        if nodes[known + N_PREVIOUS] == previous:
            return int(known + (splice << HALF))
        count += 1
    cursor[C_NODES] = node + NODE
    nodes[node + N_SEQUENCE] = cursor[C_SEQUENCE] + i
    if 0 < count >= backbones and cursor[C_TRACES] < 0:
        nodes[node + N_PREVIOUS] = NONE
        nodes[node + N_EDGE] = SPLICE
        nodes[node + N_EVENT] = chain
        return int(cursor[slot] + ((node + 1) << HALF))
    nodes[node + N_PREVIOUS] = previous
    nodes[node + N_EDGE] = edge
    nodes[node + N_EVENT] = cursor[C_EVENT] + i
    if count < BACKBONES:
        cursor[slot + count] = node
    return int(node + (splice << HALF))


@inlined
def alive(threads: Ints, row: int, leaf: int) -> bool:
    """Whether a way still waits at a leaf of its state."""
    return bool((threads[row + T_MASK + leaf // BITS] >> (leaf % BITS)) & 1)


def any_alive(threads: Ints, row: int, low: int, high: int) -> bool:
    """Whether a way still waits at one of some leaves."""
    for leaf in range(low, high):  # noqa: SIM110 - numba knows no any()
        if alive(threads, row, leaf):
            return True
    return False


@inlined
def kill(threads: Ints, row: int, leaf: int) -> None:
    """The way waits there no more."""
    threads[row + T_MASK + leaf // BITS] &= ~(np.int64(1) << np.int64(leaf % BITS))


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
    """When all the times of a leaf are over."""
    found = LEAST
    at = tables[leaf + F_OVER]
    for k in range(at, at + tables[leaf + F_OVERS] * OVER, OVER):
        end = end_of(tables, threads, row, tables[k + O_SINCE], tables[k + O_DURATION], cursor)
        if end > found:
            found = end
    return found


@inlined
def deadline(tables: Ints, threads: Ints, row: int, leaf: int, cursor: Ints) -> int:
    """When time decides a leaf: an option is too late, a timer is over, an end is reached.

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
    """Whether a way that has come to its state waits at a leaf of it."""
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


def restricted(tables: Ints, threads: Ints, row: int, low: int, high: int, cursor: Ints) -> int:
    """Another way like this one that waits at some of its leaves only."""
    new = copied(tables, threads, row, cursor)
    state = tables[H_STATES] + threads[row + T_STATE] * STATE
    for leaf in range(tables[state + S_LEAVES]):
        if leaf < low or leaf >= high:
            kill(threads, new, leaf)
    set_due(tables, threads, new, cursor)
    return new


def complete_way(tables: Ints, threads: Ints, row: int, cursor: Ints) -> int:
    """Another way like this one that is complete."""
    new = copied(tables, threads, row, cursor)
    threads[new + T_STATE] = MATCHED
    threads[new + T_DEADLINE] = END_OF_TIME
    return new


def children_alive(tables: Ints, threads: Ints, row: int, token: int) -> int:
    """How many children of `each` still wait for something."""
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
def arrived(
    tables: Ints, threads: Ints, row: int, constants: Ints, columns: Ints, nulls: Bytes, ranks: Ints, slots:
    Ints, floats: Floats, unknown: Ints, cursor: Ints, trace: Ints,
) -> int:  # fmt: skip
    """The ways that a way is which has come to a state; it is given up for them."""
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
            if not true_of(
                tables, tables[H_HAVING], tables[H_HAVING_LENGTH], NONE, row, constants, columns, nulls,
                ranks, threads, slots, floats, unknown, cursor,
            ):  # fmt: skip
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


def is_on(tables: Ints, threads: Ints, row: int, watch: int) -> bool:
    """Whether the loop that a guard belongs to has taken an event, or there is no such loop."""
    counters = row + tables[H_COUNTERS]
    after = tables[watch + W_AFTER]
    if after == BEGINS:
        return False
    if after < 0:
        return True
    return bool(threads[counters + tables[H_TAKEN]] > threads[counters + after])


def guarded(
    tables: Ints, threads: Ints, row: int, at: int, count: int, i: int, t: int, constants: Ints, places:
    Bytes, columns: Ints, nulls: Bytes, ranks: Ints, slots: Ints, floats: Floats, unknown: Ints, cursor: Ints,
    trace: Ints,
) -> int:  # fmt: skip
    """The first guard of a list that is watched now and that event i satisfies, or none."""
    n = cursor[C_EVENTS]
    for k in range(at, at + count * WATCH, WATCH):
        if tables[k + W_NEXT_ONLY] == 1 and threads[row + T_SEQUENCE] != cursor[C_SEEN]:
            continue
        since = tables[k + W_SINCE]
        if since != NEVER and t >= end_of(tables, threads, row, since, tables[k + W_DURATION], cursor):
            continue
        if not is_on(tables, threads, row, k):
            continue
        fits = places[tables[k + W_PLACE] * n + i] == 1
        if fits and true_of(
            tables, tables[k + W_PROGRAM], tables[k + W_LENGTH], i, row, constants, columns, nulls, ranks,
            threads, slots, floats, unknown, cursor,
        ):  # fmt: skip
            return int(k)
        note(trace, cursor, TRIED, i, t, threads[row + T_NODE], tables[k + W_GUARD], WHY_GUARD)
    return NONE


def is_refused(
    tables: Ints, threads: Ints, row: int, leaf: int, i: int, constants: Ints, places: Bytes, columns: Ints,
    nulls: Bytes, ranks: Ints, slots: Ints, floats: Floats, unknown: Ints, cursor: Ints,
) -> bool:  # fmt: skip
    """Whether event i satisfies an `until` that ends nothing yet: it does not begin the loop either."""
    at = tables[leaf + F_UNTIL]
    for k in range(at, at + tables[leaf + F_UNTILS] * WATCH, WATCH):
        if cursor[C_MODE] == BY_EVENT and is_on(tables, threads, row, k):
            continue
        fits = places[tables[k + W_PLACE] * cursor[C_EVENTS] + i] == 1
        if fits and true_of(
            tables, tables[k + W_PROGRAM], tables[k + W_LENGTH], i, row, constants, columns, nulls, ranks,
            threads, slots, floats, unknown, cursor,
        ):  # fmt: skip
            return True
    return False


@inlined
def was_absent(tables: Ints, leaf: int, i: int, t: int, columns: Ints, nulls: Bytes, cursor: Ints) -> bool:
    """Whether no event of a `absent` that comes first was there in [t - d, t), and the rule was watching."""
    n = cursor[C_EVENTS]
    at = tables[leaf + F_LOOK]
    for k in range(at, at + tables[leaf + F_LOOKS] * LOOK, LOOK):
        start = t - tables[k + B_DURATION]
        if start > t or cursor[C_SINCE] > start:
            return False
        place = tables[k + B_COLUMN] * n + i
        if nulls[place] == 0 and columns[place] >= start:
            return False
    return True


@inlined
def verdict(
    tables: Ints, threads: Ints, row: int, leaf: int, i: int, t: int, constants: Ints, places: Bytes, columns:
    Ints, nulls: Bytes, ranks: Ints, slots: Ints, floats: Floats, unknown: Ints, cursor: Ints, trace: Ints,
) -> int:  # fmt: skip
    """What event i, or time alone, does to a way at a leaf: DIES, STAYS, FITS."""
    cursor[C_EFFORT] -= 1
    kind = tables[leaf + F_KIND]
    mode = cursor[C_MODE]
    if mode == BY_TIME:
        if deadline(tables, threads, row, leaf, cursor) > t:
            return STAYS
        return DIES if kind == OPTION else FITS
    if mode == AT_END:
        return FITS if kind == ENDING else STAYS if kind == THE_END else DIES
    if kind == THE_END:
        return STAYS
    node = threads[row + T_NODE]
    if mode == BY_EVENT and kind != ENDING and tables[leaf + F_UNTILS] > 0:
        found = guarded(
            tables, threads, row, tables[leaf + F_UNTIL], tables[leaf + F_UNTILS], i, t, constants, places,
            columns, nulls, ranks, slots, floats, unknown, cursor, trace,
        )  # fmt: skip
        if found >= 0:
            note(trace, cursor, STOPPED, i, t, node, tables[found + W_GUARD], NONE)
            return DIES
    if kind == OPTION:
        why = NONE
        if places[tables[leaf + F_PLACE] * cursor[C_EVENTS] + i] == 0:
            why = WHY_ALONE
        elif not holds(
            tables, tables[leaf + F_PROGRAM], tables[leaf + F_LENGTH], i, row, constants, columns, nulls,
            ranks, threads, slots, floats, unknown, cursor,
        ):  # fmt: skip
            why = WHY_EARLIER
        elif mode == AT_BEGIN and not was_absent(tables, leaf, i, t, columns, nulls, cursor):
            why = WHY_LOOK
        elif tables[leaf + F_UNTILS] > 0 and is_refused(
            tables, threads, row, leaf, i, constants, places, columns, nulls, ranks, slots, floats, unknown,
            cursor,
        ):  # fmt: skip
            why = WHY_UNTIL
        if why == NONE:
            return FITS
        if cursor[C_TRACES] >= 0:
            note(trace, cursor, TRIED, i, t, node, tables[leaf + F_STEP], why)
            if tables[leaf + F_SIGN] == STRICT and mode == BY_EVENT:
                note(trace, cursor, BROKEN, i, t, node, tables[leaf + F_STEP], NONE)
        if mode == AT_BEGIN or tables[leaf + F_SIGN] == STRICT:
            return DIES
    if tables[leaf + F_WATCHES] > 0:
        found = guarded(
            tables, threads, row, tables[leaf + F_WATCH], tables[leaf + F_WATCHES], i, t, constants, places,
            columns, nulls, ranks, slots, floats, unknown, cursor, trace,
        )  # fmt: skip
        if found >= 0:
            note(trace, cursor, PREVENTED, i, t, node, tables[found + W_GUARD], NONE)
            return DIES
    return FITS if kind == ENDING else STAYS


@inlined
def follow(
    tables: Ints, threads: Ints, nodes: Ints, row: int, leaf: int, i: int, t: int, constants: Ints, columns:
    Ints, nulls: Bytes, ranks: Ints, slots: Ints, floats: Floats, unknown: Ints, cursor: Ints, trace: Ints,
) -> int:  # fmt: skip
    """The ways that a way becomes by what a leaf of it waited for; the way itself stays as it is."""
    new = copied(tables, threads, row, cursor)
    kind = tables[leaf + F_KIND]
    if kind == ENDING:
        if true_of(
            tables, tables[H_HAVING], tables[H_HAVING_LENGTH], NONE, row, constants, columns, nulls, ranks,
            threads, slots, floats, unknown, cursor,
        ):  # fmt: skip
            threads[new + T_STATE] = MATCHED
            threads[new + T_DEADLINE] = END_OF_TIME
            return new
        note(trace, cursor, REFUSED, NONE, t, threads[new + T_NODE], NONE, NONE)
        free_thread(threads, new, cursor)
        return NONE
    counters = new + tables[H_COUNTERS]
    at = tables[leaf + F_ACTION]
    for k in range(at, at + tables[leaf + F_ACTIONS] * ACTION, ACTION):
        action = tables[k]
        counter = counters + tables[k + 1]
        if action == ZERO:
            threads[counter] = 0
        elif action == ONE_MORE:
            threads[counter] += 1
        elif action == AS_MANY:
            threads[counter] = threads[counters + tables[H_TAKEN]]
        else:
            threads[counter] = threads[new + T_TIME]
    threads[new + T_STATE] = tables[leaf + F_TARGET]
    threads[new + T_TIME] = t
    if kind == TIMER:
        threads[new + T_SEQUENCE] = cursor[C_SEEN]
        at = tables[leaf + F_WATCH]
        for k in range(at, at + tables[leaf + F_WATCHES] * WATCH, WATCH):
            if tables[k + W_SINCE] != NEVER:
                note(trace, cursor, PASSED, NONE, t, threads[new + T_NODE], tables[k + W_GUARD], NONE)
    else:
        node = taken_node(nodes, threads[new + T_NODE], tables[leaf + F_EDGE], i, tables[H_BACKBONES], cursor)
        threads[new + T_NODE] = node
        threads[new + T_LAST] = t
        threads[new + T_SEQUENCE] = cursor[C_SEQUENCE] + i
        if tables[H_TAKEN] >= 0:
            threads[counters + tables[H_TAKEN]] += 1
        take(
            tables, tables[leaf + F_UPDATE], tables[leaf + F_UPDATES], i, new, columns, nulls, ranks, threads,
            slots, floats, cursor,
        )  # fmt: skip
        if cursor[C_TRACES] >= 0:
            what = BEGAN if cursor[C_MODE] == AT_BEGIN else TOOK
            note(trace, cursor, what, i, t, node, tables[leaf + F_STEP], NONE)
    return arrived(
        tables, threads, new, constants, columns, nulls, ranks, slots, floats, unknown, cursor, trace
    )


def offer(
    tables: Ints, threads: Ints, nodes: Ints, row: int, token: int, end: int, inner: int, i: int, t: int,
    constants: Ints, places: Bytes, columns: Ints, nulls: Bytes, ranks: Ints, slots: Ints, floats: Floats,
    unknown: Ints, cursor: Ints, trace: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Show an event, or time alone, to a way's leaves between two tokens.

    Returns the ways that come of it and 1, or 0 if it fits none: then the leaves that died are dead in the
    way. `inner` > 0: these are the leaves of a child, several groups of which may wait side by side.
    """
    head = tail = NONE
    if token >= end:
        return NONE, 0
    fits = 0
    begin = k = token
    ways = last = NONE
    fit = 0
    said = cursor[C_TRACES]
    while True:
        leaf = NONE
        if k < end:
            kind = tables[k + K_KIND]
            if kind == AN_EACH and children_alive(tables, threads, row, k) > 1:
                forks = final = NONE
                moved = 0
                child = k + TOKEN
                while child < tables[k + K_END]:
                    after = tables[child + K_END]
                    if any_alive(threads, row, tables[child + K_BEFORE], tables[after + K_BEFORE]):
                        part, moves = offer(
                            tables, threads, nodes, row, child + TOKEN, after, inner + 1, i, t, constants,
                            places, columns, nulls, ranks, slots, floats, unknown, cursor, trace,
                        )  # fmt: skip
                        if moves == 1:
                            moved = 1
                        else:
                            part, _ = spread(tables, threads, row, child + TOKEN, after, cursor)
                        forks, final = forked(threads, forks, final, part, cursor)
                    child = after
                if moved == 1:
                    fit = 1
                    ways, last = joined(threads, ways, last, each_of(threads, forks, cursor), cursor)
                else:
                    free_list(threads, forks, cursor)
                k = tables[k + K_END]
                continue
            if kind != A_LEAF or not alive(threads, row, tables[k + K_BEFORE]):
                k += TOKEN
                continue
            leaf = tables[k + K_LEAF]
        alone = leaf >= 0 and tables[leaf + F_KIND] != OPTION and tables[leaf + F_KIND] != TIMER
        if leaf < 0 or alone:
            if fit == 1:
                fits = 1
                unsay_guards(trace, cursor, said)
                head, tail = joined(threads, head, tail, ways, cursor)
            elif inner > 0:
                part, _ = spread(tables, threads, row, begin, k, cursor)
                head, tail = joined(threads, head, tail, part, cursor)
            if leaf < 0:
                break
        number = tables[k + K_BEFORE]
        outcome = verdict(
            tables, threads, row, leaf, i, t, constants, places, columns, nulls, ranks, slots, floats,
            unknown, cursor, trace,
        )  # fmt: skip
        part = NONE
        if outcome == DIES:
            kill(threads, row, number)
        elif outcome == FITS:
            part = follow(
                tables, threads, nodes, row, leaf, i, t, constants, columns, nulls, ranks, slots, floats,
                unknown, cursor, trace,
            )  # fmt: skip
        k += TOKEN
        if not alone:
            if outcome == FITS:
                fit = 1
                if tables[leaf + F_SIGN] == ANY and cursor[C_MODE] == BY_EVENT:
                    # It goes on waiting, independently of what it took, unless a `not` forbids that.
                    forks, final = forked(threads, NONE, NONE, part, cursor)
                    if tables[leaf + F_WATCHES] == 0 or guarded(
                        tables, threads, row, tables[leaf + F_WATCH], tables[leaf + F_WATCHES], i, t,
                        constants, places, columns, nulls, ranks, slots, floats, unknown, cursor, trace,
                    ) < 0:  # fmt: skip
                        again = restricted(tables, threads, row, number, number + 1, cursor)
                        forks, final = forked(threads, forks, final, again, cursor)
                    part = each_of(threads, forks, cursor)
                ways, last = joined(threads, ways, last, part, cursor)
            continue
        if outcome == FITS:
            fits = 1
            head, tail = joined(threads, head, tail, part, cursor)
        elif inner > 0 and outcome == STAYS:
            if tables[leaf + F_KIND] == THE_END:
                head, tail = joined(threads, head, tail, complete_way(tables, threads, row, cursor), cursor)
                break
            part = restricted(tables, threads, row, number, number + 1, cursor)
            head, tail = joined(threads, head, tail, part, cursor)
        begin = k
        ways = last = NONE
        fit = 0
        said = cursor[C_TRACES]
    if fits == 0:
        free_list(threads, head, cursor)
        return NONE, 0
    return head, 1


def waits(tables: Ints, threads: Ints, row: int) -> bool:
    """Whether a way waits for anything."""
    for word in range(tables[H_MASKS]):  # noqa: SIM110 - numba knows no any()
        if threads[row + T_MASK + word] != 0:
            return True
    return False


@inlined
def answer(
    tables: Ints, threads: Ints, nodes: Ints, row: int, i: int, t: int, constants: Ints, places: Bytes,
    columns: Ints, nulls: Bytes, ranks: Ints, slots: Ints, floats: Floats, unknown: Ints, cursor: Ints, trace:
    Ints,
) -> tuple[int, int]:  # fmt: skip
    """Show an event, or time alone, to a way in a plain state: what `offer` does where no case is special.

    Returns the ways that come of it, and FITTED, NOTHING, or SOME_DIED: then dead leaves are dead in the way.
    """
    state = tables[H_STATES] + threads[row + T_STATE] * STATE
    leaf = tables[state + S_LEAF]
    first = last = NONE
    outcome = NOTHING
    said = cursor[C_TRACES]
    for number in range(tables[state + S_LEAVES]):
        if alive(threads, row, number):
            found = verdict(
                tables, threads, row, leaf, i, t, constants, places, columns, nulls, ranks, slots, floats,
                unknown, cursor, trace,
            )  # fmt: skip
            if found == FITS:
                outcome = FITTED
                part = follow(
                    tables, threads, nodes, row, leaf, i, t, constants, columns, nulls, ranks, slots, floats,
                    unknown, cursor, trace,
                )  # fmt: skip
                first, last = joined(threads, first, last, part, cursor)
            elif found == DIES:
                kill(threads, row, number)
                if outcome == NOTHING:
                    outcome = SOME_DIED
        leaf += LEAF
    if outcome == FITTED and said >= 0:
        unsay_guards(trace, cursor, said)
    return first, outcome


def moved(
    tables: Ints, threads: Ints, nodes: Ints, head: int, i: int, t: int, constants: Ints, places: Bytes,
    columns: Ints, nulls: Bytes, ranks: Ints, slots: Ints, floats: Floats, unknown: Ints, cursor: Ints, trace:
    Ints,
) -> int:  # fmt: skip
    """The ways of a run after an event, or after some time, most preferred first."""
    first = last = NONE
    if head < 0:
        return NONE
    row = head
    while row >= 0:
        following = threads[row + T_NEXT]
        threads[row + T_NEXT] = NONE
        part = row
        state = threads[row + T_STATE]
        if state == EACH:
            forks = final = NONE
            fork = threads[row + T_NODE]
            while fork >= 0:
                after = threads[fork + T_NEXT]
                ways = moved(
                    tables, threads, nodes, threads[fork + T_NODE], i, t, constants, places, columns, nulls,
                    ranks, slots, floats, unknown, cursor, trace,
                )  # fmt: skip
                free_thread(threads, fork, cursor)
                forks, final = forked(threads, forks, final, ways, cursor)
                fork = after
            free_thread(threads, row, cursor)
            part = each_of(threads, forks, cursor)
        elif state != MATCHED and not (cursor[C_MODE] == BY_TIME and threads[row + T_DEADLINE] > t):
            at = tables[H_STATES] + state * STATE
            token = tables[at + S_TOKEN]
            end = token + tables[at + S_TOKENS] * TOKEN
            before = threads[row + T_MASK]
            part, fits = offer(
                tables, threads, nodes, row, token, end, 0, i, t, constants, places, columns, nulls, ranks,
                slots, floats, unknown, cursor, trace,
            )  # fmt: skip
            if fits == 1:
                free_thread(threads, row, cursor)
            elif not waits(tables, threads, row):
                free_thread(threads, row, cursor)
                part = NONE
            elif before == threads[row + T_MASK] and tables[H_MASKS] == 1 and cursor[C_MODE] == BY_EVENT:
                part = row
            elif tables[at + S_FORKS] == 0:
                set_due(tables, threads, row, cursor)
                part = row
            else:
                part, _ = spread(tables, threads, row, token, end, cursor)
                free_thread(threads, row, cursor)
        first, last = joined(threads, first, last, part, cursor)
        row = following
        if last >= 0 and threads[last + T_STATE] == MATCHED:
            # What stands behind a complete way is not shown the event: nothing can come of it.
            free_list(threads, row, cursor)
            break
    return first


def soonest(threads: Ints, head: int) -> int:
    """When time next decides something about ways."""
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


def finished(threads: Ints, head: int) -> bool:
    """Whether one of the ways is complete and nothing preferred to it is left."""
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
    """How many ways there are, those in forks included."""
    count = 0
    row = head
    while row >= 0:
        count += 1 if threads[row + T_STATE] > EACH else ways_in(threads, threads[row + T_NODE])
        row = threads[row + T_NEXT]
    return int(count)


def trait(tables: Ints, threads: Ints, row: int, at: int, newest: int) -> int:
    """A trait of a way as a number."""
    kind = tables[at + D_KIND]
    value = threads[row + tables[at + D_PLACE]]
    more = tables[at + D_MORE]
    if kind == UP_TO:
        return int(min(value, more))
    if kind == TAKEN_SINCE:
        return 1 if threads[row + tables[H_COUNTERS] + tables[H_TAKEN]] > value else 0
    if kind == JUST_NOW:
        return 1 if value >= newest else 0
    if kind == NULLNESS:
        return is_null(threads, row + tables[H_NULLS], more)
    if kind == IF_KNOWN and is_null(threads, row + tables[H_NULLS], more):
        return 0
    return int(value)


def blended(found: int, value: int) -> int:
    """A hash, not negative, with a number more in it."""
    low = (value ^ (value >> 31) ^ (value >> 62)) & FOLD
    product = (found ^ low) * 1_540_483_477 + low
    return (product ^ (product >> 31)) & FOLD


def taken_by(tables: Ints, nodes: Ints, chain: int, step: int) -> int:
    """A chain up to its last node that is of a step."""
    while chain >= 0 and tables[tables[H_STEPS] + nodes[(chain & LOWER) + N_EDGE]] != step:
        chain = without_last(nodes, chain)
    return chain


def fingerprint(tables: Ints, threads: Ints, nodes: Ints, row: int, newest: int, cursor: Ints) -> int:
    """A hash of all that the future of a way, or of forks, depends on."""
    cursor[C_EFFORT] -= 1
    state = threads[row + T_STATE]
    found = blended(0, state)
    if state == EACH:
        fork = threads[row + T_NODE]
        while fork >= 0:
            found = blended(found, FORK)
            way = threads[fork + T_NODE]
            while way >= 0:
                found = blended(found, fingerprint(tables, threads, nodes, way, newest, cursor))
                way = threads[way + T_NEXT]
            fork = threads[fork + T_NEXT]
        return found
    if state == MATCHED:
        return found
    found = blended(found, threads[row + T_DEADLINE])
    for word in range(tables[H_MASKS]):
        found = blended(found, threads[row + T_MASK + word])
    at = tables[H_STATES] + state * STATE
    for k in range(tables[at + S_TRAIT], tables[at + S_TRAIT] + tables[at + S_TRAITS] * TRAIT, TRAIT):
        if tables[k + D_KIND] != TAKEN_BY:
            found = blended(found, trait(tables, threads, row, k, newest))
            continue
        chain = taken_by(tables, nodes, threads[row + T_NODE], tables[k + D_MORE])
        while chain >= 0:
            found = blended(found, nodes[(chain & LOWER) + N_SEQUENCE])
            chain = taken_by(tables, nodes, without_last(nodes, chain), tables[k + D_MORE])
    return found


def took_the_same(tables: Ints, nodes: Ints, one: int, other: int, step: int) -> bool:
    """Whether a step took the same events in two chains."""
    while one != other:
        one = taken_by(tables, nodes, one, step)
        other = taken_by(tables, nodes, other, step)
        if one < 0 or other < 0:
            return one == other
        if nodes[(one & LOWER) + N_SEQUENCE] != nodes[(other & LOWER) + N_SEQUENCE]:
            return False
        one = without_last(nodes, one)
        other = without_last(nodes, other)
    return True


def alike(tables: Ints, threads: Ints, nodes: Ints, one: int, other: int, newest: int) -> bool:
    """Whether nothing that is still to come can tell two ways, or forks, apart."""
    state = threads[one + T_STATE]
    if state != threads[other + T_STATE]:
        return False
    if state == MATCHED:
        return True
    if state <= EACH:
        mine = threads[one + T_NODE]
        yours = threads[other + T_NODE]
        while mine >= 0 and yours >= 0:
            if not alike(tables, threads, nodes, mine, yours, newest):
                return False
            mine = threads[mine + T_NEXT]
            yours = threads[yours + T_NEXT]
        return bool(mine == yours)
    if threads[one + T_DEADLINE] != threads[other + T_DEADLINE]:
        return False
    for word in range(tables[H_MASKS]):
        if threads[one + T_MASK + word] != threads[other + T_MASK + word]:
            return False
    at = tables[H_STATES] + state * STATE
    for k in range(tables[at + S_TRAIT], tables[at + S_TRAIT] + tables[at + S_TRAITS] * TRAIT, TRAIT):
        if tables[k + D_KIND] == TAKEN_BY:
            if not took_the_same(
                tables, nodes, threads[one + T_NODE], threads[other + T_NODE], tables[k + D_MORE]
            ):
                return False
        elif trait(tables, threads, one, k, newest) != trait(tables, threads, other, k, newest):
            return False
    return True


def merge(tables: Ints, threads: Ints, nodes: Ints, head: int, newest: int, seen: Ints, cursor: Ints) -> None:
    """Leave out the ways of a list that nothing tells from preferred ones, and so of each list in it.

    The first stays where it is. Why of some rules two that are alike stay: docs/decisions/0012.
    """
    row = head
    while row >= 0:
        if threads[row + T_STATE] == EACH:
            fork = threads[row + T_NODE]
            while fork >= 0:
                merge(tables, threads, nodes, threads[fork + T_NODE], newest, seen, cursor)
                fork = threads[fork + T_NEXT]
        row = threads[row + T_NEXT]
    if threads[head + T_NEXT] < 0:
        return
    cursor[C_PASS] += 1
    distinct = 0
    before = NONE
    row = head
    while row >= 0:
        following = threads[row + T_NEXT]
        found = fingerprint(tables, threads, nodes, row, newest, cursor)
        slot = (found % MOST_SEEN) * SEEN
        while seen[slot + V_PASS] == cursor[C_PASS] and not (
            seen[slot + V_HASH] == found and alike(tables, threads, nodes, seen[slot + V_WAY], row, newest)
        ):
            slot = (slot + SEEN) % (MOST_SEEN * SEEN)
        if seen[slot + V_PASS] == cursor[C_PASS]:
            seen[slot + V_COUNT] += 1
            if seen[slot + V_COUNT] > tables[H_COPIES]:
                threads[before + T_NEXT] = following
                threads[row + T_NEXT] = NONE
                free_list(threads, row, cursor)
                row = following
                continue
        elif distinct < MOST_SEEN // 2:
            # What comes after so many that differ is more than a run may keep anyway.
            distinct += 1
            seen[slot + V_PASS] = cursor[C_PASS]
            seen[slot + V_WAY] = row
            seen[slot + V_HASH] = found
            seen[slot + V_COUNT] = 1
        before = row
        row = following


def shortened(threads: Ints, head: int, room: int, cursor: Ints) -> tuple[int, int]:
    """The most preferred ways, as many as there is room for, and the room that is left."""
    first = last = NONE
    row = head
    while row >= 0 and room > 0:
        following = threads[row + T_NEXT]
        threads[row + T_NEXT] = NONE
        part = row
        if threads[row + T_STATE] == EACH:
            forks = final = NONE
            fork = threads[row + T_NODE]
            while fork >= 0:
                after = threads[fork + T_NEXT]
                ways, room = shortened(threads, threads[fork + T_NODE], room, cursor)
                free_thread(threads, fork, cursor)
                forks, final = forked(threads, forks, final, ways, cursor)
                fork = after
            free_thread(threads, row, cursor)
            part = each_of(threads, forks, cursor)
        else:
            room -= 1
        first, last = joined(threads, first, last, part, cursor)
        row = following
    free_list(threads, row, cursor)
    return first, room


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


def thinned(
    tables: Ints, threads: Ints, nodes: Ints, head: int, together: int, newest: int, i: int, t: int, seen:
    Ints, cursor: Ints, trace: Ints,
) -> int:  # fmt: skip
    """The ways of a run that have become more, without those that cannot matter and those beyond its bound.

    `together` is how many runs its key has, which share a bound; `newest` the sequence number of the last
    event that its key was shown. A complete way stays: it is a match, if nothing preferred comes to one.
    """
    if ways_in(threads, head) <= tables[H_MERGE]:
        return head
    merge(tables, threads, nodes, head, newest, seen, cursor)
    most = min(tables[H_WAYS], max(1, tables[H_MERGE], tables[H_ALL_WAYS] // together))
    count = ways_in(threads, head)
    if count > most:
        certain = detached(threads, head)
        head, _ = shortened(threads, head, most, cursor)
        head, last = joined(threads, NONE, NONE, head, cursor)
        head, _ = joined(threads, head, last, certain, cursor)
        count -= ways_in(threads, head)
        cursor[C_GIVEN_UP] += count
        note(trace, cursor, GAVE_UP, i, t, threads[first_way(threads, head) + T_NODE], NONE, NONE)
    return head


def ripe(threads: Ints, head: int, done: int, cursor: Ints) -> tuple[int, int]:
    """The complete ways, added to those in `done`, and the ways without them and their reserve."""
    if head < 0:
        return done, NONE
    if threads[head + T_STATE] == MATCHED:
        free_list(threads, threads[head + T_NEXT], cursor)
        threads[head + T_NEXT] = done
        return head, NONE
    if threads[head + T_STATE] != EACH:
        return done, head
    before = done
    forks = last = NONE
    fork = threads[head + T_NODE]
    while fork >= 0:
        following = threads[fork + T_NEXT]
        done, ways = ripe(threads, threads[fork + T_NODE], done, cursor)
        free_thread(threads, fork, cursor)
        forks, last = forked(threads, forks, last, ways, cursor)
        fork = following
    reserve = threads[head + T_NEXT]
    free_thread(threads, head, cursor)
    rest = each_of(threads, forks, cursor)
    if done != before:
        free_list(threads, reserve, cursor)
        return done, rest
    first, tail = joined(threads, NONE, NONE, rest, cursor)
    first, _ = joined(threads, first, tail, reserve, cursor)
    return done, first


def earlier(nodes: Ints, one: int, other: int) -> bool:
    """Whether of two chains the first comes before the other, by arrival of the events taken, in order."""
    longer = 0
    chain = one
    while chain >= 0:
        longer += 1
        chain = without_last(nodes, chain)
    chain = other
    while chain >= 0:
        longer -= 1
        chain = without_last(nodes, chain)
    comes_first = longer < 0
    while longer > 0:
        one = without_last(nodes, one)
        longer -= 1
    while longer < 0:
        other = without_last(nodes, other)
        longer += 1
    # Walking back, the difference seen last is the first one.
    while one >= 0 and one != other:
        mine = nodes[(one & LOWER) + N_SEQUENCE]
        its = nodes[(other & LOWER) + N_SEQUENCE]
        if mine != its:
            comes_first = mine < its
        one = without_last(nodes, one)
        other = without_last(nodes, other)
    return bool(comes_first)


def earliest(threads: Ints, nodes: Ints, head: int, best: int) -> int:
    """The complete way that comes first, of these and the one given."""
    if head < 0:
        return best
    if threads[head + T_STATE] == MATCHED:
        if best < 0 or earlier(nodes, threads[head + T_NODE], threads[best + T_NODE]):
            return head
        return best
    if threads[head + T_STATE] == EACH:
        fork = threads[head + T_NODE]
        while fork >= 0:
            best = earliest(threads, nodes, threads[fork + T_NODE], best)
            fork = threads[fork + T_NEXT]
    return best


def mixed(at: int, question: int, value: int) -> int:
    """A hash of a list, a question and a value, not negative: no product leaves 63 bits."""
    low = (value ^ (value >> 31) ^ (value >> 62)) & FOLD
    found = low * 1_540_483_477
    found = ((found >> 31) ^ found ^ (at + question * 40_503)) & FOLD
    found *= 2_027_808_485
    return found ^ (found >> 30)


def sleep(runs: Ints, index: Ints, at: int, run: int, question: int, value: int, cursor: Ints) -> bool:
    """Let a run stand in the chain of those that wait for a value. False: there is no room for that."""
    entry = cursor[C_ENTRY]
    if entry < 0:
        cursor[C_SHORT] = 1
        return False
    cursor[C_ENTRY] = index[entry + E_NEXT]
    found = mixed(at, question, value)
    chain = found & (cursor[C_CHAINS] - 1)
    after = index[chain]
    index[entry + E_NEXT] = after
    index[entry + E_BEFORE] = NONE
    index[entry + E_HASH] = found
    index[entry + E_LIST] = at
    index[entry + E_RUN] = run
    index[entry + E_OF_RUN] = runs[run + R_ENTRY]
    if after >= 0:
        index[after + E_BEFORE] = entry
    index[chain] = entry
    runs[run + R_ENTRY] = entry
    return True


def wake_up(runs: Ints, index: Ints, run: int, cursor: Ints) -> None:
    """Take a run out of the chains in which it stands."""
    entry = runs[run + R_ENTRY]
    while entry >= 0:
        before = index[entry + E_BEFORE]
        after = index[entry + E_NEXT]
        if before >= 0:
            index[before + E_NEXT] = after
        else:
            index[index[entry + E_HASH] & (cursor[C_CHAINS] - 1)] = after
        if after >= 0:
            index[after + E_BEFORE] = before
        index[entry + E_NEXT] = cursor[C_ENTRY]
        cursor[C_ENTRY] = entry
        entry = index[entry + E_OF_RUN]
    runs[run + R_ENTRY] = NONE


def place_bit(place: int) -> int:
    """The bit that stands for a place in what a run wants."""
    return int(np.int64(1) << np.int64(min(place, OTHER_PLACES)))


def wanted(
    tables: Ints, runs: Ints, threads: Ints, index: Ints, at: int, run: int, head: int, cursor: Ints
) -> int:
    """The places of which some ways of a run want every event; for values it stands in chains from now on."""
    wants = np.int64(0)
    row = head
    while row >= 0:
        state = threads[row + T_STATE]
        if state <= EACH:
            wants |= wanted(tables, runs, threads, index, at, run, threads[row + T_NODE], cursor)
        elif state != MATCHED:
            first = tables[H_STATES] + state * STATE
            leaf = tables[first + S_LEAF]
            for number in range(tables[first + S_LEAVES]):
                if alive(threads, row, number):
                    wants |= tables[leaf + F_WANTS]
                    ask = tables[leaf + F_ASK]
                    for k in range(ask, ask + tables[leaf + F_ASKS] * ASK, ASK):
                        register = tables[k + Q_REGISTER]
                        # Nothing equals null.
                        if not is_null(threads, row + tables[H_NULLS], register):
                            value = threads[row + tables[H_VALUES] + register]
                            question = tables[k + Q_NUMBER]
                            if not sleep(runs, index, at, run, question, value, cursor):
                                place = tables[tables[H_QUESTION] + question * QUESTION + Q_PLACE]
                                wants |= place_bit(place)
                leaf += LEAF
        row = threads[row + T_NEXT]
    return int(wants)


def lie_down(
    tables: Ints, lists: Ints, runs: Ints, threads: Ints, index: Ints, at: int, run: int, cursor: Ints
) -> None:
    """Note anew which events can matter to a run of a list whose runs sleep."""
    wake_up(runs, index, run, cursor)
    wants = wanted(tables, runs, threads, index, at, run, runs[run + R_THREAD], cursor)
    runs[run + R_WANTS] = wants
    lists[at + L_WANTS] |= wants


def lie_down_all(
    tables: Ints, lists: Ints, runs: Ints, threads: Ints, index: Ints, at: int, cursor: Ints
) -> None:
    """From now on the runs of a list sleep."""
    lists[at + L_SLEEPS] = 1
    lists[at + L_WANTS] = 0
    run = lists[at + L_FIRST]
    while run >= 0:
        runs[run + R_ENTRY] = NONE
        runs[run + R_CALLED] = NOT_CALLED
        lie_down(tables, lists, runs, threads, index, at, run, cursor)
        run = runs[run + R_NEXT]


def seen_places(tables: Ints, i: int, places: Bytes, cursor: Ints) -> int:
    """The places that event i fits, a bit each, and what every event fits."""
    found = np.int64(1) << np.int64(EVERY_EVENT)
    for place in range(tables[H_PLACES]):
        if places[place * cursor[C_EVENTS] + i] == 1:
            found |= place_bit(place)
    return int(found)


def called(
    tables: Ints, runs: Ints, index: Ints, at: int, i: int, places: Bytes, columns: Ints, nulls: Bytes,
    cursor: Ints,
) -> int:  # fmt: skip
    """The first of the runs that wait for a value of event i, linked by R_CALLED."""
    n = cursor[C_EVENTS]
    head = NONE
    if cursor[C_CHAINS] == 0:
        return head
    for question in range(tables[H_QUESTIONS]):
        row = tables[H_QUESTION] + question * QUESTION
        place = tables[row + Q_COLUMN] * n + i
        if places[tables[row + Q_PLACE] * n + i] == 0 or nulls[place] != 0:
            continue
        sought = mixed(at, question, columns[place])
        entry = index[sought & (cursor[C_CHAINS] - 1)]
        while entry >= 0:
            run = index[entry + E_RUN]
            hit = index[entry + E_HASH] == sought and index[entry + E_LIST] == at
            if hit and runs[run + R_CALLED] == NOT_CALLED:
                runs[run + R_CALLED] = head
                head = run
            entry = index[entry + E_NEXT]
    return int(head)


def by_start(runs: Ints, head: int) -> int:
    """The called runs in order of their first event: merge sort from below (Knuth, TAOCP 3, 5.2.4)."""
    size = 1
    while head >= 0 and runs[head + R_CALLED] >= 0:
        rest = head
        head = tail = NONE
        merged = 0
        while rest >= 0:
            merged += 1
            one = other = rest
            left = 0
            while left < size and other >= 0:
                left += 1
                other = runs[other + R_CALLED]
            right = size
            while left > 0 or (right > 0 and other >= 0):
                first = right == 0 or other < 0
                if left > 0 and (first or runs[one + R_START] <= runs[other + R_START]):
                    taken = one
                    one = runs[one + R_CALLED]
                    left -= 1
                else:
                    taken = other
                    other = runs[other + R_CALLED]
                    right -= 1
                if tail < 0:
                    head = taken
                else:
                    runs[tail + R_CALLED] = taken
                tail = taken
            rest = other
        runs[tail + R_CALLED] = NONE
        if merged == 1:
            break
        size *= 2
    return head


def free_run(lists: Ints, runs: Ints, threads: Ints, index: Ints, at: int, run: int, cursor: Ints) -> None:
    """Take a run and its ways out of its list."""
    if lists[at + L_SLEEPS] == 1:
        wake_up(runs, index, run, cursor)
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
    free_list(threads, runs[run + R_THREAD], cursor)
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
    lists[at + L_THREADS] = 0
    lists[at + L_SEEN] = NO_SEQUENCE
    lists[at + L_DEADLINE] = END_OF_TIME
    lists[at + L_SLEEPS] = 0
    return int(at)


@inlined
def new_run(lists: Ints, runs: Ints, at: int, before: int, start: int, time: int, cursor: Ints) -> int:
    """A run in a list, right after another one or first, with no ways yet."""
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
    runs[run + R_CALLED] = NOT_CALLED
    return int(run)


@inlined
def this_run(lists: Ints, runs: Ints, at: int, run: int, cursor: Ints) -> None:
    """What follows is about this run."""
    cursor[C_BEGAN] = runs[run + R_TIME]
    cursor[C_START] = runs[run + R_START]
    cursor[C_OF_FORK] = runs[run + R_FORK]
    cursor[C_KEY] = lists[at + L_KEY]


@inlined
def assess(lists: Ints, runs: Ints, threads: Ints, at: int, run: int) -> None:
    """Note when time next decides something about a run, and whether it is to be raised."""
    head = runs[run + R_THREAD]
    if threads[head + T_NEXT] < 0 and threads[head + T_STATE] > EACH:
        due = threads[head + T_DEADLINE]
        runs[run + R_DONE] = 1 if threads[head + T_STATE] == MATCHED else 0
    else:
        due = soonest(threads, head)
        runs[run + R_DONE] = 1 if finished(threads, head) else 0
    runs[run + R_DEADLINE] = due
    if due < lists[at + L_DEADLINE]:
        lists[at + L_DEADLINE] = due


def settled_down(
    tables: Ints, lists: Ints, runs: Ints, threads: Ints, index: Ints, at: int, run: int, i: int, t: int,
    cursor: Ints, trace: Ints,
) -> int:  # fmt: skip
    """Make each independent way of a run a run of its own; the last of them, which keeps the run's name."""
    head = runs[run + R_THREAD]
    if threads[head + T_STATE] == EACH and threads[head + T_NEXT] < 0:
        name = runs[run + R_FORK]
        fork = threads[head + T_NODE]
        free_thread(threads, head, cursor)
        while True:
            ways = threads[fork + T_NODE]
            following = threads[fork + T_NEXT]
            free_thread(threads, fork, cursor)
            runs[run + R_THREAD] = ways
            if following < 0:
                break
            cursor[C_FORKS] += 1
            runs[run + R_FORK] = cursor[C_FORKS]
            cursor[C_OF_FORK] = cursor[C_FORKS]
            note(trace, cursor, FORKED, i, t, threads[first_way(threads, ways) + T_NODE], NONE, NONE)
            if cursor[C_TRACES] >= 0:
                trace[cursor[C_TRACES] - TRACE + X_PARENT] = name
            assess(lists, runs, threads, at, run)
            if lists[at + L_SLEEPS] == 1:
                lie_down(tables, lists, runs, threads, index, at, run, cursor)
            run = new_run(lists, runs, at, run, runs[run + R_START], runs[run + R_TIME], cursor)
            fork = following
        runs[run + R_FORK] = name
    assess(lists, runs, threads, at, run)
    if lists[at + L_SLEEPS] == 1:
        lie_down(tables, lists, runs, threads, index, at, run, cursor)
    return run


def raised(
    tables: Ints, lists: Ints, runs: Ints, threads: Ints, nodes: Ints, matches: Ints, at: int, run: int, row:
    int, time: int, i: int, cursor: Ints, trace: Ints,
) -> int:  # fmt: skip
    """Record a complete way. Returns the sequence number before which begun runs end."""
    start = runs[run + R_START]
    this_run(lists, runs, at, run, cursor)
    match = cursor[C_MATCHES]
    matches[match + M_TIME] = threads[row + T_LAST] if time == END_OF_TIME else time
    matches[match + M_BY_EVENT] = 0 if i < 0 else 1
    matches[match + M_NODE] = threads[row + T_NODE]
    matches[match + M_KEY] = lists[at + L_KEY]
    matches[match + M_START] = start
    matches[match + M_TIMEOUT] = 0
    matches[match + M_RULE] = lists[at + L_RULE]
    cursor[C_MATCHES] = match + MATCH
    note(trace, cursor, MATCHES, i, matches[match + M_TIME], threads[row + T_NODE], NONE, NONE)
    skip = tables[H_SKIP]
    last = nodes[(threads[row + T_NODE] & LOWER) + N_SEQUENCE]
    if skip == SKIP_PAST_LAST:
        return int(last + 1)
    if skip == SKIP_TO_NEXT:
        return int(start + 1)
    if skip == SKIP_NONE:
        return int(start)
    found = start
    chain = threads[row + T_NODE]
    while chain >= 0:
        node = chain & LOWER
        if tables[tables[H_STEPS] + nodes[node + N_EDGE]] == tables[H_SKIP_STEP]:
            found = nodes[node + N_SEQUENCE]
            if skip == SKIP_TO_LAST:
                break
        chain = without_last(nodes, chain)
    return int(found if found > start else start + 1)


def began_together(runs: Ints, one: int, other: int) -> bool:
    """Whether two runs are forks of one."""
    return bool(runs[one + R_START] == runs[other + R_START])


def decide(
    tables: Ints, lists: Ints, runs: Ints, threads: Ints, nodes: Ints, matches: Ints, index: Ints, at: int,
    first: int, count: int, time: int, i: int, cursor: Ints, trace: Ints,
) -> int:  # fmt: skip
    """Raise what is complete, the earliest start first, and end the runs that each match ends.

    So many runs are complete, from `first` on. Returns the sequence number before which begun runs end.
    """
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
                node = threads[first_way(threads, runs[run + R_THREAD]) + T_NODE]
                note(trace, cursor, SKIPPED, i, time, node, by_fork, by)
            count -= runs[run + R_DONE]
            free_run(lists, runs, threads, index, at, run, cursor)
            run = following
            continue
        if runs[run + R_DONE] == 1 and tables[H_SKIP] == SKIP_NONE:
            count -= 1
            done, rest = ripe(threads, runs[run + R_THREAD], NONE, cursor)
            runs[run + R_THREAD] = rest
            while done >= 0:
                more = threads[done + T_NEXT]
                raised(tables, lists, runs, threads, nodes, matches, at, run, done, time, i, cursor, trace)
                free_thread(threads, done, cursor)
                done = more
            if rest < 0:
                free_run(lists, runs, threads, index, at, run, cursor)
            else:
                settled_down(tables, lists, runs, threads, index, at, run, i, time, cursor, trace)
            run = following
            continue
        if tables[H_SKIP] != SKIP_NONE and start != looked:
            # Of the forks that began together the first that is complete counts.
            looked = start
            best = NONE
            other = of = run
            while other >= 0 and runs[other + R_START] == start:
                if runs[other + R_DONE] == 1:
                    found = earliest(threads, nodes, runs[other + R_THREAD], best)
                    if found != best:
                        best = found
                        of = other
                other = runs[other + R_NEXT]
            if best >= 0:
                blocked = raised(
                    tables, lists, runs, threads, nodes, matches, at, of, best, time, i, cursor, trace
                )
                by = start
                by_fork = runs[of + R_FORK]
                continue
        run = following
    return int(blocked)


def time_out(
    tables: Ints, lists: Ints, runs: Ints, matches: Ints, at: int, run: int, node: int, time: int, cursor:
    Ints, trace: Ints,
) -> None:  # fmt: skip
    """A run has ended by time alone: say so, and raise it where the rule asks for that."""
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


def expire(
    tables: Ints, lists: Ints, runs: Ints, threads: Ints, index: Ints, at: int, bound: int, cursor: Ints,
    trace: Ints,
) -> None:  # fmt: skip
    """Drop the first runs of a list while `within` ends them by `bound` with nothing to raise."""
    run = lists[at + L_FIRST]
    while run >= 0 and later(runs[run + R_TIME], tables[H_WITHIN]) <= bound:
        row = runs[run + R_THREAD]
        while row >= 0 and threads[row + T_STATE] >= 0:
            row = threads[row + T_NEXT]
        if row >= 0:
            return
        following = runs[run + R_NEXT]
        if cursor[C_TRACES] >= 0:
            this_run(lists, runs, at, run, cursor)
            end = later(runs[run + R_TIME], tables[H_WITHIN])
            note(trace, cursor, EXPIRED, NONE, end, threads[runs[run + R_THREAD] + T_NODE], NONE, NONE)
        free_run(lists, runs, threads, index, at, run, cursor)
        run = following


def least_deadline(tables: Ints, lists: Ints, runs: Ints, at: int) -> int:
    """When time next decides something about a run of a list."""
    run = lists[at + L_FIRST]
    if tables[H_PLAIN] == 1:
        # `within` alone: the first that began ends first.
        return int(runs[run + R_DEADLINE]) if run >= 0 else END_OF_TIME
    due = END_OF_TIME
    while run >= 0:
        if runs[run + R_DEADLINE] < due:
            due = runs[run + R_DEADLINE]
        run = runs[run + R_NEXT]
    return int(due)


@inlined
def keep_to_limit(
    tables: Ints, lists: Ints, runs: Ints, threads: Ints, index: Ints, at: int, time: int, i: int, cursor:
    Ints, trace: Ints,
) -> None:  # fmt: skip
    """Drop the runs with the oldest first events of a list while there are more than the rule's limit."""
    while lists[at + L_RUNS] > tables[H_LIMIT]:
        oldest = lists[at + L_FIRST]
        this_run(lists, runs, at, oldest, cursor)
        node = threads[first_way(threads, runs[oldest + R_THREAD]) + T_NODE]
        note(trace, cursor, DROPPED, i, time, node, NONE, NONE)
        free_run(lists, runs, threads, index, at, oldest, cursor)
        cursor[C_DROPPED] += 1


def most_rows(tables: Ints, threads: Ints, head: int, nodes: int) -> tuple[int, int]:
    """How many rows ways may need for one event before they give any back; nodes, added to those given."""
    rows = 0
    row = head
    while row >= 0:
        state = threads[row + T_STATE]
        if state <= EACH:
            more, nodes = most_rows(tables, threads, threads[row + T_NODE], nodes)
            rows += 1 + more
        elif state != MATCHED:
            at = tables[H_STATES] + state * STATE
            rows += tables[at + S_ROWS]
            nodes += tables[at + S_LEAVES]
        row = threads[row + T_NEXT]
    return int(rows), int(nodes)


def measure(tables: Ints, lists: Ints, runs: Ints, threads: Ints, at: int, cursor: Ints) -> None:
    """Note how much room an event needs, run by run: each is thinned before the next one is shown it."""
    total = most = tables[tables[H_STATES] + S_ROWS]
    nodes = tables[tables[H_STATES] + S_LEAVES]
    run = NONE if at < 0 else lists[at + L_FIRST]
    while run >= 0:
        rows, nodes = most_rows(tables, threads, runs[run + R_THREAD], nodes)
        total += min(rows, ROWS_PER_WAY * (tables[H_WAYS] + 1))
        most = max(most, rows)
        run = runs[run + R_NEXT]
    cursor[C_NEED] = total + most
    cursor[C_NODES_NEED] = nodes


@inlined
def too_small(lists: Ints, nodes: Ints, matches: Ints, cursor: Ints, trace: Ints) -> bool:
    """Whether some pool lacks the room that the cursor says is needed."""
    need = cursor[C_NEED]
    return bool(
        cursor[C_THREADS] < need
        or cursor[C_RUNS] < need
        or cursor[C_SHORT] == 1
        or cursor[C_LISTS] + LIST > len(lists)
        or cursor[C_NODES] + cursor[C_NODES_NEED] * NODE > len(nodes)
        or cursor[C_MATCHES] + (need + 1) * MATCH > len(matches)
        or (cursor[C_TRACES] >= 0 and cursor[C_TRACES] + 4 * (need + 4) * TRACE > len(trace))
    )


@inlined
def crowded(
    tables: Ints, lists: Ints, runs: Ints, threads: Ints, nodes: Ints, matches: Ints, at: int, cursor: Ints,
    trace: Ints,
) -> bool:  # fmt: skip
    """Whether an event might find too little room in a pool; what it needs is noted in the cursor."""
    living = 1 if at < 0 else lists[at + L_THREADS] + 1
    need = living * tables[H_FORK]
    cursor[C_NEED] = cursor[C_NODES_NEED] = need
    if cursor[C_CHAINS] == 0 and tables[H_QUESTIONS] > 0 and at >= 0 and lists[at + L_RUNS] > tables[H_SLEEP]:
        cursor[C_SHORT] = 1
    if not too_small(lists, nodes, matches, cursor, trace):
        return False
    if need <= MEASURED_FROM:
        return True
    measure(tables, lists, runs, threads, at, cursor)
    return too_small(lists, nodes, matches, cursor, trace)


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


def settle(
    tables: Ints, lists: Ints, runs: Ints, threads: Ints, nodes: Ints, matches: Ints, index: Ints, at: int,
    bound: int, constants: Ints, places: Bytes, columns: Ints, nulls: Bytes, ranks: Ints, slots: Ints, floats:
    Floats, unknown: Ints, seen: Ints, cursor: Ints, trace: Ints,
) -> bool:  # fmt: skip
    """Settle what is due in one list up to and including `bound`, one instant after the other.

    At the end of time no event will come: what nothing else ends is raised at the time of its last event.
    No pass is in vain: of a way that is due a leaf dies or is passed, which without an event leads only
    forward in the pattern, or its deadline is found to be later; and the end of time leaves nothing.
    Returns False where there is too little room, or no effort left, to go on.
    """
    free = cursor[C_THREADS]
    silent = tables[H_PLAIN] == 1 and tables[H_TIMEOUT] == 0 and tables[H_WITHIN] >= 0
    if silent and bound < END_OF_TIME:
        # Expiry takes no room, but to tell of it does.
        if cursor[C_TRACES] >= 0 and crowded(tables, lists, runs, threads, nodes, matches, at, cursor, trace):
            return False
        expire(tables, lists, runs, threads, index, at, bound, cursor, trace)
    cursor[C_SEEN] = lists[at + L_SEEN]
    while True:
        due = least_deadline(tables, lists, runs, at)
        lists[at + L_DEADLINE] = due
        lists[at + L_THREADS] += free - cursor[C_THREADS]
        if lists[at + L_FIRST] < 0 or due > bound:
            return True
        if cursor[C_EFFORT] <= 0 or crowded(tables, lists, runs, threads, nodes, matches, at, cursor, trace):
            return False
        cursor[C_EFFORT] -= lists[at + L_RUNS] // RUNS_A_STEP
        free = cursor[C_THREADS]
        cursor[C_MODE] = BY_TIME if due < END_OF_TIME else AT_END
        first = NONE
        count = 0
        run = lists[at + L_FIRST]
        while run >= 0:
            following = runs[run + R_NEXT]
            if runs[run + R_DEADLINE] <= due:
                this_run(lists, runs, at, run, cursor)
                node = threads[first_way(threads, runs[run + R_THREAD]) + T_NODE]
                before = cursor[C_THREADS]
                head = moved(
                    tables, threads, nodes, runs[run + R_THREAD], NONE, due, constants, places, columns,
                    nulls, ranks, slots, floats, unknown, cursor, trace,
                )  # fmt: skip
                if cursor[C_THREADS] < before:
                    head = thinned(
                        tables, threads, nodes, head, lists[at + L_RUNS], cursor[C_SEEN], NONE, due, seen,
                        cursor, trace,
                    )  # fmt: skip
                runs[run + R_THREAD] = head
                if head < 0:
                    if due < END_OF_TIME:
                        time_out(tables, lists, runs, matches, at, run, node, due, cursor, trace)
                    free_run(lists, runs, threads, index, at, run, cursor)
                else:
                    last = settled_down(
                        tables, lists, runs, threads, index, at, run, NONE, due, cursor, trace
                    )
                    first, count = complete(runs, run, last, first, count)
            elif tables[H_PLAIN] == 1:
                break
            run = following
        decide(
            tables, lists, runs, threads, nodes, matches, index, at, first, count, due, NONE, cursor, trace
        )
        # What time alone ends may leave ways that are runs of their own.
        keep_to_limit(tables, lists, runs, threads, index, at, due, NONE, cursor, trace)


@inlined
def starts(tables: Ints, i: int, places: Bytes, cursor: Ints) -> bool:
    """Whether event i may fit a first step, by what it is alone."""
    first = tables[H_STATES]
    leaf = tables[first + S_LEAF]
    for k in range(leaf, leaf + tables[first + S_LEAVES] * LEAF, LEAF):
        if places[tables[k + F_PLACE] * cursor[C_EVENTS] + i] == 1:
            return True
    return False


def lasts(tables: Ints, i: int, after: int, places: Bytes, cursor: Ints) -> bool:
    """Whether a run that begins at event i may outlive the event after it, which alone decides that."""
    first = tables[H_STATES]
    leaf = tables[first + S_LEAF]
    for k in range(leaf, leaf + tables[first + S_LEAVES] * LEAF, LEAF):
        if places[tables[k + F_PLACE] * cursor[C_EVENTS] + i] == 1:
            second = first + tables[k + F_TARGET] * STATE
            next_leaf = tables[second + S_LEAF]
            for m in range(next_leaf, next_leaf + tables[second + S_LEAVES] * LEAF, LEAF):
                if places[tables[m + F_PLACE] * cursor[C_EVENTS] + after] == 1:
                    return True
    return False


@inlined
def lives(tables: Ints, wake: Ints, keys: Ints, i: int, places: Bytes, cursor: Ints) -> bool:
    """Whether event i, which may be shown next and finds no run, may begin one that is seen to live.

    Where the next event of a key alone decides whether a run goes on, it is asked before a run is made.
    """
    if not starts(tables, i, places, cursor):
        return False
    after = cursor[C_POSITION] + 1
    if tables[H_NEXT_DECIDES] == 0 or after >= len(wake) or keys[wake[after]] != keys[i]:
        return True
    return lasts(tables, i, wake[after], places, cursor)


@inlined
def first_of_all(tables: Ints, threads: Ints, cursor: Ints) -> int:
    """The way from which a run begins: it waits for every first step."""
    row = copied(tables, threads, cursor[C_BLANK], cursor)
    for leaf in range(tables[tables[H_STATES] + S_LEAVES]):
        threads[row + T_MASK + leaf // BITS] |= np.int64(1) << np.int64(leaf % BITS)
    return row


@inlined
def show(
    tables: Ints, lists: Ints, runs: Ints, threads: Ints, nodes: Ints, matches: Ints, index: Ints, at: int, i:
    int, t: int, constants: Ints, places: Bytes, columns: Ints, nulls: Bytes, ranks: Ints, slots: Ints,
    floats: Floats, unknown: Ints, seen: Ints, cursor: Ints, trace: Ints,
) -> None:  # fmt: skip
    """Show event i to the runs of its key that it can matter to, earliest first; then it may begin one."""
    cursor[C_MODE] = BY_EVENT
    cursor[C_SHOWN] = cursor[C_NODES]
    cursor[C_EFFORT] -= lists[at + L_RUNS] // RUNS_A_STEP
    cursor[C_SEEN] = lists[at + L_SEEN]
    first = NONE
    count = 0
    run = lists[at + L_FIRST]
    sleeping = only_called = False
    fits = 0
    # A trace tells of all that were tried.
    if lists[at + L_RUNS] > tables[H_SLEEP] and cursor[C_TRACES] < 0:
        sleeping = True
        if lists[at + L_SLEEPS] == 0:
            lie_down_all(tables, lists, runs, threads, index, at, cursor)
        fits = seen_places(tables, i, places, cursor)
        head = called(tables, runs, index, at, i, places, columns, nulls, cursor)
        only_called = lists[at + L_WANTS] & fits == 0
        if only_called:
            run = by_start(runs, head)
        else:
            lists[at + L_WANTS] = 0
    begun = False
    while True:
        if run < 0:
            if begun:
                break
            begun = True
            blocked = NO_SEQUENCE
            if count > 0:
                blocked = decide(
                    tables, lists, runs, threads, nodes, matches, index, at, first, count, t, i, cursor, trace
                )
            first = NONE
            count = 0
            if cursor[C_SEQUENCE] + i < blocked:
                break
            if cursor[C_TRACES] < 0 and not starts(tables, i, places, cursor):
                break
            following = NONE
            run = new_run(lists, runs, at, lists[at + L_LAST], cursor[C_SEQUENCE] + i, t, cursor)
            runs[run + R_THREAD] = first_of_all(tables, threads, cursor)
            cursor[C_MODE] = AT_BEGIN
        else:
            following = runs[run + R_CALLED] if only_called else runs[run + R_NEXT]
            if sleeping:
                if runs[run + R_CALLED] == NOT_CALLED and runs[run + R_WANTS] & fits == 0:
                    lists[at + L_WANTS] |= runs[run + R_WANTS]
                    run = following
                    continue
                runs[run + R_CALLED] = NOT_CALLED
        this_run(lists, runs, at, run, cursor)
        head = runs[run + R_THREAD]
        state = threads[head + T_STATE]
        free = cursor[C_THREADS]
        if (
            threads[head + T_NEXT] < 0
            and state >= 0
            and tables[tables[H_STATES] + state * STATE + S_PLAIN] == 1
        ):
            ways, outcome = answer(
                tables, threads, nodes, head, i, t, constants, places, columns, nulls, ranks, slots, floats,
                unknown, cursor, trace,
            )  # fmt: skip
            if outcome == NOTHING:
                lists[at + L_WANTS] |= runs[run + R_WANTS]
                run = following
                continue
            if outcome == SOME_DIED and waits(tables, threads, head):
                set_due(tables, threads, head, cursor)
                ways = head
            else:
                free_thread(threads, head, cursor)
        else:
            ways = moved(
                tables, threads, nodes, head, i, t, constants, places, columns, nulls, ranks, slots, floats,
                unknown, cursor, trace,
            )  # fmt: skip
        if cursor[C_THREADS] < free:
            newest = cursor[C_SEQUENCE] + i
            # A run that begins is not told how many there are: they need not be at hand (beginnings.py).
            together = 1 if cursor[C_MODE] == AT_BEGIN else lists[at + L_RUNS]
            ways = thinned(tables, threads, nodes, ways, together, newest, i, t, seen, cursor, trace)
        runs[run + R_THREAD] = ways
        if ways < 0:
            free_run(lists, runs, threads, index, at, run, cursor)
        elif threads[ways + T_STATE] == EACH or lists[at + L_SLEEPS] == 1:
            last = settled_down(tables, lists, runs, threads, index, at, run, i, t, cursor, trace)
            first, count = complete(runs, run, last, first, count)
        else:
            assess(lists, runs, threads, at, run)
            if runs[run + R_DONE] == 1:
                count += 1
                if first < 0:
                    first = run
        run = following
    if count > 0:
        decide(tables, lists, runs, threads, nodes, matches, index, at, first, count, t, i, cursor, trace)
    keep_to_limit(tables, lists, runs, threads, index, at, t, i, cursor, trace)
    lists[at + L_SEEN] = cursor[C_SEQUENCE] + i


def run(
    tables: Ints, constants: Ints, wake: Ints, keys: Ints, times: Ints, places: Bytes, columns: Ints, nulls:
    Bytes, ranks: Ints, list_of_key: Ints, lists: Ints, runs: Ints, threads: Ints, nodes: Ints, matches: Ints,
    index: Ints, slots: Ints, unknown: Ints, seen: Ints, cursor: Ints, trace: Ints,
) -> int:  # fmt: skip
    """Run one rule over a shard's events: first the events in `wake`, then what is due by the watermark.

    The events are in order of key, then of time; `keys` and `times` are theirs, `places`, `columns` and
    `nulls` hold a row of them per condition and column. `list_of_key` gives the list of a key, or -1.
    Returns DONE, or MORE_ROOM: then the caller lets the pools grow and calls again; or LATER, where the
    effort that the caller gave is used up: then it gives more, or lets a faster kernel go on.
    """
    # The last two slots are scratch for updates.
    floats = slots.view(np.float64)
    while cursor[C_POSITION] < len(wake):
        if cursor[C_EFFORT] <= 0:
            return LATER
        i = wake[cursor[C_POSITION]]
        key = keys[i]
        at = list_of_key[key]
        if (
            (at < 0 or lists[at + L_FIRST] < 0)
            and cursor[C_TRACES] < 0
            and not lives(tables, wake, keys, i, places, cursor)
        ):
            cursor[C_POSITION] += 1
            continue
        due = at >= 0 and lists[at + L_DEADLINE] <= times[i]
        if due and not settle(
            tables, lists, runs, threads, nodes, matches, index, at, times[i], constants, places, columns,
            nulls, ranks, slots, floats, unknown, seen, cursor, trace,
        ):  # fmt: skip
            return LATER if cursor[C_EFFORT] <= 0 else MORE_ROOM
        if crowded(tables, lists, runs, threads, nodes, matches, at, cursor, trace):
            return MORE_ROOM
        if at < 0:
            at = new_list(list_of_key, lists, key, cursor[C_RULE], cursor)
        free = cursor[C_THREADS]
        show(
            tables, lists, runs, threads, nodes, matches, index, at, i, times[i], constants, places, columns,
            nulls, ranks, slots, floats, unknown, seen, cursor, trace,
        )  # fmt: skip
        lists[at + L_THREADS] += free - cursor[C_THREADS]
        cursor[C_POSITION] += 1
    while cursor[C_SETTLED] < cursor[C_LISTS]:
        at = cursor[C_SETTLED]
        due = lists[at + L_DEADLINE] <= cursor[C_WATERMARK] and lists[at + L_FIRST] >= 0
        if due and not settle(
            tables, lists, runs, threads, nodes, matches, index, at, cursor[C_WATERMARK], constants, places,
            columns, nulls, ranks, slots, floats, unknown, seen, cursor, trace,
        ):  # fmt: skip
            return LATER if cursor[C_EFFORT] <= 0 else MORE_ROOM
        cursor[C_SETTLED] += LIST
    return DONE


def awaken(
    pairs: Ints, first: int, last: int, ends: Ints, hits: Ints, begin: int, end: int, size: int, places:
    Bytes, heads: Ints, wake: Ints,
) -> int:  # fmt: skip
    """Write down where a rule's places are true of a block's events, and in `wake` those events, in order.

    `pairs` give places and atoms; atom a is true of the events `hits[ends[a]:ends[a + 1]]`, of which `heads`
    says by pair the first one that no block has had. Returns how many events are woken.
    """
    total = 0
    every = False
    for k in range(first, last):
        place = pairs[2 * k] * size
        at = heads[k]
        stop = ends[pairs[2 * k + 1] + 1]
        while at < stop and hits[at] < end:
            places[place + hits[at]] = 1
            at += 1
        total += at - heads[k]
        every = every or at - heads[k] == end - begin
        if every:
            heads[k] = at
    if every:
        for k in range(first, last):
            stop = ends[pairs[2 * k + 1] + 1]
            while heads[k] < stop and hits[heads[k]] < end:
                heads[k] += 1
        for event in range(begin, end):
            wake[event - begin] = event
        return end - begin
    if total == 0:
        return 0
    count = 0
    while True:
        least = end
        for k in range(first, last):
            at = heads[k]
            if at < ends[pairs[2 * k + 1] + 1] and hits[at] < least:
                least = hits[at]
        if least == end:
            return count
        wake[count] = least
        count += 1
        for k in range(first, last):
            at = heads[k]
            if at < ends[pairs[2 * k + 1] + 1] and hits[at] == least:
                heads[k] = at + 1


def forget_places(
    pairs: Ints, first: int, last: int, ends: Ints, hits: Ints, begin: int, size: int, places: Bytes,
    heads: Ints,
) -> None:  # fmt: skip
    """Take back what `awaken` wrote down."""
    for k in range(first, last):
        place = pairs[2 * k] * size
        least = ends[pairs[2 * k + 1]]
        at = heads[k] - 1
        while at >= least and hits[at] >= begin:
            places[place + hits[at]] = 0
            at -= 1


def placed(chain: int, base: int) -> int:
    """A chain of a list whose nodes lie from `base` on, by its numbers of nodes within the list."""
    if chain < 0:
        return NONE
    splice = chain >> HALF
    found = base + (chain & LOWER) * NODE
    return int(found if splice == 0 else found + ((base + (splice - 1) * NODE + 1) << HALF))


@inlined
def way_of(kept: Kept, at: int, own: int, node: int, threads: Ints, cursor: Ints) -> int:
    """Copy a kept way that is no fork into a free row; `own` and `node` as below."""
    new = new_thread(threads, cursor)
    for k in range(T_STATE, own):
        threads[new + k] = kept[at + k]
    threads[new + T_NODE] = placed(kept[at + T_NODE], node)
    return new


def ways_of(
    kept: Kept, width: int, row: int, end: int, own: int, node: int, threads: Ints, cursor: Ints
) -> int:
    """Copy kept ways, each before those in it, into free rows and link them; the first of them.

    `own` is how many columns the rule has of `width`; `node` where the nodes of the list begin.
    """
    head = tail = NONE
    while row < end:
        at = row * width
        after = row + kept[at + T_NEXT]
        if kept[at + T_STATE] > EACH:
            new = way_of(kept, at, own, node, threads, cursor)
        else:
            new = new_thread(threads, cursor)
            for k in range(T_STATE, own):
                threads[new + k] = kept[at + k]
            threads[new + T_NODE] = ways_of(kept, width, row + 1, after, own, node, threads, cursor)
        if head < 0:
            head = new
        else:
            threads[tail + T_NEXT] = new
        tail = new
        row = after
    return int(head)


@inlined
def load(
    rule: int, own: int, kept: int, kept_lists: Kept, kept_runs: Kept, kept_threads: Kept, kept_nodes: Kept,
    firsts: Ints, width: int, list_of_key: Ints, lists: Ints, runs: Ints, threads: Ints, nodes: Ints, cursor:
    Ints,
) -> bool:  # fmt: skip
    """Bring a kept list back to life. Returns False where there is too little room for it.

    `firsts` has for each kept list where its runs, its ways and its nodes begin.
    """
    source = kept * KEPT_LIST
    count = kept_lists[source + KEPT_RUNS]
    need = max(count, kept_lists[source + KEPT_THREADS], kept_lists[source + KEPT_NODES])
    cursor[C_NEED] = cursor[C_NODES_NEED] = need
    if (
        cursor[C_THREADS] < need
        or cursor[C_RUNS] < need
        or cursor[C_LISTS] + LIST > len(lists)
        or cursor[C_NODES] + need * NODE > len(nodes)
    ):
        return False
    at = new_list(list_of_key, lists, kept_lists[source + KEPT_KEY], rule, cursor)
    lists[at + L_SEEN] = kept_lists[source + KEPT_SEEN]
    lists[at + L_THREADS] = kept_lists[source + KEPT_THREADS]
    base = cursor[C_NODES]
    first = firsts[3 * kept + 2]
    for k in range(kept_lists[source + KEPT_NODES]):
        node = base + k * NODE
        one = (first + k) * NODE
        previous = kept_nodes[one + N_PREVIOUS]
        nodes[node + N_PREVIOUS] = NONE if previous < 0 else base + previous * NODE
        nodes[node + N_EDGE] = kept_nodes[one + N_EDGE]
        event = kept_nodes[one + N_EVENT]
        nodes[node + N_EVENT] = placed(event, base) if kept_nodes[one + N_EDGE] == SPLICE else event
        nodes[node + N_SEQUENCE] = kept_nodes[one + N_SEQUENCE]
    cursor[C_NODES] = base + kept_lists[source + KEPT_NODES] * NODE
    row = firsts[3 * kept + 1]
    before = NONE
    for k in range(firsts[3 * kept], firsts[3 * kept] + count):
        one = k * KEPT_RUN
        run = new_run(
            lists, runs, at, before, kept_runs[one + KEPT_START], kept_runs[one + KEPT_TIME], cursor
        )
        runs[run + R_FORK] = kept_runs[one + KEPT_FORK]
        if kept_runs[one + KEPT_FORK] > cursor[C_FORKS]:
            cursor[C_FORKS] = kept_runs[one + KEPT_FORK]
        end = row + kept_runs[one + KEPT_WAYS]
        if end == row + 1 and kept_threads[row * width + T_STATE] > EACH:
            runs[run + R_THREAD] = way_of(kept_threads, row * width, own, base, threads, cursor)
        else:
            runs[run + R_THREAD] = ways_of(kept_threads, width, row, end, own, base, threads, cursor)
        assess(lists, runs, threads, at, run)
        before = run
        row = end
    return True


def number_at(data: KeptBytes, at: int) -> int:
    """A number of four bytes, the least significant first."""
    low = np.int64(data[at]) + np.int64(data[at + 1]) * 256
    return int(low + np.int64(data[at + 2]) * 65_536 + np.int64(data[at + 3]) * 16_777_216)


def count_hits(data: KeptBytes, ends: Ints, bits: bool, rows: Ints, base: int, counts: Ints) -> None:
    """Count the events of some rows that each atom is true of.

    A row has the bytes from `ends[row]` to `ends[row + 1]`: bits, the most significant first, or numbers of
    atoms (cep.routing.verdicts); `bits`: always bits. `counts[base + a + 1]` grows for atom a, so that their
    running sum is where each atom's events begin.
    """
    for row in rows:
        at = ends[row]
        end = ends[row + 1]
        if bits or (end - at) % 2 == 1:
            atom = base
            for k in range(at, end):
                byte = data[k]
                if byte != 0:
                    for n in range(8):
                        if byte & (128 >> n):
                            counts[atom + n + 1] += 1
                atom += 8
        else:
            for k in range(at, end, 4):
                counts[base + number_at(data, k) + 1] += 1


def list_hits(
    data: KeptBytes, ends: Ints, bits: bool, rows: Ints, base: int, events: Ints, heads: Ints, hits: Ints
) -> None:
    """List the events of which each atom is true, atom by atom; `heads` say where the next one is written.

    `events` are the numbers of the events in `rows`.
    """
    for number in range(len(rows)):
        row = rows[number]
        at = ends[row]
        end = ends[row + 1]
        if bits or (end - at) % 2 == 1:
            atom = base
            for k in range(at, end):
                byte = data[k]
                if byte != 0:
                    for n in range(8):
                        if byte & (128 >> n):
                            hits[heads[atom + n]] = events[number]
                            heads[atom + n] += 1
                atom += 8
        else:
            for k in range(at, end, 4):
                atom = base + number_at(data, k)
                hits[heads[atom]] = events[number]
                heads[atom] += 1


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


def mark_ways(threads: Ints, nodes: Ints, head: int, marks: Ints) -> None:
    """Mark the nodes that ways and those in them name."""
    row = head
    while row >= 0:
        if threads[row + T_STATE] <= EACH:
            mark_ways(threads, nodes, threads[row + T_NODE], marks)
        else:
            mark(nodes, threads[row + T_NODE], marks)
        row = threads[row + T_NEXT]


def mark_runs(runs: Ints, threads: Ints, nodes: Ints, run: int, marks: Ints) -> None:
    """Mark the nodes that a run and those after it name."""
    while run >= 0:
        mark_ways(threads, nodes, runs[run + R_THREAD], marks)
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
def keep_way(
    tables: Ints, threads: Ints, nodes: Ints, row: int, width: int, marks: Ints, kept: Ints, kept_nodes: Ints,
    cursor: Ints,
) -> None:  # fmt: skip
    """Write out a way that is no fork, with the nodes that it names."""
    at = cursor[C_KEPT_THREADS] * width
    cursor[C_KEPT_THREADS] += 1
    own = tables[H_THREAD]
    kept[at + T_NEXT] = 1
    for k in range(T_STATE, own):
        kept[at + k] = threads[row + k]
    for k in range(own, width):
        kept[at + k] = 0
    kept[at + T_NODE] = keep_chain(nodes, threads[row + T_NODE], marks, kept_nodes, cursor)


def keep_ways(
    tables: Ints, threads: Ints, nodes: Ints, head: int, width: int, marks: Ints, kept: Ints, kept_nodes:
    Ints, cursor: Ints,
) -> None:  # fmt: skip
    """Write out ways, each before those in it, with the nodes that they name."""
    row = head
    while row >= 0:
        if threads[row + T_STATE] > EACH:
            keep_way(tables, threads, nodes, row, width, marks, kept, kept_nodes, cursor)
        else:
            place = cursor[C_KEPT_THREADS]
            cursor[C_KEPT_THREADS] = place + 1
            at = place * width
            # A fork has no values of its own: they are null.
            for k in range(width):
                kept[at + k] = 0
            kept[at + T_STATE] = threads[row + T_STATE]
            for k in range(tables[H_NULLS], tables[H_VALUES]):
                kept[at + k] = -1
            keep_ways(tables, threads, nodes, threads[row + T_NODE], width, marks, kept, kept_nodes, cursor)
            kept[at + T_NEXT] = cursor[C_KEPT_THREADS] - place
        row = threads[row + T_NEXT]


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


def tell(nodes: Ints, matches: Ints, taken: Ints, cursor: Ints) -> bool:
    """Write out what the matches of a block took, first event first; False where there is too little room."""
    total = 0
    for match in range(cursor[C_TOLD], cursor[C_MATCHES], MATCH):
        chain = matches[match + M_NODE]
        while chain >= 0:
            total += TAKEN
            chain = without_last(nodes, chain)
    if cursor[C_TAKEN] + total > len(taken):
        cursor[C_FULL] = cursor[C_TAKEN] + total
        return False
    for match in range(cursor[C_TOLD], cursor[C_MATCHES], MATCH):
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
    cursor[C_TOLD] = cursor[C_MATCHES]
    return True


@inlined
def keep_list(
    rules: Ints, tables: Ints, lists: Ints, runs: Ints, threads: Ints, nodes: Ints, at: int, marks: Ints,
    kept_lists: Ints, kept_runs: Ints, kept_threads: Ints, kept_nodes: Ints, cursor: Ints,
) -> None:  # fmt: skip
    """Write out a list with all that belongs to it."""
    u = lists[at + L_RULE] * RULE
    own = tables[rules[u + U_TABLES] : rules[u + U_TABLES_END]]
    width = cursor[C_WIDTH]
    to = cursor[C_KEPT_LISTS] * KEPT_LIST
    before = cursor[C_KEPT_RUNS]
    threaded = cursor[C_KEPT_THREADS]
    cursor[C_LIST_NODES] = cursor[C_KEPT_NODES]
    mark_runs(runs, threads, nodes, lists[at + L_FIRST], marks)
    due = END_OF_TIME
    run = lists[at + L_FIRST]
    while run >= 0:
        ways = cursor[C_KEPT_THREADS]
        head = runs[run + R_THREAD]
        if threads[head + T_NEXT] < 0 and threads[head + T_STATE] > EACH:
            keep_way(own, threads, nodes, head, width, marks, kept_threads, kept_nodes, cursor)
        else:
            keep_ways(own, threads, nodes, head, width, marks, kept_threads, kept_nodes, cursor)
        one = cursor[C_KEPT_RUNS] * KEPT_RUN
        kept_runs[one + KEPT_START] = runs[run + R_START]
        kept_runs[one + KEPT_TIME] = runs[run + R_TIME]
        kept_runs[one + KEPT_FORK] = runs[run + R_FORK]
        kept_runs[one + KEPT_WAYS] = cursor[C_KEPT_THREADS] - ways
        if runs[run + R_DEADLINE] < due:
            due = runs[run + R_DEADLINE]
        cursor[C_KEPT_RUNS] += 1
        run = runs[run + R_NEXT]
    kept_lists[to + KEPT_KEY] = lists[at + L_KEY]
    kept_lists[to + KEPT_RULE] = rules[u + U_RULE]
    kept_lists[to + KEPT_SEEN] = lists[at + L_SEEN]
    kept_lists[to + KEPT_RUNS] = cursor[C_KEPT_RUNS] - before
    kept_lists[to + KEPT_THREADS] = cursor[C_KEPT_THREADS] - threaded
    kept_lists[to + KEPT_NODES] = cursor[C_KEPT_NODES] - cursor[C_LIST_NODES]
    kept_lists[to + KEPT_DUE] = due
    cursor[C_KEPT_LISTS] += 1


def keep(
    rules: Ints, tables: Ints, lists: Ints, runs: Ints, threads: Ints, nodes: Ints, marks: Ints, listed: Ints,
    first_key: int, end_key: int, kept_lists: Ints, kept_runs: Ints, kept_threads: Ints, kept_nodes: Ints,
    cursor: Ints,
) -> bool:  # fmt: skip
    """Write out the lists of a block that have runs, key by key; False where there is too little room."""
    width = cursor[C_WIDTH]
    if (
        cursor[C_KEPT_LISTS] + cursor[C_LISTS] // LIST > len(kept_lists) // KEPT_LIST
        or cursor[C_KEPT_RUNS] + len(runs) // RUN - cursor[C_RUNS] > len(kept_runs) // KEPT_RUN
        or cursor[C_KEPT_THREADS] + len(threads) // width - cursor[C_THREADS] > len(kept_threads) // width
        or cursor[C_KEPT_NODES] + cursor[C_NODES] // NODE > len(kept_nodes) // NODE
    ):
        cursor[C_FULL] = 1
        return False
    unmark(cursor[C_NODES] // NODE, marks)
    for key in range(first_key, end_key):
        at = listed[2 * key]
        listed[2 * key] = listed[2 * key + 1] = NONE
        while at >= 0:
            keep_list(
                rules, tables, lists, runs, threads, nodes, at, marks, kept_lists, kept_runs, kept_threads,
                kept_nodes, cursor,
            )  # fmt: skip
            at = lists[at + L_NEXT]
    return True


def vacate(lists: Ints, runs: Ints, threads: Ints, index: Ints, cursor: Ints) -> None:
    """Empty the pools, so that what comes next lies where this was."""
    for at in range(0, cursor[C_LISTS], LIST):
        if lists[at + L_SLEEPS] == 1:
            run = lists[at + L_FIRST]
            while run >= 0:
                wake_up(runs, index, run, cursor)
                run = runs[run + R_NEXT]
    cursor[C_LISTS] = cursor[C_NODES] = cursor[C_FRESH_RUN] = 0
    cursor[C_RUN] = cursor[C_THREAD] = NONE
    cursor[C_RUNS] = len(runs) // RUN
    # The first thread is the blank one from which runs begin.
    cursor[C_FRESH_THREAD] = cursor[C_BLANK] + cursor[C_WIDTH]
    cursor[C_THREADS] = len(threads) // cursor[C_WIDTH] - 1


def run_rules(
    rules: Ints, tables: Ints, constants: Ints, pairs: Ints, ends: Ints, hits: Ints, keys: Ints, times:
    Ints, places: Bytes, columns: Ints, nulls: Bytes, ranks: Ints, blocks: Ints, order: Ints, firsts: Ints,
    kept_lists: Kept, kept_runs: Kept, kept_threads: Kept, kept_nodes: Kept, list_of_key: Ints, listed: Ints,
    wake: Ints, heads: Ints, slots: Ints, unknown: Ints, seen: Ints, lists: Ints, runs: Ints, threads: Ints,
    nodes: Ints, marks: Ints, matches: Ints, index: Ints, left_lists: Ints, left_runs: Ints, left_threads:
    Ints, left_nodes: Ints, taken: Ints, cursor: Ints, trace: Ints,
) -> int:  # fmt: skip
    """Run rules over a shard's events, block by block and in each one after the other; see `run`.

    What they share lies in a few arrays, of which a rule sees its part. `order` numbers the kept lists by
    rule, those of a rule by key. `list_of_key` and `listed` (two numbers a key) are NONE; `places` is all 0
    and has room for the places of any rule, `wake` for the events of any block; `slots` for the longest
    program and two more, `seen` for MOST_SEEN ways, all 0. Behind each block what lives on is added to
    `left_lists` and what follows, and what its matches took to `taken`. Returns DONE, or MORE_ROOM: then the
    caller lets the pools grow and calls again.
    """
    size = len(keys)
    while cursor[C_BLOCK] * BLOCK < len(blocks):
        block = cursor[C_BLOCK] * BLOCK
        begin = blocks[block - BLOCK + B_EVENT] if block > 0 else 0
        end = blocks[block + B_EVENT]
        end_key = blocks[block + B_KEY]
        while cursor[C_RULE] * RULE < len(rules):
            u = cursor[C_RULE] * RULE
            own = tables[rules[u + U_TABLES] : rules[u + U_TABLES_END]]
            first = rules[u + U_PAIRS]
            last = rules[u + U_PAIRS_END]
            if cursor[C_STAGE] == WAKING:
                awake = awaken(pairs, first, last, ends, hits, begin, end, size, places, heads, wake)
                kept = rules[u + U_KEPT]
                if awake == 0 and (
                    kept == rules[u + U_KEPT_END] or kept_lists[order[kept] * KEPT_LIST + KEPT_KEY] >= end_key
                ):
                    rules[u + U_TRACES] = cursor[C_TRACES]
                    cursor[C_RULE] += 1
                    continue
                cursor[C_AWAKE] = awake
                cursor[C_OWN_LISTS] = cursor[C_SETTLED] = cursor[C_LISTS]
                cursor[C_POSITION] = cursor[C_FORKS] = cursor[C_DROPPED] = cursor[C_OVERFLOWS] = 0
                cursor[C_GIVEN_UP] = 0
                cursor[C_SINCE] = rules[u + U_SINCE]
                blank = cursor[C_BLANK]
                for k in range(own[H_THREAD]):
                    threads[blank + k] = 0
                threads[blank + T_NEXT] = threads[blank + T_NODE] = NONE
                for k in range(own[H_VALUES] - own[H_NULLS]):
                    threads[blank + own[H_NULLS] + k] = own[own[H_INITIAL] + k]
                cursor[C_STAGE] = RUNNING
            while rules[u + U_KEPT] < rules[u + U_KEPT_END]:
                kept = order[rules[u + U_KEPT]]
                if kept_lists[kept * KEPT_LIST + KEPT_KEY] >= end_key:
                    break
                if not load(
                    cursor[C_RULE], own[H_THREAD], kept, kept_lists, kept_runs, kept_threads, kept_nodes,
                    firsts, cursor[C_WIDTH], list_of_key, lists, runs, threads, nodes, cursor,
                ):  # fmt: skip
                    return MORE_ROOM
                rules[u + U_KEPT] += 1
            outcome = run(
                own, constants[rules[u + U_CONSTANTS] : rules[u + U_CONSTANTS_END]], wake[: cursor[C_AWAKE]],
                keys, times, places, columns[rules[u + U_COLUMNS] * size :],
                nulls[rules[u + U_COLUMNS] * size :], ranks, list_of_key, lists, runs, threads, nodes,
                matches, index, slots, unknown, seen, cursor, trace,
            )  # fmt: skip
            if outcome != DONE:
                return outcome
            list_by_key(list_of_key, listed, lists, cursor)
            forget_places(pairs, first, last, ends, hits, begin, size, places, heads)
            rules[u + U_TRACES] = cursor[C_TRACES]
            rules[u + U_DROPPED] += cursor[C_DROPPED]
            rules[u + U_OVERFLOWS] += cursor[C_OVERFLOWS]
            rules[u + U_GIVEN_UP] += cursor[C_GIVEN_UP]
            cursor[C_STAGE] = WAKING
            cursor[C_RULE] += 1
        if not (
            tell(nodes, matches, taken, cursor)
            and keep(
                rules, tables, lists, runs, threads, nodes, marks, listed,
                blocks[block - BLOCK + B_KEY] if block > 0 else 0, end_key, left_lists, left_runs,
                left_threads, left_nodes, cursor,
            )
        ):  # fmt: skip
            return MORE_ROOM
        vacate(lists, runs, threads, index, cursor)
        cursor[C_RULE] = 0
        cursor[C_BLOCK] += 1
    return DONE


def moved_chain(chain: int, marks: Ints) -> int:
    """A chain by where its nodes are now."""
    if chain < 0:
        return NONE
    splice = chain >> HALF
    found = marks[(chain & LOWER) // NODE * MARK + G_PLACE]
    return int(found if splice == 0 else found + ((marks[(splice - 1) // NODE * MARK + G_PLACE] + 1) << HALF))


def move_ways(threads: Ints, head: int, marks: Ints) -> None:
    """Let ways and those in them name their nodes where these are now."""
    row = head
    while row >= 0:
        if threads[row + T_STATE] <= EACH:
            move_ways(threads, threads[row + T_NODE], marks)
        else:
            threads[row + T_NODE] = moved_chain(threads[row + T_NODE], marks)
        row = threads[row + T_NEXT]


def drop_nodes(
    lists: Ints, runs: Ints, threads: Ints, nodes: Ints, matches: Ints, marks: Ints, cursor: Ints
) -> None:
    """Leave out the nodes that no way and no match names."""
    unmark(cursor[C_NODES] // NODE, marks)
    for at in range(0, cursor[C_LISTS], LIST):
        mark_runs(runs, threads, nodes, lists[at + L_FIRST], marks)
    for match in range(cursor[C_TOLD], cursor[C_MATCHES], MATCH):
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
            move_ways(threads, runs[run + R_THREAD], marks)
            run = runs[run + R_NEXT]
    for match in range(cursor[C_TOLD], cursor[C_MATCHES], MATCH):
        matches[match + M_NODE] = moved_chain(matches[match + M_NODE], marks)


def replay(
    tables: Ints, kept_lists: Ints, kept_threads: Ints, kept_nodes: Ints, updates: Ints, columns: Ints, nulls:
    Bytes, ranks: Ints, slots: Ints, cursor: Ints, path: Ints,
) -> None:  # fmt: skip
    """Work out the registers of a rule's kept ways anew from the events that they took.

    `updates` gives each edge's updates (place, number); `path` is room for the longest chain of nodes. The
    last two slots are scratch.
    """
    floats = slots.view(np.float64)
    width = cursor[C_WIDTH]
    row = base = 0
    for at in range(0, len(kept_lists), KEPT_LIST):
        end = row + kept_lists[at + KEPT_THREADS] * width
        while row < end:
            for k in range(tables[H_NULLS], width):
                kept_threads[row + k] = 0
            for k in range(tables[H_VALUES] - tables[H_NULLS]):
                kept_threads[row + tables[H_NULLS] + k] = tables[tables[H_INITIAL] + k]
            length = 0
            chain = kept_threads[row + T_NODE] if kept_threads[row + T_STATE] > EACH else NONE
            while chain >= 0:
                path[length] = base + (chain & LOWER) * NODE
                splice = base + ((chain >> HALF) - 1) * NODE
                previous = kept_nodes[path[length] + N_PREVIOUS]
                if splice >= base and (
                    kept_nodes[path[length] + N_SEQUENCE] == kept_nodes[splice + N_SEQUENCE]
                ):
                    chain = kept_nodes[splice + N_EVENT]
                else:
                    chain = NONE if previous < 0 else previous + (chain >> HALF << HALF)
                length += 1
            for k in range(length - 1, -1, -1):
                edge = kept_nodes[path[k] + N_EDGE]
                take(
                    tables, updates[2 * edge], updates[2 * edge + 1], kept_nodes[path[k] + N_EVENT], row,
                    columns, nulls, ranks, kept_threads, slots, floats, cursor,
                )  # fmt: skip
            row += width
        base += kept_lists[at + KEPT_NODES] * NODE
