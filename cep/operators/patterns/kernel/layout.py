"""Rows of the pools, what goes on between calls, and the arrays that travel together.

Pools are flat int64 arrays, shared by the rules of a space. Rules run over a block of keys at a time, one
rule after the other. Behind the last of them what lives on is written out, key by key, and the pools are
empty again: so they stay small enough for a processor's cache.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from kernels.family import READ_ONLY

Ints = npt.NDArray[np.int64]
ReadOnlyInts = Annotated[Ints, READ_ONLY]
Bytes = npt.NDArray[np.uint8]
ReadOnlyBytes = Annotated[Bytes, READ_ONLY]
Floats = npt.NDArray[np.float64]


class Rule(NamedTuple):
    """A rule at hand, what its conditions read, and room for evaluating them.

    `places`, `columns` and `nulls` hold a row for each place and column, of a value an event.
    """

    tables: Ints
    constants: Ints
    places: Bytes
    columns: Ints
    nulls: Bytes
    ranks: Ints
    """Order of the dictionary's texts, by their number."""
    slots: Ints
    """For the longest program, and two more that are scratch for updates."""
    floats: Floats
    """The same memory as `slots`."""
    unknown: Ints
    """1 where a slot is null."""


class Alternatives(NamedTuple):
    """Alternatives of runs, and what they took: all that an event changes of a run alone."""

    rows: Ints
    """A row is an alternative: state, times, the transitions that it still waits for, the chain of events
    taken, registers. Or it is a fork: alternatives that go on independently although a preferred one may
    still decide."""
    nodes: Ints
    """An event taken along an edge, after the node before it; alternatives share them."""
    cursor: Ints
    trace: Ints


class Pools(NamedTuple):
    """Pools that the rules of a space share: rows that point at each other by offset.

    A call that is not inlined copies every array's head: so functions about a single run take its
    `alternatives` only.
    """

    lists: Ints
    """One for each rule and key with runs: its runs in order of their first event, forks side by side."""
    runs: Ints
    """A run: its alternatives in order of preference."""
    matches: Ints
    """Matches that were raised, by rule in order of decision."""
    wait_index: Ints
    """In crowded lists: chains of the runs that wait for an event with some value, by hash."""
    seen: Ints
    """Table of MOST_SEEN alternatives for merging, all 0 at first."""
    alternatives: Alternatives


class Batch(NamedTuple):
    """A shard's events of one batch, in order of key, then of time, and the rules to run over them."""

    rules: Ints
    tables: Ints
    constants: Ints
    pairs: Ints
    """Of each rule the pairs of place and atom."""
    ends: Ints
    """Atom a is true of the events `hits[ends[a]:ends[a + 1]]`."""
    hits: Ints
    keys: Ints
    times: Ints
    columns: Ints
    nulls: Bytes
    ranks: Ints
    blocks: Ints


class StoredRuns(NamedTuple):
    """The runs that were stored after the batch before, as they lie in a segment."""

    lists: ReadOnlyInts
    runs: ReadOnlyInts
    rows: ReadOnlyInts
    nodes: ReadOnlyInts
    order: Ints
    """Numbers of lists by rule, those of a rule by key."""
    firsts: Ints
    """For each list where its runs, its alternatives and its nodes begin."""


class Output(NamedTuple):
    """Room for what is written behind each block: the runs that live on, and what matches took."""

    lists: Ints
    runs: Ints
    rows: Ints
    nodes: Ints
    taken: Ints
    marks: Ints
    """MARK numbers for each node of the pools."""


class Scratch(NamedTuple):
    """Room that a call needs, and nobody reads afterwards."""

    list_of_key: Ints
    """NONE for each key."""
    listed: Ints
    """NONE, two numbers for each key: the first and the last list of a key in a block."""
    selected: Ints
    """For the events of any block."""
    heads: Ints
    """By pair the first hit that no block has had."""
    places: Bytes
    """All 0, a row of events for each place of any rule."""
    slots: Ints
    unknown: Ints


(
    L_KEY, L_FIRST, L_LAST, L_RUNS, L_ALTS, L_SEEN, L_DEADLINE, L_PARKED, L_WANTS, L_RULE, L_NEXT,
    LIST,
) = range(12)  # fmt: skip
(
    R_NEXT, R_ALT, R_START, R_TIME, R_FORK, R_DEADLINE, R_DONE, R_BEFORE, R_WANTS, R_ENTRY, R_CANDIDATE, RUN,
) = range(12)  # fmt: skip
# A place in a chain, one before and after another, and the next of the same run. The chains come first.
E_NEXT, E_BEFORE, E_HASH, E_LIST, E_RUN, E_OF_RUN, ENTRY = range(7)
T_NEXT, T_STATE, T_TIME, T_LAST, T_SEQUENCE, T_DEADLINE, T_NODE, T_MASK = range(8)
N_PREVIOUS, N_EDGE, N_EVENT, N_SEQUENCE, NODE = range(5)
# What is noted of a node while nodes are written out or dropped: where it goes, how far back it is needed.
G_PLACE, G_UNTIL, MARK = range(3)
# Alternatives of many runs that take the same events share nodes although they began apart. Where an
# alternative joins a node of others it gets a splice, a row among the nodes: the alternative's chain runs
# along N_PREVIOUS down to and including the node with the splice's N_SEQUENCE, and what comes before that is
# the chain in the splice's N_EVENT. What names a chain is a node, and in the higher half of the number the
# place after its first splice, or 0 (docs/decisions/0022).
SPLICE = -1
HALF, LOWER = 32, 2**32 - 1
# By edge the first nodes that were made of the event at hand. Another alternative that takes it along that
# edge names the one after its own last node; if there is none and there are so many, it joins the first.
JOIN_SLOTS, BACKBONES = 256, 16
# Once its block is done a match has for its node where the events that it took end in `taken`.
M_TIME, M_BY_EVENT, M_NODE, M_KEY, M_START, M_TIMEOUT, M_RULE, MATCH = range(8)
A_EDGE, AN_EVENT, A_SEQUENCE, TAKEN = range(4)

# Columns of a stored list and of a stored run. Alternatives and nodes are stored as their rows, but an
# alternative has for its link how many rows it and those in it take, and nodes are numbered within their
# list, each after the one before it.
KEPT_KEY, KEPT_RULE, KEPT_SEEN, KEPT_RUNS, KEPT_ALTS, KEPT_NODES, KEPT_DUE, KEPT_LIST = range(8)
KEPT_START, KEPT_TIME, KEPT_FORK, KEPT_RUN_ALTS, KEPT_RUN = range(5)

# A rule among those that run together: its number in the space; where its tables and constants are (from,
# to), where its columns begin, its pairs of place and atom, its kept lists that are still to come; since when
# it watches. Then what came of it: where its part of the trace ends, and counters. Elsewhere a rule is its
# row among them.
(
    U_RULE, U_TABLES, U_TABLES_END, U_CONSTANTS, U_CONSTANTS_END, U_COLUMNS, U_PAIRS,
    U_PAIRS_END, U_KEPT, U_KEPT_END, U_SINCE, U_TRACES, U_DROPPED, U_OVERFLOWS, U_GIVEN_UP, RULE,
) = range(16)  # fmt: skip
# A block of keys: before which event and which key it ends.
B_EVENT, B_KEY, BLOCK = range(3)

# Instead of a state: an alternative that is complete; alternatives that go on independently, and each of
# them. The child of the last two stands where an alternative has its node.
MATCHED, EACH, FORK = -1, -2, -3

# What goes on between calls: where the loop stands, the pools' free rows (those given back are linked, those
# after the fresh one were never used), and what is being moved.
(
    C_POSITION, C_SETTLED, C_ALT, C_ALTS, C_RUN, C_RUNS, C_LISTS, C_NODES, C_MATCHES, C_DECIDED,
    C_DROPPED, C_OVERFLOWS, C_NEED, C_SEQUENCE, C_EVENT, C_EVENTS, C_WATERMARK, C_BLANK, C_TRACES, C_SINCE,
    C_HOOK, C_FORKS, C_MODE, C_BEGAN, C_SEEN, C_START, C_OF_FORK, C_KEY,
    C_CHAINS, C_ENTRY, C_ENTRIES, C_SHORT, C_FRESH_ALT, C_FRESH_RUN,
    C_BLOCK, C_RULE, C_STAGE, C_SELECTED, C_OWN_LISTS, C_WIDTH,
    C_KEPT_LISTS, C_KEPT_RUNS, C_KEPT_ALTS, C_KEPT_NODES, C_LIST_NODES, C_WRITTEN, C_TAKEN, C_FULL,
    C_NODES_NEED, C_PASS, C_GIVEN_UP, C_EFFORT, C_SHOWN, C_JOINS,
) = range(54)  # fmt: skip
CURSOR = C_JOINS + BACKBONES * JOIN_SLOTS

NONE = -1
NO_CANDIDATE = -2
NO_SEQUENCE = -1
END_OF_TIME = 2**63 - 1
LEAST, GREATEST = -(2**63), 2**63 - 1
DONE, MORE_ROOM, LATER = 0, 1, 2
BY_EVENT, BY_TIME, AT_BEGIN, AT_END = range(4)
BITS = 62
FOLD = 2**31 - 1
