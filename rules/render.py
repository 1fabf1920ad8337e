"""A diagnostic as text for people: code, place, the source with the place underlined, the fix.

The form is rustc's. Columns count code points, as in messages of compilers; underlines count what a
terminal shows: tabs reach to the next multiple of four, wide characters take two cells, combining none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from unicodedata import category, combining, east_asian_width

from rules.diagnostics import Diagnostic
from rules.source import SourceFile, Span

TAB = 4
LONG = 240
"""Characters of a source line that are shown; of a longer one, those around the place."""

_COLOURS = {"error": "1;31", "warning": "1;33", "hint": "1;36"}
_GUTTER = "1;34"
_BOLD = "1"

Paint = Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class _Mark:
    """A place in one line, in characters of that line."""

    line: int
    start: int
    end: int
    text: str
    primary: bool


def render(diagnostic: Diagnostic, *, colour: bool = False) -> str:
    """The diagnostic in lines, each ended. `colour`: with ANSI colours."""
    paint = _paint if colour else _plain
    tint = _COLOURS[diagnostic.level]
    head = paint(f"{diagnostic.level}[{diagnostic.code}]", tint) + paint(f": {diagnostic.message}", _BOLD)
    lines = [head]
    gutter = 1
    if diagnostic.span is not None:
        files = _by_file(diagnostic)
        gutter = max(len(str(mark.line)) for _, marks in files for mark in marks)
        for number, (file, marks) in enumerate(files):
            span = diagnostic.span if number == 0 else _first(diagnostic, file)
            arrow = "-->" if number == 0 else ":::"
            place = f"{file.name}:{span.line}:{span.column}"
            lines.append(" " * gutter + paint(arrow, _GUTTER) + " " + place)
            lines.append(" " * gutter + paint(" |", _GUTTER))
            lines.extend(_source(file, marks, gutter, tint, paint))
    if diagnostic.help:
        for number, line in enumerate(diagnostic.help.splitlines()):
            begin = paint(" =", _GUTTER) + " " + paint("help", _BOLD) + ": " if number == 0 else " " * 9
            lines.append(" " * gutter + begin + line)
    return "\n".join(lines) + "\n"


def render_all(diagnostics: Iterable[Diagnostic], *, colour: bool = False) -> str:
    """Several diagnostics, an empty line after each."""
    return "".join(render(d, colour=colour) + "\n" for d in diagnostics)


def _paint(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if text else text


def _plain(text: str, _code: str) -> str:
    return text


def _by_file(diagnostic: Diagnostic) -> list[tuple[SourceFile, list[_Mark]]]:
    """The places of a diagnostic by file, the primary one's file first."""
    assert diagnostic.span is not None
    primary = _mark(diagnostic.span, diagnostic.note, True)
    found: list[tuple[SourceFile, list[_Mark]]] = [(diagnostic.span.file, [primary])]
    for label in diagnostic.labels:
        marks = next((m for f, m in found if f is label.span.file), None)
        if marks is None:
            marks = []
            found.append((label.span.file, marks))
        marks.append(_mark(label.span, label.text, False))
    return found


def _first(diagnostic: Diagnostic, file: SourceFile) -> Span:
    return next(label.span for label in diagnostic.labels if label.span.file is file)


def _mark(span: Span, text: str, primary: bool) -> _Mark:
    line, column = span.file.position(span.start)
    start = column - 1
    return _Mark(line, start, start + max(span.end - span.start, 1), text, primary)


def _source(file: SourceFile, marks: list[_Mark], gutter: int, tint: str, paint: Paint) -> Iterator[str]:
    last = 0
    for number in sorted({mark.line for mark in marks}):
        if last and number > last + 1:
            yield paint("...", _GUTTER)
        last = number
        here = sorted((m for m in marks if m.line == number), key=lambda m: not m.primary)
        begin, excerpt = _excerpt(file.line(number), here[0].start)
        yield f"{paint(f'{number:>{gutter}} |', _GUTTER)} {_shown(excerpt)}".rstrip()
        for mark in here:
            start, end = mark.start - begin, min(mark.end - begin, len(excerpt))
            if mark.primary:  # it may stand in the line's end, of which nothing is shown
                start = min(start, len(excerpt))
            if not 0 <= start <= len(excerpt):
                continue
            # of a place of several lines, what is in the first one
            cells = _cells(excerpt[:start]), _cells(excerpt[:end])
            line = ("^" if mark.primary else "-") * max(cells[1] - cells[0], 1)
            under = paint(f"{line} {mark.text}".rstrip(), tint if mark.primary else _GUTTER)
            yield " " * gutter + paint(" |", _GUTTER) + " " + " " * cells[0] + under


def _excerpt(line: str, around: int) -> tuple[int, str]:
    """The part of a line that is shown, and where in the line it begins."""
    begin = max(0, around - LONG // 3) if len(line) > LONG else 0
    return begin, line[begin : begin + LONG]


def _shown(line: str) -> str:
    """The line as it is printed: tabs as blanks, control characters as one mark each."""
    out: list[str] = []
    cells = 0
    for char in line:
        if char == "\t":
            fill = TAB - cells % TAB
            out.append(" " * fill)
            cells += fill
            continue
        out.append("\N{REPLACEMENT CHARACTER}" if _unprintable(char) else char)
        cells += _width(char)
    return "".join(out)


def _cells(text: str) -> int:
    """Cells that a terminal takes for a text that begins a line."""
    cells = 0
    for char in text:
        cells += TAB - cells % TAB if char == "\t" else _width(char)
    return cells


def _width(char: str) -> int:
    if char.isascii():
        return 1
    if combining(char) or category(char) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def _unprintable(char: str) -> bool:
    return category(char) in ("Cc", "Cs", "Cf", "Zl", "Zp")
