"""Operators: which types they take, what they become."""

from __future__ import annotations

from typing import cast

from rules import syntax, typed
from rules.resolve.convert import agreeing, instants, widen
from rules.resolve.scope import Scope
from rules.types import NUMERIC, STRINGS, ListOf, Scalar, Type

Typed = typed.Expression | None
_ORDERED = NUMERIC | STRINGS | {Scalar.TIMESTAMP, Scalar.DURATION, Scalar.NULL}
_TIMES: dict[tuple[Type, str, Type], Type] = {
    (Scalar.TIMESTAMP, "-", Scalar.TIMESTAMP): Scalar.DURATION,
    (Scalar.TIMESTAMP, "+", Scalar.DURATION): Scalar.TIMESTAMP,
    (Scalar.TIMESTAMP, "-", Scalar.DURATION): Scalar.TIMESTAMP,
    (Scalar.DURATION, "+", Scalar.TIMESTAMP): Scalar.TIMESTAMP,
    (Scalar.DURATION, "+", Scalar.DURATION): Scalar.DURATION,
    (Scalar.DURATION, "-", Scalar.DURATION): Scalar.DURATION,
    (Scalar.DURATION, "/", Scalar.DURATION): Scalar.DOUBLE,
    (Scalar.DURATION, "*", Scalar.LONG): Scalar.DURATION,
    (Scalar.DURATION, "*", Scalar.DOUBLE): Scalar.DURATION,
    (Scalar.LONG, "*", Scalar.DURATION): Scalar.DURATION,
    (Scalar.DOUBLE, "*", Scalar.DURATION): Scalar.DURATION,
    (Scalar.DURATION, "/", Scalar.LONG): Scalar.DURATION,
    (Scalar.DURATION, "/", Scalar.DOUBLE): Scalar.DURATION,
}


def kind_of(type_: Type) -> str:
    """A type in a sentence: `a string`, `a list of longs`."""
    if isinstance(type_, ListOf):
        return f"a list of {type_.element}s"
    return "null" if type_ is Scalar.NULL else f"a {type_}"


def negate(operand: Typed, node: syntax.Unary, scope: Scope) -> Typed:
    """Arithmetic minus."""
    if operand is None:
        return None
    if operand.type in NUMERIC or operand.type is Scalar.DURATION:
        return typed.Negate(operand, operand.type, node.span)
    message = f"{scope.subject} negates {kind_of(operand.type)}"
    scope.findings.error("CEP0208", message, node.operand.span, help_="`-` needs a number or a duration")
    return None


def arithmetic(left: Typed, right: Typed, node: syntax.Binary, scope: Scope) -> Typed:
    """`+ - * / %` over numbers, durations and timestamps."""
    if left is None or right is None:
        return None
    operator = node.operator
    assert operator in ("+", "-", "*", "/", "%")
    if operator == "-" and Scalar.TIMESTAMP in (left.type, right.type):
        sides = instants([left, right], scope.findings)
        if sides is None:
            return None
        left, right = sides
    types = (left.type, operator, right.type)
    if types in _TIMES:
        return typed.Arithmetic(operator, left, right, _TIMES[types], node.span)
    agreed = agreeing([left, right], scope.findings)
    if isinstance(agreed, list) and agreed[0].type in NUMERIC:
        type_ = agreed[0].type
        if operator == "/" and type_ is Scalar.LONG:
            type_ = Scalar.DOUBLE
            agreed = [widen(o, type_) for o in agreed]
        return typed.Arithmetic(operator, agreed[0], agreed[1], type_, node.span)
    if agreed is not None:
        _refuse_arithmetic(left, right, node, scope)
    return None


def _refuse_arithmetic(
    left: typed.Expression, right: typed.Expression, node: syntax.Binary, scope: Scope
) -> None:
    verb = {"+": "adds", "-": "subtracts", "*": "multiplies", "/": "divides", "%": "takes the remainder of"}
    numbers = NUMERIC | {Scalar.TIMESTAMP, Scalar.DURATION}
    culprit, other = (left, right) if left.type not in numbers else (right, left)
    span = node.left.span if culprit is left else node.right.span
    both = f"{left.type} and {right.type}"
    help_ = _alternative(culprit, other, scope, frozenset({other.type}))
    if culprit.type in numbers:
        span, help_ = node.span, ""
    note = _note(culprit) if culprit.type not in numbers else ""
    scope.findings.error(
        "CEP0208", f"{scope.subject} {verb[node.operator]} {both}", span, note=note, help_=help_
    )


def compare(left: Typed, right: Typed, node: syntax.Binary, scope: Scope) -> Typed:
    """`== != < <= > >=` of two operands of one type."""
    if left is None or right is None:
        return None
    operator = node.operator
    assert operator in ("==", "!=", "<", "<=", ">", ">=")
    for side, operand in ((node.left, left), (node.right, right)):
        if operand.type is Scalar.NULL:
            test = "is null" if operator == "==" else "is not null"
            message = "a comparison with `null` is never true"
            scope.findings.error("CEP0230", message, side.span, help_=f"did you mean `{test}`?")
            return None
    agreed = agreeing([left, right], scope.findings)
    if agreed is None:
        return None
    if not isinstance(agreed, list):
        _refuse_comparison(left, right, node, scope)
        return None
    if operator in ("<", "<=", ">", ">=") and agreed[0].type not in _ORDERED:
        message = f"{scope.subject} orders {left.type} values by `{operator}`"
        scope.findings.error("CEP0207", message, node.at, help_="only `==` and `!=` compare them")
        return None
    return typed.Compare(operator, agreed[0], agreed[1], node.span)


def _refuse_comparison(
    left: typed.Expression, right: typed.Expression, node: syntax.Binary, scope: Scope
) -> None:
    culprit, other, span = left, right, node.left.span
    if not _is_field(left) and _is_field(right):
        culprit, other, span = right, left, node.right.span
    scope.findings.error(
        "CEP0207",
        f"{scope.subject} compares {left.type} with {right.type}",
        span,
        note=_note(culprit),
        help_=_alternative(culprit, other, scope, _comparable(other.type)),
    )


def _is_field(operand: typed.Expression) -> bool:
    return isinstance(operand, typed.FieldRef | typed.StepRef | typed.PrevRef | typed.KeyRef)


def _note(operand: typed.Expression) -> str:
    return f"`{operand.span.text}` is {kind_of(operand.type)}"


def _comparable(type_: Type) -> frozenset[Type]:
    for family in (NUMERIC, STRINGS):
        if type_ in family:
            return cast(frozenset[Type], family)
    return frozenset({type_})


def _alternative(
    culprit: typed.Expression, other: typed.Expression, scope: Scope, types: frozenset[Type]
) -> str:
    """How the literal is written right, or a field of the right type that may have been meant.

    Of fields: one that the other operand names, or a like one.
    """
    if isinstance(other, typed.Literal):
        if other.type is Scalar.STRING and culprit.type in NUMERIC and _is_number(str(other.value)):
            return "a number stands without quotes"
        if other.type in NUMERIC and culprit.type is Scalar.DURATION:
            return f"a duration has a unit: `{other.span.text}s`"
    if not isinstance(culprit, typed.FieldRef) or scope.candidate is None:
        return ""
    fitting = [name for name, type_ in scope.candidate.fields.items() if type_ in types]
    for part in typed.walk(other):
        named = getattr(part, "path", ())
        if named and named[-1] in fitting:
            return f"did you mean `{named[-1]}`?"
    from rules.suggest import did_you_mean

    return did_you_mean(culprit.path[-1], fitting)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def between(parts: list[Typed], node: syntax.Between, scope: Scope) -> Typed:
    """`x between low and high`: two comparisons."""
    operand, low, high = parts
    if operand is None or low is None or high is None:
        return None
    first, second = ("<", ">") if node.negated else (">=", "<=")
    lower = syntax.Binary(
        cast(syntax.BinaryOperator, first),
        node.operand,
        node.low,
        node.low.span,
        node.operand.span.to(node.low.span),
    )
    upper = syntax.Binary(
        cast(syntax.BinaryOperator, second), node.operand, node.high, node.high.span, node.span
    )
    above = compare(operand, low, lower, scope)
    below = None if above is None else compare(operand, high, upper, scope)
    if above is None or below is None:
        return None
    return typed.Logical("or" if node.negated else "and", (above, below), node.span)


def membership(
    operand: Typed, items: list[typed.Expression] | None, node: syntax.Predicate, scope: Scope
) -> Typed:
    """`x in (...)`."""
    if operand is None or items is None:
        return None
    agreed = agreeing([operand, *items], scope.findings)
    if agreed is None:
        return None
    if not isinstance(agreed, list):
        culprit = next(i for i in items if not isinstance(agreeing([operand, i], scope.findings), list))
        message = f"{scope.subject} looks for {operand.type} among {culprit.type} values"
        scope.findings.error("CEP0207", message, culprit.span, note=_note(culprit))
        return None
    return typed.In(agreed[0], tuple(agreed[1:]), node.negated, node.span)


def choose(test: Typed, yes: Typed, no: Typed, node: syntax.Conditional, scope: Scope) -> Typed:
    """`test ? yes : no`."""
    if test is None or yes is None or no is None:
        return None
    agreed = agreeing([yes, no], scope.findings)
    if agreed is None:
        return None
    if not isinstance(agreed, list):
        message = f"{scope.subject} chooses between {yes.type} and {no.type}"
        scope.findings.error("CEP0207", message, node.no.span, note=_note(no))
        return None
    return typed.Choose(test, agreed[0], agreed[1], agreed[0].type, node.span)
