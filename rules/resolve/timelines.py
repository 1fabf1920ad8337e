"""Test blocks: events and expectations with values of the declared types, repetitions unrolled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rules import syntax, typed
from rules.diagnostics import Label
from rules.instants import GREATEST, parse_instant
from rules.resolve.declared import Declared, StreamInfo
from rules.resolve.rules import SEVERITIES
from rules.resolve.scope import Scope
from rules.resolve.sources import fed
from rules.resolve.tolerances import near, refuse_tolerance
from rules.resolve.values import NO_NULL, Values, entries
from rules.source import Span
from rules.suggest import did_you_mean, meant
from rules.types import Scalar, Type

OF_THE_ALERT: Mapping[str, Type] = {"severity": Scalar.STRING, "kind": Scalar.STRING}
"""What an expectation may give of the alert itself, besides `key` and `events`."""
EVENTS = 100_000
"""Events that one line of a test gives at most."""
KINDS = ("event", "match", "timeout", "window", "hit", "amend", "retract")


def resolve_test(node: syntax.TestBlock, declared: Declared) -> typed.Test | None:
    """The typed test; None where its rules could not be resolved."""
    names = tuple(name.text for name in node.rules) or tuple(declared.rules)
    for name in node.rules:
        if name.text not in declared.rules:
            help_ = meant(name.text, declared.rules, "rules")
            declared.findings.error(
                "CEP0601", f"the test names an unknown rule `{name.text}`", name.span, help_=help_
            )
    rules = [declared.rules.get(name) for name in names]
    resolver = _Timeline(node, [r for r in rules if r is not None], None in rules, declared)
    timeline = resolver.resolve()
    nothing = next((line for line in node.lines if isinstance(line, syntax.ExpectNothing)), None)
    other = any(isinstance(line, syntax.AllowOther) for line in node.lines)
    some = next((line for line in node.lines if isinstance(line, syntax.Expected)), None)
    if nothing is not None and some is not None:
        labels = (Label(some.span, "expects an alert"),)
        declared.findings.error(
            "CEP0606",
            "the test expects nothing and something",
            nothing.span,
            labels=labels,
            help_="remove `expect nothing`, or the alerts that are expected",
        )
    elif nothing is None and some is None:
        message = "the test expects nothing in particular"
        help_ = "add `expect at T {...}`, or `expect nothing`"
        declared.findings.error("CEP0606", message, node.title.span, help_=help_)
    if any(rule is None for rule in rules):
        return None
    return typed.Test(names, node.title.value, timeline, nothing is not None, other, node.span)


class _Timeline:
    """One test's lines in order, with the time that no later one may fall behind."""

    def __init__(
        self, node: syntax.TestBlock, rules: list[typed.Rule], unread: bool, declared: Declared
    ) -> None:
        self._node = node
        self._rules = rules
        self._unread = unread
        self._declared = declared
        self._findings = declared.findings
        self._scope = Scope(declared, "the test")
        self._given_values = Values(self._scope, self._instant, given=True)
        self._values = Values(self._scope, self._instant, given=False)
        self._start = 0
        self._now: tuple[int, Span] | None = None
        self._emitted: dict[str, Type | None] = {}
        self._keys: dict[str, Type | None] = {}
        for rule in rules:
            for output, type_ in declared.outputs[rule.name].items():
                self._emitted.setdefault(output, type_)
            for key, type_ in declared.keys[rule.name].items():
                self._keys.setdefault(key, type_)

    def resolve(self) -> tuple[typed.Given | typed.MoveWatermark | typed.Expected, ...]:
        """The lines that give and expect something."""
        lines: list[typed.Given | typed.MoveWatermark | typed.Expected] = []
        for line in self._node.lines:
            match line:
                case syntax.Start():
                    self._begin(line)
                case syntax.Given():
                    lines.extend(self._given(line))
                case syntax.MoveWatermark():
                    lines.append(typed.MoveWatermark(self._forward(line.at, line.at.value), line.span))
                case syntax.Expected():
                    lines.append(self._expected(line))
                case syntax.ExpectNothing() | syntax.AllowOther():
                    pass
        return tuple(lines)

    def _begin(self, line: syntax.Start) -> None:
        if line is not next(x for x in self._node.lines if not isinstance(x, syntax.AllowOther)):
            self._findings.error(
                "CEP0607", "`start` comes before everything else in a test", line.span, help_="put it first"
            )
        try:
            self._start = parse_instant(line.instant.value)
        except ValueError as problem:
            self._findings.error(
                "CEP0227", str(problem), line.instant.span, help_="write it as `2026-01-31T10:05:00Z`"
            )

    def _instant(self, offset: int, span: Span) -> int:
        instant = self._start + offset
        if instant > GREATEST:
            self._findings.error(
                "CEP0604",
                "this time is beyond what 64 bits of nanoseconds hold (2262)",
                span,
                help_="begin the test earlier, or take a shorter time",
            )
            return self._start
        return instant

    def _forward(self, written: syntax.Duration, offset: int) -> int:
        """The instant, which does not fall behind those before it."""
        instant = self._instant(offset, written.span)
        if self._now is not None and instant < self._now[0]:
            labels = (Label(self._now[1], "the watermark stands here already"),)
            help_ = "put the line further up, or write `at T late STREAM {...}`"
            message = "the times of a test do not decrease"
            self._findings.error("CEP0604", message, written.span, labels=labels, help_=help_)
            return self._now[0]
        self._now = (instant, written.span)
        return instant

    def _given(self, line: syntax.Given) -> list[typed.Given]:
        source = fed(line.stream, self._declared)
        values = self._event(line.values, source)
        times = 1 if line.times is None else int(line.times.value)
        if line.times is not None and not 0 < times <= EVENTS:
            message = f"an event is given 1 to {EVENTS:,} times"
            self._findings.error(
                "CEP0608",
                message,
                line.times.span,
                help_=f"write a number from 1 to {EVENTS:,}, or remove the line",
            )
            times = 1
        every = 0 if line.every is None else line.every.value
        found: list[typed.Given] = []
        for number in range(times):
            offset = line.at.value + number * every
            instant = self._instant(offset, line.at.span) if line.late else self._forward(line.at, offset)
            found.append(typed.Given(instant, line.stream.text, values, line.late, line.span, line.future))
        return found

    def _event(self, node: syntax.MapValue, source: StreamInfo) -> tuple[tuple[str, object], ...]:
        values: dict[str, object] = {}
        for entry in entries(node, self._findings):
            name = entry.name.text
            refuse_tolerance(entry, "an event has values, and no tolerances", self._findings)
            if name not in source.fields:
                if source.known:
                    message = f"stream `{source.name}` has no field `{name}`"
                    help_ = meant(name, source.fields, "fields")
                    self._findings.error("CEP0602", message, entry.name.span, help_=help_)
                continue
            type_ = source.fields[name]
            if type_ is None:
                continue
            value = self._given_values.of(entry.value, type_)
            if value is None:
                continue
            nullable = source.stream is None or source.stream.field(name).nullable
            if value.value is None and not nullable:
                message = f"field `{name}` is required and cannot be null"
                self._findings.error(
                    "CEP0603",
                    message,
                    entry.value.span,
                    help_=NO_NULL,
                )
            values[name] = value.value
        return tuple(values.items())

    def _expected(self, line: syntax.Expected) -> typed.Expected:
        at = None
        if line.at is not None:
            at = self._instant(line.at.value, line.at.span)
            if self._now is None or at > self._now[0]:
                self._now = (at, line.at.span)
        values: dict[str, object] = {}
        for entry in entries(line.values, self._findings):
            found = self._expectation(entry)
            if found is not None:
                values[entry.name.text] = found[0]
        return typed.Expected(at, tuple(values.items()), line.span)

    def _expectation(self, entry: syntax.Entry) -> tuple[object] | None:
        """The value in a tuple of its own, as it may be None; None with a finding."""
        name = entry.name.text
        if name in self._emitted:
            type_ = self._emitted[name]
            value = self._values.of(entry.value, type_)
            return None if value is None else (near(entry, value.value, type_, self._scope),)
        if name in ("key", "events", *OF_THE_ALERT):
            refuse_tolerance(entry, f"`{name}` of an alert is compared exactly", self._findings)
        if name in ("key", "events"):
            return self._of_alert(entry)
        if name in OF_THE_ALERT:
            value = self._values.of(entry.value, OF_THE_ALERT[name])
            allowed = SEVERITIES if name == "severity" else KINDS
            if value is not None and value.value not in allowed:
                message = f"no alert has that {name}"
                help_ = did_you_mean(str(value.value), allowed) or f"one of {', '.join(allowed)}"
                self._findings.error("CEP0603", message, entry.value.span, help_=help_)
            return None if value is None else (value.value,)
        if not self._unread:
            known = (*self._emitted, "key", "events", *OF_THE_ALERT)
            message = f"no rule of this test emits `{name}`"
            self._findings.error("CEP0605", message, entry.name.span, help_=meant(name, known, "names"))
        return None

    def _of_alert(self, entry: syntax.Entry) -> tuple[object] | None:
        """`key: {...}` and `events: {...}` as pairs."""
        if not isinstance(entry.value, syntax.MapValue):
            message = f"`{entry.name.text}` is given as `{{ name: value }}`"
            self._findings.error(
                "CEP0603", message, entry.value.span, help_='write the braces: `{ card: "c1" }`'
            )
            return None
        pairs: list[tuple[str, object]] = []
        types = self._keys if entry.name.text == "key" else None
        for inner in entries(entry.value, self._findings):
            name = inner.name.text
            if types is not None and name not in types and not self._unread:
                message = f"the key has no field `{name}`"
                self._findings.error("CEP0605", message, inner.name.span, help_=meant(name, types, "fields"))
                continue
            if types is None and not self._unread and not any(name in self._steps(r) for r in self._rules):
                message = f"no step is called `{name}`"
                help_ = meant(name, dict.fromkeys(s for r in self._rules for s in self._steps(r)), "steps")
                self._findings.error("CEP0605", message, inner.name.span, help_=help_)
                continue
            refuse_tolerance(inner, f"`{name}` of `{entry.name.text}` is compared exactly", self._findings)
            value = self._values.of(inner.value, None if types is None else types.get(name))
            if value is not None:
                pairs.append((name, value.value))
        return (tuple(pairs),)

    def _steps(self, rule: typed.Rule) -> frozenset[str]:
        """The names under which the rule's alerts list events, computed once for all tests."""
        known = self._declared.steps.get(rule.name)
        if known is None:
            known = self._declared.steps[rule.name] = frozenset(_steps_of(rule, self._declared))
        return known


def _steps_of(rule: typed.Rule, declared: Declared) -> Iterator[str]:
    if isinstance(rule.body, typed.On):
        yield declared.streams[rule.body.stream].called
    elif isinstance(rule.body, typed.Match):
        yield from (p.name for p in typed.walk(rule.body.pattern) if isinstance(p, typed.Step))
