"""Typed expressions. `path` is a field's name followed by the names of nested fields."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal as Choice

from rules.source import Span
from rules.types import Scalar, Type

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant; `value` as rules.types.Scalar says. A parenthesised list is a tuple of values.

    `exact` is what a double stands for, digit by digit as its author wrote it: beside a decimal it is that.
    """

    value: object
    type: Type
    span: Span
    exact: Decimal | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FieldRef:
    """A field of the candidate event; in `emit` of an `on` rule, of the event."""

    path: Path
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class KeyRef:
    """In `emit` of a rule with a pattern: a field of the partition key, by the name the alert shows."""

    name: str
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class StepRef:
    """A field of an event that a step took: the only one, the first, or the last.

    `offset` counts events further back from the last, further on from the first. Null where the
    step took nothing or the offset leads outside.
    """

    step: str
    path: Path
    which: Choice["only", "first", "last"]
    offset: int
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class PrevRef:
    """A field of the n-th event before the candidate among its key's events in the pattern's streams."""

    path: Path
    offset: int
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate over the events that a step took so far; `count` has an empty path.

    `function` is one of count sum avg min max stddev distinct percentile list; `parameter` is
    percentile's fraction. Of nothing: null, and 0 for count. SQL: nulls are left out.
    """

    function: str
    step: str
    path: Path
    parameter: float | None
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class WindowAggregate:
    """An aggregate over a window's events, or one of its bounds.

    `function` is one of count sum avg min max first last stddev distinct percentile rate start end.
    `argument` is evaluated of each event: of `count` a condition, or None to count all; `rate` (events per
    second), `start` and `end` have none. `parameter` is percentile's fraction. `which`: the window that is
    evaluated (`offset` 0), the `offset` windows before it taken together, or that `offset` nanoseconds ago.
    """

    function: str
    argument: Expression | None
    parameter: float | None
    which: Choice["this", "previous", "ago"]
    offset: int
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Lookup:
    """`table[key].path`, as of the time of the event or decision; null where the table has no such row.

    The key has the type of the table's key field.
    """

    table: str
    key: Expression
    path: Path
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Negate:
    """Arithmetic minus."""

    operand: Expression
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`+ - * / %`. Operands have the types that the operator needs (see Convert)."""

    operator: Choice["+", "-", "*", "/", "%"]
    left: Expression
    right: Expression
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Compare:
    """`== != < <= > >=` of two operands of one type."""

    operator: Choice["==", "!=", "<", "<=", ">", ">="]
    left: Expression
    right: Expression
    span: Span
    type: Type = Scalar.BOOLEAN


@dataclass(frozen=True, slots=True)
class Logical:
    """`and`, `or` of two or more operands, three-valued."""

    operator: Choice["and", "or"]
    operands: tuple[Expression, ...]
    span: Span
    type: Type = Scalar.BOOLEAN


@dataclass(frozen=True, slots=True)
class Not:
    """`not`, three-valued."""

    operand: Expression
    span: Span
    type: Type = Scalar.BOOLEAN


@dataclass(frozen=True, slots=True)
class IsNull:
    """`is null`, `is not null`: never unknown."""

    operand: Expression
    negated: bool
    span: Span
    type: Type = Scalar.BOOLEAN


@dataclass(frozen=True, slots=True)
class In:
    """`in`: the items have the operand's type. Unknown where SQL says so.

    A single item may be a list of the operand's type instead: then its values are the items.
    """

    operand: Expression
    items: tuple[Expression, ...]
    negated: bool
    span: Span
    type: Type = Scalar.BOOLEAN


@dataclass(frozen=True, slots=True)
class Like:
    """SQL `like`: `%` any characters, `_` one, `\\` escapes. The pattern is a constant."""

    operand: Expression
    pattern: str
    negated: bool
    span: Span
    type: Type = Scalar.BOOLEAN


@dataclass(frozen=True, slots=True)
class Search:
    """`=~`: unanchored search by a constant regular expression in RE2 syntax."""

    operand: Expression
    pattern: str
    span: Span
    type: Type = Scalar.BOOLEAN


@dataclass(frozen=True, slots=True)
class TextMatch:
    """`field matches "query"`: true, false, or unknown where the field is null.

    `query` is text that percolator.query accepts, `literal` where it stands, quotes included; `path` is a
    field of type text of the candidate.
    """

    path: Path
    query: str
    literal: Span
    span: Span
    type: Type = Scalar.BOOLEAN


@dataclass(frozen=True, slots=True)
class Choose:
    """`test ? yes : no`: unknown chooses `no`."""

    test: Expression
    yes: Expression
    no: Expression
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """A function of rules.functions, by name."""

    function: str
    arguments: tuple[Expression, ...]
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Convert:
    """A value widened so that both operands agree: long to double or decimal, string to text."""

    operand: Expression
    type: Type
    span: Span


Expression = (
    Literal | FieldRef | KeyRef | StepRef | PrevRef | Aggregate | WindowAggregate | Lookup | Negate
    | Arithmetic | Compare | Logical | Not | IsNull | In | Like | Search | TextMatch | Choose | Call | Convert
)  # fmt: skip


def parts(node: object) -> list[object]:
    """The nodes directly below a node, in the order of its fields; those of a sequence's pairs, too."""
    found: list[object] = []
    for name in _FIELDS[type(node)] or ():
        value = getattr(node, name)
        if type(value) is tuple:
            _gather(value, found)
        elif _FIELDS[type(value)] is not None:
            found.append(value)
    return found


def _gather(values: tuple[object, ...], found: list[object]) -> None:
    for value in values:
        if type(value) is tuple:
            _gather(value, found)
        elif _FIELDS[type(value)] is not None:
            found.append(value)


_NEVER_NODES = frozenset({"str", "int", "bool", "str | None", "int | None", "Path", "tuple[str, ...]"})
"""How fields are annotated that hold no nodes: most fields of most nodes."""


class _Fields(dict[type, tuple[str, ...] | None]):
    """The fields of a kind of node that may hold nodes; None where it is no node. Filled as kinds are met."""

    def __missing__(self, kind: type) -> tuple[str, ...] | None:
        declared = () if kind is Span else getattr(kind, "__dataclass_fields__", {}).values()
        own = [field for field in declared if field.name != "span"]
        found = tuple(field.name for field in own if field.type not in _NEVER_NODES) if own else None
        self[kind] = found
        return found


_FIELDS = _Fields({Literal: ()})


def walk(node: object) -> Iterator[object]:
    """The node and all nodes below it, each before its parts."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        if _FIELDS[type(found)]:
            below = parts(found)
            below.reverse()
            waiting += below
