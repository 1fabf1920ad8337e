"""Expressions as they were written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

from rules.source import Span


@dataclass(frozen=True, slots=True)
class Name:
    """A name, without the backquotes that it may be written in."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number (int) or one with a point or an exponent (float)."""

    value: int | float
    span: Span


@dataclass(frozen=True, slots=True)
class String:
    """A string with its escapes resolved; the span includes the quotes."""

    value: str
    span: Span


@dataclass(frozen=True, slots=True)
class Constant:
    """`true`, `false`, `null` (None)."""

    value: bool | None
    span: Span


@dataclass(frozen=True, slots=True)
class Duration:
    """A duration in nanoseconds."""

    value: int
    span: Span


@dataclass(frozen=True, slots=True)
class Dotted:
    """A name, or names with dots between them: a field, a step's field, a `let`."""

    names: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Bracketed:
    """Parentheses: one expression in them, or a list of several."""

    items: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """A name followed by `(`."""

    function: Name
    arguments: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Lookup:
    """`table[key].field`."""

    table: Name
    key: Expression
    path: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x`, `not x`."""

    operator: Choice["-", "not"]
    operand: Expression
    span: Span


BinaryOperator = Choice["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic and comparison; `at` is the operator's own place."""

    operator: BinaryOperator
    left: Expression
    right: Expression
    at: Span
    span: Span


@dataclass(frozen=True, slots=True)
class Chain:
    """`a and b and c`, `a or b or c`."""

    operator: Choice["and", "or"]
    operands: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Between:
    """`x between low and high`, both ends included."""

    operand: Expression
    low: Expression
    high: Expression
    negated: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Predicate:
    """`x in y`, `x like y`, `x =~ y`, `x matches y`, the first two perhaps with `not`."""

    operator: Choice["in", "like", "=~", "matches"]
    operand: Expression
    argument: Expression
    negated: bool
    span: Span


@dataclass(frozen=True, slots=True)
class NullTest:
    """`x is null`, `x is not null`."""

    operand: Expression
    negated: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Conditional:
    """`test ? yes : no`."""

    test: Expression
    yes: Expression
    no: Expression
    span: Span


Expression = (
    Number | String | Constant | Duration | Dotted | Bracketed | Call | Lookup | Unary | Binary | Chain
    | Between | Predicate | NullTest | Conditional
)  # fmt: skip
