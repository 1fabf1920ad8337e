"""Typed expressions over one row of plain Python values: what a condition or an emitted name means.

The reference engine, the summary and emit of alerts, and every condition that names earlier steps use this
module; `columns` computes the same for whole columns. Logic is three-valued as in SQL with None for
unknown. Values are those of `rules.types.Scalar`. What a result type cannot hold (overflow, NaN, infinity)
is null.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Protocol, assert_never

from cep.exact.sums import deviation_of, mean, total_of
from cep.expressions.conditions import looks_into_list
from cep.expressions.functions import call
from cep.expressions.numbers import arithmetic, bounded, negate
from cep.expressions.strings import like, search
from rules.decimals import fitting
from rules.typed import (
    Aggregate,
    Arithmetic,
    Call,
    Choose,
    Compare,
    Convert,
    Expression,
    FieldRef,
    In,
    IsNull,
    KeyRef,
    Like,
    Literal,
    Logical,
    Lookup,
    Negate,
    Not,
    Path,
    PrevRef,
    Search,
    StepRef,
    TextMatch,
    WindowAggregate,
)
from rules.types import Scalar, Type


class Scope(Protocol):
    """Where an expression's names get their values. Null is None everywhere."""

    def field(self, path: Path) -> object:
        """A field of the candidate event."""

    def key(self, name: str) -> object:
        """A field of the partition key, by the name that the alert shows."""

    def step(self, ref: StepRef) -> object:
        """A field of an event that a step took."""

    def previous(self, ref: PrevRef) -> object:
        """A field of the n-th event before the candidate."""

    def aggregate(self, ref: Aggregate) -> object:
        """An aggregate over what a step took; `aggregate_of` works it out from the values."""

    def window(self, ref: WindowAggregate) -> object:
        """An aggregate over a window, or one of its bounds."""

    def text_match(self, ref: TextMatch) -> bool | None:
        """True if the candidate's text satisfies the query."""


Evaluator = Callable[[Scope], object]


def evaluate(expression: Expression, scope: Scope) -> object:
    """The value of the expression in that scope, of the expression's type or None."""
    return compiled(expression)(scope)


def holds(condition: Expression | None, scope: Scope) -> bool:
    """True if the condition is true: unknown is not, no condition is."""
    return condition is None or compiled(condition)(scope) is True


@lru_cache(maxsize=4096)
def compiled(expression: Expression) -> Evaluator:
    """The expression as a function of its scope: the tree is walked once, not once a row."""
    match expression:
        case Literal(value):
            return lambda _: value
        case FieldRef(path):
            return lambda scope: scope.field(path)
        case KeyRef(name):
            return lambda scope: scope.key(name)
        case StepRef():
            return lambda scope: scope.step(expression)
        case PrevRef():
            return lambda scope: scope.previous(expression)
        case Aggregate():
            return lambda scope: scope.aggregate(expression)
        case TextMatch():
            return lambda scope: scope.text_match(expression)
        case Negate(operand, type_):
            return _strict(lambda value: negate(value, type_), operand)
        case Arithmetic(operator, left, right, type_):
            return _strict(lambda a, b: arithmetic(operator, a, b, type_), left, right)
        case Compare(operator, left, right):
            return _strict(_COMPARISONS[operator], left, right)
        case Logical(operator, operands):
            return _logical(operator == "or", tuple(compiled(operand) for operand in operands))
        case Not(operand):
            return _strict(lambda value: not value, operand)
        case IsNull(operand, negated):
            inner = compiled(operand)
            return lambda scope: (inner(scope) is None) != negated
        case In():
            return _membership(expression)
        case Like(operand, pattern, negated):
            return _strict(lambda value: like(value, pattern) != negated, operand)
        case Search(operand, pattern):
            return _strict(lambda value: search(value, pattern), operand)
        case Choose(test, yes, no):
            condition, then, otherwise = compiled(test), compiled(yes), compiled(no)
            return lambda scope: then(scope) if condition(scope) is True else otherwise(scope)
        case Call("coalesce", arguments):
            return _first_known(tuple(compiled(argument) for argument in arguments))
        case Call(function, arguments, type_):
            return _strict(lambda *values: bounded(call(function, values), type_), *arguments)
        case Convert(operand, type_):
            return _strict(lambda value: convert(value, type_), operand)
        case WindowAggregate():
            return lambda scope: scope.window(expression)
        case Lookup():
            raise AssertionError("Lookup is not executed yet")
        case _:
            assert_never(expression)


def convert(value: object, type_: Type) -> object:
    """A value that is not null, widened to the type."""
    match type_, value:
        case Scalar.DOUBLE, int() | Decimal():
            return float(value)
        case Scalar.DECIMAL, int():
            return Decimal(value)
        case Scalar.DECIMAL, float():
            return fitting(Decimal(repr(value)))
        case _:
            return value


_COMPARISONS: dict[str, Callable[..., bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def _strict(function: Callable[..., object], *operands: Expression) -> Evaluator:
    """A function that is null as soon as one operand is."""
    parts = tuple(compiled(operand) for operand in operands)
    if len(parts) == 1:
        only = parts[0]

        def unary(scope: Scope) -> object:
            value = only(scope)
            return None if value is None else function(value)

        return unary
    if len(parts) == 2:
        left, right = parts

        def binary(scope: Scope) -> object:
            a = left(scope)
            if a is None:
                return None
            b = right(scope)
            return None if b is None else function(a, b)

        return binary

    def variadic(scope: Scope) -> object:
        values = [part(scope) for part in parts]
        return None if any(value is None for value in values) else function(*values)

    return variadic


def _logical(decisive: bool, operands: tuple[Evaluator, ...]) -> Evaluator:
    """`or` is decided by one true operand, `and` by one false; unknown if none decides and one is unknown."""

    def connective(scope: Scope) -> bool | None:
        result: bool | None = not decisive
        for operand in operands:
            value = operand(scope)
            if value is decisive:
                return decisive
            if value is None:
                result = None
        return result

    return connective


def _first_known(arguments: tuple[Evaluator, ...]) -> Evaluator:
    def coalesce(scope: Scope) -> object:
        for argument in arguments:
            value = argument(scope)
            if value is not None:
                return value
        return None

    return coalesce


def _membership(expression: In) -> Evaluator:
    """SQL `in`: true on a hit, else unknown if anything compared was null; nothing is in the empty list."""
    operand = compiled(expression.operand)
    items = tuple(compiled(item) for item in expression.items)
    in_list, negated = looks_into_list(expression), expression.negated

    def member(scope: Scope) -> bool | None:
        candidates: list[object] = []
        for item in items:
            value = item(scope)
            if in_list and isinstance(value, tuple):
                candidates.extend(value)
            else:
                candidates.append(value)
        value = operand(scope)
        if not candidates:
            return negated
        if value is None:
            return None
        if any(candidate is not None and candidate == value for candidate in candidates):
            return not negated
        return None if None in candidates else negated

    return member


def aggregate_of(function: str, values: list[object], parameter: float | None = None) -> object:
    """An aggregate of values in the order in which they were taken; nulls are left out.

    Of nothing null, except `count`: 0. `stddev` is that of the sample (null of fewer than two), exact and
    rounded once, and so are `sum` and `avg` of decimals (`cep.exact`). Of longs and doubles these add from
    left to right and are null once that overflows: an engine that keeps running values gets the same bits.
    `percentile` interpolates linearly between the two nearest ranks, as SQL's percentile_cont.
    """
    known: list[object] = [value for value in values if value is not None]
    if function == "count":
        return len(known)
    if function == "list":
        return tuple(known)
    if not known:
        return None
    match function:
        case "sum":
            return _total(known)
        case "avg":
            return mean(_total(known), len(known))  # type: ignore[arg-type]
        case "min":
            return min(known)  # type: ignore[type-var]
        case "max":
            return max(known)  # type: ignore[type-var]
        case "stddev":
            return deviation_of(known)  # type: ignore[arg-type]
        case "distinct":
            return len(set(known))
        case "percentile":
            assert parameter is not None
            return _percentile(sorted(float(value) for value in known), parameter)  # type: ignore[arg-type]
        case _:
            raise ValueError(f"no aggregate is called {function!r}")


def _total(values: list[object]) -> object:
    """Of longs and doubles null for good once a running sum has no room: an engine that keeps one knows no
    more."""
    total = values[0]
    if isinstance(total, Decimal):
        return total_of(values)  # type: ignore[arg-type]
    type_ = Scalar.LONG if isinstance(total, int) else Scalar.DOUBLE
    for value in values[1:]:
        total = None if total is None else arithmetic("+", total, value, type_)
    return total


def _percentile(ordered: list[float], fraction: float) -> float | None:
    position = fraction * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    low, high = ordered[below], ordered[above]
    result = low + (high - low) * (position - below)
    return result if math.isfinite(result) else None
