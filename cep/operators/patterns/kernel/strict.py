"""Strict sequences (`a => b => c`): the runs of many rules at once, as sets of rules.

In such a rule every event of the key either is the next of a run or ends it. So a run that has taken s events
has taken the last s events of its key: which rules have one is a set of bits, and the events, their times and
what conditions read of them are the same for all rules (docs/decisions/0035). An event moves the sets of all
rules together; one by one it asks only the rules whose condition reads earlier events.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cep.operators.patterns.kernel.atom_events import number_at
from cep.operators.patterns.kernel.bytecode import holds, take, true_of
from cep.operators.patterns.kernel.layout import (
    BITS,
    C_EFFORT,
    C_KEPT_LISTS,
    C_KEY,
    C_MATCHES,
    C_OVERFLOWS,
    C_POSITION,
    C_STAGE,
    DONE,
    END_OF_TIME,
    LATER,
    MORE_ROOM,
    NONE,
    Bytes,
    Ints,
    ReadOnlyBytes,
    ReadOnlyInts,
    Rule,
)
from cep.operators.patterns.kernel.tables import H_ALT, H_INITIAL, H_NULLS, H_VALUES
from cep.operators.patterns.kernel.timers import later
from kernels.family import inlined

# A rule of a group: its steps; its `within`, or -1; of a match the states up to which its other runs go on.
Z_STEPS, Z_WITHIN, Z_KEEPS, STRICT_RULE = range(4)
# A row of what is kept: the key, when time next ends a run, an entry for each of the last events, and sets.
# Columns of an entry: the event's number (NONE: no run took it), its time if it is the last one or a run
# began with it, bits of the values that are null, the values.
P_KEY, P_DUE, PACKED = range(3)
O_NUMBER, O_TIME, O_NULLS, ENTRY_HEAD = range(4)
# A match: the rule's place in the group, the key, the time, the numbers of the last events, newest first.
X_RULE, X_KEY, X_TIME, X_EVENTS = range(4)
# A ladder: where its rungs begin, how many there are.
D_FIRST, D_COUNT, LADDER = range(3)
# A rung before its set: place and length of the program.
G_PROGRAM, G_LENGTH, RUNG = range(3)
FEW = 4
"""Rules from which on asking the ends of a ladder and halving it is worth it."""
LOADING, SHOWING = range(2)


class StrictRules(NamedTuple):
    """A group of rules that see the same events, and take the same values out of them.

    A set of rules takes `words` numbers of BITS bits. `programs` say by rule and step where the condition
    over earlier events is (place, length; in `tables`); `updates` by step what a run takes of an event.
    `free` and `last` have for each step the sets of rules without such a condition, and of those that end
    with it.
    """

    tables: Ints
    rules: Ints
    programs: Ints
    updates: Ints
    free: Ints
    last: Ints
    columns: Ints
    """The columns whose values are kept of an event."""
    alone: Ints
    """By step the set of the rules whose condition is evaluated for each of them."""
    ladders: Ints
    """LADDER numbers for each: conditions that differ in one constant at most, and rise or fall with it."""
    ladders_of: Ints
    """By step where its ladders begin."""
    rungs: Ints
    """For each condition of a ladder, by its constant: its program, and the set of the rules with it or one
    before it."""


class StrictEvents(NamedTuple):
    """A shard's events in order of key, then of time; behind them those that kept runs took.

    `keys` and `seen` (1: it is of a stream of the group) are of the shard's events alone.
    """

    keys: Ints
    seen: Bytes
    fits: Ints
    """By event and step the set of the rules whose step the event may be by what it is alone."""
    times: Ints
    numbers: Ints
    columns: Ints
    nulls: Bytes
    constants: Ints
    ranks: Ints


class StrictRuns(NamedTuple):
    """The runs that were kept, and by key the place of its row, or NONE."""

    rows: ReadOnlyInts
    of_key: Ints


class StrictRoom(NamedTuple):
    """Room for one key: sets by state, before and after an event; its last events; an alternative's row."""

    live: Ints
    then: Ints
    asked: Ints
    passed: Ints
    """Sets of one step."""
    window: Ints
    row: Ints
    slots: Ints
    unknown: Ints
    overflows: Ints
    """By rule, added to."""
    cursor: Ints


class StrictOutput(NamedTuple):
    """Room for the rows of all keys, and for matches."""

    rows: Ints
    matches: Ints


def fit_events(
    data: ReadOnlyBytes, ends: Ints, bits: bool, rows: Ints, events: Ints, firsts: Ints, masks: Ints,
    fits: Ints, width: int,
) -> None:  # fmt: skip
    """Add to the sets of rules that events fit what the atoms say that are true of them (`list_hits`).

    An atom adds `masks[2 k + 1]` to the number at `masks[2 k]` of an event's, for k from `firsts[atom]` on.
    """
    for number in range(len(rows)):
        row = rows[number]
        at = ends[row]
        end = ends[row + 1]
        to = events[number] * width
        if bits or (end - at) % 2 == 1:
            atom = 0
            for k in range(at, end):
                byte = data[k]
                if byte != 0:
                    for n in range(8):
                        if byte & (128 >> n):
                            for m in range(firsts[atom + n], firsts[atom + n + 1]):
                                fits[to + masks[2 * m]] |= masks[2 * m + 1]
                atom += 8
        else:
            for k in range(at, end, 4):
                atom = number_at(data, k)
                for m in range(firsts[atom], firsts[atom + 1]):
                    fits[to + masks[2 * m]] |= masks[2 * m + 1]


@inlined
def place_of(bit: int) -> int:
    """The place of the one bit that is set."""
    place = 0
    if bit & 0xFFFFFFFF == 0:
        place += 32
        bit >>= 32
    if bit & 0xFFFF == 0:
        place += 16
        bit >>= 16
    if bit & 0xFF == 0:
        place += 8
        bit >>= 8
    if bit & 0xF == 0:
        place += 4
        bit >>= 4
    if bit & 0x3 == 0:
        place += 2
        bit >>= 2
    return place + 1 - (bit & 1)


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
def blank(tables: Ints, row: Ints) -> None:
    """Let a row be an alternative that has taken nothing."""
    for k in range(tables[H_ALT]):
        row[k] = 0
    for k in range(tables[H_VALUES] - tables[H_NULLS]):
        row[tables[H_NULLS] + k] = tables[tables[H_INITIAL] + k]


@inlined
def skip(group: StrictRules, room: StrictRoom, matches: Ints, first: int, words: int, width: int) -> None:
    """End the runs that the matches from `first` on end."""
    depth = len(room.window) - 1
    for match in range(first, room.cursor[C_MATCHES], width):
        rule = matches[match + X_RULE]
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
def add_match(came: StrictEvents, room: StrictRoom, matches: Ints, rule: int, i: int) -> None:
    """Note a match whose last event is i."""
    cursor = room.cursor
    to = cursor[C_MATCHES]
    matches[to + X_RULE] = rule
    matches[to + X_KEY] = cursor[C_KEY]
    matches[to + X_TIME] = came.times[i]
    matches[to + X_EVENTS] = came.numbers[i]
    for k in range(len(room.window) - 1):
        event = room.window[k]
        matches[to + X_EVENTS + 1 + k] = NONE if event < 0 else came.numbers[event]
    cursor[C_MATCHES] = to + X_EVENTS + len(room.window)


def evaluate_registers(group: StrictRules, rule: Rule, room: StrictRoom, state: int) -> None:
    """Let the row be the alternative of a run that took the last events, so many as `state` says."""
    blank(rule.tables, room.row)
    for k in range(state):
        at = group.updates[2 * k]
        take(rule, at, group.updates[2 * k + 1], room.window[state - 1 - k], 0, room.row, room.cursor)


def ask_each(
    group: StrictRules, rule: Rule, room: StrictRoom, word: int, bits: int, state: int, i: int
) -> int:
    """Evaluate the condition of each rule of a part of a set; those of which it is true."""
    cursor = room.cursor
    passed = 0
    while bits != 0:
        bit = bits & -bits
        bits ^= bit
        number = word * BITS + place_of(bit)
        program = 2 * (number * len(room.window) + state)
        before = cursor[C_OVERFLOWS]
        cursor[C_EFFORT] -= 1
        if holds(rule, group.programs[program], group.programs[program + 1], i, 0, room.row, cursor):
            passed |= bit
        room.overflows[number] += cursor[C_OVERFLOWS] - before
    return int(passed)


@inlined
def fewer_than(ladder: Ints, first: int, words: int, asked: Ints, most: int) -> bool:
    """True if fewer rules of a ladder are asked; its last set is at `first`."""
    count = 0
    for word in range(words):
        bits = asked[word] & ladder[first + word]
        while bits != 0 and count < most:
            bits &= bits - 1
            count += 1
    return count < most


def climb(
    group: StrictRules, rule: Rule, room: StrictRoom, ladder: int, words: int, state: int, i: int
) -> None:
    """Add the rules of a ladder whose conditions are true: asked are both ends, then what halves the rest.

    Where neither end overflows nothing between them does; what is true is so up to a rung, or from one on.
    """
    cursor, rungs, asked, passed = room.cursor, group.rungs, room.asked, room.passed
    size = RUNG + words
    first = group.ladders[ladder + D_FIRST]
    last = first + (group.ladders[ladder + D_COUNT] - 1) * size
    if not fewer_than(rungs, last + RUNG, words, asked, FEW):
        before = cursor[C_OVERFLOWS]
        cursor[C_EFFORT] -= 2
        least = true_of(rule, rungs[first], rungs[first + G_LENGTH], i, 0, room.row, cursor)
        most = least
        if last > first:
            most = true_of(rule, rungs[last], rungs[last + G_LENGTH], i, 0, room.row, cursor)
        if cursor[C_OVERFLOWS] == before:
            if least == most:
                for word in range(words):
                    if least:
                        passed[word] |= asked[word] & rungs[last + RUNG + word]
                return
            low = 0
            high = group.ladders[ladder + D_COUNT] - 1
            while high - low > 1:
                middle = (low + high) // 2
                at = first + middle * size
                cursor[C_EFFORT] -= 1
                if true_of(rule, rungs[at], rungs[at + G_LENGTH], i, 0, room.row, cursor) == least:
                    low = middle
                else:
                    high = middle
            at = first + low * size + RUNG
            for word in range(words):
                here = rungs[at + word]
                passed[word] |= asked[word] & (here if least else rungs[last + RUNG + word] & ~here)
            return
    for word in range(words):
        bits = asked[word] & rungs[last + RUNG + word]
        if bits != 0:
            passed[word] |= ask_each(group, rule, room, word, bits, state, i)


@inlined
def without_ended(group: StrictRules, room: StrictRoom, words: int, start: int, t: int) -> None:
    """Leave out the rules whose `within` is over for a run that began at `start`."""
    for word in range(words):
        bits = room.asked[word]
        while bits != 0:
            bit = bits & -bits
            bits ^= bit
            within = group.rules[(word * BITS + place_of(bit)) * STRICT_RULE + Z_WITHIN]
            if within >= 0 and later(start, within) <= t:
                room.asked[word] ^= bit


def show_state(
    group: StrictRules, rule: Rule, room: StrictRoom, words: int, state: int, i: int
) -> None:  # fmt: skip
    """Show an event to the runs that have taken so many: what passes goes to `passed`."""
    step = state * words
    asked = False
    for word in range(words):
        room.passed[word] = room.asked[word] & group.free[step + word]
        asked = asked or room.asked[word] != room.passed[word]
    if not asked:
        return
    evaluate_registers(group, rule, room, state)
    for ladder in range(group.ladders_of[state], group.ladders_of[state + 1], LADDER):
        climb(group, rule, room, ladder, words, state, i)
    for word in range(words):
        bits = room.asked[word] & group.alone[step + word]
        if bits != 0:
            room.passed[word] |= ask_each(group, rule, room, word, bits, state, i)


def show_event(
    group: StrictRules, rule: Rule, came: StrictEvents, room: StrictRoom, matches: Ints, words: int,
    shortest: int, i: int,
) -> None:  # fmt: skip
    """Show an event to the runs of its key, those that have taken most first; then it may begin runs.

    `shortest` is the least `within` of a rule."""
    live, then, window, cursor = room.live, room.then, room.window, room.cursor
    depth = len(window) - 1
    t = came.times[i]
    first = cursor[C_MATCHES]
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
        show_state(group, rule, room, words, state, i)
        for word in range(words):
            bits = room.passed[word] & group.last[step + word]
            if bits != room.passed[word]:
                then[step + word] |= room.passed[word] ^ bits
            while bits != 0:
                bit = bits & -bits
                bits ^= bit
                add_match(came, room, matches, word * BITS + place_of(bit), i)
    if cursor[C_MATCHES] > first:
        skip(group, room, matches, first, words, X_EVENTS + depth + 1)
    for k in range(depth * words):
        live[k] = then[k]
    for k in range(depth - 1, 0, -1):
        window[k] = window[k - 1]
    window[0] = i


def run_strict(
    group: StrictRules, came: StrictEvents, stored: StrictRuns, room: StrictRoom, output: StrictOutput,
    bound: int,
) -> int:  # fmt: skip
    """Run a group of rules over a shard's events, key by key, and settle what is due up to `bound`.

    Returns DONE; MORE_ROOM, where the caller lets `output.matches` grow and calls again; or LATER, where the
    effort that it gave is used up.
    """
    cursor = room.cursor
    depth = len(room.window) - 1
    words = len(group.free) // (depth + 1)
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
    most = (X_EVENTS + depth + 1) * (len(group.rules) // STRICT_RULE)
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
                cursor[C_EFFORT] -= 1
                show_event(group, rule, came, room, output.matches, words, shortest, i)
            cursor[C_POSITION] += 1
        due = settle_key(group, came.times, room, words, bound)
        if due >= 0:
            write_key(group, came, room, output.rows, words, entry, due)
        cursor[C_STAGE] = LOADING
        cursor[C_KEY] += 1
    return DONE
