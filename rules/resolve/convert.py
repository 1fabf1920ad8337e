"""Widening: where two operands of different types may stand together, and what they become."""

from __future__ import annotations

import re
from decimal import Decimal

from rules.decimals import fitting, is_exact
from rules.instants import parse_instant
from rules.resolve.findings import Findings
from rules.source import Span
from rules.typed import Convert, Expression, Literal
from rules.types import NUMERIC, STRINGS, ListOf, Scalar, Type


def widen(operand: Expression, to: Type) -> Expression:
    """The operand as a value of a wider type; constants are converted here and now."""
    if operand.type == to:
        return operand
    if isinstance(operand, Literal):
        exact_ = Decimal(operand.value) if isinstance(operand.value, int) else operand.exact
        return Literal(_widened(operand.value, to), to, operand.span, exact_)
    return Convert(operand, to, operand.span)


def _widened(value: object, to: Type) -> object:
    match to, value:
        case Scalar.DOUBLE, int():
            return float(value)
        case Scalar.DECIMAL, int():
            return Decimal(value)
        case ListOf(element), tuple():
            return tuple(_widened(item, element) for item in value)
        case _:
            return value


def converted(operand: Expression, to: Scalar, span: Span) -> Expression:
    """A number as a double or a decimal, whatever it was."""
    if operand.type is to:
        return operand
    if not isinstance(operand, Literal):
        return Convert(operand, to, span)
    value = operand.value
    match to, value:
        case Scalar.DECIMAL, float():
            value = fitting(operand.exact if operand.exact is not None else Decimal(repr(value)))
        case Scalar.DOUBLE, Decimal():
            value = float(value)
        case _:
            value = _widened(value, to)
    return Literal(value, to, span)


def wider(one: Type, other: Type) -> Type | None:
    """The type that holds the values of both, or None. Doubles and decimals hold not one another's."""
    if one == other or other is Scalar.NULL:
        return one
    if one is Scalar.NULL:
        return other
    if isinstance(one, ListOf) and isinstance(other, ListOf):
        element = wider(one.element, other.element)
        return None if element is None else ListOf(element)
    if one in NUMERIC and other in NUMERIC:
        return (
            None if {one, other} == {Scalar.DOUBLE, Scalar.DECIMAL} else other if one is Scalar.LONG else one
        )
    if one in STRINGS and other in STRINGS:
        return Scalar.TEXT
    return None


def widens(one: Type, to: Type) -> bool:
    """True if a value of the one type may stand where the other is asked for."""
    return wider(one, to) == to


def exact(operand: Expression) -> Expression:
    """A constant number as the decimal that its author wrote; anything else as it is."""
    if not isinstance(operand, Literal) or operand.type is not Scalar.DOUBLE:
        return operand
    if operand.exact is None or not is_exact(operand.exact):
        return operand
    return Literal(operand.exact, Scalar.DECIMAL, operand.span)


def as_instant(operand: Expression, findings: Findings) -> Expression | None:
    """A constant string as a timestamp; None, with a finding, where it is none."""
    assert isinstance(operand, Literal)
    assert isinstance(operand.value, str)
    try:
        return Literal(parse_instant(operand.value), Scalar.TIMESTAMP, operand.span)
    except ValueError as problem:
        findings.error("CEP0227", str(problem), operand.span, help_=_instant_help(operand.value))
        return None


def _instant_help(written: str) -> str:
    clock = re.fullmatch(r"(\d\d?):\d\d(?::\d\d)?", written)
    if clock is not None:
        return f"a time of day is asked for by `hour(...) >= {int(clock[1])}`, in UTC or a zone that it names"
    return "write it as `2026-01-31T10:05:00Z`"


def agreeing(operands: list[Expression], findings: Findings) -> list[Expression] | Type | None:
    """The operands, all of one type: widened, constant strings beside timestamps read as such.

    The first type that does not go with those before it where there is none; None where a finding
    says so already.
    """
    if any(o.type is Scalar.TIMESTAMP for o in operands):
        read = instants(operands, findings)
        if read is None:
            return None
        operands = read
    if any(o.type is Scalar.DECIMAL for o in operands):
        operands = [exact(o) for o in operands]
    common: Type = Scalar.NULL
    for operand in operands:
        found = wider(common, operand.type)
        if found is None:
            return operand.type
        common = found
    fixed = (o.type for o in operands if isinstance(o.type, ListOf) and not isinstance(o, Literal))
    differing = next((type_ for type_ in fixed if type_ != common), None)
    return [widen(o, common) for o in operands] if differing is None else differing


def instants(operands: list[Expression], findings: Findings) -> list[Expression] | None:
    """The operands, constant strings read as timestamps; None, with findings, where one is none."""
    read = [as_instant(o, findings) if _constant_string(o) else o for o in operands]
    known = [o for o in read if o is not None]
    return known if len(known) == len(read) else None


def _constant_string(operand: Expression) -> bool:
    return isinstance(operand, Literal) and isinstance(operand.value, str)
