"""The matches that the kernel found, as decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alerts.ranks import FURTHER
from cep.collector import paused
from cep.matching import kernel
from cep.matching.decisions import Decisions, EventColumns, Objects, lengths, objects
from cep.matching.keys import Keys
from cep.matching.rows import rising
from cep.matching.taken import EventBook
from cep.operators.patterns.pattern_plan import PatternPlan
from cep.state.keyed_rows import ranges

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Found:
    """The matches of one rule: rows of the kernel's `matches`, and the chains of events taken, end to end.

    The k-th match took those from `ends[k - 1]` up to `ends[k]`: number of the step's name, event number,
    sequence number.
    """

    rule: PatternPlan
    matches: Ints
    ends: Ints
    steps: Ints
    events: Ints
    sequences: Ints


def decisions_of(matched: Sequence[Found], keys: Keys, book: EventBook) -> list[Decisions]:
    """The matches of a space, rule by rule.

    Forks that took the same events in the same steps are one match (decision 8).
    """
    if not matched:
        return []
    with paused():
        numbers = rising(np.concatenate([found.events for found in matched]))
        columns = EventColumns.of(len(numbers), [source[1:] for source in book.sources(numbers)])
        return [_decisions(found, keys, numbers, columns) for found in matched]


def _decisions(found: Found, keys: Keys, numbers: Ints, columns: EventColumns) -> Decisions:
    """The matches of a rule; `columns` has the events with these numbers (rising)."""
    matches, ends, steps, events, sequences = _distinct(found)
    return Decisions(
        found.rule,
        matches[:, kernel.M_TIME],
        [objects(column.to_pylist()) for column in keys.of(matches[:, kernel.M_KEY])],
        _orders(matches[:, kernel.M_BY_EVENT], ends, sequences),
        matches[:, kernel.M_TIMEOUT] == 1,
        ends,
        steps,
        np.searchsorted(numbers, events),
        columns,
    )


def _distinct(found: Found) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """The matches, ends, steps, events and sequence numbers of those that no earlier one is the same as."""
    matches, ends, steps, sequences = found.matches, found.ends, found.steps, found.sequences
    counts, timeouts = lengths(ends), matches[:, kernel.M_TIMEOUT]
    if len(matches) == 1 or len(matches) == len(rising(_digests(timeouts, ends, steps, sequences))):
        return matches, ends, steps, found.events, sequences
    known: dict[tuple[object, ...], int] = {}
    for number, (timeout, end, count) in enumerate(
        zip(timeouts.tolist(), ends.tolist(), counts.tolist(), strict=True)
    ):
        taken = slice(end - count, end)
        known.setdefault((timeout, *sequences[taken].tolist(), *steps[taken].tolist()), number)
    first = np.fromiter(known.values(), np.int64)
    rows = ranges(ends[first] - counts[first], counts[first])
    return matches[first], np.cumsum(counts[first]), steps[rows], found.events[rows], sequences[rows]


def _digests(timeout: Ints, ends: Ints, steps: Ints, sequences: Ints) -> npt.NDArray[np.uint64]:
    """A number of each match, equal for those that are the same, and mostly for no others."""
    counts = lengths(ends)
    place = np.arange(len(steps)) - np.repeat(ends - counts, counts)
    words = (sequences * 1_000_003 + steps * 10_007 + place).view(np.uint64)
    # the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(words ^ (words >> np.uint64(31)))))
    found: npt.NDArray[np.uint64] = sums[ends] - sums[ends - counts] + timeout.astype(np.uint64)
    return found


def _orders(by_event: Ints, ends: Ints, sequences: Ints) -> Objects:
    """The order of decision of matches: at an instant deadlines come first, then earlier events taken."""
    size = len(ends)
    begins = ends - lengths(ends) + np.arange(size)
    numbers = np.empty(size + len(sequences), np.int64)
    of_chain = np.ones(len(numbers), bool)
    of_chain[begins] = False
    numbers[begins], numbers[of_chain] = by_event, sequences
    rows = np.empty((len(numbers), 9), np.uint8)
    rows[:, 0] = FURTHER[0]
    rows[:, 1:] = (numbers.view(np.uint64) ^ np.uint64(1 << 63)).astype(">u8").view(np.uint8).reshape(-1, 8)
    data = rows.tobytes()
    stops = ends + np.arange(size) + 1
    return objects([data[a:b] for a, b in zip((begins * 9).tolist(), (stops * 9).tolist(), strict=True)])
