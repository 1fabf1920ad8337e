"""The outputs of a rule of which a hash is shown: those that a secret field's text comes into.

A text that is computed from a secret one is secret as a whole, also a list of them and the text that an
aggregate takes out of several. What only depends on it is not: comparisons, counts, the length, which branch
of a condition, a row that a table has for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rules import typed
from rules.resolve.declared import Declared
from rules.types import ListOf, Scalar, Type


def with_secrets(rule: typed.Rule, declared: Declared) -> typed.Rule:
    """The rule, its key and its emitted names marked."""
    secrets = {name: _secrets(name, declared) for name in rule.streams}
    if not any(secrets.values()):
        return rule
    by = None if rule.by is None else _key(rule.by, secrets)
    of = _Secrets(rule, secrets, frozenset() if by is None else by.secrets)
    body = rule.body
    if isinstance(body, typed.Match) and body.on_timeout is not None:
        body = replace(body, on_timeout=of.marked(body.on_timeout))
    return replace(rule, by=by, body=body, emit=of.marked(rule.emit))


def _secrets(stream: str, declared: Declared) -> frozenset[str]:
    found = declared.streams.get(stream)
    return frozenset() if found is None or found.stream is None else found.stream.secrets


def _key(by: typed.By, secrets: Mapping[str, frozenset[str]]) -> typed.By:
    found = {
        name
        for stream, paths in by.paths
        for name, path in zip(by.names, paths, strict=True)
        if path[0] in secrets.get(stream, ())
    }
    return replace(by, secrets=frozenset(found))


@dataclass(frozen=True, slots=True)
class _Secrets:
    """The secret fields that a rule's expressions may name."""

    rule: typed.Rule
    streams: Mapping[str, frozenset[str]]
    keys: frozenset[str]

    def marked(self, emitted: tuple[typed.Emit, ...]) -> tuple[typed.Emit, ...]:
        return tuple(replace(one, secret=self.carried(one.value)) for one in emitted)

    def carried(self, expression: typed.Expression) -> bool:
        """True if the text of a secret field may be, or be part of, what the expression gives."""
        if not _is_text(expression.type):
            return False
        match expression:
            case typed.FieldRef(path=path) | typed.PrevRef(path=path):
                return any(path[0] in some for some in self.streams.values())
            case typed.KeyRef(name=name):
                return name in self.keys
            case typed.StepRef(step=step, path=path) | typed.Aggregate(step=step, path=path):
                return any(path[0] in self.streams[stream] for stream in self._streams(step))
            case typed.Choose(yes=yes, no=no):
                return self.carried(yes) or self.carried(no)
            case typed.Lookup() | typed.Literal():
                return False
        return any(self.carried(one) for one in typed.parts(expression) if isinstance(one, typed.Expression))

    def _streams(self, step: str) -> set[str]:
        """The streams of the steps of that name."""
        return {
            one.stream
            for one in typed.walk(self.rule.body)
            if isinstance(one, typed.Step) and one.name == step
        }


def _is_text(type_: Type) -> bool:
    while isinstance(type_, ListOf):
        type_ = type_.element
    return type_ in (Scalar.STRING, Scalar.TEXT)
