"""`prev`: the values of events before the candidate, within a batch and from the batches before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cep.operators.patterns.compile.pattern_plan import PatternPlan
from cep.state.keyed_rows import FlatRows

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
TIME, VALUES = 2, 3
"""Columns of the rows in which histories are kept: after the numbers of key and rule comes the time, then a
value and whether it is null for each column of the rule that looks back."""


@dataclass(slots=True)
class History:
    """The last events of every key for one rule: key number, time, and values and nulls per column."""

    keys: Ints
    times: Ints
    values: Ints
    nulls: Bytes

    @classmethod
    def none(cls, rule: PatternPlan) -> History:
        """No event."""
        count = len(back(rule))
        return cls(
            np.zeros(0, np.int64),
            np.zeros(0, np.int64),
            np.zeros((count, 0), np.int64),
            np.zeros((count, 0), np.uint8),
        )

    @classmethod
    def of(cls, rows: Ints, columns: int) -> History:
        """From rows of one rule, so many columns of which look back."""
        end = VALUES + 2 * columns
        return cls(
            rows[:, 0],
            rows[:, TIME],
            np.ascontiguousarray(rows[:, VALUES:end:2].T),
            rows[:, VALUES + 1 : end : 2].T.astype(np.uint8),
        )

    def chosen(self, which: Ints | npt.NDArray[np.bool_]) -> History:
        """Some of the events."""
        return History(self.keys[which], self.times[which], self.values[:, which], self.nulls[:, which])


def kept_rows(histories: Mapping[int, History]) -> FlatRows:
    """The histories of rules by number as rows, sorted by key; those of fewer columns end in zeros."""
    width = max((len(history.values) for history in histories.values()), default=0)
    parts = [np.zeros((0, VALUES + 2 * width), np.int64)]
    for number, history in sorted(histories.items()):
        rows = np.zeros((len(history.keys), VALUES + 2 * width), np.int64)
        rows[:, 0], rows[:, 1], rows[:, TIME] = history.keys, number, history.times
        end = VALUES + 2 * len(history.values)
        rows[:, VALUES:end:2], rows[:, VALUES + 1 : end : 2] = history.values.T, history.nulls.T
        parts.append(rows)
    together = np.concatenate(parts)
    return FlatRows(together[np.argsort(together[:, 0], kind="stable")])


def back(rule: PatternPlan) -> tuple[int, ...]:
    """The columns of a rule that look back."""
    return tuple(n for n, column in enumerate(rule.tables.columns) if column.back)


def look_back(
    rule: PatternPlan,
    history: History,
    keys: Ints,
    times: Ints,
    member: Bytes,
    values: Ints,
    nulls: Bytes,
    watermark: int,
) -> History:
    """Replace the columns that look back by the values of the earlier events; what to remember after.

    `keys` and `times` are of the events in key order; `member` says which belong to the pattern's streams.
    No event further back than `within` is seen.
    """
    columns = back(rule)
    within = rule.body.within
    events = np.flatnonzero(member)
    together = History(
        np.concatenate((history.keys, keys[events])),
        np.concatenate((history.times, times[events])),
        np.concatenate((history.values, values[list(columns)][:, events]), axis=1),
        np.concatenate((history.nulls, nulls[list(columns)][:, events]), axis=1),
    )
    order = np.argsort(together.keys, kind="stable")
    together = together.chosen(order)
    known = len(history.keys)
    size = len(order)
    for number, column in enumerate(columns):
        distance = rule.tables.columns[column].back
        source = np.arange(size) - distance
        safe = np.maximum(source, 0)
        seen = (source >= 0) & (together.keys[safe] == together.keys)
        if within is not None:
            seen &= together.times - together.times[safe] <= within
        came = order >= known
        target = events[order[came] - known]
        values[column, :] = 0
        nulls[column, :] = 1
        values[column, target] = np.where(seen, together.values[number, safe], 0)[came]
        nulls[column, target] = np.where(seen, together.nulls[number, safe], 1)[came]
    most = max(rule.tables.columns[column].back for column in columns)
    # The last `most` events of each key: those with another key so many places on.
    later = np.minimum(np.arange(size) + most, size - 1)
    kept = (
        (np.arange(size) + most >= size) | (together.keys[later] != together.keys)
        if size
        else np.zeros(0, bool)
    )
    if within is not None:
        # The watermark is no earlier than these times; unsigned, their difference cannot overflow.
        age = np.uint64(watermark & (2**64 - 1)) - together.times.view(np.uint64)
        kept &= age <= np.uint64(within)
    return together.chosen(kept)
