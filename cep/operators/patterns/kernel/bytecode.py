"""Conditions over registers and columns, and updates of registers by an event."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from cep.operators.patterns.kernel.layout import (
    BITS,
    C_EVENTS,
    C_HOOK,
    C_OVERFLOWS,
    GREATEST,
    LEAST,
    Floats,
    Ints,
    Rule,
)
from cep.operators.patterns.kernel.tables import H_NULLS, H_VALUES
from kernels.family import compiled_as, inlined

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
FIRSTS = 1 << 20
EARTH_RADIUS_KM = 6371.0088

EVALUATORS: dict[int, Callable[[int, int, int], int]] = {}
"""Evaluators of conditions that no program expresses, by C_HOOK: (condition, event, alternative) to 1, 0, or
-1 for unknown. Rules with such conditions run interpreted; an evaluator is here while its rule runs."""


def nobody(_hook: int, _condition: int, _event: int, _alt: int) -> int:
    """Rules with conditions that are evaluated outside never run compiled."""
    return -1


@compiled_as(nobody)
def outside(hook: int, condition: int, event: int, alt: int) -> int:
    """Evaluate a condition outside of the kernel. The compiled form cannot."""
    return EVALUATORS[hook](condition, event, alt)


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
    """True if the product of two longs is none."""
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
def is_null(rows: Ints, nulls: int, register: int) -> int:
    """True if a register of an alternative is null; `at` is where its null words begin."""
    return int((rows[nulls + register // BITS] >> (register % BITS)) & 1)


@inlined
def set_null(rows: Ints, nulls: int, register: int, null: int) -> None:
    """Mark a register as null or known."""
    word = nulls + register // BITS
    bit = np.int64(1) << np.int64(register % BITS)
    if null:
        rows[word] |= bit
    else:
        rows[word] &= ~bit


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
def holds(rule: Rule, at: int, length: int, i: int, row: int, rows: Ints, cursor: Ints) -> bool:
    """True if a program is true for the event i and the registers of an alternative; no program is true."""
    tables, constants, columns, nulls, ranks, slots, floats, unknown = (
        rule.tables,
        rule.constants,
        rule.columns,
        rule.nulls,
        rule.ranks,
        rule.slots,
        rule.floats,
        rule.unknown,
    )
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
            slots[dst] = rows[registers + a]
            unknown[dst] = is_null(rows, unknowns, a)
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
                NOT,
                TO_FLOAT,
                TO_WHOLE,
                NEGATE_I,
                ABS_I,
                NEGATE_F,
                ABS_F,
                ROUND,
            )
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


def true_of(rule: Rule, at: int, length: int, i: int, row: int, rows: Ints, cursor: Ints) -> bool:
    """`holds`, not inlined: for conditions that are evaluated rarely."""
    return length == 0 or holds(rule, at, length, i, row, rows, cursor)


@inlined
def take(rule: Rule, at: int, length: int, i: int, row: int, rows: Ints, cursor: Ints) -> None:
    """Update an alternative's registers by the event i. The last two slots are scratch."""
    tables, columns, nulls, ranks, slots, floats = (
        rule.tables,
        rule.columns,
        rule.nulls,
        rule.ranks,
        rule.slots,
        rule.floats,
    )
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
            rows[registers + register] += 1
            continue
        if operation == RESET:
            set_null(rows, unknowns, register, 1)
            continue
        if operation == SHIFT:
            rows[registers + register] = rows[registers + other]
            set_null(rows, unknowns, register, is_null(rows, unknowns, other))
            continue
        value = columns[column * n + i]
        null = nulls[column * n + i]
        if operation == NTH:
            if rows[registers + other // FIRSTS] == other % FIRSTS:
                rows[registers + register] = value
                set_null(rows, unknowns, register, null)
            continue
        if operation == SET:
            rows[registers + register] = value
            set_null(rows, unknowns, register, null)
            continue
        if null:
            continue
        if operation == KNOWN:
            rows[registers + register] += 1
            continue
        old = rows[registers + register]
        if is_null(rows, unknowns, register):
            # A sum that overflowed is null for good: its bits distinguish it from an empty one.
            if old == 0 or (operation != SUM_I and operation != SUM_F):
                rows[registers + register] = value
                set_null(rows, unknowns, register, 0)
            continue
        if operation == SUM_I:
            x = int(old)
            y = int(value)
            if (y > 0 and x > GREATEST - y) or (y < 0 and x < LEAST - y):
                set_null(rows, unknowns, register, 1)
                rows[registers + register] = 1
                cursor[C_OVERFLOWS] += 1
            else:
                rows[registers + register] = x + y
        elif operation == LEAST_I:
            if value < old:
                rows[registers + register] = value
        elif operation == GREATEST_I:
            if value > old:
                rows[registers + register] = value
        elif operation == LEAST_T:
            if ranks[value] < ranks[old]:
                rows[registers + register] = value
        elif operation == GREATEST_T:
            if ranks[value] > ranks[old]:
                rows[registers + register] = value
        else:
            slots[one] = old
            slots[two] = value
            p = float(floats[one])
            q = float(floats[two])
            if operation == SUM_F:
                total = p + q
                if math.isfinite(total):
                    floats[one] = total
                    rows[registers + register] = slots[one]
                else:
                    set_null(rows, unknowns, register, 1)
                    rows[registers + register] = 1
                    cursor[C_OVERFLOWS] += 1
            elif (operation == LEAST_F and q < p) or (operation == GREATEST_F and q > p):
                rows[registers + register] = value
