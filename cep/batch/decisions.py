"""A rule's decisions by column: matches or events of `on` rules, and what of them an alert may name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from json.encoder import encode_basestring
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.batch.payload import ID
from cep.expressions.held import python
from cep.expressions.scalar import aggregate_of
from cep.plan.plan import RulePlan
from rules.typed import Aggregate, Expression, Path, StepRef

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Objects = npt.NDArray[np.object_]


@dataclass(slots=True)
class EventColumns:
    """So many events by column: `parts` say which of them a table holds, row by row.

    A column becomes Python values when it is first asked for.
    """

    count: int
    parts: Sequence[tuple[Ints, pa.Table]]
    _read: dict[str, Objects] = field(default_factory=dict)

    @classmethod
    def of(
        cls, count: int, sources: Iterable[tuple[pa.Table, Ints, Ints]], also: Sequence[str] = ()
    ) -> EventColumns:
        """From where events are: a table, which of them it holds, and in which rows. Of its columns ids and
        fields are taken, and what is named."""
        parts = []
        for table, where, rows in sources:
            names = [name for name in table.column_names if name.startswith("f:") or name in (ID, *also)]
            parts.append((where, table.select(names).take(pa.array(rows))))
        return cls(count, parts)

    def ids(self) -> Objects:
        """Their ids as JSON strings."""
        known = self._read.get("")
        if known is None:
            known = self._read[""] = objects(list(map(encode_basestring, self.column(ID))))
        return known

    def values(self, path: Path) -> Objects:
        """A field's values as they are held; null where the plan of an event had no use for it."""
        return self.column("f:" + ".".join(path))

    def column(self, name: str) -> Objects:
        """A column of the tables."""
        known = self._read.get(name)
        if known is None:
            known = self._read[name] = np.full(self.count, None, np.object_)
            for where, table in self.parts:
                if name in table.column_names:
                    known[where] = objects(python(table.column(name)))
        return known


def objects(values: Sequence[object]) -> Objects:
    """Values as an array of one dimension, whatever they are."""
    return np.fromiter(values, np.object_, len(values))


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions of one rule, a row each: `time` in ns since 1970 UTC, the key's values as they are held by
    field, `orders` as `alerts.ranks.decided` gives them.

    The k-th took the events `events[ends[k - 1]:ends[k]]` (rows of `columns`) in the steps with the numbers
    in `steps`; for an `on` rule that is one, in step 0. `timeout`: time ended a run before it was a match.
    `values` has what the operator itself computed of expressions that the rule emits.
    """

    rule: RulePlan
    time: Ints
    key: Sequence[Objects]
    orders: Objects
    timeout: Bools
    ends: Ints
    steps: Ints
    events: Ints
    columns: EventColumns
    values: Mapping[Expression, Objects] = field(default_factory=dict)

    def by_step(self, steps: int) -> ByStep:
        """The events that each of so many steps took."""
        size = len(self.time)
        cells = np.repeat(np.arange(size) * steps, lengths(self.ends)) + self.steps
        events = self.events
        if np.any(cells[1:] < cells[:-1]):
            events = events[np.argsort(cells, kind="stable")]
        count = np.bincount(cells, minlength=size * steps)
        first = np.cumsum(count) - count
        return ByStep(self.columns, events, first.reshape(size, steps), count.reshape(size, steps))


def lengths(ends: Ints) -> Ints:
    """The number of entries between each end and the next."""
    found = ends.copy()
    found[1:] -= ends[:-1]
    return found


@dataclass(frozen=True, slots=True)
class ByStep:
    """The events of decisions (rows) by step (columns): of `events` the `count` from `first` on."""

    columns: EventColumns
    events: Ints
    first: Ints
    count: Ints

    def chosen(self, which: Ints | slice) -> ByStep:
        """Some of the decisions."""
        return ByStep(self.columns, self.events, self.first[which], self.count[which])

    def ids(self, step: int) -> list[str]:
        """The ids that a step took, as JSON strings with commas between."""
        ids = self.columns.ids()
        if (self.count[:, step] == 1).all():
            return self._first(ids, step)
        return [",".join(map(str, taken)) for taken in self._taken(ids, step)]

    def only(self, path: Path) -> list[object]:
        """A field of the one event of the first step."""
        return self._first(self.columns.values(path), 0)

    def value(self, ref: StepRef, step: int) -> list[object]:
        """A field of the event that a step took, at the place that an expression names; null without one."""
        values, count = self.columns.values(ref.path), self.count[:, step]
        if ref.offset == 0 and (count == 1).all():
            return self._first(values, step)
        place = np.full(len(count), ref.offset) if ref.which == "first" else count - 1 - ref.offset
        there = (place >= 0) & (place < count)
        found = np.full(len(count), None, np.object_)
        found[there] = values[self.events[self.first[there, step] + place[there]]]
        return list(found)

    def aggregate(self, ref: Aggregate, step: int) -> list[object]:
        """An aggregate of what a step took."""
        if not ref.path:
            return list(self.count[:, step].tolist()) if ref.function == "count" else [None] * len(self.count)
        values = self.columns.values(ref.path)
        return [aggregate_of(ref.function, taken, ref.parameter) for taken in self._taken(values, step)]

    def _first(self, values: Objects, step: int) -> list[Any]:
        found: list[Any] = values[self.events[self.first[:, step]]].tolist()
        return found

    def _taken(self, values: Objects, step: int) -> list[list[object]]:
        ordered = values[self.events]
        begin = self.first[:, step]
        ends = (begin + self.count[:, step]).tolist()
        return [ordered[a:b].tolist() for a, b in zip(begin.tolist(), ends, strict=True)]
