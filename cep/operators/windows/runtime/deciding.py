"""`having` asked of the windows that are evaluated, and those for which it is true as decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from alerts.ranks import FURTHER
from cep.batch.decisions import Decisions, EventColumns, Windows
from cep.collector import paused
from cep.counters import Overflows
from cep.expressions.columns import Columns
from cep.expressions.held import held
from cep.hashing.rows import ranked, rising
from cep.operators.operator import BatchContext
from cep.operators.windows.compile.readings import aggregates_in
from cep.operators.windows.compile.window_plan import WindowPlan
from cep.operators.windows.runtime.evaluations import AT_ITS_END, Advanced, ReadWindows
from cep.state.keyed_rows import Bools, Ints
from rules.typed import Expression, FieldRef, KeyRef, Over, WindowAggregate, walk
from rules.types import ListOf, Record


@dataclass(slots=True)
class Deciding:
    """The evaluations of a rule in a batch, and what is asked of them."""

    rule: WindowPlan
    advanced: Advanced
    context: BatchContext

    def read(self, expressions: Sequence[Expression], rows: Ints | None = None) -> ReadWindows:
        """The readings that expressions of the rule name, of some evaluations or of all; with the key."""
        keys, by = self.advanced.keys(rows), self.rule.rule.by
        refs = {self.rule.readings.number(ref): ref for ref in aggregates_in(*expressions)}
        read = self.advanced.read(sorted(refs), rows)
        # A table without columns, where no aggregate is named, would have no rows.
        found = read.table if refs else pa.table({"@": pa.nulls(len(keys))})
        for number, values in self._nested(refs, rows):
            found = found.set_column(found.column_names.index(f"@{number}"), f"@{number}", values)
        if by is not None and _names_key(*expressions):
            for name, column in zip(by.names, self.context.keys.of(keys), strict=True):
                found = found.append_column(f"@by {name}", column)
        return ReadWindows(found, read.approximate)

    def holds(self) -> Bools:
        """For which evaluations `having` is true."""
        columns = Columns(self.read([_body(self.rule).having]).table)
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
        asked = self.advanced.evaluations(rows)
        first, events = self.advanced.newest(rows)
        numbers, (places,) = ranked([events])
        columns = EventColumns.of(len(numbers), [one[1:] for one in self.context.book.sources(numbers)])
        read = self.read([item.value for item in self.rule.rule.emit], rows)
        return Decisions(
            self.rule,
            asked.times,
            self.context.keys.of(asked.keys),
            _orders(asked.starts, asked.at),
            np.zeros(len(rows), bool),
            first[1:],
            np.zeros(len(events), np.int64),
            places,
            columns,
            self._emitted(read),
            Windows(
                asked.starts,
                asked.ends,
                np.where(asked.at == AT_ITS_END, -1, np.searchsorted(numbers, asked.at)),
                self._approximate(read),
            ),
        )

    def _emitted(self, read: ReadWindows) -> Mapping[str, pa.Array]:
        """The emitted values, by name."""
        columns = Columns(read.table)
        emitted = zip(self.rule.rule.emit, self.rule.emitted, strict=True)
        found = {item.name: columns.evaluate(asked) for item, asked in emitted}
        self._count(columns.overflows)
        return found

    def _approximate(self, read: ReadWindows) -> Mapping[str, Bools]:
        """By emitted name in which evaluations an estimate has part in the value."""
        estimated, readings = read.approximate, self.rule.readings
        found = {}
        for item in self.rule.rule.emit if estimated else ():
            numbers = {readings.number(ref) for ref in aggregates_in(item.value)} & estimated.keys()
            masks = [estimated[number] for number in numbers]
            if masks and (mask := np.logical_or.reduce(masks)).any():
                found[item.name] = mask
        return found

    def _nested(
        self, refs: Mapping[int, WindowAggregate], rows: Ints | None
    ) -> Iterator[tuple[int, pa.Array]]:
        """The readings that are lists or records, which are fields of events."""
        nested = ((number, ref) for number, ref in refs.items() if isinstance(ref.type, ListOf | Record))
        for number, ref in nested:
            assert isinstance(ref.argument, FieldRef)
            events = self.advanced.event_of(number, rows)
            numbers = rising(events[events >= 0])
            columns = EventColumns.of(len(numbers), [one[1:] for one in self.context.book.sources(numbers)])
            values = np.full(len(events), None, np.object_)
            there = np.flatnonzero(events >= 0)
            values[there] = columns.values(ref.argument.path)[np.searchsorted(numbers, events[there])]
            yield number, pa.array(values.tolist(), held(ref.type))

    def _count(self, overflows: int) -> None:
        if overflows:
            self.context.counts[Overflows("rule", *self.rule.name)] += overflows


def _names_key(*expressions: Expression) -> bool:
    return any(isinstance(node, KeyRef) for one in expressions for node in walk(one))


def _body(rule: WindowPlan) -> Over:
    assert isinstance(rule.rule.body, Over)
    return rule.rule.body


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
