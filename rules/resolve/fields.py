"""Declared fields: their types, and those that a setting names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from rules import syntax, typed
from rules.diagnostics import Label
from rules.resolve.findings import Findings
from rules.resolve.paths import nullable_at, type_at
from rules.source import Span
from rules.suggest import did_you_mean
from rules.types import ListOf, Record, Scalar, Type, kind_of

_TYPES: dict[str, Type] = {t.value: t for t in Scalar if t is not Scalar.NULL}
_OTHER_NAMES = {
    other: ours
    for ours, others in {
        "long": "int integer bigint smallint tinyint short byte int32 int64 uint64 uint32 counter",
        "double": "float number real float64 float32 single",
        "decimal": "numeric money bigdecimal currency",
        "string": "str varchar char character nvarchar symbol uuid guid enum ip inet url email keyword",
        "boolean": "bool bit flag",
        "timestamp": "datetime date time instant timestamptz timestamp_ltz datetime64 epoch",
        "duration": "interval timespan timedelta",
        "list<string>": "list array set tags",
        "{ name: type }": "map object json struct record dict variant row",
    }.items()
    for other in others.split()
}


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a stream or table; `owner` is what messages call it.

    `types` by name, None where a type could not be read; `full` are those that could.
    """

    owner: str
    types: Mapping[str, Type | None]
    full: tuple[typed.Field, ...]


def fields_of(owner: str, parts: Sequence[object], findings: Findings) -> Fields:
    """The fields among the parts of a declaration."""
    types: dict[str, Type | None] = {}
    full: list[typed.Field] = []
    nodes = [p for p in parts if isinstance(p, syntax.Field)]
    again = [name for name, number in Counter(node.name.text for node in nodes).items() if number > 1]
    for part in _first_of_each(nodes, findings):
        name = part.name.text
        type_ = types[name] = field_type(part.type, findings)
        if type_ is not None:
            analyser = _analyser(part.type, findings)
            secret = part.secret is not None and may_be_secret(part, type_, findings)
            full.append(typed.Field(name, type_, part.nullable, analyser, part.span, secret))
    types |= dict.fromkeys(again)  # nobody knows which one is meant
    return Fields(owner, types, tuple(full))


def may_be_secret(part: syntax.Field, type_: Type | None, findings: Findings) -> bool:
    """True for a field that may be secret, a string; else there is a finding."""
    assert part.secret is not None
    if type_ is Scalar.STRING or type_ is None:
        return True
    message = f"only a string can be secret, but `{part.name.text}` is {kind_of(type_)}"
    help_ = "declare it as `string secret`: numbers of accounts and cards are texts, too; or remove `secret`"
    findings.error("CEP0264", message, part.secret, help_=help_)
    return False


def no_secret_here(parts: Sequence[object], where: str, findings: Findings) -> None:
    """Report fields that are secret where none can be: `where` says in what they lie."""
    for part in parts:
        if isinstance(part, syntax.Field) and part.secret is not None:
            message = f"a field of a {where} cannot be secret"
            help_ = (
                "remove `secret`" if where == "table" else "give the value a field of its own in the stream"
            )
            findings.error("CEP0264", message, part.secret, help_=help_)


def timestamp_at(path: syntax.Dotted, what: str, fields: Fields, findings: Findings) -> typed.Path | None:
    """The path to a timestamp that is never null; None, mostly with a finding, where it leads to none.

    `what` is what messages say of it: "the event time".
    """
    type_ = type_at(path.names, fields.owner, fields.types, findings)
    if type_ is None:
        return None
    written = ".".join(n.text for n in path.names)
    if type_ is not Scalar.TIMESTAMP:
        message = f"{what} must be a timestamp, but `{written}` is {kind_of(type_)}"
        findings.error("CEP0223", message, path.span, help_="name a field of type timestamp")
        return None
    names = tuple(n.text for n in path.names)
    for length in range(1, len(names) + 1):
        if nullable_at(names[:length], fields.full):
            shown = ".".join(names[:length])
            message = f"{what} `{written}` must not be nullable"
            note = "" if length == len(names) else f"`{shown}` may be null"
            findings.error("CEP0223", message, path.span, note=note, help_=f"remove the `?` of `{shown}`")
            return None
    return names


def _first_of_each(nodes: Sequence[syntax.Field], findings: Findings) -> Iterator[syntax.Field]:
    """The fields; a second one of the same name is reported and left out."""
    places: dict[str, Span] = {}
    for node in nodes:
        name = node.name.text
        if name in places:
            again = (Label(places[name], "first declared here"),)
            findings.error(
                "CEP0206",
                f"field `{name}` is declared twice",
                node.name.span,
                labels=again,
                help_="rename or remove one of them",
            )
            continue
        places[name] = node.name.span
        yield node


def field_type(node: syntax.FieldType, findings: Findings) -> Type | None:
    """The type that a declaration writes; None, with findings, where it is none or a part of it is none."""
    match node:
        case syntax.ListType():
            element = field_type(node.element, findings)
            return None if element is None else ListOf(element)
        case syntax.RecordType():
            return _record(node, findings)
        case syntax.ScalarType():
            name = node.name.text
            if name in _TYPES:
                return _TYPES[name]
            other = _OTHER_NAMES.get(name.lower())
            help_ = f"did you mean `{other}`?" if other else did_you_mean(name, _TYPES)
            help_ = help_ or f"types are {', '.join(sorted(_TYPES))}, `list<type>` and `{{ name: type }}`"
            findings.error("CEP0224", f"`{name}` is not a type", node.name.span, help_=help_)
            return None
        case _:
            assert_never(node)


def _record(node: syntax.RecordType, findings: Findings) -> Record | None:
    no_secret_here(node.fields, "record", findings)
    nodes = list(_first_of_each(node.fields, findings))
    for part in nodes:
        if isinstance(part.type, syntax.ScalarType) and part.type.analyser is not None:
            message = "a text inside a record is not searched, so it has no analyser"
            findings.error(
                "CEP0224", message, part.type.analyser.span, help_="remove it, or move the field out"
            )
    types = [(part.name.text, field_type(part.type, findings)) for part in nodes]
    known = tuple((name, type_) for name, type_ in types if type_ is not None)
    nullable = frozenset(part.name.text for part in nodes if part.nullable)
    whole = len(known) == len(types) == len(node.fields)  # of a field declared twice nobody knows the type
    return Record(known, nullable) if whole else None


def _analyser(node: syntax.FieldType, findings: Findings) -> str:
    if not isinstance(node, syntax.ScalarType) or node.analyser is None:
        return ""
    from percolator.analysis import ANALYSERS  # only where a text field names one

    name = node.analyser.text
    if name not in ANALYSERS:
        help_ = did_you_mean(name, ANALYSERS) or f"known are {', '.join(ANALYSERS)}"
        findings.error("CEP0224", f"`{name}` is not a text analyser", node.analyser.span, help_=help_)
    return name
