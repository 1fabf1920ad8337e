"""Guards: what `not` and `until` forbid, and `absent` before the first event."""

from __future__ import annotations

from cep.operators.patterns.kernel.bytecode import true_of
from cep.operators.patterns.kernel.layout import (
    BY_EVENT,
    C_EVENTS,
    C_MODE,
    C_SEEN,
    C_SINCE,
    NONE,
    T_NODE,
    T_SEQUENCE,
    Alternatives,
    Bytes,
    Ints,
    Rule,
)
from cep.operators.patterns.kernel.tables import (
    B_COLUMN,
    B_DURATION,
    BEGINS,
    F_LOOK,
    F_LOOKS,
    F_UNTIL,
    F_UNTILS,
    H_COUNTERS,
    H_TAKEN,
    LOOK,
    NEVER,
    W_AFTER,
    W_DURATION,
    W_GUARD,
    W_LENGTH,
    W_NEXT_ONLY,
    W_PLACE,
    W_PROGRAM,
    W_SINCE,
    WATCH,
)
from cep.operators.patterns.kernel.timers import end_of
from cep.operators.patterns.kernel.trace import TRIED, WHY_GUARD, note
from kernels.family import inlined


def is_on(tables: Ints, rows: Ints, row: int, watch: int) -> bool:
    """True if the loop that a guard belongs to has taken an event, or there is no such loop."""
    counters = row + tables[H_COUNTERS]
    after = tables[watch + W_AFTER]
    if after == BEGINS:
        return False
    if after < 0:
        return True
    return bool(rows[counters + tables[H_TAKEN]] > rows[counters + after])


def guarded(rule: Rule, alternatives: Alternatives, row: int, at: int, count: int, i: int, t: int) -> int:
    """The first guard of a list that is watched now and that event i satisfies, or none."""
    tables, places = rule.tables, rule.places
    rows, cursor, trace = alternatives.rows, alternatives.cursor, alternatives.trace
    n = cursor[C_EVENTS]
    for k in range(at, at + count * WATCH, WATCH):
        if tables[k + W_NEXT_ONLY] == 1 and rows[row + T_SEQUENCE] != cursor[C_SEEN]:
            continue
        since = tables[k + W_SINCE]
        if since != NEVER and t >= end_of(tables, rows, row, since, tables[k + W_DURATION], cursor):
            continue
        if not is_on(tables, rows, row, k):
            continue
        fits = places[tables[k + W_PLACE] * n + i] == 1
        if fits and true_of(rule, tables[k + W_PROGRAM], tables[k + W_LENGTH], i, row, rows, cursor):
            return int(k)
        note(trace, cursor, TRIED, i, t, rows[row + T_NODE], tables[k + W_GUARD], WHY_GUARD)
    return NONE


def is_refused(rule: Rule, alternatives: Alternatives, row: int, transition: int, i: int) -> bool:
    """True if event i satisfies an `until` that ends nothing yet: it does not begin the loop either."""
    tables, places = rule.tables, rule.places
    rows, cursor = alternatives.rows, alternatives.cursor
    at = tables[transition + F_UNTIL]
    for k in range(at, at + tables[transition + F_UNTILS] * WATCH, WATCH):
        if cursor[C_MODE] == BY_EVENT and is_on(tables, rows, row, k):
            continue
        fits = places[tables[k + W_PLACE] * cursor[C_EVENTS] + i] == 1
        if fits and true_of(rule, tables[k + W_PROGRAM], tables[k + W_LENGTH], i, row, rows, cursor):
            return True
    return False


@inlined
def was_absent(
    tables: Ints, transition: int, i: int, t: int, columns: Ints, nulls: Bytes, cursor: Ints
) -> bool:
    """True if no event of a `absent` that comes first was there in [t - d, t), and the rule was watching."""
    n = cursor[C_EVENTS]
    at = tables[transition + F_LOOK]
    for k in range(at, at + tables[transition + F_LOOKS] * LOOK, LOOK):
        start = t - tables[k + B_DURATION]
        if start > t or cursor[C_SINCE] > start:
            return False
        place = tables[k + B_COLUMN] * n + i
        if nulls[place] == 0 and columns[place] >= start:
            return False
    return True
