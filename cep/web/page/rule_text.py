"""The text of a rule at the revision that an alert was raised by, with its steps marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from markupsafe import Markup

from alerts.shown import shown
from cep.web.desk.desk import JobDesk
from cep.web.desk.errors import MissingError
from cep.web.desk.packs import pack_at
from cep.web.page.rendering import cut
from rules.source import Span
from rules.typed import Match, Pack, Rule
from rules.typed.pattern import AnyOrder, Either, Group, Sequence, Step

LONGEST = 400
"""Lines of one rule that are shown."""
WIDEST = 2_000
"""Characters of one of them."""


def marked(desk: JobDesk, alert: Mapping[str, Any]) -> tuple[Markup | None, int]:
    """The text of an alert's rule, a span for each line, and how many of them are marked; None without."""
    try:
        pack = pack_at(desk, str(alert["pack"]), str(alert["revision"]))
    except MissingError:
        return None, 0
    rule = rule_of(pack, str(alert["rule"]))
    return (None, 0) if rule is None else text_of(rule)


def rule_of(pack: Pack | None, name: str) -> Rule | None:
    """The rule of that name."""
    return None if pack is None else next((one for one in pack.rules if one.name == name), None)


def text_of(rule: Rule) -> tuple[Markup, int]:
    """The lines of a rule, and how many of them are those of steps, which are marked and say so."""
    span = rule.span
    first = span.line
    steps: dict[int, list[str]] = {}
    if isinstance(rule.body, Match):
        for name, at in _steps(rule.body.pattern):
            steps.setdefault(at.line, []).append(name)
    texts = span.file.text[span.file.line_starts[first - 1] : span.end].split("\n")
    lines = [_line(text, steps.get(number, [])) for number, text in enumerate(texts[:LONGEST], first)]
    if len(texts) > LONGEST:
        lines.append(_line(f"... {len(texts) - LONGEST:,} more lines", []))
    return Markup("").join(lines), len(steps)


def _line(text: str, names: list[str]) -> Markup:
    text = shown(cut(text.rstrip("\r").replace("\t", "    "), WIDEST))
    if not names:
        return Markup('<span class="line">{}</span>').format(text)
    marked = Markup('<span class="line step">{}  <i class="quiet">◂ step {}</i></span>')
    return marked.format(text, ", ".join(names))


def _steps(sequence: Sequence) -> Iterator[tuple[str, Span]]:
    """The names of steps, however deep, and where they stand."""
    for _, element in sequence.elements:
        match element:
            case Step():
                yield element.name, element.span
            case Either():
                for branch in element.branches:
                    yield from _steps(branch)
            case AnyOrder():
                for operand in element.operands:
                    yield from _steps(operand)
            case Group():
                yield from _steps(element.body)
            case _:  # what must not come
                pass
