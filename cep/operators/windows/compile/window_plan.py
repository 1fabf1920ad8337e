"""The plan of a rule over windows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cep.operators.windows.compile.readings import Readings, aggregates_in
from cep.operators.windows.compile.shapes import Shape, shape_of
from cep.plan.plan import AlertForm, Needs, RulePlan
from rules.typed import Expression, FieldRef, KeyRef, Over, Pack, Rule, walk
from rules.types import ListOf, Record


@dataclass(frozen=True, slots=True)
class Reads:
    """Reads of expressions over windows: readings by number, rising, and whether the key is named."""

    readings: tuple[int, ...]
    key: bool

    @classmethod
    def of(cls, readings: Readings, *expressions: Expression) -> Reads:
        """Those of expressions that name such readings."""
        numbers = {readings.number(ref) for ref in aggregates_in(*expressions)}
        key = any(isinstance(node, KeyRef) for one in expressions for node in walk(one))
        return cls(tuple(sorted(numbers)), key)

    @classmethod
    def of_all(cls, some: Iterable[Reads]) -> Reads:
        """Those of several together, of rules with the same readings."""
        every = tuple(some)
        numbers = {number for one in every for number in one.readings}
        return cls(tuple(sorted(numbers)), any(one.key for one in every))


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPlan(RulePlan):
    """A rule whose body is a window.

    `shape` and `readings` are what its state is made of: rules of one structure have them alike. `having` is
    asked of the readings, by column (Readings.as_columns), and so are `emitted` of its `emit`; their
    constants may change with a deploy, and what is kept does not. `asked` is what the one reads, `told` the
    others.
    """

    shape: Shape
    readings: Readings
    having: Expression
    emitted: tuple[Expression, ...]
    asked: Reads
    told: Reads


def window_plan(pack: Pack, rule: Rule, body: Over) -> WindowPlan:
    """The plan of a rule of a pack.

    Its columns are the arguments of its aggregates, in their order; lists and records, which only `first` and
    `last` take, travel as fields.
    """
    named = tuple(aggregates_in(body.having, *rule.emit))
    readings = Readings.of(named)
    return WindowPlan(
        pack.name,
        pack.revision,
        rule,
        _needs(body, readings),
        AlertForm("window", (pack.stream(body.stream).step,)),
        shape=shape_of(body, named),
        readings=readings,
        having=readings.as_columns(body.having),
        emitted=tuple(readings.as_columns(item.value) for item in rule.emit),
        asked=Reads.of(readings, body.having),
        told=Reads.of(readings, *(item.value for item in rule.emit)),
    )


def _needs(body: Over, readings: Readings) -> Needs:
    nested = [one for one in readings.arguments if isinstance(one.type, ListOf | Record)]
    columns = tuple({body.stream: one} for one in readings.arguments if one not in nested)
    fields = tuple(one.path for one in nested if isinstance(one, FieldRef))
    return Needs(({body.stream: body.condition},), columns, {body.stream: fields})
