"""Ways that nothing still to come tells apart are one; of the others a run keeps the most preferred."""

from __future__ import annotations

from cep.operators.patterns.kernel.alternatives import (
    detached,
    each_of,
    first_way,
    forked,
    free_list,
    free_thread,
    joined,
    ways_in,
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
    H_ALL_WAYS,
    H_COPIES,
    H_COUNTERS,
    H_MASKS,
    H_MERGE,
    H_NULLS,
    H_STATES,
    H_TAKEN,
    H_WAYS,
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

# The ways of a run that are more than MERGE_BEYOND are merged where nothing tells them apart, whenever they
# have become more; a run then keeps MOST_WAYS of them, or less where its key has many runs: its share of
# ALL_WAYS, but no less than MERGE_BEYOND. A place in the table of those that were seen: in which pass, the
# way, its hash, how many like it.
MERGE_BEYOND = 8
MOST_WAYS = 256
ALL_WAYS = 1 << 13
V_PASS, V_WAY, V_HASH, V_COUNT, SEEN = range(5)
MOST_SEEN = 1024


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


def alike(tables: Ints, threads: Ints, nodes: Ints, one: int, other: int, newest: int) -> bool:
    """True if nothing that is still to come can tell two ways, or forks, apart."""
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
    """The ways of a run that have become more, without those that cannot matter and those beyond its bound.

    `together` is how many runs its key has, which share a bound; `newest` the sequence number of the last
    event that its key was shown. A complete way stays: it is a match, if nothing preferred comes to one.
    """
    threads, nodes, cursor, trace = alternatives
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
