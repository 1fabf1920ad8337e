"""Operators: which types they take, what they become."""

from __future__ import annotations

from typing import cast

from rules import syntax, typed
from rules.instants import parse_duration
from rules.operators import ARITHMETIC
from rules.resolve.convert import agreeing, exact, instants, widen, widens
from rules.resolve.scope import Scope
from rules.types import NUMERIC, STRINGS, ListOf, Record, Scalar, Type, kind_of

Typed = typed.Expression | None
_TIMES = frozenset({Scalar.TIMESTAMP, Scalar.DURATION})
_ORDERED = NUMERIC | STRINGS | {Scalar.TIMESTAMP, Scalar.DURATION, Scalar.NULL}


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
    if Scalar.DECIMAL in (left.type, right.type):
        left, right = exact(left), exact(right)
    known = ARITHMETIC.get((_beside(left, right), operator, _beside(right, left)))
    if known is None:
        _refuse_arithmetic(left, right, node, scope)
        return None
    first, second = widen(left, known.left), widen(right, known.right)
    return typed.Arithmetic(operator, first, second, known.result, node.span)


def _beside(operand: typed.Expression, other: typed.Expression) -> Type:
    """The operand's type; `null` has the other side's."""
    return other.type if operand.type is Scalar.NULL else operand.type


def _refuse_arithmetic(
    left: typed.Expression, right: typed.Expression, node: syntax.Binary, scope: Scope
) -> None:
    verb = {"+": "adds", "-": "subtracts", "*": "multiplies", "/": "divides", "%": "takes the remainder of"}
    numbers = NUMERIC | {Scalar.TIMESTAMP, Scalar.DURATION}
    culprit, other = (left, right) if left.type not in numbers else (right, left)
    span = node.left.span if culprit is left else node.right.span
    both = f"{left.type} and {right.type}"
    help_ = _alternative(culprit, other, scope, frozenset({other.type}))
    if not help_ and isinstance(culprit, typed.Literal):
        help_ = _alternative(other, culprit, scope, frozenset())
    if culprit.type in numbers:
        span, help_ = node.span, _conversion(left, right) or _unit(left, right)
    elif node.operator == "+" and culprit.type in STRINGS and other.type in STRINGS:
        help_ = 'texts are put together in `summary "{a} {b}"`, of emitted names'
    note = _note(culprit) if culprit.type not in numbers else ""
    scope.findings.error(
        "CEP0208",
        f"{scope.subject} {verb[node.operator]} {both}",
        span,
        note=note,
        help_=help_ or "name values of types that go together: numbers, or a timestamp and a duration",
    )


def _conversion(left: typed.Expression, right: typed.Expression) -> str:
    """The help where a double meets a decimal."""
    if {left.type, right.type} != {Scalar.DOUBLE, Scalar.DECIMAL}:
        return ""
    double = left if left.type is Scalar.DOUBLE else right
    return f"`decimal({double.span.text})` makes a decimal of it, `double(...)` a double of the other"


def _unit(left: typed.Expression, right: typed.Expression) -> str:
    """The help where a number without a unit meets a time."""
    for time, number in ((left, right), (right, left)):
        timed = time.type in (Scalar.TIMESTAMP, Scalar.DURATION)
        if timed and isinstance(number, typed.Literal) and number.type in NUMERIC:
            return f"a duration has a unit: `{number.span.text}s`"
    return ""


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
    if _has_records(agreed[0].type):
        message = f"{scope.subject} compares {kind_of(agreed[0].type).removeprefix('a ')}s"
        scope.findings.error("CEP0207", message, node.at, help_="compare the fields that matter")
        return None
    if operator in ("<", "<=", ">", ">=") and agreed[0].type not in _ORDERED:
        message = f"{scope.subject} orders {left.type} values by `{operator}`"
        scope.findings.error("CEP0207", message, node.at, help_="only `==` and `!=` compare them")
        return None
    return typed.Compare(operator, agreed[0], agreed[1], node.span)


def _has_records(type_: Type) -> bool:
    while isinstance(type_, ListOf):
        type_ = type_.element
    return isinstance(type_, Record)


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
        help_=_conversion(left, right)
        or _quoted_field(left, scope)
        or _quoted_field(right, scope)
        or _single(culprit, other)
        or _alternative(culprit, other, scope, _comparable(other.type))
        or f"compare it with {kind_of(culprit.type)}",
    )


def _quoted_field(operand: typed.Expression, scope: Scope) -> str:
    """The help for a string that is the name of a field."""
    fields = {} if scope.candidate is None else scope.candidate.fields
    if isinstance(operand, typed.Literal) and operand.type is Scalar.STRING and operand.value in fields:
        return f"a field stands without quotes: `{operand.value}`"
    return ""


def _single(one: typed.Expression, other: typed.Expression) -> str:
    """The help where a list meets a value of the kind that it holds."""
    for list_, value in ((one, other), (other, one)):
        if isinstance(list_.type, ListOf) and widens(value.type, list_.type.element):
            return f"did you mean `{value.span.text} in {list_.span.text}`?"
    return ""


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
    """The literal written right, or a field of the right type that may have been meant.

    Of fields: one that the other operand names, or a like one.
    """
    if isinstance(other, typed.Literal):
        if other.type is Scalar.STRING and culprit.type in NUMERIC and _is_number(str(other.value)):
            return "a number stands without quotes"
        if other.type is Scalar.STRING and culprit.type in _TIMES and _is_duration(str(other.value)):
            return f"a duration stands without quotes: `{other.value}`"
        if culprit.type is Scalar.BOOLEAN:
            return f"write `{culprit.span.text}` alone, or `not {culprit.span.text}`"
        if other.type in NUMERIC and culprit.type is Scalar.TIMESTAMP:
            return 'an instant is a string with its zone: `"2026-01-31T10:05:00Z"`'
        if other.type in NUMERIC and culprit.type is Scalar.DURATION:
            return f"a duration has a unit: `{other.span.text}s`"
    if isinstance(culprit.type, Record) and culprit.type.fields:
        return f"compare its fields, such as `{culprit.span.text}.{culprit.type.fields[0][0]}`"
    if not isinstance(culprit, typed.FieldRef) or scope.candidate is None:
        return ""
    fields = scope.candidate.fields.items()
    fitting = [name for name, type_ in fields if type_ in types and name != culprit.path[-1]]
    for part in typed.walk(other):
        named = getattr(part, "path", ())
        if named and named[-1] in fitting:
            return f"did you mean `{named[-1]}`?"
    from rules.suggest import did_you_mean

    return did_you_mean(culprit.path[-1], fitting)


def _is_duration(text: str) -> bool:
    try:
        parse_duration(text)
    except ValueError:
        return False
    return True


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
    if len(items) == 1 and isinstance(items[0].type, ListOf) and not isinstance(operand.type, ListOf):
        return _within_list(operand, items[0], node, scope)
    agreed = agreeing([operand, *items], scope.findings)
    if agreed is None:
        return None
    if not isinstance(agreed, list):
        culprit = next(i for i in items if not isinstance(agreeing([operand, i], scope.findings), list))
        message = f"{scope.subject} looks for {operand.type} among {culprit.type} values"
        help_ = _conversion(operand, culprit) or f"list values of type {operand.type}"
        scope.findings.error("CEP0207", message, culprit.span, note=_note(culprit), help_=help_)
        return None
    if _has_records(agreed[0].type):
        message = f"{scope.subject} looks for {kind_of(agreed[0].type)}"
        scope.findings.error("CEP0207", message, operand.span, help_="compare the fields that matter")
        return None
    return typed.In(agreed[0], tuple(agreed[1:]), node.negated, node.span)


def _within_list(
    operand: typed.Expression, values: typed.Expression, node: syntax.Predicate, scope: Scope
) -> Typed:
    """`x in tags`, whose values are known only when the event is there."""
    assert isinstance(values.type, ListOf)
    element = values.type.element
    if element is Scalar.TIMESTAMP:
        read = instants([operand], scope.findings)
        if read is None:
            return None
        operand = read[0]
    if element is Scalar.DECIMAL:
        operand = exact(operand)
    if not _has_records(element) and widens(operand.type, element):
        return typed.In(widen(operand, element), (values,), node.negated, node.span)
    message = f"{scope.subject} looks for {operand.type} in {kind_of(values.type)}"
    help_ = f"look for {kind_of(element)}"
    if _has_records(element):
        help_ = f"name a field of the records: `{values.span.text}.field`"
    scope.findings.error("CEP0207", message, operand.span, note=_note(operand), help_=help_)
    return None


def choose(test: Typed, yes: Typed, no: Typed, node: syntax.Conditional, scope: Scope) -> Typed:
    """`test ? yes : no`."""
    if test is None or yes is None or no is None:
        return None
    agreed = agreeing([yes, no], scope.findings)
    if agreed is None:
        return None
    if not isinstance(agreed, list):
        message = f"{scope.subject} chooses between {yes.type} and {no.type}"
        scope.findings.error(
            "CEP0207", message, node.no.span, note=_note(no), help_="give both branches one type"
        )
        return None
    return typed.Choose(test, agreed[0], agreed[1], agreed[0].type, node.span)
