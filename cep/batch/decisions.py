"""Decisions of rules by column: matches or events of `on` rules, and what of them an alert may name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from json.encoder import encode_basestring
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from alerts.arrow_columns import StringTexts
from alerts.joining import OneOf
from cep.batch.payload import ID
from cep.batch.shared_columns import Chosen, SharedColumn
from cep.expressions.held import python
from cep.expressions.scalar import aggregate_of
from cep.plan.plan import RulePlan
from cep.state.keyed_rows import ranges
from rules.typed import Aggregate, Path, StepRef

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Objects = npt.NDArray[np.object_]
KeyValues = Chosen | Objects | Any
"""A column of a key; in Arrow where it is neither of the others."""

ARROW_TYPES = (pa.string(), pa.int64(), pa.float64(), pa.bool_())
"""Types of columns that stay in Arrow up to the alerts."""


@dataclass(slots=True)
class EventColumns:
    """So many events by column: a table, which of them it holds, and in which of its rows. So many decisions
    are about them as `named` says.

    A column is taken out of the tables when it is first asked for.
    """

    count: int
    sources: Sequence[tuple[pa.Table, Ints, Ints]]
    named: int = 0
    _read: dict[str, Objects] = field(default_factory=dict)
    _arrow: dict[str, pa.Array | None] = field(default_factory=dict)
    _shared: dict[str, SharedColumn] = field(default_factory=dict)

    def key(self, path: Path) -> pa.Array | Objects:
        """A field's values as `Decisions` has those of a key."""
        found = self.arrow("f:" + ".".join(path))
        return self.values(path) if found is None else found

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
            for table, where, rows in self.sources:
                if name in table.column_names:
                    known[where] = objects(python(table.column(name).take(pa.array(rows))))
        return known

    def arrow(self, name: str) -> pa.Array | None:
        """The same column in Arrow; None unless all tables have it, in one of `ARROW_TYPES`."""
        if name not in self._arrow:
            self._arrow[name] = self._gathered(name)
        return self._arrow[name]

    def shared(self, path: Path) -> SharedColumn | None:
        """A field's values for rows that each name one of them; None as for `arrow`."""
        name = "f:" + ".".join(path)
        if name not in self._shared:
            values = self.arrow(name)
            if values is None:
                return None
            self._shared[name] = SharedColumn(values, self.named >= self.count)
        return self._shared[name]

    def quoted_ids(self) -> pa.Array:
        """Their ids as JSON strings, in Arrow."""
        known = self._arrow.get("")
        if known is None:
            ids = self.arrow(ID)
            known = pa.array(self.ids().tolist(), pa.string()) if ids is None else StringTexts(ids).json
            self._arrow[""] = known
        return known

    def _gathered(self, name: str) -> pa.Array | None:
        tables = [table for table, _, _ in self.sources]
        if not tables or not all(name in table.column_names for table in tables):
            return None
        types = {table.schema.field(name).type for table in tables}
        type_ = types.pop()
        if types or type_ not in ARROW_TYPES:
            return None
        taken = [table.column(name).take(pa.array(rows)) for table, _, rows in self.sources]
        whole = pa.chunked_array([chunk for one in taken for chunk in one.chunks], type_).combine_chunks()
        where = np.concatenate([where for _, where, _ in self.sources])
        if len(where) == self.count and (where == np.arange(self.count)).all():
            return whole
        place = np.full(self.count, -1)
        place[where] = np.arange(len(where))
        return whole.take(pa.array(place, mask=place < 0))


def objects(values: Sequence[object]) -> Objects:
    """Values as an array of one dimension, whatever they are."""
    return np.fromiter(values, np.object_, len(values))


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows that were decided about: their bounds in ns since 1970 UTC, and the event (a row of the
    decisions' columns) at which each was evaluated, -1 where that is its end.

    `approximate` says by emitted name where the value is an estimate.
    """

    start: Ints
    end: Ints
    at: Ints
    approximate: Mapping[str, Bools] = field(default_factory=dict)

    def chosen(self, which: Ints | slice) -> Windows:
        """Some of them."""
        approximate = {name: true[which] for name, true in self.approximate.items()}
        return Windows(self.start[which], self.end[which], self.at[which], approximate)

    @classmethod
    def together(cls, parts: Sequence[Windows]) -> Windows:
        """Those of several parts behind one another."""
        names = sorted({name for part in parts for name in part.approximate})
        none = [np.zeros(len(part.start), bool) for part in parts]
        return cls(
            np.concatenate([part.start for part in parts]),
            np.concatenate([part.end for part in parts]),
            np.concatenate([part.at for part in parts]),
            {
                name: np.concatenate(
                    [part.approximate.get(name, false) for part, false in zip(parts, none, strict=True)]
                )
                for name in names
            },
        )


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions of rules. What was decided has a row: `time` in ns since 1970 UTC; the key's values as they
    are held by field (in Arrow where they are of one type, or chosen out of a column); `orders` as
    `alerts.ranks.decided` gives them.

    The k-th row is a decision of each of the rules at the places `of[decided[k - 1]:decided[k]]` in `rules`,
    at least of one. It took the events `events[ends[k - 1]:ends[k]]` (rows of `columns`) in the steps with
    the numbers in `steps`; for an `on` rule that is one, in step 0. `timeout`: time ended a run before it was
    a match.
    `values` has by emitted name what the operator itself computed, as `cep.expressions.held` says.
    """

    rules: tuple[RulePlan, ...]
    of: Ints
    decided: Ints
    time: Ints
    key: Sequence[KeyValues]
    orders: pa.BinaryArray
    timeout: Bools
    ends: Ints
    steps: Ints
    events: Ints
    columns: EventColumns
    values: Mapping[str, pa.Array] = field(default_factory=dict)
    windows: Windows | None = None

    def __len__(self) -> int:
        return len(self.of)

    @classmethod
    def together(cls, parts: Sequence[Decisions]) -> Decisions:
        """Several behind one another: all have one `columns`, keys and values of the same names and types,
        and windows or none."""
        first = parts[0]
        if len(parts) == 1:
            return first
        rules = np.cumsum([0, *(len(part.rules) for part in parts)]).tolist()
        decided = np.cumsum([0, *map(len, parts)]).tolist()
        taken = np.cumsum([0, *(len(part.events) for part in parts)]).tolist()
        windows = [part.windows for part in parts if part.windows is not None]
        return cls(
            tuple(rule for part in parts for rule in part.rules),
            np.concatenate([part.of + before for part, before in zip(parts, rules, strict=False)]),
            np.concatenate([part.decided + before for part, before in zip(parts, decided, strict=False)]),
            np.concatenate([part.time for part in parts]),
            [_behind_one_another(of_each) for of_each in zip(*(part.key for part in parts), strict=True)],
            pa.concat_arrays([part.orders for part in parts]),
            np.concatenate([part.timeout for part in parts]),
            np.concatenate([part.ends + before for part, before in zip(parts, taken, strict=False)]),
            np.concatenate([part.steps for part in parts]),
            np.concatenate([part.events for part in parts]),
            first.columns,
            {name: pa.concat_arrays([part.values[name] for part in parts]) for name in first.values},
            Windows.together(windows) if windows else None,
        )

    def split(self, part: Sequence[int]) -> list[Decisions]:
        """Those of rules that are of one part, part by part; `part` has a number for each of `rules`."""
        places = {number: place for place, number in enumerate(sorted(set(part)))}
        if len(places) == 1:
            return [self]
        place = np.array([places[number] for number in part], np.min_scalar_type(len(places)))
        of_each = place[self.of]
        # Of small numbers numpy sorts each byte by itself.
        order = np.argsort(of_each, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(of_each, minlength=len(places)))[:-1])
        return [self._of(some, np.flatnonzero(place == n)) for n, some in enumerate(parts)]

    def _of(self, some: Ints, rules: Ints) -> Decisions:
        """Some of them (rising), of some of the rules."""
        which, decided = rows_with(self.decided, some)
        counts = lengths(self.ends)[which]
        taken = ranges(self.ends[which] - counts, counts)
        return Decisions(
            tuple(self.rules[number] for number in rules.tolist()),
            np.searchsorted(rules, self.of[some]),
            decided,
            self.time[which],
            [chosen(values, which) for values in self.key],
            chosen(self.orders, which),
            self.timeout[which],
            np.cumsum(counts),
            self.steps[taken],
            self.events[taken],
            self.columns,
            {name: chosen(values, which) for name, values in self.values.items()},
            None if self.windows is None else self.windows.chosen(which),
        )

    def of_rows(self, which: Ints | slice) -> tuple[Ints, Ints | None]:
        """The decisions of some rows, row by row: the place of each one's rule, and which of the rows it is;
        None where each is the decision of one rule."""
        if len(self.of) == len(self.time):
            return self.of[which], None
        counts = lengths(self.decided)
        first, counts = (self.decided - counts)[which], counts[which]
        return self.of[ranges(first, counts)], np.repeat(np.arange(len(counts)), counts)

    def by_step(self, steps: int) -> ByStep:
        """The events that each of so many steps took."""
        size, events = len(self.time), self.events
        if self._took_one_in_each(steps):
            one = np.ones((size, steps), np.int64)
            return ByStep(self.columns, events, np.arange(size * steps).reshape(size, steps), one)
        cells = np.repeat(np.arange(size) * steps, lengths(self.ends)) + self.steps
        if np.any(cells[1:] < cells[:-1]):
            events = events[np.argsort(cells, kind="stable")]
        count = np.bincount(cells, minlength=size * steps)
        first = np.cumsum(count) - count
        return ByStep(self.columns, events, first.reshape(size, steps), count.reshape(size, steps))

    def _took_one_in_each(self, steps: int) -> bool:
        """True if each took one event in each of so many steps, in their order."""
        return len(self.events) == len(self.time) * steps and bool(
            (self.ends == np.arange(1, len(self.time) + 1) * steps).all()
            and (self.steps.reshape(-1, steps or 1) == np.arange(steps)).all()
        )


def chosen(values: KeyValues, which: Ints | slice) -> KeyValues:
    """Some elements of a column."""
    if isinstance(values, Chosen):
        return values.taken(which)
    if isinstance(values, np.ndarray) or isinstance(which, slice):
        return values[which]
    return values.take(pa.array(which))


def _behind_one_another(columns: Sequence[KeyValues]) -> KeyValues:
    if some := [values for values in columns if isinstance(values, Chosen)]:
        return Chosen(some[0].column, np.concatenate([values.rows for values in some]))
    together = np.concatenate if isinstance(columns[0], np.ndarray) else pa.concat_arrays
    return together(list(columns))


def lengths(ends: Ints) -> Ints:
    """The number of entries between each end and the next."""
    found = ends.copy()
    found[1:] -= ends[:-1]
    return found


def rows_with(ends: Ints, which: Ints) -> tuple[Ints, Ints]:
    """The rows that have some of the entries (rising), of which the k-th row's end at `ends[k]`; and where
    theirs end among these."""
    counts = np.bincount(np.repeat(np.arange(len(ends)), lengths(ends))[which], minlength=len(ends))
    rows = np.flatnonzero(counts)
    return rows, np.cumsum(counts[rows])


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

    def arrow_ids(self, step: int) -> pa.Array | OneOf:
        """As `ids`, in Arrow."""
        ids, count = self.columns.quoted_ids(), self.count[:, step]
        if (count == 1).all():
            return OneOf(ids, self.events[self.first[:, step]])
        ends = np.cumsum(np.concatenate(([0], count)))
        taken = self.events[ranges(self.first[:, step], count)]
        lists = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), ids.take(pa.array(taken)))
        return pc.binary_join(lists, ",")

    def arrow_only(self, path: Path) -> pa.Array | None:
        """As `only`, in Arrow; None where the column is not all of one type."""
        values = self.columns.arrow("f:" + ".".join(path))
        return None if values is None else values.take(pa.array(self.events[self.first[:, 0]]))

    def arrow_value(self, ref: StepRef, step: int) -> pa.Array | Chosen | None:
        """As `value`, in Arrow; None where the column is not all of one type."""
        shared, count = self.columns.shared(ref.path), self.count[:, step]
        if shared is None:
            return None
        if ref.offset == 0 and (count == 1).all():
            return Chosen(shared, self.events[self.first[:, step]])
        place = np.full(len(count), ref.offset) if ref.which == "first" else count - 1 - ref.offset
        there = (place >= 0) & (place < count)
        at = np.where(there, self.first[:, step] + place, 0)
        rows = self.events[at]
        return Chosen(shared, rows) if there.all() else shared.values.take(pa.array(rows, mask=~there))

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
