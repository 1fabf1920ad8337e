"""A match that several forks of a run come to is raised when the first of them decides it, and then no more.

What took the same events in the same steps is one match (docs/decisions/0008). Only forks of one run come to
the same: a run is known by the event that it began with, which its forks share and which is the first that a
match took. So the identity of a match is kept while a run of its rule lives that began with its first event,
and no longer. A run ends by an event that can matter to it, by time that is due, by a limit, or by a match of
its key: each of these brings everything that is kept of its key before the batch, these identities too.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from cep.operators.patterns.kernel import layout
from cep.operators.patterns.runtime.kinds import RAISED
from cep.operators.patterns.runtime.matches import Matches
from cep.operators.patterns.runtime.runs import Runs
from cep.state.keyed_rows import FROM_HERE, KEY, RULE, FlatRows, Kept, of_kind

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]
START = FROM_HERE
IDENTITY = slice(START + 1, START + 3)
"""Columns of the rows of `RAISED`, after the numbers of key and rule: the sequence number of the
match's first event, and 128 bits that stand for all events and their steps."""
COLUMNS = 3


def rows_in(kept: Kept) -> Ints:
    """The rows of what is kept."""
    found = of_kind(kept, RAISED, FlatRows)
    return found.rows if found.size else FlatRows.none(COLUMNS).rows


def identities(timeouts: Bools, ends: Ints, steps: Ints, sequences: Ints) -> Ints:
    """Two numbers for each match, which stand for what it took: the k-th took the events with the numbers
    `sequences[ends[k - 1]:ends[k]]` in the steps beside them. `timeouts`: time ended a run."""
    counts = np.diff(ends, prepend=0)
    place = np.arange(len(steps)) - np.repeat(ends - counts, counts)
    mixed = _mixed(_mixed(_mixed(sequences.view(np.uint64)) + steps.view(np.uint64)) + place.view(np.uint64))
    found = np.empty((len(ends), 2), np.int64)
    for column in range(2):
        mixed = _mixed(mixed + np.uint64(column + 1))
        sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(mixed)))
        of_match = sums[ends] - sums[ends - counts] + timeouts.astype(np.uint64)
        found[:, column] = of_match.view(np.int64)
    return found


def _mixed(words: Words) -> Words:
    """The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), a step on."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))


def first_of_each(named: Ints, known: Ints) -> Ints:
    """The places (rising) of the identities that are not known, each where it first stands."""
    seen = set(_bytes(known))
    found = []
    for place, name in enumerate(_bytes(named)):
        if name not in seen:
            seen.add(name)
            found.append(place)
    return np.array(found, np.int64)


def _bytes(named: Ints) -> Iterable[bytes]:
    data = np.ascontiguousarray(named).tobytes()
    return (data[at : at + 16] for at in range(0, len(data), 16))


def rows_of(matches: Matches, named: Ints) -> Ints:
    """The rows of matches with these identities."""
    found = np.empty((len(named), FROM_HERE + COLUMNS), np.int64)
    found[:, KEY], found[:, RULE] = matches.key, matches.rule
    found[:, START], found[:, IDENTITY] = matches.start, named
    return found


def still_possible(parts: Iterable[Ints], live: Iterable[Runs], rules: int) -> FlatRows:
    """Those of the rows whose match some live run may come to, sorted by key and rule.

    `rules`: how many rules there are.
    """
    rows = np.concatenate([FlatRows.none(COLUMNS).rows, *parts])
    if not len(rows):
        return FlatRows(rows)
    begun = [
        np.repeat(runs.lists[:, layout.KEPT_RULE], runs.lists[:, layout.KEPT_RUNS])
        + rules * runs.runs[:, layout.KEPT_START]
        for runs in live
    ]
    starts = rows[:, RULE] + rules * rows[:, START]
    rows = rows[np.isin(starts, np.concatenate([starts[:0], *begun]))]
    return FlatRows(rows[np.lexsort((rows[:, RULE], rows[:, KEY]))])
