"""The wait index: parked runs by the places that they wait for, and by the values."""

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
    L_PARKED,
    L_WANTS,
    MATCHED,
    NO_CANDIDATE,
    NONE,
    R_ALT,
    R_CANDIDATE,
    R_ENTRY,
    R_NEXT,
    R_START,
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
    Q_COLUMN,
    Q_NUMBER,
    Q_PLACE,
    Q_REGISTER,
    QUESTION,
    S_TRANSITION,
    S_TRANSITIONS,
    STATE,
    TRANSITION,
)
from kernels.family import inlined

# In a list of more than PARK_BEYOND runs all are parked: an event is shown only to those that it can matter
# to. A run wants all events of some places (a bit each; the last bits are shared, or mean every event). Of
# others it wants only those with some value in a column: it stands in the chain of list, question and value,
# where a question is a place and a column. A transition asks questions about registers.
PARK_BEYOND = 8
OTHER_PLACES, EVERY_EVENT = 61, 62


def mixed(at: int, question: int, value: int) -> int:
    """A hash of a list, a question and a value, not negative: no product transitions 63 bits."""
    low = (value ^ (value >> 31) ^ (value >> 62)) & FOLD
    found = low * 1_540_483_477
    found = ((found >> 31) ^ found ^ (at + question * 40_503)) & FOLD
    found *= 2_027_808_485
    return found ^ (found >> 30)


def wait_for_value(
    runs: Ints, wait_index: Ints, at: int, run: int, question: int, value: int, cursor: Ints
) -> bool:
    """Put a run into the chain of those that wait for a value. False: there is no room for that."""
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


def unpark(runs: Ints, wait_index: Ints, run: int, cursor: Ints) -> None:
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
    tables: Ints, runs: Ints, rows: Ints, wait_index: Ints, at: int, run: int, head: int, cursor: Ints
) -> int:
    """The places of which alternatives of a run want every event; for values it is put into chains."""
    wants = np.int64(0)
    row = head
    while row >= 0:
        state = rows[row + T_STATE]
        if state <= EACH:
            wants |= wanted(tables, runs, rows, wait_index, at, run, rows[row + T_NODE], cursor)
        elif state != MATCHED:
            first = tables[H_STATES] + state * STATE
            transition = tables[first + S_TRANSITION]
            for number in range(tables[first + S_TRANSITIONS]):
                if alive(rows, row, number):
                    wants |= tables[transition + F_WANTS]
                    ask = tables[transition + F_ASK]
                    for k in range(ask, ask + tables[transition + F_ASKS] * ASK, ASK):
                        register = tables[k + Q_REGISTER]
                        # Nothing equals null.
                        if not is_null(rows, row + tables[H_NULLS], register):
                            value = rows[row + tables[H_VALUES] + register]
                            question = tables[k + Q_NUMBER]
                            if not wait_for_value(runs, wait_index, at, run, question, value, cursor):
                                place = tables[tables[H_QUESTION] + question * QUESTION + Q_PLACE]
                                wants |= place_bit(place)
                transition += TRANSITION
        row = rows[row + T_NEXT]
    return int(wants)


def park(
    tables: Ints, lists: Ints, runs: Ints, rows: Ints, wait_index: Ints, at: int, run: int, cursor: Ints
) -> None:
    """Park a run of a list whose runs are parked: note anew which events can matter to it."""
    unpark(runs, wait_index, run, cursor)
    wants = wanted(tables, runs, rows, wait_index, at, run, runs[run + R_ALT], cursor)
    runs[run + R_WANTS] = wants
    lists[at + L_WANTS] |= wants


def park_all(
    tables: Ints, lists: Ints, runs: Ints, rows: Ints, wait_index: Ints, at: int, cursor: Ints
) -> None:
    """Park all runs of a list."""
    lists[at + L_PARKED] = 1
    lists[at + L_WANTS] = 0
    run = lists[at + L_FIRST]
    while run >= 0:
        runs[run + R_ENTRY] = NONE
        runs[run + R_CANDIDATE] = NO_CANDIDATE
        park(tables, lists, runs, rows, wait_index, at, run, cursor)
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
    """Look up the runs that wait for a value of event i: the first of them, linked by R_CANDIDATE."""
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
            if hit and runs[run + R_CANDIDATE] == NO_CANDIDATE:
                runs[run + R_CANDIDATE] = head
                head = run
            entry = wait_index[entry + E_NEXT]
    return int(head)


def by_start(runs: Ints, head: int) -> int:
    """The candidates in order of their first event: merge sort from below (Knuth, TAOCP 3, 5.2.4)."""
    size = 1
    while head >= 0 and runs[head + R_CANDIDATE] >= 0:
        rest = head
        head = tail = NONE
        merged = 0
        while rest >= 0:
            merged += 1
            one = other = rest
            of_one = 0
            while of_one < size and other >= 0:
                of_one += 1
                other = runs[other + R_CANDIDATE]
            of_other = size
            while of_one > 0 or (of_other > 0 and other >= 0):
                first = of_other == 0 or other < 0
                if of_one > 0 and (first or runs[one + R_START] <= runs[other + R_START]):
                    taken = one
                    one = runs[one + R_CANDIDATE]
                    of_one -= 1
                else:
                    taken = other
                    other = runs[other + R_CANDIDATE]
                    of_other -= 1
                if tail < 0:
                    head = taken
                else:
                    runs[tail + R_CANDIDATE] = taken
                tail = taken
            rest = other
        runs[tail + R_CANDIDATE] = NONE
        if merged == 1:
            break
        size *= 2
    return head
