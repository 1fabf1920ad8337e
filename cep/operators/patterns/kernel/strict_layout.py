"""Rows and arrays of strict sequences, whose runs are sets of rules (strict)."""

from __future__ import annotations

from typing import NamedTuple

from cep.operators.patterns.kernel.layout import Bytes, Floats, Ints

# A rule of a group: its steps; its `within`, or -1; of a match the states up to which its other runs go on.
Z_STEPS, Z_WITHIN, Z_KEEPS, STRICT_RULE = range(4)
# A row of what is kept: the key, when time next ends a run, an entry for each of the last events, and sets.
# Columns of an entry: the event's number (NONE: no run took it), its time if it is the last one or a run
# began with it, bits of the values that are null, the values.
P_KEY, P_DUE, PACKED = range(3)
O_NUMBER, O_TIME, O_NULLS, ENTRY_HEAD = range(4)
# A row of a key in a batch: an entry for each of its last events, newest first, and sets. Columns of an
# entry: the event (NONE: there was none), its time, its values.
W_EVENT, W_TIME, WINDOW_HEAD = range(3)
# A match: the key, the time, how many rules had decided up to it, the numbers of the last events, newest
# first.
X_KEY, X_TIME, X_DECIDED, X_EVENTS = range(4)
# A ladder: where its rungs begin, how many there are.
D_FIRST, D_COUNT, LADDER = range(3)
# A rung before its set: place and length of the program, and where its comparison is.
G_PROGRAM, G_LENGTH, G_COMPARISON, RUNG = range(4)
# A value of a comparison: its column, how many of the last events came after its own (NOW: it is of the event
# itself), the operation that puts it together with a constant (NULL: none), and the constant.
V_COLUMN, V_BACK, V_OPERATION, V_CONSTANT, VALUE = range(5)
NOW = -1
# A comparison: its operation (NULL: the condition is another), and two values.
COMPARISON = 1 + 2 * VALUE
FEW = 4
"""Rules from which on asking the ends of a ladder and halving it is worth it."""
HALF = 16
"""Values of half a byte, which has bits of four atoms."""
LOADING, SHOWING = range(2)
AHEAD = 12
"""Events between one that is shown and one the row of whose key is fetched."""


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
    comparisons: Ints
    """By rule and step the condition as a comparison."""
    updates: Ints
    free: Ints
    last: Ints
    columns: Ints
    """The columns whose values are kept of an event."""
    kept_of: Ints
    """By column its place among them, or NONE."""
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
    """A shard's events, those of a key in order of time; behind them those that kept runs took.

    `keys` and `seen` (1: it is of a stream of the group) are of the shard's events alone.
    """

    keys: Ints
    seen: Bytes
    fits: Ints
    """By event and step the set of the rules whose step the event may be by what it is alone."""
    times: Ints
    """Of the shard's events."""
    numbers: Ints
    """Where those of the shard's events begin, and those of the events behind them."""
    columns: Ints
    doubles: Floats
    """The columns once more."""
    nulls: Bytes
    constants: Ints
    double_constants: Floats
    ranks: Ints


class StrictRoom(NamedTuple):
    """Room for all keys, and for one: sets after an event; its last events; an alternative's row."""

    states: Ints
    """A row for each key."""
    doubles: Floats
    """The same memory."""
    then: Ints
    asked: Ints
    passed: Ints
    """Sets of one step."""
    window: Ints
    row: Ints
    filled: Ints
    """1: the row is that of the runs that are shown an event."""
    slots: Ints
    unknown: Ints
    overflows: Ints
    """By rule, added to."""
    cursor: Ints


class StrictOutput(NamedTuple):
    """Room for the rows of all keys, for matches, and for the rules of each: their places in the group."""

    rows: Ints
    matches: Ints
    rules: Ints
