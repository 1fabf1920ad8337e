"""`12.5 within 0.1` in an expectation: how far an emitted value may be off."""

from __future__ import annotations

from decimal import Decimal

from rules import syntax, typed
from rules.resolve.expression import expression
from rules.resolve.findings import Findings
from rules.resolve.scope import Scope
from rules.types import NUMERIC, ListOf, Scalar, Type, kind_of


def refuse_tolerance(entry: syntax.Entry, why: str, findings: Findings) -> None:
    """A finding where an entry that has to be exact has a tolerance."""
    if entry.tolerance is not None:
        findings.error("CEP0609", why, entry.tolerance.span, help_="leave `within` out")


def near(entry: syntax.Entry, value: object, type_: Type | None, scope: Scope) -> object:
    """The value itself, or with its tolerance where the entry gives one that can be read."""
    findings = scope.findings
    if entry.tolerance is None:
        _refuse_a_sum(entry, findings)
        return value
    allowed = expression(entry.tolerance, scope)
    measured = type_.element if isinstance(type_, ListOf) else type_
    if allowed is None or measured is None:
        return value
    span = entry.tolerance.span
    if value is None or measured not in (*NUMERIC, Scalar.TIMESTAMP, Scalar.DURATION):
        shown = "null" if value is None else kind_of(measured)
        message = f"`within` is for numbers, times and durations, but this is {shown}"
        findings.error("CEP0609", message, entry.value.span, help_="leave `within` out")
        return value
    wanted = "number" if measured in NUMERIC else "duration"
    fits = allowed.type in NUMERIC if wanted == "number" else allowed.type is Scalar.DURATION
    if not isinstance(allowed, typed.Literal) or not fits:
        findings.error(
            "CEP0609",
            f"how far {kind_of(measured)} may be off is a {wanted}",
            span,
            help_=f"write a {wanted} after `within`",
        )
        return value
    assert isinstance(allowed.value, int | float | Decimal)
    if allowed.value < 0:
        findings.error(
            "CEP0609",
            "a tolerance is not negative",
            span,
            help_="write how far the value may be off to either side, without a sign",
        )
        return value
    return typed.Near(value, allowed.value)


def _refuse_a_sum(entry: syntax.Entry, findings: Findings) -> None:
    """`12.5 +- 0.1` is a sum, 12.4, and never what was meant."""
    match entry.value:
        case syntax.Binary("+", left, syntax.Unary("-", off)):
            message = "`+-` adds a negative number: it is no tolerance"
            help_ = f"write `{left.span.text} within {off.span.text}`"
            findings.error("CEP0609", message, entry.value.span, help_=help_)
