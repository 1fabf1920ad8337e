"""The matches that the kernel found, as decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from alerts.ranks import FURTHER
from cep.batch.decisions import Decisions, EventColumns, lengths
from cep.batch.taken import EventBook
from cep.collector import paused
from cep.hashing.rows import ranked
from cep.operators.patterns.compile.pattern_plan import PatternPlan
from cep.operators.patterns.kernel import layout
from cep.state.keyed_rows import ranges
from cep.state.keys import Keys

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RuleMatches:
    """The matches of one rule, whose number `number` is: rows of the kernel's `matches`, and the chains of
    events taken, end to end.

    The k-th match took those from `ends[k - 1]` up to `ends[k]`: number of the step's name, event number,
    sequence number.
    """

    number: int
    rule: PatternPlan
    matches: Ints
    ends: Ints
    steps: Ints
    events: Ints
    sequences: Ints

    def chosen(self, which: Ints) -> RuleMatches:
        """Some of the matches."""
        if len(which) == len(self.matches):
            return self
        counts = lengths(self.ends)[which]
        rows = ranges(self.ends[which] - counts, counts)
        return RuleMatches(
            self.number, self.rule, self.matches[which], np.cumsum(counts), self.steps[rows],
            self.events[rows], self.sequences[rows],
        )  # fmt: skip


def decisions_of(matched: Sequence[RuleMatches], keys: Keys, book: EventBook) -> list[Decisions]:
    """The matches of a space, rule by rule."""
    if not matched:
        return []
    with paused():
        numbers, places = ranked([found.events for found in matched])
        columns = EventColumns.of(len(numbers), [source[1:] for source in book.sources(numbers)])
        of_keys = keys.of(np.concatenate([found.matches[:, layout.M_KEY] for found in matched]))
        orders = _orders(
            np.concatenate([found.matches[:, layout.M_BY_EVENT] for found in matched]),
            np.concatenate([lengths(found.ends) for found in matched]),
            np.concatenate([found.sequences for found in matched]),
        )
        decided, first = [], 0
        for found, events in zip(matched, places, strict=True):
            count = len(found.matches)
            decided.append(
                Decisions(
                    found.rule,
                    found.matches[:, layout.M_TIME],
                    [column.slice(first, count) for column in of_keys],
                    orders.slice(first, count),
                    found.matches[:, layout.M_TIMEOUT] == 1,
                    found.ends,
                    found.steps,
                    events,
                    columns,
                )
            )
            first += count
        return decided


def _orders(by_event: Ints, counts: Ints, sequences: Ints) -> pa.BinaryArray:
    """The order of decision of matches, which took so many events each: at an instant deadlines come first,
    then earlier events taken."""
    size, ends = len(counts), np.cumsum(counts)
    begins = ends - counts + np.arange(size)
    numbers = np.empty(size + len(sequences), np.int64)
    of_chain = np.ones(len(numbers), bool)
    of_chain[begins] = False
    numbers[begins], numbers[of_chain] = by_event, sequences
    rows = np.empty((len(numbers), 9), np.uint8)
    rows[:, 0] = FURTHER[0]
    rows[:, 1:] = (numbers.view(np.uint64) ^ np.uint64(1 << 63)).astype(">u8").view(np.uint8).reshape(-1, 8)
    stops = np.concatenate(([0], (ends + np.arange(size) + 1) * 9)).astype(np.int32)
    return pa.BinaryArray.from_buffers(
        pa.binary(), size, [None, pa.py_buffer(stops), pa.py_buffer(rows.reshape(-1))]
    )
