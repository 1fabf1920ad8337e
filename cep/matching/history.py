"""`prev`: the values of events before the candidate, within a batch and from the batches before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.automata.plan import RulePlan
from cep.matching.texts import Texts
from rules.typed import Match

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]


@dataclass(slots=True)
class History:
    """The last events of every key for one rule: key number, time, and values and nulls per column."""

    keys: Ints
    times: Ints
    values: Ints
    nulls: Bytes

    @classmethod
    def none(cls, rule: RulePlan) -> History:
        """No event."""
        count = len(back(rule))
        return cls(
            np.zeros(0, np.int64),
            np.zeros(0, np.int64),
            np.zeros((count, 0), np.int64),
            np.zeros((count, 0), np.uint8),
        )

    @classmethod
    def of(cls, table: pa.Table) -> History:
        """From what `table` gave."""
        names = [name for name in table.column_names if name[0] == "v"]
        return cls(
            table.column("key").to_numpy(),
            table.column("time").to_numpy(),
            np.array([table.column(name).to_numpy() for name in names], np.int64).reshape(
                len(names), len(table)
            ),
            np.array([table.column("n" + name[1:]).to_numpy() for name in names], np.uint8).reshape(
                len(names), len(table)
            ),
        )

    def table(self) -> pa.Table:
        """The history as a table."""
        content = {"key": pa.array(self.keys), "time": pa.array(self.times)}
        for number in range(len(self.values)):
            content[f"v{number}"] = pa.array(self.values[number])
            content[f"n{number}"] = pa.array(self.nulls[number])
        return pa.table(content)

    def chosen(self, which: Ints | npt.NDArray[np.bool_]) -> History:
        """Some of the events."""
        return History(self.keys[which], self.times[which], self.values[:, which], self.nulls[:, which])

    def translated(self, rule: RulePlan, old: pa.StringArray, texts: Texts) -> History:
        """The history with its strings numbered by another dictionary."""
        assert rule.tables is not None
        values = self.values.copy()
        for number, column in enumerate(back(rule)):
            if texts_in(rule, column):
                known = self.nulls[number] == 0
                values[number, known] = texts.numbers(old.take(pa.array(self.values[number, known])))
        return History(self.keys, self.times, values, self.nulls)


def back(rule: RulePlan) -> tuple[int, ...]:
    """The columns of a rule that look back."""
    assert rule.tables is not None
    return tuple(n for n, column in enumerate(rule.tables.columns) if column.back)


def texts_in(rule: RulePlan, column: int) -> bool:
    """Whether a column holds numbers of the dictionary."""
    from cep.automata.program import TEXT, kind_of

    assert rule.tables is not None
    expression = rule.tables.columns[column].expression
    return kind_of(expression.type) == TEXT


def look_back(
    rule: RulePlan,
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
    assert rule.tables is not None
    assert isinstance(rule.rule.body, Match)
    columns = back(rule)
    within = rule.rule.body.within
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
