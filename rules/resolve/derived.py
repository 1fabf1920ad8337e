"""`into S`: the streams that rules make, and the order in which rules can be resolved because of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from rules import syntax, typed
from rules.diagnostics import Label
from rules.resolve.declared import Declared, StreamInfo
from rules.resolve.ordering import in_order
from rules.resolve.streams import check_name
from rules.source import Span
from rules.types import Scalar, Type

DRAWN = 12
"""Rules of a circle that are drawn."""

_INTO = re.compile(r"(?<![\w.`])into\s+(?:([^\W\d]\w*)|`([^`\n]+)`)")


def rules_in_order(rules: Sequence[syntax.Rule], declared: Declared) -> list[syntax.Rule]:
    """The rules, each after those whose streams it reads, where there is such an order.

    Of what rules in a circle make, and those behind it, nothing is known from then on.
    """
    by_name = {rule.name.text: rule for rule in rules}
    makers: dict[str, syntax.Rule] = {}
    for rule in rules:
        into = _into(rule)
        if into is not None and _may_make(into, makers, declared):
            makers[into.stream.text] = rule
    for rule in rules:
        if rule.broken:
            declare_lost(rule, declared)
    found = in_order({name: _needs(rule, makers) for name, rule in by_name.items()})
    for circle in found.circles:
        _report([by_name[name] for name in circle], declared)
    for name in found.left:
        into = _into(by_name[name])
        if into is not None:
            declare_unknown(into.stream.text, declared)
    return [by_name[name] for name in (*found.ordered, *found.left)]


def declare_unknown(name: str, declared: Declared) -> None:
    """Add a derived stream of which nothing is known but that there is one."""
    declared.streams.setdefault(name, StreamInfo(name, {}, False, None))


def declare_lost(node: syntax.Broken | syntax.Rule, declared: Declared) -> None:
    """Add the stream that a rule makes by an `into` that could not be read."""
    for found in _INTO.finditer(node.span.text):
        declare_unknown(found[1] or found[2], declared)


def declare_derived(node: syntax.Rule, rule: typed.Rule | None, declared: Declared) -> None:
    """Add the stream that the resolved rule makes, if it makes one, with the emitted names as fields."""
    into = _into(node)
    if into is None:
        return
    name = into.stream.text
    outputs = [o for c in node.clauses if isinstance(c, syntax.Emit | syntax.OnTimeout) for o in c.outputs]
    if not outputs and not node.broken:
        message = f"stream `{name}` has no fields: rule `{node.name.text}` emits nothing"
        help_ = "add `emit` with the values that its events shall have"
        declared.findings.error("CEP0259", message, into.stream.span, help_=help_)
    if rule is None or not outputs:
        declare_unknown(name, declared)
        return
    types = _types(rule, outputs, declared)
    known = declared.outputs[rule.name]
    fields: dict[str, Type | None] = {output: types.get(output) for output in known}
    stream = None
    if None not in fields.values():
        places = {output.name.text: output.span for output in reversed(outputs)}
        analysers = _analysers(rule, declared)
        secret = {one.name for one in (*rule.emit, *_of_timeout(rule)) if one.secret}
        full = (
            typed.Field(field, of, True, analysers.get(field, ""), places[field], field in secret)
            for field, of in fields.items()
            if of is not None
        )
        stream = typed.Stream(
            name, tuple(full), None, (), 0, None, into.span, origin=typed.Derived(rule.name)
        )
    declared.streams.setdefault(name, StreamInfo(name, fields, True, stream))


def _into(rule: syntax.Rule) -> syntax.Into | None:
    return next((clause for clause in rule.clauses if isinstance(clause, syntax.Into)), None)


def _may_make(into: syntax.Into, makers: Mapping[str, syntax.Rule], declared: Declared) -> bool:
    """True if nobody else makes or declares the stream; else there is a finding."""
    name = into.stream.text
    check_name(into.stream, declared.findings)
    if name in makers:
        other = _into(makers[name])
        assert other is not None
        labels = (Label(other.stream.span, f"rule `{makers[name].name.text}` makes it"),)
        message = f"stream `{name}` is made twice: one rule makes a stream"
        declared.findings.error(
            "CEP0258", message, into.stream.span, labels=labels, help_="write another name after `into`"
        )
        return False
    declares = declared.streams.get(name)
    if declares is not None:
        message = f"stream `{name}` is declared: `into` makes a stream of its own"
        declared_here = () if declares.stream is None else (Label(_head(declares.stream), "declared here"),)
        help_ = "remove the declaration, or write another name after `into`"
        declared.findings.error("CEP0258", message, into.stream.span, labels=declared_here, help_=help_)
        return False
    return True


def _head(stream: typed.Stream) -> Span:
    """The first words of a declaration, with the name."""
    span = stream.span
    return Span(span.file, span.start, span.start + len(span.text.partition("{")[0].rstrip()))


def _needs(rule: syntax.Rule, makers: Mapping[str, syntax.Rule]) -> set[str]:
    return {makers[s.stream.text].name.text for s in _sources(rule) if s.stream.text in makers}


def _sources(rule: syntax.Rule) -> Iterator[syntax.Source]:
    return (part for part in typed.walk(rule) if isinstance(part, syntax.Source))


def _report(circle: Sequence[syntax.Rule], declared: Declared) -> None:
    """Draw a circle: each rule of it reads what the next one makes, the last what the first makes."""
    labels: list[Label] = []
    drawn: list[str] = []
    for reader, maker in zip(circle, (*circle[1:], circle[0]), strict=True):
        into = _into(maker)
        assert into is not None
        read = next(s for s in _sources(reader) if s.stream.text == into.stream.text)
        labels.append(Label(read.stream.span, f"`{reader.name.text}` reads what `{maker.name.text}` makes"))
        drawn.append(f"`{maker.name.text}` into `{into.stream.text}`")
    first = _into(circle[0])
    assert first is not None
    drawn.reverse()
    if len(drawn) > DRAWN:
        drawn[DRAWN:] = [f"{len(drawn) - DRAWN} more"]
    way = " -> ".join((*drawn, f"`{circle[0].name.text}`"))
    message = f"rules feed one another in a circle: {way}"
    declared.findings.error(
        "CEP0260",
        message,
        first.stream.span,
        labels=tuple(labels[-DRAWN:]),
        help_="let one of these rules read a stream that is declared",
    )


def _types(rule: typed.Rule, outputs: Sequence[syntax.Output], declared: Declared) -> dict[str, Type]:
    """The type of every emitted name that has one and no other."""
    types: dict[str, Type] = {}
    for emitted in (*rule.emit, *_of_timeout(rule)):
        of = emitted.value.type
        place = next(o for o in outputs if o.span == emitted.span)
        if of is Scalar.NULL:
            message = f"`{emitted.name}` is always null: the field of the stream has no type"
            declared.findings.error(
                "CEP0261", message, place.name.span, help_="emit a value that has a type, or leave it out"
            )
        elif types.setdefault(emitted.name, of) != of:
            first = next(o for o in outputs if o.name.text == emitted.name)
            labels = (Label(first.name.span, f"a {types[emitted.name]} here"),)
            message = f"`{emitted.name}` is one field of the stream, but here a {of}"
            declared.findings.error(
                "CEP0261",
                message,
                place.name.span,
                labels=labels,
                help_="emit values of one type under one name, or take two names",
            )
    return types


def _of_timeout(rule: typed.Rule) -> tuple[typed.Emit, ...]:
    return rule.body.on_timeout or () if isinstance(rule.body, typed.Match) else ()


def _analysers(rule: typed.Rule, declared: Declared) -> dict[str, str]:
    """The text analysers of the names that are emitted as they came."""
    steps = {part.name: part.stream for part in typed.walk(rule.body) if isinstance(part, typed.Step)}
    found: dict[str, str] = {}
    for emitted in (*_of_timeout(rule), *rule.emit):
        value = emitted.value
        if isinstance(value, typed.FieldRef) and len(value.path) == 1:
            stream = declared.streams[rule.streams[0]].stream
        elif isinstance(value, typed.StepRef) and len(value.path) == 1:
            stream = declared.streams[steps[value.step]].stream
        else:
            continue
        if stream is not None:
            found[emitted.name] = stream.field(value.path[0]).analyser
    return found
