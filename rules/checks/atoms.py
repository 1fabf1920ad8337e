"""Conditions in their smallest parts: a value that is compared with constants, or tested for null."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, cast

from rules import typed
from rules.checks.ranges import OPPOSITE, TURNED, Operator, Range
from rules.types import Scalar

_EXACT = 2**53
"""Whole numbers below it are the same as doubles."""
_WHOLE = frozenset({Scalar.LONG, Scalar.TIMESTAMP, Scalar.DURATION})
_LONGS = (-(2**63), 2**63 - 1)
_DOMAINS: dict[str, tuple[int, int | None]] = {
    "length": (0, None),
    "abs": (0, None),
    "distance_km": (0, None),
    "hour": (0, 23),
    "weekday": (1, 7),
    "count": (0, None),
    "distinct": (0, None),
    "stddev": (0, None),
}
"""The least and greatest values of functions and aggregates that cannot give every value of their type."""
_NEVER_NULL = frozenset({"lower", "upper", "length", "hour", "weekday"})
"""Functions that are null of a null alone."""


@dataclass(frozen=True, slots=True)
class Atom:
    """A test of one value. It is true where the value is not null, but for `null` itself.

    `operator` in, not in: the value is one of `values`, or none; null, not null: whether there is one.
    """

    subject: typed.Expression
    operator: Operator | Literal["in", "not in", "null", "not null"]
    values: frozenset[Any]

    def narrow(self, known: Range) -> Range:
        """The known values that remain where this is true."""
        if self.operator == "in":
            return known.only(self.values)
        if self.operator == "not in":
            return _without(known, self.values)
        (value,) = self.values
        return known.narrowed(cast(Operator, self.operator), value)

    def narrow_to_false(self, known: Range) -> Range:
        """The known values that remain where this is false."""
        if self.operator == "in":
            return _without(known, self.values)
        if self.operator == "not in":
            return known.only(self.values)
        (value,) = self.values
        return known.narrowed(OPPOSITE[cast(Operator, self.operator)], value)


def _without(known: Range, values: frozenset[Any]) -> Range:
    for value in values:
        known = known.narrowed("!=", value)
    return known


def atom(node: typed.Expression, negated: bool) -> Atom | None:
    """The test that a condition, or its negation, is; None where it is none of one value."""
    match node:
        case typed.Compare(operator, left, right):
            said = OPPOSITE[operator] if negated else operator
            return _compared(said, left, right) or _compared(TURNED[said], right, left)
        case typed.In():
            return _member(node, negated)
        case typed.IsNull(operand):
            return Atom(operand, "not null" if node.negated != negated else "null", frozenset())
        case typed.Not(operand):
            return atom(operand, not negated)
        case typed.Logical() | typed.Literal():
            return None
        case typed.Like():
            plain = typed.Like(node.operand, node.pattern, False, node.span)
            return Atom(plain, "==", frozenset([node.negated == negated]))
        case _:
            return Atom(node, "==", frozenset([not negated]))


def _compared(operator: Operator, subject: typed.Expression, constant: typed.Expression) -> Atom | None:
    if isinstance(subject, typed.Literal) or not isinstance(constant, typed.Literal):
        return None
    value = constant.value
    if value is None:
        return Atom(subject, "in", frozenset())
    inner = _unwidened(subject, value)
    if inner.type in _WHOLE and isinstance(value, float | Decimal):
        return _of_whole(inner, operator, value)
    return Atom(inner, operator, frozenset([value]))


def _of_whole(subject: typed.Expression, operator: Operator, value: float | Decimal) -> Atom:
    """`n > 2.5` of a long: above a number that is not whole means from the next whole one on."""
    if value == int(value):
        return Atom(subject, operator, frozenset([int(value)]))
    below = int(value // 1)
    match operator:
        case "==":
            return Atom(subject, "in", frozenset())
        case "!=":
            return Atom(subject, "not null", frozenset())
        case ">" | ">=":
            return Atom(subject, ">", frozenset([below]))
        case "<" | "<=":
            return Atom(subject, "<=", frozenset([below]))


def _unwidened(subject: typed.Expression, value: object) -> typed.Expression:
    """A long that is compared as a double or a decimal, as the long itself."""
    if not isinstance(subject, typed.Convert):
        return subject
    exact = isinstance(value, float | Decimal) and -_EXACT < value < _EXACT
    if subject.operand.type is Scalar.STRING or (subject.operand.type is Scalar.LONG and exact):
        return subject.operand
    return subject


def _member(node: typed.In, negated: bool) -> Atom | None:
    constants = [item for item in node.items if isinstance(item, typed.Literal)]
    if len(constants) < len(node.items) or isinstance(node.operand, typed.Literal):
        return None
    values = [item.value for item in constants]
    if any(item.type != node.operand.type for item in constants if item.value is not None):
        return None
    known = frozenset(v for v in values if v is not None)
    if node.negated == negated:
        return Atom(node.operand, "in", known)
    if None in values:
        return Atom(node.operand, "in", frozenset())  # not one of some values and an unknown one: never true
    return Atom(node.operand, "not in", known)


def domain(subject: typed.Expression) -> Range:
    """All values that it can have."""
    whole = subject.type in _WHOLE
    low, high = _LONGS if whole else (None, None)
    match subject:
        case (
            typed.Call(function=name) | typed.Aggregate(function=name) | typed.WindowAggregate(function=name)
        ) if name in _DOMAINS:
            low, high = _DOMAINS[name][0], _DOMAINS[name][1] or high
        case _ if subject.type is Scalar.BOOLEAN:
            return Range(among=frozenset([True, False]))
        case _:
            pass
    return Range(whole, low, True, high, True)


def is_never_null(node: typed.Expression, stream: typed.Stream | None) -> bool:
    """True if it is certain to have a value; `stream` is the candidate's, None where it is not known."""
    match node:
        case typed.Literal():
            return node.value is not None
        case typed.FieldRef():
            return stream is not None and not _may_be_null(node.path, stream)
        case typed.Aggregate():
            return node.function in ("count", "distinct", "list")
        case typed.Call() if node.function in _NEVER_NULL:
            return all(is_never_null(argument, stream) for argument in node.arguments)
        case typed.Call() if node.function == "coalesce":
            return any(is_never_null(argument, stream) for argument in node.arguments)
        case typed.Convert():
            return node.type is not Scalar.DECIMAL and is_never_null(node.operand, stream)
        case typed.IsNull():
            return True
        case typed.TextMatch():
            return stream is not None and not _may_be_null(node.path, stream)
        case typed.Compare():
            return is_never_null(node.left, stream) and is_never_null(node.right, stream)
        case typed.Like() | typed.Search():
            return is_never_null(node.operand, stream)
        case _:
            return False


def _may_be_null(path: typed.Path, stream: typed.Stream) -> bool:
    from rules.resolve.paths import nullable_at

    return any(nullable_at(path[:length], stream.fields) for length in range(1, len(path) + 1))
