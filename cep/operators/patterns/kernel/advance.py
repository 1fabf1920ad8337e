"""Ways after an event, or after some time."""

from __future__ import annotations

from cep.operators.patterns.kernel.alternatives import (
    alive,
    any_alive,
    complete_way,
    copied,
    each_of,
    forked,
    free_list,
    free_thread,
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
    A_LEAF,
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
    K_LEAF,
    LEAF,
    NEVER,
    ONE_MORE,
    OPTION,
    S_FORKS,
    S_LEAF,
    S_LEAVES,
    S_TOKEN,
    S_TOKENS,
    STATE,
    STRICT,
    THE_END,
    TIMER,
    TOKEN,
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
def verdict(rule: Rule, alternatives: Alternatives, row: int, leaf: int, i: int, t: int) -> int:
    """Effect of event i, or of time alone, on a way at a leaf: DIES, STAYS, FITS."""
    tables, places, columns, nulls = rule.tables, rule.places, rule.columns, rule.nulls
    threads, cursor, trace = alternatives.threads, alternatives.cursor, alternatives.trace
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
        found = guarded(rule, alternatives, row, tables[leaf + F_UNTIL], tables[leaf + F_UNTILS], i, t)
        if found >= 0:
            note(trace, cursor, STOPPED, i, t, node, tables[found + W_GUARD], NONE)
            return DIES
    if kind == OPTION:
        why = NONE
        if places[tables[leaf + F_PLACE] * cursor[C_EVENTS] + i] == 0:
            why = WHY_ALONE
        elif not holds(rule, tables[leaf + F_PROGRAM], tables[leaf + F_LENGTH], i, row, threads, cursor):
            why = WHY_EARLIER
        elif mode == AT_BEGIN and not was_absent(tables, leaf, i, t, columns, nulls, cursor):
            why = WHY_LOOK
        elif tables[leaf + F_UNTILS] > 0 and is_refused(rule, alternatives, row, leaf, i):
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
        found = guarded(rule, alternatives, row, tables[leaf + F_WATCH], tables[leaf + F_WATCHES], i, t)
        if found >= 0:
            note(trace, cursor, PREVENTED, i, t, node, tables[found + W_GUARD], NONE)
            return DIES
    return FITS if kind == ENDING else STAYS


@inlined
def fire(rule: Rule, alternatives: Alternatives, row: int, leaf: int, i: int, t: int) -> int:
    """The ways that a way becomes by what a leaf of it waited for; the way itself stays as it is."""
    tables = rule.tables
    threads, nodes, cursor, trace = alternatives
    new = copied(tables, threads, row, cursor)
    kind = tables[leaf + F_KIND]
    if kind == ENDING:
        if true_of(rule, tables[H_HAVING], tables[H_HAVING_LENGTH], NONE, row, threads, cursor):
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
        take(rule, tables[leaf + F_UPDATE], tables[leaf + F_UPDATES], i, new, threads, cursor)
        if cursor[C_TRACES] >= 0:
            what = BEGAN if cursor[C_MODE] == AT_BEGIN else TOOK
            note(trace, cursor, what, i, t, node, tables[leaf + F_STEP], NONE)
    return arrived(rule, alternatives, new)


def offer(
    rule: Rule, alternatives: Alternatives, row: int, token: int, end: int, inner: int, i: int, t: int
) -> tuple[int, int]:
    """Show an event, or time alone, to a way's leaves between two tokens.

    Returns the ways that come of it and 1, or 0 if it fits none: then the leaves that died are dead in the
    way. `inner` > 0: these are the leaves of a child, several groups of which may wait side by side.
    """
    tables = rule.tables
    threads, cursor, trace = alternatives.threads, alternatives.cursor, alternatives.trace
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
                        part, moves = offer(rule, alternatives, row, child + TOKEN, after, inner + 1, i, t)
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
        outcome = verdict(rule, alternatives, row, leaf, i, t)
        part = NONE
        if outcome == DIES:
            kill(threads, row, number)
        elif outcome == FITS:
            part = fire(rule, alternatives, row, leaf, i, t)
        k += TOKEN
        if not alone:
            if outcome == FITS:
                fit = 1
                if tables[leaf + F_SIGN] == ANY and cursor[C_MODE] == BY_EVENT:
                    # It goes on waiting, independently of what it took, unless a `not` forbids that.
                    forks, final = forked(threads, NONE, NONE, part, cursor)
                    if (
                        tables[leaf + F_WATCHES] == 0
                        or guarded(
                            rule, alternatives, row, tables[leaf + F_WATCH], tables[leaf + F_WATCHES], i, t
                        )
                        < 0
                    ):
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


@inlined
def answer(rule: Rule, alternatives: Alternatives, row: int, i: int, t: int) -> tuple[int, int]:
    """Show an event, or time alone, to a way in a plain state: what `offer` does where no case is special.

    Returns the ways that come of it, and FITTED, NOTHING, or SOME_DIED: then dead leaves are dead in the way.
    """
    tables = rule.tables
    threads, cursor, trace = alternatives.threads, alternatives.cursor, alternatives.trace
    state = tables[H_STATES] + threads[row + T_STATE] * STATE
    leaf = tables[state + S_LEAF]
    first = last = NONE
    outcome = NOTHING
    said = cursor[C_TRACES]
    for number in range(tables[state + S_LEAVES]):
        if alive(threads, row, number):
            found = verdict(rule, alternatives, row, leaf, i, t)
            if found == FITS:
                outcome = FITTED
                part = fire(rule, alternatives, row, leaf, i, t)
                first, last = joined(threads, first, last, part, cursor)
            elif found == DIES:
                kill(threads, row, number)
                if outcome == NOTHING:
                    outcome = SOME_DIED
        leaf += LEAF
    if outcome == FITTED and said >= 0:
        unsay_guards(trace, cursor, said)
    return first, outcome


def moved(rule: Rule, alternatives: Alternatives, head: int, i: int, t: int) -> int:
    """The ways of a run after an event, or after some time, most preferred first."""
    tables = rule.tables
    threads, cursor = alternatives.threads, alternatives.cursor
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
                ways = moved(rule, alternatives, threads[fork + T_NODE], i, t)
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
            part, fits = offer(rule, alternatives, row, token, end, 0, i, t)
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
