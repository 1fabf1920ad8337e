"""The layout of what a block holds: one item a line, or all on one line where the author wrote it so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from rules.format.document import ITEM, LINE, SPACE, Blanks, Document, group, joined, nest, opened, wrap
from rules.format.tokens import Gap, Tokens
from rules.source import Span

INDENT = 2
Item = TypeVar("Item")


def block(
    span: Span, head: Document, items: Sequence[Item], item: Callable[[Item], Document], tokens: Tokens
) -> Document:
    """The head, a brace, the items and a brace.

    It stays on one line where it was written so, without comments, and fits; `{}` always does.
    """
    begin = joined(head, SPACE, tokens.take("{"))
    if not items and tokens.is_next("}"):
        last = tokens.lead(Gap.INSIDE)
        if last.flat == 0:
            return joined(begin, last, tokens.take("}"))
        return opened(begin, nest(INDENT, last), LINE, tokens.take("}"))
    inside: list[Document] = []
    for place, node in enumerate(items):
        inside += (ITEM if place else LINE, tokens.lead(Gap.WRITTEN if place else Gap.INSIDE), item(node))
    inside.append(tokens.lead(Gap.WRITTEN))
    parts = (begin, nest(INDENT, *inside), LINE, tokens.take("}"))
    return group(*parts) if "\n" not in span.text else opened(*parts)


def filled(items: Sequence[Item], item: Callable[[Item], Document], tokens: Tokens) -> Document:
    """Items with commas between them, as many on a line as fit."""
    parts: list[Document] = []
    for place, node in enumerate(items):
        part = item(node)
        if place < len(items) - 1:
            part = joined(part, tokens.comma())
        parts.append(wrap(part) if place else part)
    return joined(*parts)


def column(written: int, widest: int) -> Document:
    """The blanks after something so wide, up to a column after the widest; on one line, one blank."""
    return Blanks(max(widest - written, 0) + 1, 1)


def width(span: Span) -> int:
    """The characters of a place."""
    return span.end - span.start
