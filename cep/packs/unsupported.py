"""Diagnostics for what the front end accepts and the engine does not execute, with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import assert_never

from cep.operators.patterns.compile.too_many import TOO_MANY_STATES, TOO_MANY_VALUES
from rules.counting import as_pattern, least_count
from rules.diagnostics import Diagnostic
from rules.instants import DURATION
from rules.source import Span
from rules.typed import (
    Compare,
    Derived,
    Expression,
    Fed,
    Guard,
    Hopping,
    Literal,
    Logical,
    Lookup,
    Match,
    On,
    Over,
    Pack,
    QueryHits,
    Rule,
    Sliding,
    Step,
    TextMatch,
    Tumbling,
    WindowAggregate,
    walk,
)

_SHORT = 40
"""Characters of a condition that a help repeats."""
TITLES: Mapping[str, str] = MappingProxyType(
    {
        TOO_MANY_VALUES: "a run would carry too many values",
        TOO_MANY_STATES: "a pattern may be in too many states",
        "CEP0912": "`matches` in `emit` is not executed yet",
        "CEP0913": "windows are not executed yet",
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
    found = [
        _finding("CEP0912", "`matches` in `emit`", node.span)
        for item in rule.emit
        for node in walk(item.value)
        if isinstance(node, TextMatch)
    ]
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
        case Over():
            # An engine without an operator for windows; the operators are much to import.
            from cep.operators.known import OPERATORS

            if not any(operator.takes(rule) for operator in OPERATORS):
                found.append(_finding("CEP0913", "a window", rule.body.span, _pattern(rule.body)))
        case On():
            pass
        case _:
            assert_never(rule.body)
    return found


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


def _finding(code: str, what: str, span: Span, help_: str = "") -> Diagnostic:
    message = f"{what} is checked but not executed yet"
    return Diagnostic(code, "error", message, span, help=help_ or _INSTEAD[code])


def _pattern(body: Over) -> str:
    """Help that writes the window as a pattern, as far as it can: its event, their number, its duration."""
    source, after = body.stream, body.span.start
    if body.condition is not None:
        written, after = body.condition.span.text, body.condition.span.end
        source += f"[{written}]" if len(written) <= _SHORT and "\n" not in written else "[...]"
    timed = isinstance(body.window, Tumbling | Hopping | Sliding)
    size = re.search(DURATION, body.span.file.text[after : body.span.end]) if timed else None
    conditions = body.having.operands if isinstance(body.having, Logical) else (body.having,)
    least = next(filter(None, map(_least, conditions)), None)
    if any(map(_of_few, conditions)):
        return f"where none may come, write `absent {source} for {size[0] if size else '5 minutes'}`"
    whole = least is not None and isinstance(body.window, Sliding) and not isinstance(body.having, Logical)
    said = "say it as a pattern" if whole else "where it fits, say it as a pattern"
    return f"{said}: {as_pattern(source, least, size[0] if size else '5 minutes')}"


def _of_few(condition: Expression) -> bool:
    """True if the condition is an upper bound on `count()`: `count() < 5`, or `5 > count()`."""
    match condition:
        case Compare("<" | "<=", WindowAggregate(function="count", argument=None), Literal()):
            return True
        case Compare(">" | ">=", Literal(), WindowAggregate(function="count", argument=None)):
            return True
        case _:
            return False


def _least(condition: Expression) -> int | None:
    """The least number of events that satisfies a comparison of `count()` with a number.

    None for other conditions, and where there is no such number.
    """
    match condition:
        case Compare(
            operator, WindowAggregate(function="count", argument=None, which="this"), Literal(value)
        ):
            return least_count(operator, value)
        case Compare(
            operator, Literal(value), WindowAggregate(function="count", argument=None, which="this")
        ):
            return least_count(operator, value, turned=True)
        case _:
            return None


_INSTEAD = {
    "CEP0912": "put the query into the condition",
    "CEP0914": 'put a short list into a constant: `let risky = ("m1", "m2")`',
    "CEP0916": "say it as one pattern over the streams that are fed",
    "CEP0917": "correct the times before the events come, and remove it",
}
"""What an author can write meanwhile."""
