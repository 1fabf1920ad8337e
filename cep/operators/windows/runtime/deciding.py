"""`having` asked of the windows that are evaluated, and those for which it is true as decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from alerts.ranks import FURTHER
from cep.batch.decisions import Decisions, EventColumns, Windows, objects
from cep.collector import paused
from cep.counters import Overflows
from cep.expressions.columns import Columns
from cep.expressions.held import held
from cep.hashing.rows import rising
from cep.operators.operator import BatchContext
from cep.operators.windows.compile.readings import aggregates_in
from cep.operators.windows.compile.window_plan import WindowPlan
from cep.operators.windows.runtime.evaluations import AT_ITS_END, Advanced
from cep.state.keyed_rows import Bools, Ints
from rules.typed import Expression, FieldRef, Over, walk
from rules.types import ListOf, Record


@dataclass(slots=True)
class Deciding:
    """The evaluations of a rule in a batch, and what is asked of them."""

    rule: WindowPlan
    advanced: Advanced
    context: BatchContext
    table: pa.Table = field(init=False)

    def __post_init__(self) -> None:
        """The readings, with the key where some expression names it."""
        asked, by = self.advanced.evaluations, self.rule.rule.by
        # A table without columns, where no aggregate is named, would have no rows.
        found = asked.table if asked.table.num_columns else pa.table({"@": pa.nulls(len(asked.keys))})
        for number, values in self._nested():
            found = found.set_column(found.column_names.index(f"@{number}"), f"@{number}", values)
        if by is not None and _names_key(self.rule.having, *self.rule.emitted):
            columns = self.context.keys.of(asked.keys)
            for name, column in zip(by.names, columns, strict=True):
                found = found.append_column(f"@by {name}", column)
        self.table = found

    def holds(self) -> Bools:
        """For which evaluations `having` is true."""
        columns = Columns(self.table)
        truth: Bools = columns.truth(self.rule.having).to_numpy(zero_copy_only=False)
        self._count(columns.overflows)
        return truth

    def decisions(self, raised: Bools) -> list[Decisions]:
        """Those that raise an alert."""
        rows = np.flatnonzero(raised)
        if not len(rows):
            return []
        with paused():
            return [self._decisions(rows)]

    def _decisions(self, rows: Ints) -> Decisions:
        asked = self.advanced.evaluations
        first, events = self.advanced.newest(rows)
        at = asked.at[rows]
        numbers = rising(events)
        columns = EventColumns.of(len(numbers), [one[1:] for one in self.context.book.sources(numbers)])
        emitted = self._emitted(rows)
        return Decisions(
            self.rule,
            asked.times[rows],
            [objects(column.to_pylist()) for column in self.context.keys.of(asked.keys[rows])],
            _orders(asked.starts[rows], at),
            np.zeros(len(rows), bool),
            first[1:],
            np.zeros(len(events), np.int64),
            np.searchsorted(numbers, events),
            columns,
            emitted,
            Windows(
                asked.starts[rows],
                asked.ends[rows],
                np.where(at == AT_ITS_END, -1, np.searchsorted(numbers, at)),
                self._approximate(rows),
            ),
        )

    def _emitted(self, rows: Ints) -> Mapping[str, pa.Array]:
        """The emitted values of some evaluations, by name."""
        columns = Columns(self.table.take(pa.array(rows)))
        emitted = zip(self.rule.rule.emit, self.rule.emitted, strict=True)
        found = {item.name: columns.evaluate(asked) for item, asked in emitted}
        self._count(columns.overflows)
        return found

    def _approximate(self, rows: Ints) -> Mapping[str, Bools]:
        """By emitted name in which of some evaluations an estimate has part in the value."""
        estimated, readings = self.advanced.evaluations.approximate, self.rule.readings
        found = {}
        for item in self.rule.rule.emit if estimated else ():
            numbers = {readings.number(ref) for ref in aggregates_in(item.value)} & estimated.keys()
            masks = [estimated[number][rows] for number in numbers]
            if masks and (mask := np.logical_or.reduce(masks)).any():
                found[item.name] = mask
        return found

    def _nested(self) -> Iterator[tuple[int, pa.Array]]:
        """The readings that are lists or records, which are fields of events."""
        rule, book = self.rule, self.context.book
        assert isinstance(rule.rule.body, Over)
        named = aggregates_in(rule.rule.body.having, *rule.rule.emit)
        refs = {rule.readings.number(ref): ref for ref in named if isinstance(ref.type, ListOf | Record)}
        for number, ref in refs.items():
            assert isinstance(ref.argument, FieldRef)
            events = self.advanced.event_of(number)
            numbers = rising(events[events >= 0])
            columns = EventColumns.of(len(numbers), [one[1:] for one in book.sources(numbers)])
            values = np.full(len(events), None, np.object_)
            there = np.flatnonzero(events >= 0)
            values[there] = columns.values(ref.argument.path)[np.searchsorted(numbers, events[there])]
            yield number, pa.array(values.tolist(), held(ref.type))

    def _count(self, overflows: int) -> None:
        if overflows:
            self.context.counts[Overflows("rule", *self.rule.name)] += overflows


def _names_key(*expressions: Expression) -> bool:
    fields = (node for one in expressions for node in walk(one) if isinstance(node, FieldRef))
    return any(node.path[0].startswith("@by ") for node in fields)


def _orders(starts: Ints, at: Ints) -> pa.BinaryArray:
    """The order of decision: at an instant time comes first, then events in their order; of windows that are
    judged at one event the earliest."""
    by_event = at != AT_ITS_END
    numbers = np.stack((by_event.astype(np.int64), at, starts), axis=1)
    rows = np.empty((*numbers.shape, 9), np.uint8)
    rows[:, :, 0] = FURTHER[0]
    rows[:, :, 1:] = (numbers ^ np.int64(-(1 << 63))).astype(">i8").view(np.uint8).reshape(*numbers.shape, 8)
    size = rows[0].size
    ends = np.arange(len(rows) + 1, dtype=np.int32) * size
    return pa.BinaryArray.from_buffers(
        pa.binary(), len(rows), [None, pa.py_buffer(ends), pa.py_buffer(rows.reshape(-1))]
    )
