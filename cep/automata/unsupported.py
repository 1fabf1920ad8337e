"""What the front end accepts and the engine does not execute yet, as diagnostics with their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from cep.automata.program import NotExecutedError
from cep.automata.tables import compile_tables
from cep.automata.unexecuted_values import unexecuted_values
from rules.diagnostics import Diagnostic
from rules.source import Span
from rules.typed import (
    Absent,
    AnyOrder,
    Derived,
    Either,
    Fed,
    Group,
    Guard,
    Hits,
    Lookup,
    Match,
    On,
    Over,
    Pack,
    Rule,
    Step,
    TextMatch,
    Unless,
    walk,
)

TITLES: Mapping[str, str] = MappingProxyType(
    {
        "CEP0901": "`~>` is not executed yet",
        "CEP0902": "`each` and `any` are not executed yet",
        "CEP0903": "`until` is not executed yet",
        "CEP0904": "`not` between steps is not executed yet",
        "CEP0905": "`absent` is executed at the end of a pattern only",
        "CEP0906": "groups, `|` and `&` are not executed yet",
        "CEP0907": "`gap` is not executed yet",
        "CEP0908": "`having` after a pattern is not executed yet",
        "CEP0909": "reluctant quantifiers are not executed yet",
        "CEP0910": "`on timeout` is not executed yet",
        "CEP0911": "a condition over several events is not executed yet",
        "CEP0912": "`matches` in `emit` is not executed yet",
        "CEP0913": "windows are not executed yet",
        "CEP0914": "lookups in tables are not executed yet",
        "CEP0915": "`matching` is not executed yet",
        "CEP0916": "derived streams are not executed yet",
        "CEP0917": "`corrected by` is not executed yet",
        "CEP0920": "lists are not executed yet",
        "CEP0921": "a whole record as a value is not executed yet",
        "CEP0922": "decimals are not executed yet",
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
    found.extend(unexecuted_values(rule))
    found.extend(_of_streams(pack, rule))
    found.extend(
        _finding("CEP0914", "a lookup in a table", node.span)
        for node in walk(rule)
        if isinstance(node, Lookup)
    )
    if isinstance(rule.body, Over):
        found.append(_finding("CEP0913", "a window", rule.body.span))
    if not isinstance(rule.body, Match):
        return found
    found.extend(_of_match(rule.body))
    if not found:
        try:
            compile_tables(pack, rule)
        except NotExecutedError as error:
            found.append(_finding("CEP0911", error.what, error.span))
    return found


def _of_streams(pack: Pack, rule: Rule) -> Iterator[Diagnostic]:
    """What stands behind the streams that the rule reads."""
    for name in rule.streams:
        stream = pack.stream(name)
        match stream.origin:
            case Hits(queries=queries):
                yield _finding("CEP0915", f"`matching {queries}`", _read(rule, name))
            case Derived():
                yield _finding("CEP0916", f"the derived stream `{name}`", _read(rule, name))
            case Fed():
                pass
        if stream.corrected is not None:
            yield _finding("CEP0917", "`corrected by`", stream.corrected.span)


def _read(rule: Rule, stream: str) -> Span:
    """Where the rule reads a stream first."""
    named = (part for part in walk(rule.body) if isinstance(part, On | Over | Step | Guard))
    return next(part.span for part in named if part.stream == stream)


def _of_match(match: Match) -> Iterator[Diagnostic]:
    elements = match.pattern.elements
    for number, (sign, element) in enumerate(elements):
        if sign == "~>":
            yield _finding("CEP0901", "`~>`", element.span)
        match element:
            case Step():
                yield from _of_step(element)
            case Unless():
                yield _finding("CEP0904", "`not` between steps", element.span)
            case Absent():
                if number == 0 or number < len(elements) - 1:
                    yield _finding("CEP0905", "`absent` anywhere but at the end of a pattern", element.span)
            case Either():
                yield _finding("CEP0906", "`|`", element.span)
            case AnyOrder():
                yield _finding("CEP0906", "`&`", element.span)
            case Group():
                yield _finding("CEP0906", "a group of steps", element.span)
    if match.having is not None:
        yield _finding("CEP0908", "`having` after a pattern", match.having.span)
    if match.on_timeout is not None:
        yield _finding("CEP0910", "`on timeout`", match.span)


def _of_step(step: Step) -> Iterator[Diagnostic]:
    quantifier = step.quantifier
    if quantifier.mode == "each":
        yield _finding("CEP0902", "`each`", step.span)
    elif quantifier.own == "any":
        yield _finding("CEP0902", "`any` in a loop", step.span)
    if quantifier.mode == "reluctant":
        yield _finding("CEP0909", "a reluctant quantifier", step.span)
    if step.until is not None:
        yield _finding("CEP0903", "`until`", step.until.span)
    if step.gap is not None:
        yield _finding("CEP0907", "`gap`", step.span)


def _finding(code: str, what: str, span: Span) -> Diagnostic:
    return Diagnostic(code, "error", f"{what} is checked but not executed yet", span)
