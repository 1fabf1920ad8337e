"""Readings of windows by `having` and `emit`, and what must be kept of events for them.

argument     an expression of one event, computed as a column before the shuffle
accumulator  what is kept of an argument: its sum, its greatest value, all its values, ...
reading      an aggregate over this window or over one before it: a column over the evaluations
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal as Choice

from cep.expressions.conditions import Identity, identity, rewritten
from rules.typed import Expression, FieldRef, KeyRef, WindowAggregate, walk

Kind = Choice["count", "true", "sum", "squares", "least", "greatest", "first", "last", "values"]
"""What is kept: the number of events, of those of which the argument is true; the exact sum of its values,
with their number, and that of their squares; the least and the greatest; those of the first and the last
event; all of them."""
_KEPT: Mapping[str, tuple[Kind, ...]] = MappingProxyType(
    {
        "count": ("count",),
        "rate": ("count",),
        "start": (),
        "end": (),
        "sum": ("sum",),
        "avg": ("sum",),
        "stddev": ("sum", "squares"),
        "min": ("least",),
        "max": ("greatest",),
        "first": ("first",),
        "last": ("last",),
        "distinct": ("values",),
        "percentile": ("values",),
    }
)


@dataclass(frozen=True, slots=True)
class Accumulator:
    """A value kept of an argument, by its number; None: of events themselves."""

    kind: Kind
    argument: int | None


@dataclass(frozen=True, slots=True)
class Reading:
    """An aggregate over a window. `accumulators` are numbers; of those of an earlier window `which` and
    `offset` say which one, as in a typed WindowAggregate."""

    function: str
    accumulators: tuple[int, ...]
    parameter: float | None
    which: Choice["this", "previous", "ago"]
    offset: int


@dataclass(frozen=True, slots=True)
class Readings:
    """All that a rule reads, without repetition and in an order that its constants do not change.

    `names` are what tells the readings apart: the aggregates' content without their places in the text.
    """

    arguments: tuple[Expression, ...]
    accumulators: tuple[Accumulator, ...]
    readings: tuple[Reading, ...]
    names: tuple[Identity, ...] = field(repr=False)

    @staticmethod
    def of(named: Iterable[WindowAggregate]) -> Readings:
        """The readings that these aggregates are."""
        distinct = {identity(ref): ref for ref in named}
        names = tuple(sorted(distinct, key=repr))
        arguments = {
            identity(ref.argument): ref.argument
            for ref in map(distinct.__getitem__, names)
            if ref.argument is not None
        }
        places = {name: number for number, name in enumerate(arguments)}
        kept: dict[Accumulator, int] = {}
        readings = []
        for ref in map(distinct.__getitem__, names):
            of = None if ref.argument is None else places[identity(ref.argument)]
            numbers = (kept.setdefault(Accumulator(kind, of), len(kept)) for kind in _kept(ref))
            readings.append(Reading(ref.function, tuple(numbers), ref.parameter, ref.which, ref.offset))
        return Readings(tuple(arguments.values()), tuple(kept), tuple(readings), names)

    def number(self, ref: WindowAggregate) -> int:
        """The place of an aggregate among the readings."""
        return self.names.index(identity(ref))

    def argument(self, number: int) -> Expression | None:
        """The argument of a reading; None: it is of events themselves, or of windows."""
        of = (self.accumulators[one].argument for one in self.readings[number].accumulators)
        return next((self.arguments[place] for place in of if place is not None), None)

    def as_columns(self, expression: Expression) -> Expression:
        """The expression over a table with a row for each evaluation: the n-th reading is its field `@n`, and
        the key field `f` its field `@by f`."""

        def column(node: Expression) -> Expression | None:
            match node:
                case WindowAggregate():
                    return FieldRef((f"@{self.number(node)}",), node.type, node.span)
                case KeyRef(name):
                    return FieldRef((f"@by {name}",), node.type, node.span)
                case _:
                    return None

        return rewritten(expression, column)


def _kept(ref: WindowAggregate) -> tuple[Kind, ...]:
    return ("true",) if ref.function == "count" and ref.argument is not None else _KEPT[ref.function]


def aggregates_in(*expressions: object) -> Iterator[WindowAggregate]:
    """The aggregates in typed nodes, in the order of the text."""
    return (node for one in expressions for node in walk(one) if isinstance(node, WindowAggregate))
