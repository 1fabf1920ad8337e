"""A diagnostic as text for people: code, place, the source with the place underlined, the fix.

The form is rustc's. Columns count code points, as in messages of compilers; underlines count what a
terminal shows: tabs reach to the next multiple of four, wide characters take two cells, combining none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from unicodedata import category, combining, east_asian_width

from rules.diagnostics import Diagnostic
from rules.source import SourceFile, Span

TAB = 4
WIDTH = 160
"""Cells of a source line that are shown; of a longer one, those around the place."""

_COLOURS = {"error": "1;31", "warning": "1;33", "hint": "1;36"}
_GUTTER = "1;34"
_BOLD = "1"


@dataclass(frozen=True, slots=True)
class _Mark:
    """A place in one line, in cells."""

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
    found: list[tuple[SourceFile, list[_Mark]]] = [(diagnostic.span.file, [_mark(diagnostic.span, diagnostic.note, True)])]  # fmt: skip  # noqa: E501
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
    source = span.file.line(line)
    start = _cells(source[: column - 1])
    # of a place of several lines, what is in the first one
    end = _cells(source[: column - 1 + span.end - span.start])
    return _Mark(line, start, max(end, start + 1), text, primary)


def _source(file: SourceFile, marks: list[_Mark], gutter: int, tint: str, paint: object) -> Iterable[str]:
    assert callable(paint)
    last = 0
    for number in sorted({mark.line for mark in marks}):
        if last and number > last + 1:
            yield paint("...", _GUTTER)
        last = number
        here = sorted((m for m in marks if m.line == number), key=lambda m: not m.primary)
        shown, shift = _window(_shown(file.line(number)), here[0])
        yield f"{paint(f'{number:>{gutter}} |', _GUTTER)} {shown}".rstrip()
        for mark in here:
            start, end = max(mark.start - shift, 0), max(mark.end - shift, 1)
            if start >= WIDTH:
                continue
            line = ("^" if mark.primary else "-") * (min(end, WIDTH) - start)
            under = paint(f"{line} {mark.text}".rstrip(), tint if mark.primary else _GUTTER)
            yield " " * gutter + paint(" |", _GUTTER) + " " + " " * start + under


def _window(shown: str, mark: _Mark) -> tuple[str, int]:
    """The part of a long line around a place, and how many cells were cut off before it."""
    if _cells(shown) <= WIDTH:
        return shown, 0
    shift = max(0, mark.start - WIDTH // 3)
    cells = 0
    kept: list[str] = []
    for char in shown:
        width = _width(char)
        if shift <= cells and cells + width <= shift + WIDTH:
            kept.append(char)
        elif shift <= cells + width - 1 < shift + WIDTH:
            kept.append(" ")  # half of a wide character
        cells += width
    return "".join(kept), shift


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
