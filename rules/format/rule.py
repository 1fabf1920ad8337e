"""The layout of rules: one clause a line, what the clauses say in a column after the longest first word."""

from __future__ import annotations

from typing import assert_never

from rules.format.body import block, column, filled
from rules.format.document import SPACE, Document, align, joined
from rules.format.expression import expression, hanging
from rules.format.pattern import pattern, source
from rules.format.tokens import Tokens
from rules.syntax import (
    By,
    Clause,
    Dotted,
    Emit,
    Episode,
    Having,
    Hopping,
    Into,
    LastEvents,
    Limit,
    Match,
    On,
    OnTimeout,
    Output,
    Over,
    Rule,
    Runbook,
    Session,
    Severity,
    Skip,
    Sliding,
    Summary,
    Suppress,
    Tags,
    Tumbling,
    Window,
    WindowModifier,
    Within,
)

_WORDS: dict[type[Clause], str] = {
    On: "on", Match: "match", Over: "over", Within: "within", Having: "having", Skip: "skip", By: "by",
    Emit: "emit", Limit: "limit", Severity: "severity", Summary: "summary", Tags: "tags",
    Runbook: "runbook", Suppress: "suppress", Episode: "episode", Into: "into",
}  # fmt: skip
"""The first word of each clause, but for `on timeout emit`, whose words are too many for the column."""


def rule(node: Rule, tokens: Tokens) -> Document:
    """A whole rule."""
    head = joined(tokens.take("rule"), SPACE, tokens.leaf(node.name.span))
    widest = max((len(_WORDS[type(c)]) for c in node.clauses if not isinstance(c, OnTimeout)), default=0)
    return block(node.span, head, node.clauses, lambda clause: _clause(clause, widest, tokens), tokens)


def _clause(node: Clause, widest: int, tokens: Tokens) -> Document:
    if isinstance(node, OnTimeout):
        words = tokens.words("on", "timeout", "emit")
        return joined(words, SPACE, align(filled(node.outputs, lambda o: _output(o, tokens), tokens)))
    word = _WORDS[type(node)]
    return joined(tokens.take(word), column(len(word), widest), align(_value(node, tokens)))


def _value(node: Clause, tokens: Tokens) -> Document:
    """The rest of a clause after its first word."""
    match node:
        case On():
            return source(node.source, tokens)
        case Match():
            return pattern(node.pattern, tokens)
        case Over():
            return joined(source(node.source, tokens), SPACE, _window(node.window, tokens))
        case Within(duration=None):
            return tokens.take("unbounded")
        case Within():
            assert node.duration is not None
            return tokens.leaf(node.duration.span, SPACE)
        case Having():
            return expression(node.condition, tokens)
        case Skip():
            return _skip(node, tokens)
        case By():
            return filled(node.keys, lambda key: _key(key, tokens), tokens)
        case Emit() | OnTimeout():
            return filled(node.outputs, lambda output: _output(output, tokens), tokens)
        case Limit():
            return joined(tokens.leaf(node.number.span), SPACE, tokens.take(node.of))
        case Severity():
            return tokens.leaf(node.level.span)
        case Summary():
            return tokens.leaf(node.template.span)
        case Tags():
            return filled(node.tags, lambda tag: tokens.leaf(tag.span), tokens)
        case Runbook():
            return tokens.leaf(node.url.span)
        case Suppress():
            length = tokens.leaf(node.duration.span, SPACE)
            if not node.names:
                return length
            by = joined(length, SPACE, tokens.take("by"), SPACE)
            return joined(by, align(filled(node.names, lambda name: tokens.leaf(name.span), tokens)))
        case Episode():
            return tokens.leaf(node.duration.span, SPACE)
        case Into():
            return tokens.leaf(node.stream.span)
        case _:
            assert_never(node)


def _window(node: Window, tokens: Tokens) -> Document:
    parts = [_shape(node, tokens)]
    for modifier in node.modifiers:
        parts += (SPACE, _modifier(modifier, tokens))
    return joined(*parts)


def _modifier(node: WindowModifier, tokens: Tokens) -> Document:
    if node.zone is not None:
        return joined(tokens.take(node.kind), SPACE, tokens.leaf(node.zone.span))
    if node.duration is not None:
        return joined(tokens.take(node.kind), SPACE, tokens.leaf(node.duration.span, SPACE))
    return tokens.take(node.kind)


def _shape(node: Window, tokens: Tokens) -> Document:
    match node:
        case Tumbling():
            return joined(tokens.take("tumbling"), SPACE, tokens.leaf(node.size.span, SPACE))
        case Hopping():
            size = joined(tokens.take("hopping"), SPACE, tokens.leaf(node.size.span, SPACE))
            return joined(size, SPACE, tokens.take("every"), SPACE, tokens.leaf(node.every.span, SPACE))
        case Sliding():
            return joined(tokens.take("sliding"), SPACE, tokens.leaf(node.size.span, SPACE))
        case Session():
            return joined(tokens.words("session", "gap"), SPACE, tokens.leaf(node.gap.span, SPACE))
        case LastEvents():
            events = joined(tokens.take("last"), SPACE, tokens.leaf(node.events.span))
            return joined(events, SPACE, tokens.take("events"))
        case _:
            assert_never(node)


def _skip(node: Skip, tokens: Tokens) -> Document:
    match node.to:
        case "past last":
            return tokens.words("past", "last")
        case "next":
            return tokens.words("to", "next")
        case "none":
            return tokens.take("none")
        case "first" | "last":
            assert node.step is not None
            return joined(tokens.words("to", node.to), SPACE, tokens.leaf(node.step.span))
        case _:
            assert_never(node.to)


def _key(paths: tuple[Dotted, ...], tokens: Tokens) -> Document:
    parts = [tokens.leaf(paths[0].span)]
    for path in paths[1:]:
        parts += (SPACE, tokens.take("="), SPACE, tokens.leaf(path.span))
    return joined(*parts)


def _output(node: Output, tokens: Tokens) -> Document:
    lead = tokens.lead()
    name = tokens.leaf(node.name.span)
    if node.value is None:
        return joined(lead, name)
    return joined(lead, name, SPACE, tokens.take("="), SPACE, hanging(node.value, tokens))
