"""Stream declarations -> typed streams."""

from __future__ import annotations

from rules import syntax, typed
from rules.diagnostics import Label
from rules.resolve.declared import Declared, StreamInfo
from rules.resolve.findings import Findings
from rules.source import Span
from rules.suggest import did_you_mean
from rules.types import Scalar, Type

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
    places: dict[str, Span] = {}
    full: list[typed.Field] = []
    for part in node.parts:
        if not isinstance(part, syntax.Field):
            continue
        name = part.name.text
        if name in places:
            again = (Label(places[name], "first declared here"),)
            findings.error("CEP0206", f"field `{name}` is declared twice", part.name.span, labels=again)
            continue
        places[name] = part.name.span
        type_ = _type(part.type, findings)
        fields[name] = type_
        if type_ is not None:
            analyser = _analyser(part.type, findings)
            full.append(typed.Field(name, type_, part.nullable, analyser, part.span))
    stream = _settings(node, tuple(full), fields, findings)
    declared.streams[node.name.text] = StreamInfo(node.name.text, fields, True, stream)


def _type(node: syntax.FieldType, findings: Findings) -> Type | None:
    match node:
        case syntax.ListType():
            findings.error("CEP0155", "lists as field types are not supported yet", node.span)
        case syntax.RecordType():
            span = Span(node.span.file, node.span.start, node.span.start + 1)
            findings.error("CEP0156", "nested records as field types are not supported yet", span)
        case syntax.ScalarType() if node.name.text == "decimal":
            findings.error("CEP0157", "decimals are not supported yet", node.name.span, help_="use `double`")
        case syntax.ScalarType() if node.name.text in _TYPES:
            return _TYPES[node.name.text]
        case syntax.ScalarType():
            name = node.name.text
            other = _OTHER_NAMES.get(name.lower())
            help_ = f"did you mean `{other}`?" if other else did_you_mean(name, _TYPES)
            help_ = help_ or f"types are {', '.join(sorted(_TYPES))}"
            findings.error("CEP0224", f"`{name}` is not a type", node.name.span, help_=help_)
    return None


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
        _known_field(id_.path, node.name.text, fields, findings)
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
    if not _known_field(path, node.name.text, fields, findings):
        return None
    name = path.names[0].text
    field = next((f for f in full if f.name == name), None)
    if field is None:
        return None  # of a type that has its diagnostic
    if field.type is not Scalar.TIMESTAMP:
        message = f"the event time must be a timestamp, but `{name}` is a {field.type}"
        findings.error("CEP0223", message, path.span)
        return None
    if field.nullable:
        findings.error(
            "CEP0223", f"the event time `{name}` must not be nullable", path.span, help_="remove its `?`"
        )
        return None
    return (name,)


def _known_field(
    path: syntax.Dotted, stream: str, fields: dict[str, Type | None], findings: Findings
) -> bool:
    first = path.names[0]
    if first.text not in fields:
        help_ = did_you_mean(first.text, fields)
        findings.error("CEP0202", f"stream `{stream}` has no field `{first.text}`", first.span, help_=help_)
        return False
    if len(path.names) > 1 and fields[first.text] is not None:
        message = f"`{first.text}` is a {fields[first.text]} and has no fields"
        findings.error("CEP0202", message, path.names[1].span)
        return False
    return True
