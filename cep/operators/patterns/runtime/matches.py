"""The matches that the kernel found, as decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alerts.rank_columns import orders
from cep.batch.decisions import Decisions, EventColumns, lengths
from cep.batch.shared_columns import Chosen, SharedColumn
from cep.batch.taken import EventBook
from cep.collector import paused
from cep.hashing.rows import ranked
from cep.operators.patterns.kernel import layout
from cep.plan.plan import RulePlan
from cep.state.keyed_rows import ranges
from cep.state.keys import Keys

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Matches:
    """Matches, a row each: `start` is the number of the event that a run began with; `by_event` 0 where time
    decided; `timeout`: before the run was a match.

    The k-th is one of the rules with the numbers `rule[decided[k - 1]:decided[k]]` in their space. It took
    the events from `ends[k - 1]` up to `ends[k]`: number of the step's name, event number, sequence number.
    """

    rule: Ints
    decided: Ints
    time: Ints
    by_event: Ints
    key: Ints
    start: Ints
    timeout: Bools
    ends: Ints
    steps: Ints
    events: Ints
    sequences: Ints

    @classmethod
    def of(cls, rule: int, rows: Ints, ends: Ints, steps: Ints, events: Ints, sequences: Ints) -> Matches:
        """Those of one rule from rows of the kernel."""
        return cls(
            np.full(len(rows), rule), np.arange(1, len(rows) + 1),
            rows[:, layout.M_TIME], rows[:, layout.M_BY_EVENT], rows[:, layout.M_KEY],
            rows[:, layout.M_START], rows[:, layout.M_TIMEOUT] == 1,
            ends, steps, events, sequences,
        )  # fmt: skip

    def chosen(self, which: Ints) -> Matches:
        """Some of them, of one rule each."""
        if len(which) == len(self.time):
            return self
        counts = lengths(self.ends)[which]
        rows = ranges(self.ends[which] - counts, counts)
        return Matches(
            self.rule[which], np.arange(1, len(which) + 1),
            self.time[which], self.by_event[which], self.key[which], self.start[which], self.timeout[which],
            np.cumsum(counts), self.steps[rows], self.events[rows], self.sequences[rows],
        )  # fmt: skip


def decisions_of(
    rules: Sequence[RulePlan], matched: Sequence[Matches], keys: Keys, book: EventBook
) -> list[Decisions]:
    """The matches of a space with these rules. At an instant deadlines come first, then earlier events."""
    if not matched:
        return []
    with paused():
        numbers, places = ranked([found.events for found in matched])
        size = sum(len(found.time) for found in matched)
        sources = [source[1:] for source in book.sources(numbers)]
        columns = EventColumns(len(numbers), sources, named=size)
        of_keys = [SharedColumn(column, size >= keys.count) for column in keys.columns]
        of_all = orders(
            np.concatenate([found.by_event for found in matched]),
            np.concatenate([found.sequences for found in matched]),
            np.cumsum(np.concatenate([lengths(found.ends) for found in matched])),
        )
        decided, first = [], 0
        for found, events in zip(matched, places, strict=True):
            some = slice(first, first := first + len(found.time))
            key = keys.places(found.key)
            raising = np.flatnonzero(np.bincount(found.rule))
            decided.append(
                Decisions(
                    tuple(rules[number] for number in raising.tolist()),
                    np.searchsorted(raising, found.rule),
                    found.decided,
                    found.time,
                    [Chosen(column, key) for column in of_keys],
                    of_all[some],
                    found.timeout,
                    found.ends,
                    found.steps,
                    events,
                    columns,
                )
            )
        return decided
