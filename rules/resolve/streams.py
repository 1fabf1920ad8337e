"""Stream declarations -> typed streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from rules import syntax, typed
from rules.diagnostics import Label
from rules.resolve.declared import Declared, StreamInfo
from rules.resolve.findings import Findings
from rules.resolve.paths import nullable_at, type_at
from rules.source import Span
from rules.suggest import did_you_mean
from rules.types import ListOf, Record, Scalar, Type, kind_of

_TYPES: dict[str, Type] = {t.value: t for t in Scalar if t is not Scalar.NULL}
_OTHER_NAMES = {
    "int": "long",
    "integer": "long",
    "bigint": "long",
    "float": "double",
    "number": "double",
    "str": "string",
    "varchar": "string",
    "bool": "boolean",
    "datetime": "timestamp",
    "date": "timestamp",
}


def declare_stream(node: syntax.Stream, declared: Declared) -> None:
    """Add the stream to what is declared, with its fields as far as they could be read."""
    findings = declared.findings
    if node.name.text == "timeout":
        message = "a stream may not be called `timeout`"
        findings.error("CEP0206", message, node.name.span, help_="`on timeout` begins a clause")
    fields: dict[str, Type | None] = {}
    full: list[typed.Field] = []
    for part in _first_of_each([p for p in node.parts if isinstance(p, syntax.Field)], findings):
        name = part.name.text
        type_ = fields[name] = field_type(part.type, findings)
        if type_ is not None:
            analyser = _analyser(part.type, findings)
            full.append(typed.Field(name, type_, part.nullable, analyser, part.span))
    stream = _settings(node, tuple(full), fields, findings)
    declared.streams[node.name.text] = StreamInfo(node.name.text, fields, True, stream)


def _first_of_each(nodes: Sequence[syntax.Field], findings: Findings) -> Iterator[syntax.Field]:
    """The fields; a second one of the same name is reported and left out."""
    places: dict[str, Span] = {}
    for node in nodes:
        name = node.name.text
        if name in places:
            again = (Label(places[name], "first declared here"),)
            findings.error("CEP0206", f"field `{name}` is declared twice", node.name.span, labels=again)
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
    return Record(known, nullable) if len(known) == len(types) else None


def _analyser(node: syntax.FieldType, findings: Findings) -> str:
    if not isinstance(node, syntax.ScalarType) or node.analyser is None:
        return ""
    from percolator.analysis import ANALYSERS  # only where a text field names one

    name = node.analyser.text
    if name not in ANALYSERS:
        help_ = did_you_mean(name, ANALYSERS) or f"known are {', '.join(ANALYSERS)}"
        findings.error("CEP0224", f"`{name}` is not a text analyser", node.analyser.span, help_=help_)
    return name


def _settings(
    node: syntax.Stream,
    full: tuple[typed.Field, ...],
    fields: dict[str, Type | None],
    findings: Findings,
) -> typed.Stream | None:
    given: dict[str, syntax.PathSetting | syntax.DurationSetting] = {}
    for part in node.parts:
        if isinstance(part, syntax.Field):
            continue
        if part.kind in given:
            again = (Label(given[part.kind].span, "first given here"),)
            findings.error("CEP0112", f"`{part.kind}` is given twice", part.span, labels=again)
        given[part.kind] = part
        if isinstance(part, syntax.PathSetting) and part.corrected is not None:
            words = Span(
                part.span.file, part.corrected.span.start, part.corrected.span.start + len("corrected")
            )
            findings.error("CEP0158", "`corrected by` is not supported yet", words)
    time = _time(given.get("time"), node, full, fields, findings)
    id_ = given.get("id")
    id_path = None
    if isinstance(id_, syntax.PathSetting):
        id_path = tuple(n.text for n in id_.path.names)
        _check_id(id_.path, node.name.text, fields, findings)
    lateness, idle = given.get("lateness"), given.get("idle")
    if isinstance(idle, syntax.DurationSetting) and idle.duration.value == 0:
        findings.error("CEP0402", "`idle` must be longer than nothing", idle.duration.span)
    if time is None:
        return None
    return typed.Stream(
        node.name.text,
        full,
        id_path,
        time,
        lateness.duration.value if isinstance(lateness, syntax.DurationSetting) else 0,
        idle.duration.value if isinstance(idle, syntax.DurationSetting) else None,
        node.span,
    )


def _time(
    setting: object,
    node: syntax.Stream,
    full: tuple[typed.Field, ...],
    fields: dict[str, Type | None],
    findings: Findings,
) -> typed.Path | None:
    if not isinstance(setting, syntax.PathSetting):
        stamps = [f.name for f in full if f.type is Scalar.TIMESTAMP]
        help_ = (
            f"write `time {stamps[0]}`"
            if stamps
            else "add a field of type timestamp and `time` with its name"
        )
        message = f"stream `{node.name.text}` does not say which field is its event time"
        findings.error("CEP0222", message, node.name.span, help_=help_)
        return None
    path = setting.path
    type_ = type_at(path.names, f"stream `{node.name.text}`", fields, findings)
    if type_ is None:
        return None
    written = ".".join(n.text for n in path.names)
    if type_ is not Scalar.TIMESTAMP:
        message = f"the event time must be a timestamp, but `{written}` is {kind_of(type_)}"
        findings.error("CEP0223", message, path.span)
        return None
    names = tuple(n.text for n in path.names)
    for length in range(1, len(names) + 1):
        if nullable_at(names[:length], full):
            shown = ".".join(names[:length])
            message = f"the event time `{written}` must not be nullable"
            note = "" if length == len(names) else f"`{shown}` may be null"
            findings.error("CEP0223", message, path.span, note=note, help_=f"remove the `?` of `{shown}`")
            return None
    return names


def _check_id(path: syntax.Dotted, stream: str, fields: dict[str, Type | None], findings: Findings) -> None:
    type_ = type_at(path.names, f"stream `{stream}`", fields, findings)
    if isinstance(type_, ListOf | Record):
        message = f"the id must be a single value, but `{path.span.text}` is {kind_of(type_)}"
        findings.error("CEP0223", message, path.span)
