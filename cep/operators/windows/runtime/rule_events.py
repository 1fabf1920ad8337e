"""The events of a batch that rules over windows take, with the arguments of their aggregates by column.

Rules of one space share what they have in common: which events a condition takes, and the columns of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from cep.batch.arrivals import Arrivals, EventTable
from cep.batch.predicates import Truths
from cep.expressions.held import held
from cep.hashing.rows import order_of
from cep.operators.operator import BatchContext
from cep.operators.windows.compile.window_plan import WindowPlan
from cep.operators.windows.runtime.evaluations import RuleEvents
from cep.state.keyed_rows import Ints
from rules.types import ListOf, Record, Type


@dataclass(frozen=True, slots=True)
class _Taken:
    """The events of a part that satisfy a condition: their places, and their rows there."""

    number: int
    places: Ints
    rows: Ints


@dataclass(frozen=True, slots=True)
class _Rows:
    """The events of all parts that rules take, in order: RuleEvents but for the arguments. `order`: that of
    the parts behind one another; None: it is the same."""

    keys: Ints
    times: Ints
    numbers: Ints
    order: pa.Array | None


_Name = tuple[tuple[int, int], ...]
"""By part the atom that events satisfy: it says which events a rule takes."""


@dataclass(slots=True)
class Gathering:
    """The events of a batch, and what rules took of them so far."""

    events: Arrivals
    context: BatchContext
    _rows: dict[int, tuple[Ints, Truths]] = field(default_factory=dict)
    _of_atom: dict[tuple[int, int], _Taken] = field(default_factory=dict)
    _found: dict[_Name, _Rows] = field(default_factory=dict)
    _columns: dict[tuple[_Name, tuple[int, ...], Type], pa.Array] = field(default_factory=dict)

    def of(self, plan: WindowPlan) -> RuleEvents:
        """Those that satisfy a rule's condition; under a plan without the rule none does."""
        asked = tuple(self._asked(plan))
        taken = [self._taken(*name) for name, _ in asked]
        name = tuple(of for of, _ in asked)
        if name not in self._found:
            self._found[name] = self._in_order(taken)
        found = self._found[name]
        places = iter(range(len(plan.columns)))
        arguments: list[pa.Array | None] = []
        for argument in plan.readings.arguments:
            if isinstance(argument.type, ListOf | Record):
                arguments.append(None)
                continue
            place = next(places)
            numbers = tuple(columns[place] for _, columns in asked)
            if (name, numbers, argument.type) not in self._columns:
                column = self._column(taken, numbers, argument.type)
                column = column if found.order is None else column.take(found.order)
                self._columns[name, numbers, argument.type] = column
            arguments.append(self._columns[name, numbers, argument.type])
        return RuleEvents(found.keys, found.times, found.numbers, tuple(arguments))

    def _asked(self, plan: WindowPlan) -> Iterator[tuple[tuple[int, int], tuple[int, ...]]]:
        """By part the atom that the rule's events satisfy, and the columns with its arguments."""
        for number, part in enumerate(self.events.parts):
            slots = part.layout.slots.get(plan.identity)
            if slots is not None and part.stream in slots[0][0]:
                yield (number, slots[0][0][part.stream]), tuple(of[part.stream] for of in slots[1])

    def _taken(self, number: int, atom: int) -> _Taken:
        if (number, atom) not in self._of_atom:
            if number not in self._rows:
                places, rows = self.events.rows_of(number)
                self._rows[number] = places, Truths(self.events.parts[number].predicates, rows)
            places, truths = self._rows[number]
            true = np.flatnonzero(truths.of(atom))
            of_all = true if len(self.events.parts) == 1 else places.take(true)
            self._of_atom[number, atom] = _Taken(number, of_all, truths.rows.take(true))
        return self._of_atom[number, atom]

    def _column(self, taken: list[_Taken], numbers: tuple[int, ...], type_: Type) -> pa.Array:
        pieces = [
            _piece(self.events.parts[one.number], number, one.rows, type_)
            for one, number in zip(taken, numbers, strict=True)
        ]
        return pa.concat_arrays(pieces) if pieces else pa.array([], held(type_))

    def _in_order(self, taken: list[_Taken]) -> _Rows:
        places = [one.places for one in taken] or [np.zeros(0, np.int64)]
        where = places[0] if len(places) == 1 else np.concatenate(places)
        order = None if len(taken) < 2 else order_of(where)
        where = where if order is None else where.take(order)
        of_key, times = self.context.numbers.take(where), self.events.time.take(where)
        first = self.context.book.first
        return _Rows(of_key, times, where + first, None if order is None else pa.array(order))


def _piece(part: EventTable, number: int, rows: Ints, type_: Type) -> pa.Array:
    column = part.column(f"c{number}").take(pa.array(rows))
    return column if column.type == held(type_) else column.cast(held(type_))
