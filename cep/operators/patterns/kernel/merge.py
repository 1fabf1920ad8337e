"""Equivalent alternatives of a run are merged; of the others it keeps the most preferred (decision 0012)."""

from __future__ import annotations

from cep.operators.patterns.kernel.alternatives import (
    count_alternatives,
    detached,
    each_of,
    forked,
    free_list,
    free_row,
    joined,
    most_preferred,
)
from cep.operators.patterns.kernel.bytecode import is_null
from cep.operators.patterns.kernel.chains import taken_by, without_last
from cep.operators.patterns.kernel.layout import (
    C_EFFORT,
    C_GIVEN_UP,
    C_PASS,
    EACH,
    FOLD,
    FORK,
    LOWER,
    MATCHED,
    N_SEQUENCE,
    NONE,
    T_DEADLINE,
    T_MASK,
    T_NEXT,
    T_NODE,
    T_STATE,
    Alternatives,
    Ints,
)
from cep.operators.patterns.kernel.tables import (
    D_KIND,
    D_MORE,
    D_PLACE,
    H_ALL_ALTS,
    H_COPIES,
    H_COUNTERS,
    H_MASKS,
    H_MERGE,
    H_MOST_ALTS,
    H_NULLS,
    H_STATES,
    H_TAKEN,
    IF_KNOWN,
    JUST_NOW,
    NULLNESS,
    S_TRAIT,
    S_TRAITS,
    STATE,
    TAKEN_BY,
    TAKEN_SINCE,
    TRAIT,
    UP_TO,
)
from cep.operators.patterns.kernel.trace import GAVE_UP, note

# Where a run has more than MERGE_BEYOND alternatives, those that are equivalent are merged, whenever they
# have become more; a run then keeps MOST_ALTERNATIVES of them, or less where its key has many runs: its share
# of ALL_ALTERNATIVES, but no less than MERGE_BEYOND. A place in the table of those that were seen: in which
# pass, the alternative, its hash, how many like it.
MERGE_BEYOND = 8
MOST_ALTERNATIVES = 256
ALL_ALTERNATIVES = 1 << 12
V_PASS, V_ALT, V_HASH, V_COUNT, SEEN = range(5)
MOST_SEEN = 1024


def trait(tables: Ints, rows: Ints, row: int, at: int, newest: int) -> int:
    """A trait of an alternative as a number."""
    kind = tables[at + D_KIND]
    value = rows[row + tables[at + D_PLACE]]
    more = tables[at + D_MORE]
    if kind == UP_TO:
        return int(min(value, more))
    if kind == TAKEN_SINCE:
        return 1 if rows[row + tables[H_COUNTERS] + tables[H_TAKEN]] > value else 0
    if kind == JUST_NOW:
        return 1 if value >= newest else 0
    if kind == NULLNESS:
        return is_null(rows, row + tables[H_NULLS], more)
    if kind == IF_KNOWN and is_null(rows, row + tables[H_NULLS], more):
        return 0
    return int(value)


def blended(found: int, value: int) -> int:
    """A hash, not negative, with a number more in it."""
    low = (value ^ (value >> 31) ^ (value >> 62)) & FOLD
    product = (found ^ low) * 1_540_483_477 + low
    return (product ^ (product >> 31)) & FOLD


def fingerprint(tables: Ints, rows: Ints, nodes: Ints, row: int, newest: int, cursor: Ints) -> int:
    """A hash of all that the future of an alternative, or of forks, depends on."""
    cursor[C_EFFORT] -= 1
    state = rows[row + T_STATE]
    found = blended(0, state)
    if state == EACH:
        fork = rows[row + T_NODE]
        while fork >= 0:
            found = blended(found, FORK)
            alt = rows[fork + T_NODE]
            while alt >= 0:
                found = blended(found, fingerprint(tables, rows, nodes, alt, newest, cursor))
                alt = rows[alt + T_NEXT]
            fork = rows[fork + T_NEXT]
        return found
    if state == MATCHED:
        return found
    found = blended(found, rows[row + T_DEADLINE])
    for word in range(tables[H_MASKS]):
        found = blended(found, rows[row + T_MASK + word])
    at = tables[H_STATES] + state * STATE
    for k in range(tables[at + S_TRAIT], tables[at + S_TRAIT] + tables[at + S_TRAITS] * TRAIT, TRAIT):
        if tables[k + D_KIND] != TAKEN_BY:
            found = blended(found, trait(tables, rows, row, k, newest))
            continue
        chain = taken_by(tables, nodes, rows[row + T_NODE], tables[k + D_MORE])
        while chain >= 0:
            found = blended(found, nodes[(chain & LOWER) + N_SEQUENCE])
            chain = taken_by(tables, nodes, without_last(nodes, chain), tables[k + D_MORE])
    return found


def took_the_same(tables: Ints, nodes: Ints, one: int, other: int, step: int) -> bool:
    """True if a step took the same events in two chains."""
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


def alike(tables: Ints, rows: Ints, nodes: Ints, one: int, other: int, newest: int) -> bool:
    """True if two alternatives, or forks, are equivalent: no event still to come can tell them apart."""
    state = rows[one + T_STATE]
    if state != rows[other + T_STATE]:
        return False
    if state == MATCHED:
        return True
    if state <= EACH:
        mine = rows[one + T_NODE]
        yours = rows[other + T_NODE]
        while mine >= 0 and yours >= 0:
            if not alike(tables, rows, nodes, mine, yours, newest):
                return False
            mine = rows[mine + T_NEXT]
            yours = rows[yours + T_NEXT]
        return bool(mine == yours)
    if rows[one + T_DEADLINE] != rows[other + T_DEADLINE]:
        return False
    for word in range(tables[H_MASKS]):
        if rows[one + T_MASK + word] != rows[other + T_MASK + word]:
            return False
    at = tables[H_STATES] + state * STATE
    for k in range(tables[at + S_TRAIT], tables[at + S_TRAIT] + tables[at + S_TRAITS] * TRAIT, TRAIT):
        if tables[k + D_KIND] == TAKEN_BY:
            if not took_the_same(tables, nodes, rows[one + T_NODE], rows[other + T_NODE], tables[k + D_MORE]):
                return False
        elif trait(tables, rows, one, k, newest) != trait(tables, rows, other, k, newest):
            return False
    return True


def merge(tables: Ints, rows: Ints, nodes: Ints, head: int, newest: int, seen: Ints, cursor: Ints) -> None:
    """Leave out the alternatives of a list that are equivalent to preferred ones; so in each list within it.

    The first stays where it is. Why of some rules two that are alike stay: docs/decisions/0012.
    """
    row = head
    while row >= 0:
        if rows[row + T_STATE] == EACH:
            fork = rows[row + T_NODE]
            while fork >= 0:
                merge(tables, rows, nodes, rows[fork + T_NODE], newest, seen, cursor)
                fork = rows[fork + T_NEXT]
        row = rows[row + T_NEXT]
    if rows[head + T_NEXT] < 0:
        return
    cursor[C_PASS] += 1
    distinct = 0
    before = NONE
    row = head
    while row >= 0:
        following = rows[row + T_NEXT]
        found = fingerprint(tables, rows, nodes, row, newest, cursor)
        slot = (found % MOST_SEEN) * SEEN
        while seen[slot + V_PASS] == cursor[C_PASS] and not (
            seen[slot + V_HASH] == found and alike(tables, rows, nodes, seen[slot + V_ALT], row, newest)
        ):
            slot = (slot + SEEN) % (MOST_SEEN * SEEN)
        if seen[slot + V_PASS] == cursor[C_PASS]:
            seen[slot + V_COUNT] += 1
            if seen[slot + V_COUNT] > tables[H_COPIES]:
                rows[before + T_NEXT] = following
                rows[row + T_NEXT] = NONE
                free_list(rows, row, cursor)
                row = following
                continue
        elif distinct < MOST_SEEN // 2:
            # What comes after so many that differ is more than a run may keep anyway.
            distinct += 1
            seen[slot + V_PASS] = cursor[C_PASS]
            seen[slot + V_ALT] = row
            seen[slot + V_HASH] = found
            seen[slot + V_COUNT] = 1
        before = row
        row = following


def shortened(rows: Ints, head: int, room: int, cursor: Ints) -> tuple[int, int]:
    """The most preferred alternatives, as many as there is room for; and the room that is left."""
    first = last = NONE
    row = head
    while row >= 0 and room > 0:
        following = rows[row + T_NEXT]
        rows[row + T_NEXT] = NONE
        part = row
        if rows[row + T_STATE] == EACH:
            forks = final = NONE
            fork = rows[row + T_NODE]
            while fork >= 0:
                after = rows[fork + T_NEXT]
                alts, room = shortened(rows, rows[fork + T_NODE], room, cursor)
                free_row(rows, fork, cursor)
                forks, final = forked(rows, forks, final, alts, cursor)
                fork = after
            free_row(rows, row, cursor)
            part = each_of(rows, forks, cursor)
        else:
            room -= 1
        first, last = joined(rows, first, last, part, cursor)
        row = following
    free_list(rows, row, cursor)
    return first, room


def thinned(
    tables: Ints,
    alternatives: Alternatives,
    seen: Ints,
    head: int,
    together: int,
    newest: int,
    i: int,
    t: int,
) -> int:
    """The alternatives of a run after they have become more: merged, and no more than its bound.

    `together` is how many runs its key has, which share a bound; `newest` the sequence number of the last
    event that its key was shown. A complete one stays: it is a match, if nothing preferred comes to one.
    """
    rows, nodes, cursor, trace = alternatives
    if count_alternatives(rows, head) <= tables[H_MERGE]:
        return head
    merge(tables, rows, nodes, head, newest, seen, cursor)
    most = min(tables[H_MOST_ALTS], max(1, tables[H_MERGE], tables[H_ALL_ALTS] // together))
    count = count_alternatives(rows, head)
    if count > most:
        certain = detached(rows, head)
        head, _ = shortened(rows, head, most, cursor)
        head, last = joined(rows, NONE, NONE, head, cursor)
        head, _ = joined(rows, head, last, certain, cursor)
        count -= count_alternatives(rows, head)
        cursor[C_GIVEN_UP] += count
        note(trace, cursor, GAVE_UP, i, t, rows[most_preferred(rows, head) + T_NODE], NONE, NONE)
    return head
