"""The layout of tests: one line of the timeline a line, times and streams in columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import assert_never

from rules.format.body import block, column, width
from rules.format.document import LINE, NOTHING, SPACE, TIGHT, Document, joined
from rules.format.expression import enclosed, expression, listed
from rules.format.tokens import Tokens
from rules.syntax import (
    AllowOther,
    Entry,
    Expected,
    ExpectNothing,
    Given,
    Line,
    ListValue,
    MapValue,
    MoveWatermark,
    Start,
    TestBlock,
    Value,
)

_COMMENT = re.compile(r"#[^\n]*")


def test(node: TestBlock, tokens: Tokens) -> Document:
    """A whole test."""
    head = joined(tokens.take("test"), SPACE, _rules(node, tokens), SPACE, tokens.leaf(node.title.span))
    lines = _Columns(node.lines, tokens)
    return block(node.span, head, node.lines, lines.line, tokens)


def _rules(node: TestBlock, tokens: Tokens) -> Document:
    if not node.rules:
        return tokens.take("*")
    parts = [tokens.leaf(node.rules[0].span)]
    for name in node.rules[1:]:
        parts += (tokens.comma(), SPACE, tokens.leaf(name.span))
    return joined(*parts)


class _Columns:
    """The lines of one timeline: where the columns after times and streams stand."""

    def __init__(self, lines: Sequence[Line], tokens: Tokens) -> None:
        self._tokens = tokens
        moves = [line for line in lines if isinstance(line, Given | MoveWatermark)]
        self._at = max((_time(line) for line in moves), default=0)
        self._expected = max((_time(line) for line in lines if isinstance(line, Expected)), default=0)
        given = [line for line in lines if isinstance(line, Given) and not _marked(line)]
        self._stream = max((width(line.stream.span) for line in given), default=0)

    def line(self, node: Line) -> Document:
        """The layout of one of the lines."""
        tokens = self._tokens
        match node:
            case Given():
                return self._given(node)
            case MoveWatermark():
                time = joined(tokens.take("at"), SPACE, tokens.leaf(node.at.span, SPACE))
                return joined(time, column(_time(node), self._at), tokens.take("watermark"))
            case Expected(at=None):
                return joined(tokens.take("expect"), SPACE, _map(node.values, tokens))
            case Expected():
                assert node.at is not None
                time = joined(tokens.words("expect", "at"), SPACE, tokens.leaf(node.at.span, SPACE))
                return joined(time, column(_time(node), self._expected), _map(node.values, tokens))
            case ExpectNothing():
                return tokens.words("expect", "nothing")
            case AllowOther():
                return tokens.words("allow", "other")
            case Start():
                return joined(tokens.take("start"), SPACE, tokens.leaf(node.instant.span))
            case _:
                assert_never(node)

    def _given(self, node: Given) -> Document:
        tokens = self._tokens
        time = joined(
            tokens.take("at"), SPACE, tokens.leaf(node.at.span, SPACE), column(_time(node), self._at)
        )
        marked = _marked(node)
        mark = joined(tokens.take(marked), SPACE) if marked else NOTHING
        name = joined(time, mark, tokens.leaf(node.stream.span))
        after = SPACE if marked else column(width(node.stream.span), self._stream)
        event = joined(name, after, _map(node.values, tokens))
        if node.times is None:
            return event
        times = joined(event, SPACE, tokens.cut("x"), SPACE, tokens.leaf(node.times.span))
        if node.every is None:
            return times
        return joined(times, SPACE, tokens.take("every"), SPACE, tokens.leaf(node.every.span, SPACE))


def _marked(node: Given) -> str:
    """The word before a line's stream, if there is one."""
    return "late" if node.late else "future" if node.future else ""


def _time(node: Given | MoveWatermark | Expected) -> int:
    """The width of the time that a line gives, as it will be written."""
    return 0 if node.at is None else len(" ".join(_COMMENT.sub("", node.at.span.text).split()))


def _value(node: Value, tokens: Tokens) -> Document:
    match node:
        case MapValue():
            return _map(node, tokens)
        case ListValue():
            lead = tokens.lead()
            begin = tokens.take("[")
            parts = []
            for place, item in enumerate(node.items):
                part = _value(item, tokens)
                parts.append(part if place == len(node.items) - 1 else joined(part, tokens.comma()))
            plain = not any(isinstance(item, MapValue | ListValue) for item in node.items)
            return joined(lead, enclosed(begin, listed(parts, plain), "]", tokens, TIGHT))
        case _:
            return expression(node, tokens)


def _map(node: MapValue, tokens: Tokens) -> Document:
    lead = tokens.lead()
    begin = tokens.take("{")
    parts = []
    for place, entry in enumerate(node.entries):
        part = _entry(entry, tokens)
        parts.append(part if place == len(node.entries) - 1 else joined(part, tokens.comma()))
    return joined(lead, enclosed(begin, listed(parts, plain=False), "}", tokens, LINE))


def _entry(node: Entry, tokens: Tokens) -> Document:
    name = joined(tokens.lead(), tokens.leaf(node.name.span), tokens.take(":"))
    entry = joined(name, SPACE, _value(node.value, tokens))
    if node.tolerance is None:
        return entry
    return joined(entry, SPACE, tokens.take("within"), SPACE, expression(node.tolerance, tokens))
