"""Diagnostics for what the front end accepts and the engine does not execute, with their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import assert_never

from cep.operators.patterns.compile.too_many import TOO_MANY_STATES, TOO_MANY_VALUES
from rules.diagnostics import Diagnostic
from rules.source import Span
from rules.typed import (
    Derived,
    Fed,
    Guard,
    Lookup,
    Match,
    On,
    Over,
    Pack,
    QueryHits,
    Rule,
    Step,
    TextMatch,
    walk,
)

TITLES: Mapping[str, str] = MappingProxyType(
    {
        TOO_MANY_VALUES: "a run would carry too many values",
        TOO_MANY_STATES: "a pattern may be in too many states",
        "CEP0912": "`matches` in `emit` is not executed yet",
        "CEP0914": "lookups in tables are not executed yet",
        "CEP0916": "derived streams are not executed yet",
        "CEP0917": "`corrected by` is not executed yet",
    }
)
"""Every code of this module; `docs/errors` has a page for each."""


def unsupported(pack: Pack) -> list[Diagnostic]:
    """One error for each construct of the pack's rules that is not executed yet, in the order of the text."""
    return [finding for rule in pack.rules for finding in _of_rule(pack, rule)]


def _of_rule(pack: Pack, rule: Rule) -> list[Diagnostic]:
    found = [_finding("CEP0912", "`matches` in `emit`", node.span) for node in _emitted_searches(rule)]
    found.extend(_of_streams(pack, rule))
    found.extend(
        _finding("CEP0914", "a lookup in a table", node.span)
        for node in walk(rule)
        if isinstance(node, Lookup)
    )
    match rule.body:
        case Match():
            from cep.operators.patterns.compile.too_large import too_large

            refusal = too_large(rule.body)
            if refusal is not None:
                found.append(refusal)
        case On() | Over():
            pass
        case _:
            assert_never(rule.body)
    return found


def _emitted_searches(rule: Rule) -> Iterator[TextMatch]:
    match rule.body:
        case On() | Match():
            yield from (n for item in rule.emit for n in walk(item.value) if isinstance(n, TextMatch))
        case Over():  # aggregates take what was found of each event
            pass
        case _:
            assert_never(rule.body)


def _of_streams(pack: Pack, rule: Rule) -> Iterator[Diagnostic]:
    """Findings about the origins of the streams that the rule reads."""
    for name in rule.streams:
        stream = pack.stream(name)
        match stream.origin:
            case QueryHits(documents) if isinstance(pack.stream(documents).origin, Derived):
                yield _finding("CEP0916", f"the derived stream `{documents}`", _read(rule, name))
            case Derived():
                yield _finding("CEP0916", f"the derived stream `{name}`", _read(rule, name))
            case Fed() | QueryHits():
                pass
            case _:
                assert_never(stream.origin)
        if stream.corrected is not None:
            yield _finding("CEP0917", "`corrected by`", stream.corrected.span)


def _read(rule: Rule, stream: str) -> Span:
    """Where the rule reads a stream first."""
    named = (part for part in walk(rule.body) if isinstance(part, On | Over | Step | Guard))
    return next(part.span for part in named if part.stream == stream)


def _finding(code: str, what: str, span: Span) -> Diagnostic:
    message = f"{what} is checked but not executed yet"
    return Diagnostic(code, "error", message, span, help=_INSTEAD[code])


_INSTEAD = {
    "CEP0912": "put the query into the condition",
    "CEP0914": 'put a short list into a constant: `let risky = ("m1", "m2")`',
    "CEP0916": "say it as one pattern over the streams that are fed",
    "CEP0917": "correct the times before the events come, and remove it",
}
"""What an author can write meanwhile."""
