"""A diagnostic as text for people: code, place, the source with the place underlined, the fix.

The form is rustc's. Columns in `file:line:column` count code points, as compilers do; what is drawn counts
the cells of a terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from rules.diagnostics import Diagnostic
from rules.snippet import Mark, Row, runs, snippet
from rules.source import SourceFile, Span
from rules.terminal import printable

WIDTH = 140
"""Cells of a line where the terminal does not give its width, and the least."""

_COLOURS = {"error": "1;31", "warning": "1;33", "hint": "1;36"}
_GUTTER = "1;34"
_BOLD = "1"

Paint = Callable[[str, str], str]


def render(diagnostic: Diagnostic, *, colour: bool = False, width: int = WIDTH) -> str:
    """The diagnostic in lines, each ended. `width`: of a source line, in cells. `colour`: by ANSI codes."""
    paint = _paint if colour else _plain
    tint = _COLOURS[diagnostic.level]
    message = paint(f": {printable(diagnostic.message)}", _BOLD)
    lines = [paint(f"{diagnostic.level}[{diagnostic.code}]", tint) + message]
    gutter = 1
    if diagnostic.span is not None:
        drawn = [(spans, list(_snippet(spans, width))) for spans in _by_file(diagnostic)]
        gutter = max(len(str(row.number or 0)) for _, rows in drawn for row in rows)
        for number, (spans, rows) in enumerate(drawn):
            arrow = "-->" if number == 0 else ":::"
            span = spans[0][0]
            place = f"{printable(span.file.name)}:{span.line}:{span.column}"
            lines.append(" " * gutter + paint(arrow, _GUTTER) + " " + place)
            lines.append(" " * gutter + paint(" |", _GUTTER))
            lines.extend(_line(row, gutter, tint, paint) for row in rows)
    for number, line in enumerate(diagnostic.help.splitlines()):
        begin = paint(" =", _GUTTER) + " " + paint("help", _BOLD) + ": " if number == 0 else " " * 9
        lines.append(" " * gutter + begin + printable(line))
    return "\n".join(lines) + "\n"


def render_all(diagnostics: Iterable[Diagnostic], *, colour: bool = False, width: int = WIDTH) -> str:
    """Several diagnostics, an empty line after each."""
    return "".join(render(d, colour=colour, width=width) + "\n" for d in diagnostics)


def _paint(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if text else text


def _plain(text: str, _code: str) -> str:
    return text


Labelled = tuple[Span, str, bool]
"""A place, what is said of it, and whether it is the primary one."""


def _by_file(diagnostic: Diagnostic) -> Iterator[list[Labelled]]:
    """The places of a diagnostic, those of the primary one's file first."""
    assert diagnostic.span is not None
    found: dict[SourceFile, list[Labelled]] = {
        diagnostic.span.file: [(diagnostic.span, diagnostic.note, True)]
    }
    for label in diagnostic.labels:
        found.setdefault(label.span.file, []).append((label.span, label.text, False))
    yield from found.values()


def _snippet(spans: list[Labelled], width: int) -> Iterator[Row]:
    return snippet(spans[0][0].file, list(dict.fromkeys(Mark.of(*labelled) for labelled in spans)), width)


def _line(row: Row, gutter: int, tint: str, paint: Paint) -> str:
    if row.number is None:
        return paint("...", _GUTTER)
    codes = {"primary": tint, "secondary": _GUTTER}
    text = "".join(paint(part, codes[style]) if style else part for part, style in runs(row.cells))
    number = str(row.number or "").rjust(gutter)
    return f"{paint(f'{number} |', _GUTTER)} {text}".rstrip()
