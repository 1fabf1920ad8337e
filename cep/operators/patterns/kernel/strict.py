"""Strict sequences (`a => b => c`): the runs of many rules at once, as sets of rules.

In such a rule every event of the key either is the next of a run or ends it. So a run that has taken s events
has taken the last s events of its key: which rules have one is a set of bits, and the events, their times and
what conditions read of them are the same for all rules (docs/decisions/0035). An event moves the sets of all
rules together; one by one it asks only the rules whose condition reads earlier events.
"""

from __future__ import annotations

import numpy as np

from cep.operators.patterns.kernel.layout import (
    BITS,
    C_DECIDED,
    C_EFFORT,
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
    Rule,
)
from cep.operators.patterns.kernel.strict_conditions import place_of, show_state, without_ended
from cep.operators.patterns.kernel.strict_layout import (
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
    StrictRuns,
)
from cep.operators.patterns.kernel.timers import later
from kernels.family import inlined


@inlined
def load_key(stored: StrictRuns, room: StrictRoom, key: int, events: int, words: int, entry: int) -> None:
    """Bring what is kept of a key to where an event finds it; `events` is where kept events begin."""
    depth = len(room.window) - 1
    row = stored.of_key[key]
    if row < 0:
        for k in range(depth):
            room.window[k] = NONE
        for k in range(depth * words):
            room.live[k] = 0
        return
    at = row * (PACKED + depth * (entry + words))
    for k in range(depth):
        known = stored.rows[at + PACKED + k * entry + O_NUMBER] >= 0
        room.window[k] = events + row * depth + k if known else NONE
    first = at + PACKED + depth * entry
    for k in range(depth * words):
        room.live[k] = stored.rows[first + k]


@inlined
def skip(group: StrictRules, room: StrictRoom, rules: Ints, first: int, words: int) -> None:
    """End the runs that the matches of the rules from `first` on end."""
    depth = len(room.window) - 1
    for place in range(first, room.cursor[C_DECIDED]):
        rule = rules[place]
        for state in range(group.rules[rule * STRICT_RULE + Z_KEEPS], depth):
            room.then[state * words + rule // BITS] &= ~(np.int64(1) << np.int64(rule % BITS))


@inlined
def settle_key(group: StrictRules, times: Ints, room: StrictRoom, words: int, bound: int) -> int:
    """End the runs whose `within` is over by `bound`; the instant that next ends one, NONE where none is
    left."""
    due = NONE
    for state in range(len(room.window) - 1):
        for word in range(words):
            bits = room.live[state * words + word]
            while bits != 0:
                bit = bits & -bits
                bits ^= bit
                within = group.rules[(word * BITS + place_of(bit)) * STRICT_RULE + Z_WITHIN]
                end = END_OF_TIME if within < 0 else later(times[room.window[state]], within)
                if end <= bound:
                    room.live[state * words + word] ^= bit
                elif due < 0 or end < due:
                    due = end
    return due


@inlined
def write_key(
    group: StrictRules, came: StrictEvents, room: StrictRoom, rows: Ints, words: int, entry: int, due: int
) -> None:
    """Write out a key's row: of its last events only those that a run took."""
    cursor = room.cursor
    depth = len(room.window) - 1
    size = len(came.times)
    at = cursor[C_KEPT_LISTS]
    rows[at + P_KEY] = cursor[C_KEY]
    rows[at + P_DUE] = due
    taken = False
    for k in range(depth - 1, -1, -1):
        begun = False
        for word in range(words):
            begun = begun or room.live[k * words + word] != 0
        taken = taken or begun
        to = at + PACKED + k * entry
        for n in range(entry):
            rows[to + n] = 0
        rows[to + O_NUMBER] = NONE
        if taken:
            event = room.window[k]
            rows[to + O_NUMBER] = came.numbers[event]
            if begun or k == 0:
                rows[to + O_TIME] = came.times[event]
            for n in range(len(group.columns)):
                place = group.columns[n] * size + event
                rows[to + ENTRY_HEAD + n] = came.columns[place]
                if came.nulls[place]:
                    rows[to + ENTRY_HEAD + n] = 0
                    rows[to + O_NULLS] |= np.int64(1) << np.int64(n)
    to = at + PACKED + depth * entry
    for k in range(depth * words):
        rows[to + k] = room.live[k]
    cursor[C_KEPT_LISTS] = to + depth * words


@inlined
def add_match(came: StrictEvents, room: StrictRoom, matches: Ints, i: int) -> None:
    """Note a match whose last event is i; its rules are noted before."""
    cursor = room.cursor
    to = cursor[C_MATCHES]
    matches[to + X_KEY] = cursor[C_KEY]
    matches[to + X_TIME] = came.times[i]
    matches[to + X_DECIDED] = cursor[C_DECIDED]
    matches[to + X_EVENTS] = came.numbers[i]
    for k in range(len(room.window) - 1):
        event = room.window[k]
        matches[to + X_EVENTS + 1 + k] = NONE if event < 0 else came.numbers[event]
    cursor[C_MATCHES] = to + X_EVENTS + len(room.window)


@inlined
def show_event(
    group: StrictRules, rule: Rule, came: StrictEvents, room: StrictRoom, output: StrictOutput, words: int,
    shortest: int, i: int,
) -> None:  # fmt: skip
    """Show an event to the runs of its key, those that have taken most first; then it may begin runs.

    `shortest` is the least `within` of a rule."""
    live, then, window, cursor = room.live, room.then, room.window, room.cursor
    depth = len(window) - 1
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
                bits &= live[step - words + word]
            room.asked[word] = bits
            some = some or bits != 0
        if not some:
            continue
        if state > 0:
            start = came.times[window[state - 1]]
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
        live[k] = then[k]
    for k in range(depth - 1, 0, -1):
        window[k] = window[k - 1]
    window[0] = i


@inlined
def run_keys(
    group: StrictRules, came: StrictEvents, stored: StrictRuns, room: StrictRoom, output: StrictOutput,
    bound: int, words: int,
) -> int:  # fmt: skip
    """Run a group whose sets take so many numbers: see `run_strict`."""
    cursor = room.cursor
    depth = len(room.window) - 1
    entry = ENTRY_HEAD + len(group.columns)
    size = len(came.keys)
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
    while cursor[C_KEY] < len(stored.of_key):
        if cursor[C_STAGE] == LOADING:
            load_key(stored, room, cursor[C_KEY], size, words, entry)
            cursor[C_STAGE] = SHOWING
        while cursor[C_POSITION] < size and came.keys[cursor[C_POSITION]] == cursor[C_KEY]:
            i = cursor[C_POSITION]
            if came.seen[i]:
                if cursor[C_EFFORT] <= 0:
                    return LATER
                if cursor[C_MATCHES] + most > len(output.matches):
                    return MORE_ROOM
                if cursor[C_DECIDED] + rules > len(output.rules):
                    return MORE_ROOM
                cursor[C_EFFORT] -= 1
                show_event(group, rule, came, room, output, words, shortest, i)
            cursor[C_POSITION] += 1
        due = settle_key(group, came.times, room, words, bound)
        if due >= 0:
            write_key(group, came, room, output.rows, words, entry, due)
        cursor[C_STAGE] = LOADING
        cursor[C_KEY] += 1
    return DONE


def run_strict(
    group: StrictRules, came: StrictEvents, stored: StrictRuns, room: StrictRoom, output: StrictOutput,
    bound: int,
) -> int:  # fmt: skip
    """Run a group of rules over a shard's events, key by key, and settle what is due up to `bound`.

    Returns DONE; MORE_ROOM, where the caller lets the room for matches and their rules grow and calls again;
    or LATER, where the effort that it gave is used up.
    """
    words = len(group.free) // len(room.window)
    if words == 1:
        # Compiled apart, without loops over the numbers of a set.
        return run_keys(group, came, stored, room, output, bound, 1)
    return run_keys(group, came, stored, room, output, bound, words)
