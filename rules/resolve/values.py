"""Values that tests give and expect: constants in the types of fields, records and lists included."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rules import syntax, typed
from rules.diagnostics import Label
from rules.resolve.convert import as_instant
from rules.resolve.expression import expected, expression
from rules.resolve.findings import Findings
from rules.resolve.scope import Scope
from rules.source import Span
from rules.suggest import meant
from rules.types import ListOf, Record, Scalar, Type, kind_of

NO_NULL = "give it a value, or declare it nullable in the stream, with `?` after its type"
"""The help for a null where there can be none."""


@dataclass(frozen=True, slots=True)
class Values:
    """Reads the values of one test. `instant` makes a time of nanoseconds since the test's start.

    `given`: they are an event's, in whose lists there are no nulls.
    """

    scope: Scope
    instant: Callable[[int, Span], int]
    given: bool

    def of(self, node: syntax.Value, type_: Type | None) -> typed.Literal | None:
        """A constant, of that type where one is asked for; None with findings where it is none."""
        match node:
            case syntax.MapValue():
                return self._record(node, type_)
            case syntax.ListValue():
                return self._list(node, type_)
            case syntax.Bracketed() if len(node.items) != 1:
                return self._list(syntax.ListValue(node.items, node.span), type_)
            case _:
                return self._constant(node, type_)

    def _record(self, node: syntax.MapValue, type_: Type | None) -> typed.Literal | None:
        if not isinstance(type_, Record):
            message, help_ = "braces stand here only after `key` and `events`", "give a single value"
            if type_ is not None:
                message = f"this is a record, but {kind_of(type_)} is asked for"
                help_ = f"write {kind_of(type_)}"
            self._refuse(message, node.span, help_)
            return None
        types = dict(type_.fields)
        found: dict[str, object] = {}
        for entry in entries(node, self.scope.findings):
            name = entry.name.text
            if name not in types:
                help_ = meant(name, types, "fields")
                message = f"the record has no field `{name}`"
                self.scope.findings.error("CEP0602", message, entry.name.span, help_=help_)
                continue
            value = self.of(entry.value, types[name])
            if value is None:
                continue
            if value.value is None and name not in type_.nullable:
                self._refuse(f"field `{name}` is required and cannot be null", entry.value.span, NO_NULL)
            found[name] = value.value
        return typed.Literal(found, type_, node.span)

    def _list(self, node: syntax.ListValue, type_: Type | None) -> typed.Literal | None:
        if type_ is not None and not isinstance(type_, ListOf):
            self._refuse(f"this is a list, not {kind_of(type_)}", node.span, f"write {kind_of(type_)}")
            return None
        items = [self.of(item, None if type_ is None else type_.element) for item in node.items]
        null = next((n for n, i in zip(node.items, items, strict=True) if i and i.value is None), None)
        if self.given and null is not None:
            self._refuse("the values of a list are never null", null.span, "leave it out")
        values = tuple(None if i is None else i.value for i in items)
        return typed.Literal(values, type_ or ListOf(Scalar.NULL), node.span)

    def _constant(self, node: syntax.Expression, type_: Type | None) -> typed.Literal | None:
        if type_ is None:
            value = expression(node, self.scope)
        elif type_ is Scalar.TIMESTAMP:
            value = self._timestamp(node)
        else:
            value = expected(node, type_, self.scope)
        if value is None or isinstance(value, typed.Literal):
            return value
        message = "the test needs a value that can be evaluated before anything runs"
        self.scope.findings.error("CEP0226", message, node.span, help_="write the value itself")
        return None

    def _timestamp(self, node: syntax.Expression) -> typed.Expression | None:
        """An instant in quotes, or a duration since the test's start."""
        value = expression(node, self.scope)
        if value is None or value.type in (Scalar.TIMESTAMP, Scalar.NULL):
            return value
        if isinstance(value, typed.Literal):
            match value.type, value.value:
                case _, str():
                    return as_instant(value, self.scope.findings)
                case Scalar.DURATION, int() as offset:
                    return typed.Literal(self.instant(offset, node.span), Scalar.TIMESTAMP, node.span)
        help_ = 'write a time such as `"2026-01-05T09:00Z"`, or a duration since the start of the test'
        self._refuse(f"this is {kind_of(value.type)}, not a timestamp", node.span, help_)
        return None

    def _refuse(self, message: str, span: Span, help_: str) -> None:
        self.scope.findings.error("CEP0603", message, span, help_=help_)


def entries(node: syntax.MapValue, findings: Findings) -> Iterator[syntax.Entry]:
    """The entries of a map; one that is given twice is reported."""
    seen: dict[str, Span] = {}
    for entry in node.entries:
        if entry.name.text in seen:
            labels = (Label(seen[entry.name.text], "first given here"),)
            message = f"`{entry.name.text}` is given twice"
            findings.error("CEP0206", message, entry.name.span, labels=labels, help_="remove one of them")
        seen[entry.name.text] = entry.name.span
        yield entry
