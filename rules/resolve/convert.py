"""Widening: where two operands of different types may stand together, and what they become."""

from __future__ import annotations

from rules.instants import parse_instant
from rules.resolve.findings import Findings
from rules.typed import Convert, Expression, Literal
from rules.types import NUMERIC, STRINGS, Scalar, Type


def widen(operand: Expression, to: Type) -> Expression:
    """The operand as a value of a wider type; constants are converted here and now."""
    if operand.type == to:
        return operand
    if isinstance(operand, Literal):
        value = operand.value
        if to is Scalar.DOUBLE and isinstance(value, int):
            value = float(value)
        return Literal(value, to, operand.span)
    return Convert(operand, to, operand.span)


def wider(one: Type, other: Type) -> Type | None:
    """The type that holds the values of both, or None."""
    if one == other or other is Scalar.NULL:
        return one
    if one is Scalar.NULL:
        return other
    if one in NUMERIC and other in NUMERIC:
        return Scalar.DECIMAL if Scalar.DECIMAL in (one, other) else Scalar.DOUBLE
    if one in STRINGS and other in STRINGS:
        return Scalar.TEXT
    return None


def as_instant(operand: Expression, findings: Findings) -> Expression | None:
    """A constant string as a timestamp; None, with a finding, where it is none."""
    assert isinstance(operand, Literal)
    assert isinstance(operand.value, str)
    try:
        return Literal(parse_instant(operand.value), Scalar.TIMESTAMP, operand.span)
    except ValueError as problem:
        findings.error("CEP0227", str(problem), operand.span)
        return None


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
    common: Type = Scalar.NULL
    for operand in operands:
        found = wider(common, operand.type)
        if found is None:
            return operand.type
        common = found
    return [widen(o, common) for o in operands]


def instants(operands: list[Expression], findings: Findings) -> list[Expression] | None:
    """The operands, constant strings read as timestamps; None, with findings, where one is none."""
    read = [as_instant(o, findings) if _constant_string(o) else o for o in operands]
    known = [o for o in read if o is not None]
    return known if len(known) == len(read) else None


def _constant_string(operand: Expression) -> bool:
    return isinstance(operand, Literal) and isinstance(operand.value, str)
