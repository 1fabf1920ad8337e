"""The runs that a trace covers: those of some rules, of some keys, or one by its number."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from alerts.notation import json_value
from cep.batch.payload import SpaceEvents
from cep.plan.plan import Space
from rules.typed import By

MOST_OTHERS = 3
"""Keys that are told of where none fits."""


@dataclass(frozen=True, slots=True)
class KeyTest:
    """A test of a field of the partition key against `text`, its value as a trace writes it.

    `field` None: any field may have the value. `quoted`: only a string fits: "5" is not the number.
    """

    field: str | None
    text: str
    quoted: bool = False

    def fits(self, value: object) -> bool:
        """True if a value, as an alert has it, passes the test."""
        if isinstance(value, str):
            return value == self.text
        if self.quoted:
            return False
        if isinstance(value, int | float) and not isinstance(value, bool):
            try:
                return Decimal(self.text) == Decimal(str(value))
            except InvalidOperation:
                return False
        return json.dumps(value) == self.text


@dataclass(frozen=True, slots=True)
class Selection:
    """`rules` None: all. A key fits if every one of `keys` does. `run` is a number within a rule and key."""

    rules: frozenset[str] | None = None
    keys: tuple[KeyTest, ...] = ()
    run: int | None = None

    def has(self, rule: str) -> bool:
        """True if the trace covers the rule."""
        return self.rules is None or rule in self.rules


EVERYTHING = Selection()


@dataclass(slots=True)
class Narrowed:
    """Keeps the events of a shard whose key is selected, and remembers a few of the other keys.

    Runs of different keys know nothing of one another, so those that are left do as they would among all.
    """

    selection: Selection
    found: bool = False
    others: dict[tuple[object, ...], None] = field(default_factory=dict)

    def selected(self, space: Space, events: SpaceEvents) -> SpaceEvents:
        """The events whose key is selected."""
        if not self.selection.keys:
            return events
        table, nobody = events.table, pa.repeat(pa.scalar(False), len(events.table))
        keys = {rule.rule.by for rule in space.rules if self.selection.has(rule.rule.name)}
        fitting = reduce(
            pc.or_, (_fitting(self.selection.keys, by, table) for by in keys if by is not None), nobody
        )
        chosen = table.filter(fitting)
        if len(chosen):
            self.found = True
        elif not self.found and len(self.others) < MOST_OTHERS:
            self._note(space, table)
        return SpaceEvents(events.space, events.stream, events.plan, chosen)

    def _note(self, space: Space, table: pa.Table) -> None:
        columns = [table.column(f"k{n}").slice(0, 1000).to_pylist() for n in range(len(space.types))]
        for values in zip(*columns, strict=True):
            if len(self.others) < MOST_OTHERS:
                self.others[tuple(json_value(v, t) for v, t in zip(values, space.types, strict=True))] = None


def _fitting(tests: tuple[KeyTest, ...], by: By, table: pa.Table) -> pa.ChunkedArray:
    """Of which rows of a table the key fits all tests."""
    nobody = pa.chunked_array([pa.repeat(pa.scalar(False), len(table))])
    found = pc.invert(nobody)
    for test in tests:
        places = [place for place, name in enumerate(by.names) if test.field in (None, name)]
        each = (_equal(test, table.column(f"k{place}"), by.types[place]) for place in places)
        found = pc.and_(found, reduce(pc.or_, each, nobody))
    return found


def _equal(test: KeyTest, column: pa.ChunkedArray, type_: object) -> pa.ChunkedArray:
    distinct = pc.unique(column)
    meant = [test.fits(json_value(value, type_)) for value in distinct.to_pylist()]
    return pc.is_in(column, value_set=distinct.filter(pa.array(meant, pa.bool_())))
