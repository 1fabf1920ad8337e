"""Conditions of many strict sequences at once: by what an event is alone, and over earlier events."""

from __future__ import annotations

import math

import numpy as np

from cep.operators.patterns.kernel.atom_events import number_at
from cep.operators.patterns.kernel.bytecode import (
    ADD_F,
    AT_MOST_I,
    EQUAL_F,
    EQUAL_I,
    LESS_F,
    LESS_I,
    NULL,
    SUBTRACT_F,
    UNEQUAL_F,
    UNEQUAL_I,
    holds,
    take,
)
from cep.operators.patterns.kernel.layout import (
    BITS,
    C_EFFORT,
    C_EVENTS,
    C_KEY,
    C_OVERFLOWS,
    Ints,
    ReadOnlyBytes,
    Rule,
)
from cep.operators.patterns.kernel.strict_layout import (
    COMPARISON,
    D_COUNT,
    D_FIRST,
    FEW,
    G_COMPARISON,
    G_LENGTH,
    HALF,
    LADDER,
    NOW,
    RUNG,
    STRICT_RULE,
    V_BACK,
    V_COLUMN,
    V_CONSTANT,
    V_OPERATION,
    VALUE,
    WINDOW_HEAD,
    Z_WITHIN,
    StrictEvents,
    StrictRoom,
    StrictRules,
)
from cep.operators.patterns.kernel.tables import H_ALT, H_INITIAL, H_NULLS, H_VALUES
from cep.operators.patterns.kernel.timers import later
from kernels.family import inlined


def fit_events(
    data: ReadOnlyBytes, ends: Ints, bits: bool, rows: Ints, events: Ints, firsts: Ints, masks: Ints,
    halves: Ints, fits: Ints, width: int,
) -> None:  # fmt: skip
    """Add to the sets of rules that events fit what the atoms say that are true of them (`list_hits`).

    An atom adds `masks[2 k + 1]` to the number at `masks[2 k]` of an event's, for k from `firsts[atom]` on.
    Four atoms that lie in half a byte add together what `halves` has for these bits: `width` numbers. Which
    bits are set is as chance has it, so that a branch for each would cost more than all of them.
    """
    begin = ends[0]
    size = ends[1] - begin if bits and len(rows) > 0 else 0
    for number in range(len(rows)):
        row = rows[number]
        # Bits are as many of each event: where they lie need not be looked up in an order that is none.
        at = begin + size * row if bits else ends[row]
        end = at + size if bits else ends[row + 1]
        to = events[number] * width
        if bits or (end - at) % 2 == 1:
            first = 0
            for k in range(at, end):
                byte = np.int64(data[k])
                if byte != 0:
                    high = first + (byte >> 4) * width
                    low = first + (HALF + (byte & (HALF - 1))) * width
                    for m in range(width):
                        fits[to + m] |= halves[high + m] | halves[low + m]
                first += 2 * HALF * width
        else:
            for k in range(at, end, 4):
                atom = number_at(data, k)
                for m in range(firsts[atom], firsts[atom + 1]):
                    fits[to + masks[2 * m]] |= masks[2 * m + 1]


@inlined
def place_of(bit: int) -> int:
    """The place of the one bit that is set."""
    place = 0
    if bit & 0xFFFFFFFF == 0:
        place += 32
        bit >>= 32
    if bit & 0xFFFF == 0:
        place += 16
        bit >>= 16
    if bit & 0xFF == 0:
        place += 8
        bit >>= 8
    if bit & 0xF == 0:
        place += 4
        bit >>= 4
    if bit & 0x3 == 0:
        place += 2
        bit >>= 2
    return place + 1 - (bit & 1)


@inlined
def blank(tables: Ints, row: Ints) -> None:
    """Let a row be an alternative that has taken nothing."""
    for k in range(tables[H_ALT]):
        row[k] = 0
    for k in range(tables[H_VALUES] - tables[H_NULLS]):
        row[tables[H_NULLS] + k] = tables[tables[H_INITIAL] + k]


@inlined
def evaluate_registers(group: StrictRules, rule: Rule, room: StrictRoom, state: int) -> None:
    """Let the row be the alternative of a run that took the last events, so many as `state` says."""
    blank(rule.tables, room.row)
    for k in range(state):
        at = group.updates[2 * k]
        take(rule, at, group.updates[2 * k + 1], room.window[state - 1 - k], 0, room.row, room.cursor)


@inlined
def begin_of_key(group: StrictRules, room: StrictRoom) -> int:
    """Where the row of the key at hand begins."""
    depth = len(room.window) - 1
    return int(room.cursor[C_KEY] * (depth * (WINDOW_HEAD + len(group.columns)) + len(room.then)))


@inlined
def is_unknown(came: StrictEvents, room: StrictRoom, comparisons: Ints, at: int, i: int) -> bool:
    """True if a value of a comparison is null."""
    back = comparisons[at + V_BACK]
    event = i if back == NOW else room.window[back]
    return bool(came.nulls[comparisons[at + V_COLUMN] * room.cursor[C_EVENTS] + event])


@inlined
def place_of_value(group: StrictRules, room: StrictRoom, comparisons: Ints, at: int) -> int:
    """Where a value of a comparison lies in the row of its key; NOW: it is of the event itself."""
    back = comparisons[at + V_BACK]
    if back == NOW:
        return NOW
    entry = begin_of_key(group, room) + back * (WINDOW_HEAD + len(group.columns))
    return int(entry + WINDOW_HEAD + group.kept_of[comparisons[at + V_COLUMN]])


@inlined
def whole_at(
    group: StrictRules, came: StrictEvents, room: StrictRoom, comparisons: Ints, at: int, i: int
) -> int:
    """A value of a comparison."""
    place = place_of_value(group, room, comparisons, at)
    if place == NOW:
        return int(came.columns[comparisons[at + V_COLUMN] * room.cursor[C_EVENTS] + i])
    return int(room.states[place])


@inlined
def double_at(
    group: StrictRules, came: StrictEvents, room: StrictRoom, comparisons: Ints, at: int, i: int
) -> float:
    """A value of a comparison, put together with its constant."""
    place = place_of_value(group, room, comparisons, at)
    if place == NOW:
        value = float(came.doubles[comparisons[at + V_COLUMN] * room.cursor[C_EVENTS] + i])
    else:
        value = float(room.doubles[place])
    operation = comparisons[at + V_OPERATION]
    if operation != NULL:
        constant = float(came.double_constants[comparisons[at + V_CONSTANT]])
        if operation == ADD_F:
            value += constant
        elif operation == SUBTRACT_F:
            value -= constant
        else:
            value *= constant
    return value


@inlined
def compare(
    group: StrictRules, came: StrictEvents, room: StrictRoom, comparisons: Ints, at: int, i: int
) -> int:
    """1 if a comparison is true for the event i, 0 if it is false or unknown, -1 if the program has to say:
    the condition is no comparison, or something overflows."""
    operation = comparisons[at]
    if operation == NULL:
        return -1
    left, right = at + 1, at + 1 + VALUE
    unknown = is_unknown(came, room, comparisons, left, i) or is_unknown(came, room, comparisons, right, i)
    if operation <= AT_MOST_I:
        x = whole_at(group, came, room, comparisons, left, i)
        y = whole_at(group, came, room, comparisons, right, i)
        equal, less = x == y, x < y
    else:
        # What is null is 0 here.
        p = double_at(group, came, room, comparisons, left, i)
        q = double_at(group, came, room, comparisons, right, i)
        if not (math.isfinite(p) and math.isfinite(q)):
            return -1
        equal, less = p == q, p < q
    if operation in (EQUAL_I, EQUAL_F):
        true = equal
    elif operation in (UNEQUAL_I, UNEQUAL_F):
        true = not equal
    elif operation in (LESS_I, LESS_F):
        true = less
    else:
        true = less or equal
    return 1 if true and not unknown else 0


def run_program(
    group: StrictRules, rule: Rule, room: StrictRoom, at: int, length: int, state: int, i: int
) -> bool:
    """Evaluate a condition over the registers of the runs that have taken so many events."""
    if room.filled[0] == 0:
        evaluate_registers(group, rule, room, state)
        room.filled[0] = 1
    return holds(rule, at, length, i, 0, room.row, room.cursor)


@inlined
def ask_each(
    group: StrictRules, rule: Rule, came: StrictEvents, room: StrictRoom, word: int, bits: int, state: int,
    i: int,
) -> int:  # fmt: skip
    """Evaluate the condition of each rule of a part of a set; those of which it is true."""
    cursor = room.cursor
    passed = 0
    while bits != 0:
        bit = bits & -bits
        bits ^= bit
        number = word * BITS + place_of(bit)
        of_step = number * len(room.window) + state
        cursor[C_EFFORT] -= 1
        true = compare(group, came, room, group.comparisons, of_step * COMPARISON, i)
        if true < 0:
            before = cursor[C_OVERFLOWS]
            at, length = group.programs[2 * of_step], group.programs[2 * of_step + 1]
            true = 1 if run_program(group, rule, room, at, length, state, i) else 0
            room.overflows[number] += cursor[C_OVERFLOWS] - before
        if true == 1:
            passed |= bit
    return int(passed)


@inlined
def fewer_than(ladder: Ints, first: int, words: int, asked: Ints, most: int) -> bool:
    """True if fewer rules of a ladder are asked; its last set is at `first`."""
    count = 0
    for word in range(words):
        bits = asked[word] & ladder[first + word]
        while bits != 0 and count < most:
            bits &= bits - 1
            count += 1
    return count < most


@inlined
def climb(
    group: StrictRules, rule: Rule, came: StrictEvents, room: StrictRoom, ladder: int, words: int,
    state: int, i: int,
) -> None:  # fmt: skip
    """Add the rules of a ladder whose conditions are true: asked are both ends, then what halves the rest.

    Where neither end overflows nothing between them does; what is true is so up to a rung, or from one on.
    """
    cursor, rungs, asked, passed = room.cursor, group.rungs, room.asked, room.passed
    size = RUNG + words
    first = group.ladders[ladder + D_FIRST]
    last = first + (group.ladders[ladder + D_COUNT] - 1) * size
    if not fewer_than(rungs, last + RUNG, words, asked, FEW):
        before = cursor[C_OVERFLOWS]
        low = at = 0
        high = group.ladders[ladder + D_COUNT] - 1
        least = most = over = False
        for tried in range(BITS):
            cursor[C_EFFORT] -= 1
            program = first + at * size
            # The only place that evaluates a rung: code that is inlined twice is compiled twice.
            said = compare(group, came, room, group.comparisons, rungs[program + G_COMPARISON], i)
            true = said == 1
            if said < 0:
                length = rungs[program + G_LENGTH]
                true = run_program(group, rule, room, rungs[program], length, state, i)
            if tried == 0:
                least = most = true
            elif tried == 1:
                most = true
            elif true == least:
                low = at
            else:
                high = at
            over = cursor[C_OVERFLOWS] != before
            if over or ((tried > 0 or high == 0) and (least == most or high - low <= 1)):
                break
            at = high if tried == 0 else (low + high) // 2
        if not over:
            at = first + low * size + RUNG
            for word in range(words):
                every = rungs[last + RUNG + word]
                if least == most:
                    passed[word] |= (asked[word] & every) if least else 0
                else:
                    here = rungs[at + word]
                    passed[word] |= asked[word] & (here if least else every & ~here)
            return
    for word in range(words):
        bits = asked[word] & rungs[last + RUNG + word]
        if bits != 0:
            passed[word] |= ask_each(group, rule, came, room, word, bits, state, i)


@inlined
def without_ended(group: StrictRules, room: StrictRoom, words: int, start: int, t: int) -> None:
    """Leave out the rules whose `within` is over for a run that began at `start`."""
    for word in range(words):
        bits = room.asked[word]
        while bits != 0:
            bit = bits & -bits
            bits ^= bit
            within = group.rules[(word * BITS + place_of(bit)) * STRICT_RULE + Z_WITHIN]
            if within >= 0 and later(start, within) <= t:
                room.asked[word] ^= bit


@inlined
def show_state(
    group: StrictRules, rule: Rule, came: StrictEvents, room: StrictRoom, words: int, state: int, i: int
) -> None:
    """Show an event to the runs that have taken so many: what passes goes to `passed`."""
    step = state * words
    asked = False
    for word in range(words):
        room.passed[word] = room.asked[word] & group.free[step + word]
        asked = asked or room.asked[word] != room.passed[word]
    if not asked:
        return
    room.filled[0] = 0
    for ladder in range(group.ladders_of[state], group.ladders_of[state + 1], LADDER):
        climb(group, rule, came, room, ladder, words, state, i)
    for word in range(words):
        bits = room.asked[word] & group.alone[step + word]
        if bits != 0:
            room.passed[word] |= ask_each(group, rule, came, room, word, bits, state, i)
