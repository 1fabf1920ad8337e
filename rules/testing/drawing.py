"""Values drawn under the text that they belong to, each on the first row where it has room.

    26 | -> big: payment[amount > 20 * avg(probe.amount)]
       |                 |      |    | |
       |                 18     |    | 1.1
       |                        |    22
       |                        false

The way of Groovy's power assertions (Niederwieser, 2009): from right to left, and a bar down from every value
that finds none.
"""

from __future__ import annotations

from collections.abc import Sequence

from rules.source import Span
from rules.terminal import Excerpt, excerpt
from rules.testing.operands import Operand

WIDTH = 160
"""Cells of a source line that are shown."""


def drawn(span: Span, operands: Sequence[Operand]) -> list[str]:
    """The lines that a place touches, with their numbers, and below each the values that belong to it."""
    first, last = span.line, span.file.position(max(span.start, span.end - 1))[0]
    gutter = len(str(last))
    rows: list[str] = []
    for number in range(first, last + 1):
        start = span.file.line_starts[number - 1]
        line = span.file.line(number)
        here = [operand for operand in operands if start <= operand.place <= start + len(line)]
        places = [operand.place - start for operand in here] or [max(span.start - start, 0)]
        shown = excerpt(line, min(places), max(places) + 1, WIDTH)
        rows.append(f"{number:>{gutter}} | {shown.text}".rstrip())
        below = _below([(shown.cell(o.place - start), o.text) for o in here])
        rows.extend(f"{'':>{gutter}} | {row}" for row in below)
    return rows


def _below(marks: Sequence[tuple[int, str]]) -> list[str]:
    """Rows of bars and values; `marks` are cells and texts, at most one a cell."""
    if not marks:
        return []
    rows: list[list[tuple[int, Excerpt]]] = [[]]
    for cell, text in sorted(marks, reverse=True):
        value = excerpt(text, 0, 0, len(text) * 2)
        rows[0].append((cell, _BAR))
        for number in range(1, len(rows) + 1):
            if number == len(rows):
                rows.append([])
            if not rows[number] or cell + value.edges[-1] < rows[number][-1][0]:
                rows[number].append((cell, value))
                break
            rows[number].append((cell, _BAR))
    return [_row(row[::-1]) for row in rows]


_BAR = Excerpt("|", 0, (0, 1))


def _row(pieces: Sequence[tuple[int, Excerpt]]) -> str:
    text, cells = "", 0
    for cell, piece in pieces:
        text += " " * (cell - cells) + piece.text
        cells = cell + piece.edges[-1]
    return text
