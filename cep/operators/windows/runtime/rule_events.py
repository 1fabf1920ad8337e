"""The events of a batch that a rule over windows takes, with the arguments of its aggregates by column."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from cep.batch.arrivals import Arrivals, EventTable
from cep.expressions.held import held
from cep.operators.operator import BatchContext
from cep.operators.windows.compile.window_plan import WindowPlan
from cep.operators.windows.runtime.evaluations import RuleEvents
from cep.state.keyed_rows import Ints
from rules.types import ListOf, Record, Type


def events_of(plan: WindowPlan, events: Arrivals, context: BatchContext) -> RuleEvents:
    """Those that satisfy the rule's condition; under a plan without the rule none does."""
    taken = list(_taken(plan, events))
    where = np.concatenate([np.zeros(0, np.int64), *(where for _, where, _, _ in taken)])
    order = None if len(taken) < 2 else np.argsort(where, kind="stable")
    places = iter(range(len(plan.columns)))
    arguments: list[pa.Array | None] = []
    for argument in plan.readings.arguments:
        if isinstance(argument.type, ListOf | Record):
            arguments.append(None)
            continue
        place = next(places)
        pieces = [_column(part, columns[place], rows, argument.type) for part, _, rows, columns in taken]
        column = pa.concat_arrays(pieces) if pieces else pa.array([], held(argument.type))
        arguments.append(column if order is None else column.take(pa.array(order)))
    where = where if order is None else where[order]
    return RuleEvents(
        context.numbers[where], events.time[where], where + context.book.first, tuple(arguments)
    )


def _taken(plan: WindowPlan, events: Arrivals) -> Iterator[tuple[EventTable, Ints, Ints, tuple[int, ...]]]:
    """By part: the events' places, their rows, and the numbers of the columns with the arguments."""
    for number, part in enumerate(events.parts):
        slots = part.layout.slots.get(plan.identity)
        if slots is None or part.stream not in slots[0][0]:
            continue
        where, rows = events.rows_of(number)
        holds = part.predicates.true_of(slots[0][0][part.stream], rows)
        if holds.any():
            yield part, where[holds], rows[holds], tuple(of[part.stream] for of in slots[1])


def _column(part: EventTable, number: int, rows: Ints, type_: Type) -> pa.Array:
    column = part.column(f"c{number}").take(pa.array(rows))
    return column if column.type == held(type_) else column.cast(held(type_))
