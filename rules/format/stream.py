"""The layout of streams, tables and standing queries: types and settings in one column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from rules.format.body import INDENT, block, column, width
from rules.format.document import ITEM, LINE, SPACE, Document, group, joined, nest
from rules.format.tokens import Tokens
from rules.syntax import (
    DurationSetting,
    Field,
    FieldType,
    ListType,
    PathSetting,
    Queries,
    RecordType,
    ScalarType,
    Stream,
    String,
    Table,
)

Part = Field | PathSetting | DurationSetting


def stream(node: Stream, tokens: Tokens) -> Document:
    """A stream's declaration."""
    head = joined(tokens.take("stream"), SPACE, tokens.leaf(node.name.span))
    widest = _widest(node.parts)
    return block(node.span, head, node.parts, lambda part: _part(part, widest, tokens), tokens)


def table(node: Table, tokens: Tokens) -> Document:
    """A table's declaration."""
    name = joined(tokens.take("table"), SPACE, tokens.leaf(node.name.span))
    head = joined(name, SPACE, tokens.take("key"), SPACE, tokens.leaf(node.key.span))
    widest = _widest(node.parts)
    return block(node.span, head, node.parts, lambda part: _part(part, widest, tokens), tokens)


def queries(node: Queries, tokens: Tokens) -> Document:
    """A set of standing queries."""
    head = joined(tokens.take("queries"), SPACE, tokens.leaf(node.name.span))
    return block(node.span, head, (node.file,), lambda file: _from(file, tokens), tokens)


def _from(file: String, tokens: Tokens) -> Document:
    return joined(tokens.take("from"), SPACE, tokens.leaf(file.span))


def _widest(parts: Sequence[Part]) -> int:
    return max((_first(part) for part in parts), default=0)


def _first(part: Part) -> int:
    """The width of a field's name with its colon, or of a setting's word."""
    return width(part.name.span) + 1 if isinstance(part, Field) else len(part.kind)


def _part(part: Part, widest: int, tokens: Tokens) -> Document:
    match part:
        case Field():
            name = joined(tokens.leaf(part.name.span), tokens.take(":"))
            field = joined(name, column(_first(part), widest), _type(part.type, tokens))
            if part.nullable:
                field = joined(field, tokens.take("?"))
            return field if part.secret is None else joined(field, SPACE, tokens.take("secret"))
        case PathSetting():
            word = joined(tokens.take(part.kind), column(_first(part), widest))
            path = joined(word, tokens.leaf(part.path.span))
            clocks = part.corrected
            if clocks is None:
                return path
            by = joined(path, SPACE, tokens.words("corrected", "by"), SPACE, tokens.leaf(clocks.sent.span))
            return joined(by, tokens.comma(), SPACE, tokens.leaf(clocks.received.span))
        case DurationSetting():
            word = joined(tokens.take(part.kind), column(_first(part), widest))
            return joined(word, tokens.leaf(part.duration.span, SPACE))
        case _:
            assert_never(part)


def _type(node: FieldType, tokens: Tokens) -> Document:
    match node:
        case ScalarType():
            return tokens.leaf(node.span, SPACE)
        case ListType():
            begin = joined(tokens.take("list"), tokens.take("<"))
            return joined(begin, _type(node.element, tokens), tokens.take(">"))
        case RecordType():
            begin = tokens.take("{")
            widest = _widest(node.fields)
            parts: list[Document] = []
            for place, field in enumerate(node.fields):
                parts += (ITEM if place else LINE, tokens.lead(), _part(field, widest, tokens))
            return group(begin, nest(INDENT, *parts, tokens.lead()), LINE, tokens.take("}"))
        case _:
            assert_never(node)
