"""Runs that an event can matter to: by place, and by the value that a run waits for."""

from __future__ import annotations

import numpy as np

from cep.operators.patterns.kernel.alternatives import alive
from cep.operators.patterns.kernel.bytecode import is_null
from cep.operators.patterns.kernel.layout import (
    C_CHAINS,
    C_ENTRY,
    C_EVENTS,
    C_SHORT,
    E_BEFORE,
    E_HASH,
    E_LIST,
    E_NEXT,
    E_OF_RUN,
    E_RUN,
    EACH,
    FOLD,
    L_FIRST,
    L_SLEEPS,
    L_WANTS,
    MATCHED,
    NONE,
    NOT_CALLED,
    R_CALLED,
    R_ENTRY,
    R_NEXT,
    R_START,
    R_THREAD,
    R_WANTS,
    T_NEXT,
    T_NODE,
    T_STATE,
    Bytes,
    Ints,
    Pools,
    Rule,
)
from cep.operators.patterns.kernel.tables import (
    ASK,
    F_ASK,
    F_ASKS,
    F_WANTS,
    H_NULLS,
    H_PLACES,
    H_QUESTION,
    H_QUESTIONS,
    H_STATES,
    H_VALUES,
    LEAF,
    Q_COLUMN,
    Q_NUMBER,
    Q_PLACE,
    Q_REGISTER,
    QUESTION,
    S_LEAF,
    S_LEAVES,
    STATE,
)
from kernels.family import inlined

# In a list of more than SLEEP_BEYOND runs an event is shown only to those that it can matter to; the others
# sleep. A run wants all events of some places (a bit each; the last bits are shared, or mean every event).
# Of others it wants only those with some value in a column: it stands in the chain of list, question and
# value, where a question is a place and a column. A leaf asks questions about registers.
SLEEP_BEYOND = 8
OTHER_PLACES, EVERY_EVENT = 61, 62


def mixed(at: int, question: int, value: int) -> int:
    """A hash of a list, a question and a value, not negative: no product leaves 63 bits."""
    low = (value ^ (value >> 31) ^ (value >> 62)) & FOLD
    found = low * 1_540_483_477
    found = ((found >> 31) ^ found ^ (at + question * 40_503)) & FOLD
    found *= 2_027_808_485
    return found ^ (found >> 30)


def wait_for_value(
    runs: Ints, wait_index: Ints, at: int, run: int, question: int, value: int, cursor: Ints
) -> bool:
    """Let a run stand in the chain of those that wait for a value. False: there is no room for that."""
    entry = cursor[C_ENTRY]
    if entry < 0:
        cursor[C_SHORT] = 1
        return False
    cursor[C_ENTRY] = wait_index[entry + E_NEXT]
    found = mixed(at, question, value)
    chain = found & (cursor[C_CHAINS] - 1)
    after = wait_index[chain]
    wait_index[entry + E_NEXT] = after
    wait_index[entry + E_BEFORE] = NONE
    wait_index[entry + E_HASH] = found
    wait_index[entry + E_LIST] = at
    wait_index[entry + E_RUN] = run
    wait_index[entry + E_OF_RUN] = runs[run + R_ENTRY]
    if after >= 0:
        wait_index[after + E_BEFORE] = entry
    wait_index[chain] = entry
    runs[run + R_ENTRY] = entry
    return True


def wake_up(runs: Ints, wait_index: Ints, run: int, cursor: Ints) -> None:
    """Take a run out of the chains in which it stands."""
    entry = runs[run + R_ENTRY]
    while entry >= 0:
        before = wait_index[entry + E_BEFORE]
        after = wait_index[entry + E_NEXT]
        if before >= 0:
            wait_index[before + E_NEXT] = after
        else:
            wait_index[wait_index[entry + E_HASH] & (cursor[C_CHAINS] - 1)] = after
        if after >= 0:
            wait_index[after + E_BEFORE] = before
        wait_index[entry + E_NEXT] = cursor[C_ENTRY]
        cursor[C_ENTRY] = entry
        entry = wait_index[entry + E_OF_RUN]
    runs[run + R_ENTRY] = NONE


def place_bit(place: int) -> int:
    """The bit that stands for a place in what a run wants."""
    return int(np.int64(1) << np.int64(min(place, OTHER_PLACES)))


def wanted(
    tables: Ints, runs: Ints, threads: Ints, wait_index: Ints, at: int, run: int, head: int, cursor: Ints
) -> int:
    """The places of which some ways of a run want every event; for values it stands in chains from now on."""
    wants = np.int64(0)
    row = head
    while row >= 0:
        state = threads[row + T_STATE]
        if state <= EACH:
            wants |= wanted(tables, runs, threads, wait_index, at, run, threads[row + T_NODE], cursor)
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
                            if not wait_for_value(runs, wait_index, at, run, question, value, cursor):
                                place = tables[tables[H_QUESTION] + question * QUESTION + Q_PLACE]
                                wants |= place_bit(place)
                leaf += LEAF
        row = threads[row + T_NEXT]
    return int(wants)


def park(
    tables: Ints, lists: Ints, runs: Ints, threads: Ints, wait_index: Ints, at: int, run: int, cursor: Ints
) -> None:
    """Note anew which events can matter to a run of a list whose runs sleep."""
    wake_up(runs, wait_index, run, cursor)
    wants = wanted(tables, runs, threads, wait_index, at, run, runs[run + R_THREAD], cursor)
    runs[run + R_WANTS] = wants
    lists[at + L_WANTS] |= wants


def park_all(
    tables: Ints, lists: Ints, runs: Ints, threads: Ints, wait_index: Ints, at: int, cursor: Ints
) -> None:
    """From now on the runs of a list sleep."""
    lists[at + L_SLEEPS] = 1
    lists[at + L_WANTS] = 0
    run = lists[at + L_FIRST]
    while run >= 0:
        runs[run + R_ENTRY] = NONE
        runs[run + R_CALLED] = NOT_CALLED
        park(tables, lists, runs, threads, wait_index, at, run, cursor)
        run = runs[run + R_NEXT]


def seen_places(tables: Ints, i: int, places: Bytes, cursor: Ints) -> int:
    """The places that event i fits, a bit each, and what every event fits."""
    found = np.int64(1) << np.int64(EVERY_EVENT)
    for place in range(tables[H_PLACES]):
        if places[place * cursor[C_EVENTS] + i] == 1:
            found |= place_bit(place)
    return int(found)


@inlined
def candidates(rule: Rule, pools: Pools, at: int, i: int) -> int:
    """The first of the runs that wait for a value of event i, linked by R_CALLED."""
    tables, places, columns, nulls = rule.tables, rule.places, rule.columns, rule.nulls
    runs, wait_index = pools.runs, pools.wait_index
    cursor = pools.alternatives.cursor
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
        entry = wait_index[sought & (cursor[C_CHAINS] - 1)]
        while entry >= 0:
            run = wait_index[entry + E_RUN]
            hit = wait_index[entry + E_HASH] == sought and wait_index[entry + E_LIST] == at
            if hit and runs[run + R_CALLED] == NOT_CALLED:
                runs[run + R_CALLED] = head
                head = run
            entry = wait_index[entry + E_NEXT]
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
