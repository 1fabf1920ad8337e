"""Values that are typed and that the engine does not compute with yet: lists, whole records, decimals."""

from __future__ import annotations

from collections.abc import Iterator

from rules.diagnostics import Diagnostic
from rules.source import Span
from rules.typed import (
    Aggregate,
    Convert,
    Expression,
    FieldRef,
    KeyRef,
    Literal,
    Match,
    PrevRef,
    Rule,
    StepRef,
    walk,
)
from rules.types import ListOf, Record, Scalar, Type


def unexecuted_values(rule: Rule) -> Iterator[Diagnostic]:
    """An error for the first value of each such kind that the rule reads or makes."""
    first: dict[str, Diagnostic] = {}
    for found in _all(rule):
        first.setdefault(found.code, found)
    yield from first.values()


def _all(rule: Rule) -> Iterator[Diagnostic]:
    if rule.by is not None and Scalar.DECIMAL in rule.by.types:
        yield _finding("CEP0922", "a key that is a decimal", rule.by.span)
    timeouts = (rule.body.on_timeout or ()) if isinstance(rule.body, Match) else ()
    for node in (rule.body, *rule.emit, *timeouts):
        for part in walk(node):
            found = _of(part)
            if found is not None:
                yield found


def _of(node: object) -> Diagnostic | None:
    match node:
        case Aggregate(function="list", type=ListOf(element)):
            return _refused(element, node)
        case FieldRef() | StepRef() | PrevRef() | KeyRef() | Aggregate():
            return _refused(node.type, node)
        case Literal(type=Scalar.DECIMAL) | Convert(type=Scalar.DECIMAL):
            return _refused(node.type, node)
        case _:
            return None


def _refused(type_: Type, node: Expression) -> Diagnostic | None:
    match type_:
        case ListOf():
            return _finding("CEP0920", "a list as the value of a field", node.span)
        case Record():
            return _finding("CEP0921", "a whole record as a value", node.span)
        case Scalar.DECIMAL:
            return _finding("CEP0922", "a decimal", node.span)
        case Scalar():
            return None


def _finding(code: str, what: str, span: Span) -> Diagnostic:
    return Diagnostic(code, "error", f"{what} is checked but not executed yet", span)
