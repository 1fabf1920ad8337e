"""Stream declarations -> typed streams."""

from __future__ import annotations

from rules import syntax, typed
from rules.diagnostics import Label
from rules.resolve.declared import Declared, StreamInfo
from rules.resolve.fields import Fields, fields_of, timestamp_at
from rules.resolve.findings import Findings
from rules.resolve.paths import type_at
from rules.types import ListOf, Record, Scalar, kind_of


def declare_stream(node: syntax.Stream, declared: Declared) -> None:
    """Add the stream to what is declared, with its fields as far as they could be read."""
    name = node.name.text
    check_name(node.name, declared.findings)
    fields = fields_of(f"stream `{name}`", node.parts, declared.findings)
    stream = _stream(node, fields, declared.findings)
    declared.streams[name] = StreamInfo(name, fields.types, True, stream)


def check_name(name: syntax.Name, findings: Findings) -> None:
    """Report a name that no stream may have."""
    if name.text == "timeout":
        message = "a stream may not be called `timeout`"
        findings.error("CEP0206", message, name.span, help_="`on timeout` begins a clause")
    elif " matching " in name.text:
        message = "a stream may not be called so: this is how documents and their queries are named"
        findings.error("CEP0206", message, name.span, help_="give it a name without ` matching ` in it")


def _stream(node: syntax.Stream, fields: Fields, findings: Findings) -> typed.Stream | None:
    given: dict[str, syntax.PathSetting | syntax.DurationSetting] = {}
    for part in node.parts:
        if isinstance(part, syntax.Field):
            continue
        if part.kind in given:
            again = (Label(given[part.kind].span, "first given here"),)
            findings.error(
                "CEP0112",
                f"`{part.kind}` is given twice",
                part.span,
                labels=again,
                help_="remove one of them",
            )
        given.setdefault(part.kind, part)
    time = _time(given.get("time"), node, fields, findings)
    corrected = _correction(given.get("time"), fields, findings)
    id_ = given.get("id")
    id_path = None
    if isinstance(id_, syntax.PathSetting):
        id_path = tuple(n.text for n in id_.path.names)
        _check_id(id_.path, fields, findings)
    lateness, idle, future = given.get("lateness"), given.get("idle"), given.get("future")
    if isinstance(idle, syntax.DurationSetting) and idle.duration.value == 0:
        findings.error(
            "CEP0402",
            "`idle` must be longer than nothing",
            idle.duration.span,
            help_="give it a length: `idle 1 minute`, or remove it",
        )
    if time is None:
        return None
    return typed.Stream(
        node.name.text,
        fields.full,
        id_path,
        time,
        lateness.duration.value if isinstance(lateness, syntax.DurationSetting) else 0,
        idle.duration.value if isinstance(idle, syntax.DurationSetting) else None,
        node.span,
        corrected,
        future=future.duration.value if isinstance(future, syntax.DurationSetting) else None,
    )


def _time(setting: object, node: syntax.Stream, fields: Fields, findings: Findings) -> typed.Path | None:
    if isinstance(setting, syntax.PathSetting):
        return timestamp_at(setting.path, "the event time", fields, findings)
    stamps = [f.name for f in fields.full if f.type is Scalar.TIMESTAMP]
    help_ = (
        f"write `time {stamps[0]}`" if stamps else "add a field of type timestamp and `time` with its name"
    )
    message = f"stream `{node.name.text}` does not say which field is its event time"
    findings.error("CEP0222", message, node.name.span, help_=help_)
    return None


def _correction(setting: object, fields: Fields, findings: Findings) -> typed.Correction | None:
    """`corrected by sent, received`, two clocks of which the second is right."""
    if not isinstance(setting, syntax.PathSetting) or setting.corrected is None:
        return None
    written = setting.corrected
    sent = timestamp_at(written.sent, "the time of sending", fields, findings)
    received = timestamp_at(written.received, "the time of receipt", fields, findings)
    if sent is None or received is None:
        return None
    if sent == received:
        message = "a clock is corrected by the difference of two times, but this is one and the same"
        findings.error("CEP0263", message, written.span, help_="write `corrected by sent_at, received_at`")
    return typed.Correction(sent, received, written.span)


def _check_id(path: syntax.Dotted, fields: Fields, findings: Findings) -> None:
    type_ = type_at(path.names, fields.owner, fields.types, findings)
    secret = next((f for f in fields.full if f.secret and f.name == path.names[0].text), None)
    if secret is not None:
        message = (
            f"the id cannot be secret: alerts list the ids of their events, and `{secret.name}` is secret"
        )
        help_ = "name another field as `id`, or none: the place of an event is its id then"
        findings.error("CEP0264", message, path.span, help_=help_)
    if isinstance(type_, ListOf | Record):
        message = f"the id must be a single value, but `{path.span.text}` is {kind_of(type_)}"
        findings.error("CEP0223", message, path.span, help_="name a field inside it, or another field")
