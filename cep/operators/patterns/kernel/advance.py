"""Transitions fire: the alternatives of a run after an event, or after some time."""

from __future__ import annotations

from cep.operators.patterns.kernel.alternatives import (
    alive,
    any_alive,
    completed,
    copied,
    each_of,
    forked,
    free_list,
    free_row,
    joined,
    kill,
    waits,
)
from cep.operators.patterns.kernel.arrive import arrived, children_alive, restricted, spread
from cep.operators.patterns.kernel.bytecode import holds, take, true_of
from cep.operators.patterns.kernel.chains import taken_node
from cep.operators.patterns.kernel.guards import guarded, is_refused, was_absent
from cep.operators.patterns.kernel.layout import (
    AT_BEGIN,
    AT_END,
    BY_EVENT,
    BY_TIME,
    C_EFFORT,
    C_EVENTS,
    C_MODE,
    C_SEEN,
    C_SEQUENCE,
    C_TRACES,
    EACH,
    END_OF_TIME,
    MATCHED,
    NONE,
    T_DEADLINE,
    T_LAST,
    T_MASK,
    T_NEXT,
    T_NODE,
    T_SEQUENCE,
    T_STATE,
    T_TIME,
    Alternatives,
    Rule,
)
from cep.operators.patterns.kernel.tables import (
    A_TRANSITION,
    ACTION,
    AN_EACH,
    ANY,
    AS_MANY,
    ENDING,
    F_ACTION,
    F_ACTIONS,
    F_EDGE,
    F_KIND,
    F_LENGTH,
    F_PLACE,
    F_PROGRAM,
    F_SIGN,
    F_STEP,
    F_TARGET,
    F_UNTIL,
    F_UNTILS,
    F_UPDATE,
    F_UPDATES,
    F_WATCH,
    F_WATCHES,
    H_BACKBONES,
    H_COUNTERS,
    H_HAVING,
    H_HAVING_LENGTH,
    H_MASKS,
    H_STATES,
    H_TAKEN,
    K_BEFORE,
    K_END,
    K_KIND,
    K_TRANSITION,
    NEVER,
    ONE_MORE,
    OPTION,
    S_FORKS,
    S_TOKEN,
    S_TOKENS,
    S_TRANSITION,
    S_TRANSITIONS,
    STATE,
    STRICT,
    THE_END,
    TIMER,
    TOKEN,
    TRANSITION,
    W_GUARD,
    W_SINCE,
    WATCH,
    ZERO,
)
from cep.operators.patterns.kernel.timers import deadline, set_due
from cep.operators.patterns.kernel.trace import (
    BEGAN,
    BROKEN,
    PASSED,
    PREVENTED,
    REFUSED,
    STOPPED,
    TOOK,
    TRIED,
    WHY_ALONE,
    WHY_EARLIER,
    WHY_LOOK,
    WHY_UNTIL,
    note,
    unsay_guards,
)
from kernels.family import inlined

DIES, STAYS, FITS = range(3)
NOTHING, FITTED, SOME_DIED = range(3)


@inlined
def effect(rule: Rule, alternatives: Alternatives, row: int, transition: int, i: int, t: int) -> int:
    """Effect of event i, or of time alone, on a transition of an alternative: DIES, STAYS, FITS."""
    tables, places, columns, nulls = rule.tables, rule.places, rule.columns, rule.nulls
    rows, cursor, trace = alternatives.rows, alternatives.cursor, alternatives.trace
    cursor[C_EFFORT] -= 1
    kind = tables[transition + F_KIND]
    mode = cursor[C_MODE]
    if mode == BY_TIME:
        if deadline(tables, rows, row, transition, cursor) > t:
            return STAYS
        return DIES if kind == OPTION else FITS
    if mode == AT_END:
        return FITS if kind == ENDING else STAYS if kind == THE_END else DIES
    if kind == THE_END:
        return STAYS
    node = rows[row + T_NODE]
    if mode == BY_EVENT and kind != ENDING and tables[transition + F_UNTILS] > 0:
        found = guarded(
            rule, alternatives, row, tables[transition + F_UNTIL], tables[transition + F_UNTILS], i, t
        )
        if found >= 0:
            note(trace, cursor, STOPPED, i, t, node, tables[found + W_GUARD], NONE)
            return DIES
    if kind == OPTION:
        why = NONE
        if places[tables[transition + F_PLACE] * cursor[C_EVENTS] + i] == 0:
            why = WHY_ALONE
        elif not holds(
            rule, tables[transition + F_PROGRAM], tables[transition + F_LENGTH], i, row, rows, cursor
        ):
            why = WHY_EARLIER
        elif tables[transition + F_UNTILS] > 0 and is_refused(rule, alternatives, row, transition, i):
            why = WHY_UNTIL
        elif mode == AT_BEGIN and not was_absent(tables, transition, i, t, columns, nulls, cursor):
            why = WHY_LOOK
        if why == NONE:
            return FITS
        if cursor[C_TRACES] >= 0:
            note(trace, cursor, TRIED, i, t, node, tables[transition + F_STEP], why)
            if tables[transition + F_SIGN] == STRICT and mode == BY_EVENT:
                note(trace, cursor, BROKEN, i, t, node, tables[transition + F_STEP], NONE)
        if mode == AT_BEGIN or tables[transition + F_SIGN] == STRICT:
            return DIES
    if tables[transition + F_WATCHES] > 0:
        found = guarded(
            rule, alternatives, row, tables[transition + F_WATCH], tables[transition + F_WATCHES], i, t
        )
        if found >= 0:
            note(trace, cursor, PREVENTED, i, t, node, tables[found + W_GUARD], NONE)
            return DIES
    return FITS if kind == ENDING else STAYS


@inlined
def fire(rule: Rule, alternatives: Alternatives, row: int, transition: int, i: int, t: int) -> int:
    """Fire a transition: the alternatives that come of one, which itself stays as it is."""
    tables = rule.tables
    rows, nodes, cursor, trace = alternatives
    new = copied(tables, rows, row, cursor)
    kind = tables[transition + F_KIND]
    if kind == ENDING:
        if true_of(rule, tables[H_HAVING], tables[H_HAVING_LENGTH], NONE, row, rows, cursor):
            rows[new + T_STATE] = MATCHED
            rows[new + T_DEADLINE] = END_OF_TIME
            return new
        note(trace, cursor, REFUSED, NONE, t, rows[new + T_NODE], NONE, NONE)
        free_row(rows, new, cursor)
        return NONE
    counters = new + tables[H_COUNTERS]
    at = tables[transition + F_ACTION]
    for k in range(at, at + tables[transition + F_ACTIONS] * ACTION, ACTION):
        action = tables[k]
        counter = counters + tables[k + 1]
        if action == ZERO:
            rows[counter] = 0
        elif action == ONE_MORE:
            rows[counter] += 1
        elif action == AS_MANY:
            rows[counter] = rows[counters + tables[H_TAKEN]]
        else:
            rows[counter] = rows[new + T_TIME]
    rows[new + T_STATE] = tables[transition + F_TARGET]
    rows[new + T_TIME] = t
    if kind == TIMER:
        rows[new + T_SEQUENCE] = cursor[C_SEEN]
        at = tables[transition + F_WATCH]
        for k in range(at, at + tables[transition + F_WATCHES] * WATCH, WATCH):
            if tables[k + W_SINCE] != NEVER:
                note(trace, cursor, PASSED, NONE, t, rows[new + T_NODE], tables[k + W_GUARD], NONE)
    else:
        node = taken_node(
            nodes, rows[new + T_NODE], tables[transition + F_EDGE], i, tables[H_BACKBONES], cursor
        )
        rows[new + T_NODE] = node
        rows[new + T_LAST] = t
        rows[new + T_SEQUENCE] = cursor[C_SEQUENCE] + i
        if tables[H_TAKEN] >= 0:
            rows[counters + tables[H_TAKEN]] += 1
        take(rule, tables[transition + F_UPDATE], tables[transition + F_UPDATES], i, new, rows, cursor)
        if cursor[C_TRACES] >= 0:
            what = BEGAN if cursor[C_MODE] == AT_BEGIN else TOOK
            note(trace, cursor, what, i, t, node, tables[transition + F_STEP], NONE)
    return arrived(rule, alternatives, new)


def offer(
    rule: Rule, alternatives: Alternatives, row: int, token: int, end: int, inner: int, i: int, t: int
) -> tuple[int, int]:
    """Show an event, or time alone, to an alternative's transitions between two tokens.

    Returns the alternatives that come of it and 1; or 0 if it fires none, and then those that can no longer
    fire are taken out of the alternative. `inner` > 0: these are the transitions of a child, several groups
    of which may wait side by side.
    """
    tables = rule.tables
    rows, cursor, trace = alternatives.rows, alternatives.cursor, alternatives.trace
    head = tail = NONE
    if token >= end:
        return NONE, 0
    fits = 0
    begin = k = token
    alts = last = NONE
    fit = 0
    said = cursor[C_TRACES]
    while True:
        transition = NONE
        if k < end:
            kind = tables[k + K_KIND]
            if kind == AN_EACH and children_alive(tables, rows, row, k) > 1:
                forks = final = NONE
                moved = 0
                child = k + TOKEN
                while child < tables[k + K_END]:
                    after = tables[child + K_END]
                    if any_alive(rows, row, tables[child + K_BEFORE], tables[after + K_BEFORE]):
                        part, moves = offer(rule, alternatives, row, child + TOKEN, after, inner + 1, i, t)
                        if moves == 1:
                            moved = 1
                        else:
                            part, _ = spread(tables, rows, row, child + TOKEN, after, cursor)
                        forks, final = forked(rows, forks, final, part, cursor)
                    child = after
                if moved == 1:
                    fit = 1
                    alts, last = joined(rows, alts, last, each_of(rows, forks, cursor), cursor)
                else:
                    free_list(rows, forks, cursor)
                k = tables[k + K_END]
                continue
            if kind != A_TRANSITION or not alive(rows, row, tables[k + K_BEFORE]):
                k += TOKEN
                continue
            transition = tables[k + K_TRANSITION]
        alone = (
            transition >= 0 and tables[transition + F_KIND] != OPTION and tables[transition + F_KIND] != TIMER
        )
        if transition < 0 or alone:
            if fit == 1:
                fits = 1
                unsay_guards(trace, cursor, said)
                head, tail = joined(rows, head, tail, alts, cursor)
            elif inner > 0:
                part, _ = spread(tables, rows, row, begin, k, cursor)
                head, tail = joined(rows, head, tail, part, cursor)
            if transition < 0:
                break
        number = tables[k + K_BEFORE]
        outcome = effect(rule, alternatives, row, transition, i, t)
        part = NONE
        if outcome == DIES:
            kill(rows, row, number)
        elif outcome == FITS:
            part = fire(rule, alternatives, row, transition, i, t)
        k += TOKEN
        if not alone:
            if outcome == FITS:
                fit = 1
                if tables[transition + F_SIGN] == ANY and cursor[C_MODE] == BY_EVENT:
                    # It goes on waiting, independently of what it took, unless a `not` forbids that.
                    forks, final = forked(rows, NONE, NONE, part, cursor)
                    if (
                        tables[transition + F_WATCHES] == 0
                        or guarded(
                            rule,
                            alternatives,
                            row,
                            tables[transition + F_WATCH],
                            tables[transition + F_WATCHES],
                            i,
                            t,
                        )
                        < 0
                    ):
                        again = restricted(tables, rows, row, number, number + 1, cursor)
                        forks, final = forked(rows, forks, final, again, cursor)
                    part = each_of(rows, forks, cursor)
                alts, last = joined(rows, alts, last, part, cursor)
            continue
        if outcome == FITS:
            fits = 1
            head, tail = joined(rows, head, tail, part, cursor)
        elif inner > 0 and outcome == STAYS:
            if tables[transition + F_KIND] == THE_END:
                head, tail = joined(rows, head, tail, completed(tables, rows, row, cursor), cursor)
                break
            part = restricted(tables, rows, row, number, number + 1, cursor)
            head, tail = joined(rows, head, tail, part, cursor)
        begin = k
        alts = last = NONE
        fit = 0
        said = cursor[C_TRACES]
    if fits == 0:
        free_list(rows, head, cursor)
        return NONE, 0
    return head, 1


@inlined
def answer(rule: Rule, alternatives: Alternatives, row: int, i: int, t: int) -> tuple[int, int]:
    """Show an event, or time alone, to an alternative in a plain state: `offer` without its special cases.

    Returns the alternatives that come of it, and FITTED, NOTHING, or SOME_DIED: then transitions that can no
    longer fire are taken out of the alternative.
    """
    tables = rule.tables
    rows, cursor, trace = alternatives.rows, alternatives.cursor, alternatives.trace
    state = tables[H_STATES] + rows[row + T_STATE] * STATE
    transition = tables[state + S_TRANSITION]
    first = last = NONE
    outcome = NOTHING
    said = cursor[C_TRACES]
    for number in range(tables[state + S_TRANSITIONS]):
        if alive(rows, row, number):
            found = effect(rule, alternatives, row, transition, i, t)
            if found == FITS:
                outcome = FITTED
                part = fire(rule, alternatives, row, transition, i, t)
                first, last = joined(rows, first, last, part, cursor)
            elif found == DIES:
                kill(rows, row, number)
                if outcome == NOTHING:
                    outcome = SOME_DIED
        transition += TRANSITION
    if outcome == FITTED and said >= 0:
        unsay_guards(trace, cursor, said)
    return first, outcome


def moved(rule: Rule, alternatives: Alternatives, head: int, i: int, t: int) -> int:
    """The alternatives of a run after an event, or after some time, most preferred first."""
    tables = rule.tables
    rows, cursor = alternatives.rows, alternatives.cursor
    first = last = NONE
    if head < 0:
        return NONE
    row = head
    while row >= 0:
        following = rows[row + T_NEXT]
        rows[row + T_NEXT] = NONE
        part = row
        state = rows[row + T_STATE]
        if state == EACH:
            forks = final = NONE
            fork = rows[row + T_NODE]
            while fork >= 0:
                after = rows[fork + T_NEXT]
                alts = moved(rule, alternatives, rows[fork + T_NODE], i, t)
                free_row(rows, fork, cursor)
                forks, final = forked(rows, forks, final, alts, cursor)
                fork = after
            free_row(rows, row, cursor)
            part = each_of(rows, forks, cursor)
        elif state != MATCHED and not (cursor[C_MODE] == BY_TIME and rows[row + T_DEADLINE] > t):
            at = tables[H_STATES] + state * STATE
            token = tables[at + S_TOKEN]
            end = token + tables[at + S_TOKENS] * TOKEN
            before = rows[row + T_MASK]
            part, fits = offer(rule, alternatives, row, token, end, 0, i, t)
            if fits == 1:
                free_row(rows, row, cursor)
            elif not waits(tables, rows, row):
                free_row(rows, row, cursor)
                part = NONE
            elif before == rows[row + T_MASK] and tables[H_MASKS] == 1 and cursor[C_MODE] == BY_EVENT:
                part = row
            elif tables[at + S_FORKS] == 0:
                set_due(tables, rows, row, cursor)
                part = row
            else:
                part, _ = spread(tables, rows, row, token, end, cursor)
                free_row(rows, row, cursor)
        first, last = joined(rows, first, last, part, cursor)
        row = following
        if last >= 0 and rows[last + T_STATE] == MATCHED:
            # Alternatives behind a complete one are not shown the event: no match can come of them.
            free_list(rows, row, cursor)
            break
    return first
