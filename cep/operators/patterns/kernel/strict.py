"""Strict sequences (`a => b => c`): the runs of many rules at once, as sets of rules.

In such a rule every event of the key either is the next of a run or ends it. So a run that has taken s events
has taken the last s events of its key: which rules have one is a set of bits, and the events, their times and
what conditions read of them are the same for all rules (docs/decisions/0035). An event moves the sets of all
rules together; one by one it asks only the rules whose condition reads earlier events. Events of all keys
come in order of time: each finds the row of its key (docs/decisions/0098).
"""

from __future__ import annotations

import numpy as np

from cep.operators.patterns.kernel.layout import (
    BITS,
    C_DECIDED,
    C_EFFORT,
    C_EVENTS,
    C_KEPT_LISTS,
    C_KEY,
    C_MATCHES,
    C_POSITION,
    C_STAGE,
    DONE,
    END_OF_TIME,
    LATER,
    MORE_ROOM,
    NONE,
    Ints,
    ReadOnlyInts,
    Rule,
)
from cep.operators.patterns.kernel.strict_conditions import begin_of_key, place_of, show_state, without_ended
from cep.operators.patterns.kernel.strict_layout import (
    AHEAD,
    ENTRY_HEAD,
    LOADING,
    O_NULLS,
    O_NUMBER,
    O_TIME,
    P_DUE,
    P_KEY,
    PACKED,
    SHOWING,
    STRICT_RULE,
    W_EVENT,
    W_TIME,
    WINDOW_HEAD,
    X_DECIDED,
    X_EVENTS,
    X_KEY,
    X_TIME,
    Z_KEEPS,
    Z_WITHIN,
    StrictEvents,
    StrictOutput,
    StrictRoom,
    StrictRules,
)
from cep.operators.patterns.kernel.timers import later
from kernels.family import inlined, instruction


@inlined
def load_runs(group: StrictRules, stored: ReadOnlyInts, room: StrictRoom, events: int) -> None:
    """Bring what is kept of keys to where events find it; `events` is where kept events begin."""
    states, sets, values = room.states, len(room.then), len(group.columns)
    depth = len(room.window) - 1
    size = PACKED + depth * (ENTRY_HEAD + values) + sets
    for row in range(len(stored) // size):
        at = row * size
        room.cursor[C_KEY] = stored[at + P_KEY]
        to = begin_of_key(group, room)
        at += PACKED
        for k in range(depth):
            states[to + W_EVENT] = events + row * depth + k if stored[at + O_NUMBER] >= 0 else NONE
            states[to + W_TIME] = stored[at + O_TIME]
            for n in range(values):
                states[to + WINDOW_HEAD + n] = stored[at + ENTRY_HEAD + n]
            to += WINDOW_HEAD + values
            at += ENTRY_HEAD + values
        for k in range(sets):
            states[to + k] = stored[at + k]


@inlined
def skip(group: StrictRules, room: StrictRoom, rules: Ints, first: int, words: int) -> None:
    """End the runs that the matches of the rules from `first` on end."""
    depth = len(room.window) - 1
    for place in range(first, room.cursor[C_DECIDED]):
        rule = rules[place]
        for state in range(group.rules[rule * STRICT_RULE + Z_KEEPS], depth):
            room.then[state * words + rule // BITS] &= ~(np.int64(1) << np.int64(rule % BITS))


@inlined
def settle_key(group: StrictRules, room: StrictRoom, words: int, bound: int) -> int:
    """End the runs of the key whose `within` is over by `bound`; the instant that next ends one, NONE where
    none is left."""
    due, states = NONE, room.states
    depth, entry = len(room.window) - 1, WINDOW_HEAD + len(group.columns)
    at = begin_of_key(group, room)
    for state in range(depth):
        start = states[at + state * entry + W_TIME]
        for word in range(words):
            live = at + depth * entry + state * words + word
            bits = states[live]
            while bits != 0:
                bit = bits & -bits
                bits ^= bit
                within = group.rules[(word * BITS + place_of(bit)) * STRICT_RULE + Z_WITHIN]
                end = END_OF_TIME if within < 0 else later(start, within)
                if end <= bound:
                    states[live] ^= bit
                elif due < 0 or end < due:
                    due = end
    return due


@inlined
def number_of(came: StrictEvents, event: int) -> int:
    """The number of an event."""
    size = len(came.keys)
    return int(came.numbers[0] + event if event < size else came.numbers[1 + event - size])


@inlined
def write_key(
    group: StrictRules, came: StrictEvents, room: StrictRoom, rows: Ints, words: int, due: int
) -> None:
    """Write out a key's row: of its last events only those that a run took."""
    cursor, states = room.cursor, room.states
    depth, values = len(room.window) - 1, len(group.columns)
    first = begin_of_key(group, room)
    live = first + depth * (WINDOW_HEAD + values)
    at = cursor[C_KEPT_LISTS]
    rows[at + P_KEY] = cursor[C_KEY]
    rows[at + P_DUE] = due
    taken = False
    for k in range(depth - 1, -1, -1):
        begun = False
        for word in range(words):
            begun = begun or states[live + k * words + word] != 0
        taken = taken or begun
        to = at + PACKED + k * (ENTRY_HEAD + values)
        for n in range(ENTRY_HEAD + values):
            rows[to + n] = 0
        rows[to + O_NUMBER] = NONE
        if taken:
            one = first + k * (WINDOW_HEAD + values)
            event = states[one + W_EVENT]
            rows[to + O_NUMBER] = number_of(came, event)
            if begun or k == 0:
                rows[to + O_TIME] = states[one + W_TIME]
            for n in range(values):
                rows[to + ENTRY_HEAD + n] = states[one + WINDOW_HEAD + n]
                if came.nulls[group.columns[n] * cursor[C_EVENTS] + event]:
                    rows[to + ENTRY_HEAD + n] = 0
                    rows[to + O_NULLS] |= np.int64(1) << np.int64(n)
    to = at + PACKED + depth * (ENTRY_HEAD + values)
    for k in range(depth * words):
        rows[to + k] = states[live + k]
    cursor[C_KEPT_LISTS] = to + depth * words


@inlined
def add_match(came: StrictEvents, room: StrictRoom, matches: Ints, i: int) -> None:
    """Note a match whose last event is i; its rules are noted before."""
    cursor = room.cursor
    to = cursor[C_MATCHES]
    matches[to + X_KEY] = cursor[C_KEY]
    matches[to + X_TIME] = came.times[i]
    matches[to + X_DECIDED] = cursor[C_DECIDED]
    matches[to + X_EVENTS] = number_of(came, i)
    for k in range(len(room.window) - 1):
        event = room.window[k]
        matches[to + X_EVENTS + 1 + k] = NONE if event < 0 else number_of(came, event)
    cursor[C_MATCHES] = to + X_EVENTS + len(room.window)


@inlined
def show_event(
    group: StrictRules, rule: Rule, came: StrictEvents, room: StrictRoom, output: StrictOutput, words: int,
    shortest: int, i: int,
) -> None:  # fmt: skip
    """Show an event to the runs of its key, those that have taken most first; then it may begin runs.

    `shortest` is the least `within` of a rule."""
    states, then, window, cursor = room.states, room.then, room.window, room.cursor
    depth, entry = len(window) - 1, WINDOW_HEAD + len(group.columns)
    at = begin_of_key(group, room)
    live = at + depth * entry
    for k in range(depth):
        window[k] = states[at + k * entry + W_EVENT]
    t = came.times[i]
    first = cursor[C_DECIDED]
    for k in range(depth * words):
        then[k] = 0
    for state in range(depth, -1, -1):
        step = state * words
        fits = i * (depth + 1) * words + step
        some = False
        for word in range(words):
            bits = came.fits[fits + word]
            if state > 0:
                bits &= states[live + step - words + word]
            room.asked[word] = bits
            some = some or bits != 0
        if not some:
            continue
        if state > 0:
            start = states[at + (state - 1) * entry + W_TIME]
            if later(start, shortest) <= t:
                without_ended(group, room, words, start, t)
        show_state(group, rule, came, room, words, state, i)
        before = cursor[C_DECIDED]
        for word in range(words):
            bits = room.passed[word] & group.last[step + word]
            if bits != room.passed[word]:
                then[step + word] |= room.passed[word] ^ bits
            while bits != 0:
                bit = bits & -bits
                bits ^= bit
                output.rules[cursor[C_DECIDED]] = word * BITS + place_of(bit)
                cursor[C_DECIDED] += 1
        if cursor[C_DECIDED] > before:
            add_match(came, room, output.matches, i)
    if cursor[C_DECIDED] > first:
        skip(group, room, output.rules, first, words)
    for k in range(depth * words):
        states[live + k] = then[k]
    for k in range(at + depth * entry - 1, at + entry - 1, -1):
        states[k] = states[k - entry]
    if depth > 0:
        states[at + W_EVENT], states[at + W_TIME] = i, t
        for n in range(len(group.columns)):
            states[at + WINDOW_HEAD + n] = came.columns[group.columns[n] * cursor[C_EVENTS] + i]


@instruction
def fetch(numbers: Ints, place: int) -> None:
    """Have a place brought near, so that who reads it later need not wait for the memory."""


@inlined
def run_sets(
    group: StrictRules, came: StrictEvents, stored: ReadOnlyInts, room: StrictRoom, output: StrictOutput,
    bound: int, words: int,
) -> int:  # fmt: skip
    """Run a group whose sets take so many numbers: see `run_strict`."""
    cursor = room.cursor
    depth = len(room.window) - 1
    size = len(came.keys)
    row = depth * (WINDOW_HEAD + len(group.columns)) + depth * words
    rule = Rule(
        group.tables, came.constants, came.seen, came.columns, came.nulls, came.ranks, room.slots,
        room.slots.view(np.float64), room.unknown,
    )  # fmt: skip
    shortest = END_OF_TIME
    for k in range(Z_WITHIN, len(group.rules), STRICT_RULE):
        if 0 <= group.rules[k] < shortest:
            shortest = group.rules[k]
    rules = len(group.rules) // STRICT_RULE
    most = (X_EVENTS + depth + 1) * (depth + 1)
    if cursor[C_STAGE] == LOADING:
        load_runs(group, stored, room, size)
        cursor[C_STAGE] = SHOWING
    while cursor[C_POSITION] < size:
        i = cursor[C_POSITION]
        if i + AHEAD < size:
            ahead = came.keys[i + AHEAD] * row
            fetch(room.states, ahead)
            fetch(room.states, ahead + row - 1)
        if came.seen[i]:
            if cursor[C_EFFORT] <= 0:
                return LATER
            if cursor[C_MATCHES] + most > len(output.matches):
                return MORE_ROOM
            if cursor[C_DECIDED] + rules > len(output.rules):
                return MORE_ROOM
            cursor[C_EFFORT] -= 1
            cursor[C_KEY] = came.keys[i]
            show_event(group, rule, came, room, output, words, shortest, i)
        cursor[C_POSITION] += 1
    for key in range(len(room.states) // row if row > 0 else 0):
        cursor[C_KEY] = key
        due = settle_key(group, room, words, bound)
        if due >= 0:
            write_key(group, came, room, output.rows, words, due)
    return DONE


def run_strict(
    group: StrictRules, came: StrictEvents, stored: ReadOnlyInts, room: StrictRoom, output: StrictOutput,
    bound: int,
) -> int:  # fmt: skip
    """Run a group of rules over a shard's events, and settle what is due up to `bound`. `stored` are the rows
    of what is kept.

    Returns DONE; MORE_ROOM, where the caller lets the room for matches and their rules grow and calls again;
    or LATER, where the effort that it gave is used up.
    """
    words = len(group.free) // len(room.window)
    if words == 1:
        # Compiled apart, without loops over the numbers of a set.
        return run_sets(group, came, stored, room, output, bound, 1)
    return run_sets(group, came, stored, room, output, bound, words)
