"""Fields of records: what a name, or names with dots between them, lead to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rules import syntax, typed
from rules.functions import FUNCTIONS
from rules.resolve.findings import Findings
from rules.suggest import meant
from rules.types import ListOf, Record, Type, kind_of


def type_at(
    names: Sequence[syntax.Name],
    owner: str,
    fields: Mapping[str, Type | None],
    findings: Findings,
    others: Sequence[str] = (),
) -> Type | None:
    """The type of a field; None, mostly with a finding, where there is none.

    `owner` is what has the fields, for messages; `others` are names that may have been meant, too. The
    field of a list of records is the list of that field's values.
    """
    first, *inner = names
    if first.text not in fields:
        help_ = _inside(first.text, fields) or meant(first.text, (*fields, *others), "fields")
        findings.error("CEP0202", f"{owner} has no field `{first.text}`", first.span, help_=help_)
        return None
    type_ = fields[first.text]
    outer = first
    for name in inner:
        if type_ is None:
            return None
        type_ = _field(type_, outer, name, findings)
        outer = name
    return type_


def _field(type_: Type, outer: syntax.Name, name: syntax.Name, findings: Findings) -> Type | None:
    match type_:
        case Record():
            found = type_.field(name.text)
            if found is None:
                help_ = meant(name.text, [known for known, _ in type_.fields], "fields")
                message = f"record `{outer.text}` has no field `{name.text}`"
                findings.error("CEP0202", message, name.span, help_=help_)
            return found
        case ListOf(Record() as element):
            found = _field(element, outer, name, findings)
            return None if found is None else ListOf(found)
        case _:
            message = f"`{outer.text}` is {kind_of(type_)} and has no fields"
            help_ = f"write `{outer.text}` alone, or declare it as a record"
            from rules.called_elsewhere import ours_for  # only where something is wrong

            function = name.text if name.text in FUNCTIONS else ours_for(name.text)
            if function in FUNCTIONS:
                help_ = f"write `{function}({outer.text})`"
            findings.error("CEP0202", message, name.span, help_=help_)
            return None


def _inside(name: str, fields: Mapping[str, Type | None]) -> str:
    """The help for a name that only a record has."""
    for outer, type_ in fields.items():
        record = type_.element if isinstance(type_, ListOf) else type_
        if isinstance(record, Record) and record.field(name) is not None:
            return f"did you mean `{outer}.{name}`?"
    return ""


def nullable_at(path: typed.Path, fields: Sequence[typed.Field]) -> bool:
    """True if the field at the end of a path may be null by itself, its records being there.

    A field that is not among those may be: of a hit of a standing query, it is not the stream's.
    """
    field = next((f for f in fields if f.name == path[0]), None)
    if field is None:
        return True
    type_, nullable = field.type, field.nullable
    for name in path[1:]:
        record = type_.element if isinstance(type_, ListOf) else type_
        if not isinstance(record, Record):
            return True
        type_, nullable = record.field(name) or type_, name in record.nullable
    return nullable
