"""`having` asked of the windows that are evaluated, and those for which it is true as decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from alerts.rank_columns import orders
from cep.batch.decisions import Decisions, EventColumns, Windows
from cep.collector import paused
from cep.counters import Overflows
from cep.expressions.columns import Columns
from cep.expressions.held import held
from cep.hashing.rows import ranked, rising
from cep.operators.operator import BatchContext
from cep.operators.windows.compile.window_plan import Reads, WindowPlan
from cep.operators.windows.runtime.evaluations import AT_ITS_END, Advanced, ReadWindows
from cep.operators.windows.runtime.together import Together
from cep.state.keyed_rows import Bools, Ints
from rules.typed import FieldRef
from rules.types import ListOf, Record


@dataclass(slots=True)
class Deciding:
    """The evaluations of rules in a batch, rule by rule, and what is asked of them."""

    rules: Together
    advanced: Advanced
    context: BatchContext

    def read(self, what: Reads, rows: Ints | None = None) -> ReadWindows:
        """The readings of some evaluations or of all, with the key if that is read."""
        keys = self.advanced.keys(rows)
        read = self.advanced.read(what.readings, rows)
        # A table without columns, where no aggregate is named, would have no rows.
        found = read.table if what.readings else pa.table({"@": pa.nulls(len(keys))})
        for number, values in self._nested(what, rows):
            found = found.set_column(found.column_names.index(f"@{number}"), f"@{number}", values)
        by = self.rules.plan.rule.by
        if by is not None and what.key:
            for name, column in zip(by.names, self.context.keys.of(keys % self.rules.keys), strict=True):
                found = found.append_column(f"@by {name}", column)
        return ReadWindows(found, read.approximate)

    def holds(self) -> Bools:
        """For which evaluations `having` is true."""
        table = self.read(Reads.of_all(one.plan.asked for one in self.rules.rules)).table
        truths = []
        for plan, rows in self._by_rule(self.advanced.keys()):
            columns = Columns(_part(table, rows))
            truths.append(columns.truth(plan.having).to_numpy(zero_copy_only=False))
            self._count(plan, columns.overflows)
        return truths[0] if len(truths) == 1 else np.concatenate(truths)

    def decisions(self, raised: Bools) -> list[Decisions]:
        """Those that raise an alert."""
        rows = np.flatnonzero(raised)
        if not len(rows):
            return []
        with paused():
            return list(self._decisions(rows))

    def _decisions(self, rows: Ints) -> Iterator[Decisions]:
        asked = self.advanced.evaluations(rows)
        first, events = self.advanced.newest(rows)
        numbers, (places,) = ranked([events])
        columns = EventColumns(len(numbers), [one[1:] for one in self.context.book.sources(numbers)])
        read = self.read(Reads.of_all(one.plan.told for one in self.rules.rules), rows)
        keys = self.context.keys.of(asked.keys % self.rules.keys)
        orders = _orders(asked.starts, asked.at)
        at = np.where(asked.at == AT_ITS_END, -1, np.searchsorted(numbers, asked.at))
        for plan, which in self._by_rule(asked.keys):
            count = which.stop - which.start
            if not count:
                continue
            begin, end = int(first[which.start]), int(first[which.stop])
            yield Decisions(
                (plan,),
                np.zeros(count, np.int64),
                np.arange(1, count + 1),
                asked.times[which],
                [column.slice(which.start, count) for column in keys],
                orders.slice(which.start, count),
                np.zeros(count, bool),
                first[which.start + 1 : which.stop + 1] - begin,
                np.zeros(end - begin, np.int64),
                places[begin:end],
                columns,
                self._emitted(plan, _part(read.table, which)),
                Windows(
                    asked.starts[which],
                    asked.ends[which],
                    at[which],
                    self._approximate(plan, {n: mask[which] for n, mask in read.approximate.items()}),
                ),
            )

    def _by_rule(self, keys: Ints) -> Iterator[tuple[WindowPlan, slice]]:
        """The rows of each rule among some with these keys."""
        if len(self.rules.rules) == 1:
            yield self.rules.plan, slice(0, len(keys))
            return
        bounds = pairwise(self.rules.bounds(keys).tolist())
        for one, (first, end) in zip(self.rules.rules, bounds, strict=True):
            yield one.plan, slice(first, end)

    def _emitted(self, plan: WindowPlan, table: pa.Table) -> Mapping[str, pa.Array]:
        """The emitted values, by name."""
        columns = Columns(table)
        emitted = zip(plan.rule.emit, plan.emitted, strict=True)
        found = {item.name: columns.evaluate(asked) for item, asked in emitted}
        self._count(plan, columns.overflows)
        return found

    def _approximate(self, plan: WindowPlan, estimated: Mapping[int, Bools]) -> Mapping[str, Bools]:
        """By emitted name in which evaluations an estimate has part in the value."""
        found = {}
        for item in plan.rule.emit if estimated else ():
            numbers = set(Reads.of(plan.readings, item.value).readings) & estimated.keys()
            masks = [estimated[number] for number in numbers]
            if masks and (mask := np.logical_or.reduce(masks)).any():
                found[item.name] = mask
        return found

    def _nested(self, what: Reads, rows: Ints | None) -> Iterator[tuple[int, pa.Array]]:
        """The readings that are lists or records, which are fields of events."""
        readings = self.rules.plan.readings
        for number in what.readings:
            argument = readings.argument(number)
            if argument is None or not isinstance(argument.type, ListOf | Record):
                continue
            assert isinstance(argument, FieldRef)
            events = self.advanced.event_of(number, rows)
            numbers = rising(events[events >= 0])
            columns = EventColumns(len(numbers), [one[1:] for one in self.context.book.sources(numbers)])
            values = np.full(len(events), None, np.object_)
            there = np.flatnonzero(events >= 0)
            values[there] = columns.values(argument.path)[np.searchsorted(numbers, events[there])]
            yield number, pa.array(values.tolist(), held(argument.type))

    def _count(self, plan: WindowPlan, overflows: int) -> None:
        if overflows:
            self.context.counts[Overflows("rule", *plan.name)] += overflows


def _part(table: pa.Table, rows: slice) -> pa.Table:
    whole = rows.start == 0 and rows.stop == len(table)
    return table if whole else table.slice(rows.start, rows.stop - rows.start)


def _orders(starts: Ints, at: Ints) -> pa.BinaryArray:
    """The order of decision: at an instant time comes first, then events in their order; of windows that are
    judged at one event the earliest."""
    further = np.stack((at, starts), axis=1)
    return orders((at != AT_ITS_END).astype(np.int64), further.ravel(), np.arange(1, len(at) + 1) * 2)
