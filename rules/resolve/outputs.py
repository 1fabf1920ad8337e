"""The outputs of an alert: emitted names, the summary over them, what suppression compares, episodes."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from rules import syntax, typed
from rules.diagnostics import Label
from rules.grammar.lexical import offset_in
from rules.resolve.expression import expression
from rules.resolve.findings import Findings
from rules.resolve.scope import Scope
from rules.source import Span
from rules.suggest import did_you_mean

_TEMPLATE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


def resolve_outputs(nodes: Sequence[syntax.Output], scope: Scope) -> tuple[typed.Emit, ...]:
    """The emitted names with their expressions; what could not be typed, or is there twice, is left out."""
    found: list[typed.Emit] = []
    places: dict[str, Span] = {}
    again: set[str] = set()
    for node in nodes:
        name = node.name.text
        if name in places:
            labels = (Label(places[name], "first emitted here"),)
            scope.findings.error(
                "CEP0206",
                f"`{name}` is emitted twice",
                node.name.span,
                labels=labels,
                help_="rename or remove one of them",
            )
            again.add(name)
        places[name] = node.name.span
        written = syntax.Dotted((node.name,), node.name.span) if node.value is None else node.value
        value = expression(written, scope)
        if value is not None:
            found.append(typed.Emit(name, value, node.span))
    return tuple(one for one in found if one.name not in again)  # nobody knows which one is meant


def resolve_summary(node: syntax.String, names: Collection[str], findings: Findings) -> typed.Summary:
    """The template: names in braces, braces themselves doubled."""
    texts = [""]
    used: list[str] = []
    done = 0
    for found in _TEMPLATE.finditer(node.value):
        texts[-1] += node.value[done : found.start()]
        done = found.end()
        if found[0] in ("{{", "}}"):
            texts[-1] += found[0][0]
            continue
        if found[1] is None:
            span = _inside(node, found.start(), found.end())
            help_ = "a brace itself is written twice"
            findings.error("CEP0221", f"`{found[0]}` has no partner in the summary", span, help_=help_)
            continue
        name = found[1].strip()
        if name not in names:
            span = _inside(node, found.start() + 1, max(found.end() - 1, found.start() + 2))
            help_ = _to_emit(name) or did_you_mean(name, names) or "add it to `emit`"
            findings.error("CEP0220", f"the summary names `{name}`, which is not emitted", span, help_=help_)
        used.append(name)
        texts.append("")
    texts[-1] += node.value[done:]
    return typed.Summary(tuple(texts), tuple(used), node.span)


def _inside(node: syntax.String, start: int, end: int) -> Span:
    return Span(node.span.file, offset_in(node, start), offset_in(node, end))


def resolve_suppress(node: syntax.Suppress, names: Collection[str], findings: Findings) -> typed.Suppress:
    """The time for which alerts with equal values are withheld."""
    if node.duration.value == 0:
        findings.error(
            "CEP0402",
            "`suppress` for nothing withholds nothing",
            node.duration.span,
            help_="give it a length: `suppress 1 hour`, or remove the clause",
        )
    for name in node.names:
        if name.text not in names:
            message = f"`suppress` compares `{name.text}`, which is neither a key field nor emitted"
            given = ", ".join(f"`{known}`" for known in dict.fromkeys(names))
            help_ = did_you_mean(name.text, names) or (
                f"it can compare {given}; what else is to be compared is first emitted"
                if given
                else "emit it first"
            )
            findings.error("CEP0220", message, name.span, help_=help_)
    return typed.Suppress(node.duration.value, tuple(n.text for n in node.names), node.span)


def resolve_episode(node: syntax.Episode, findings: Findings) -> int:
    """The time in ns within which alerts of one key belong together."""
    if node.duration.value == 0:
        findings.error(
            "CEP0402",
            "`episode` of no time holds nothing together",
            node.duration.span,
            help_="give it a length: `episode 1 hour`, or remove the clause",
        )
    return node.duration.value


def _to_emit(written: str) -> str:
    """The help for an expression in a summary, which evaluates none; empty for a name."""
    name, colon, _ = written.partition(":")
    if colon and name.strip().isidentifier():
        return f"a name stands alone in its braces; round it where it is emitted: `{name} = round({name}, 2)`"
    return "" if not written or written.isidentifier() else f"give it a name in `emit`: `name = {written}`"
