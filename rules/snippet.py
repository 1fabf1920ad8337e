"""Lines of one file with places marked in them, as rustc draws it.

Places within a line are underlined together in one row: the label of the last one stands beside it, the
others hang below. Around a place of several lines runs a bar at the left, one column for each that is open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from rules.source import SourceFile, Span
from rules.terminal import Excerpt, excerpt, printable

Style = Literal["", "primary", "secondary"]
Cells = list[tuple[str, Style]]
"""A row of a drawing, cell by cell."""

AROUND = 2
"""Lines shown at the beginning, and at the end, of a place of more lines."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place by its lines (from 1) and characters (from 0, the end exclusive), and what is said of it."""

    first: int
    start: int
    last: int
    end: int
    text: str
    primary: bool

    @staticmethod
    def of(span: Span, text: str, primary: bool) -> Mark:
        """The mark of a span. A line end that is its last character belongs to the line that it ends."""
        first, column = span.file.position(span.start)
        last, end = span.file.position(max(span.start, span.end))
        if last > first and end == 1:
            last, end = last - 1, len(span.file.line(last - 1)) + 1
        return Mark(first, column - 1, last, end - 1, printable(text), primary)

    @property
    def style(self) -> Style:
        """Of its line and its label."""
        return "primary" if self.primary else "secondary"

    @property
    def sign(self) -> str:
        """The character it is underlined with."""
        return "^" if self.primary else "-"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a drawing: a line of the source by its number, 0 for one under it, None for lines left out."""

    number: int | None
    cells: Cells


def snippet(file: SourceFile, marks: Sequence[Mark], width: int) -> Iterator[Row]:
    """The lines of the marks with what is drawn under them, in order."""
    within = [mark for mark in marks if mark.first == mark.last]
    bars = _columns([mark for mark in marks if mark.first < mark.last])
    margin = 1 + max(bars.values()) + 1 if bars else 0
    before = 0
    for number in _shown(marks):
        if before and number > before + 1:
            yield Row(None, [])
        before = number
        here = [mark for mark in within if mark.first == number]
        ends = [mark for mark in bars if mark.last == number]
        starts = [mark for mark in bars if mark.first == number]
        line = file.line(number)
        places = [(m.start, m.end) for m in here] + [(m.start, m.start + 1) for m in starts]
        places += [(m.end - 1, m.end) for m in ends]
        part = excerpt(line, *_focus(places, width // 2), width - margin)
        # one that begins its line needs no row of its own for that
        from_margin = {mark for mark in starts if not line[: mark.start].strip() and len(starts) == 1}
        open_ = {mark for mark in bars if mark.first < number <= mark.last}
        yield Row(number, [*_margin(margin, bars, open_, from_margin), *((char, "") for char in part.text)])
        for cells in _underlined(here, part):
            yield Row(0, [*_margin(margin, bars, open_ | from_margin), *cells])
        for mark in sorted(ends, key=bars.__getitem__, reverse=True):
            cells = _margin(margin, bars, open_ | from_margin)
            end = part.cell(max(mark.end - 1, 0))
            _reach(cells, bars[mark] + 1, margin + end, mark)
            yield Row(0, [*cells, *((char, mark.style) for char in f" {mark.text}".rstrip())])
            open_ -= {mark}
        for mark in sorted(set(starts) - from_margin, key=bars.__getitem__, reverse=True):
            cells = _margin(margin, bars, open_ | from_margin)
            _reach(cells, bars[mark] + 1, margin + part.cell(mark.start), mark)
            yield Row(0, cells)
            open_ |= {mark}


def _columns(marks: Sequence[Mark]) -> dict[Mark, int]:
    """A column of the margin for each place of several lines, the longest furthest left."""
    columns: dict[Mark, int] = {}
    for mark in sorted(marks, key=lambda m: (m.first - m.last, m.first)):
        taken = {columns[o] for o in columns if o.first <= mark.last and mark.first <= o.last}
        columns[mark] = next(number for number in range(len(marks)) if number not in taken)
    return columns


def _shown(marks: Sequence[Mark]) -> list[int]:
    """The lines that are drawn: of a long place only those around its ends."""
    numbers: set[int] = set()
    for mark in marks:
        numbers.update(range(mark.first, min(mark.first + AROUND, mark.last + 1)))
        numbers.update(range(max(mark.last - AROUND + 1, mark.first), mark.last + 1))
    left_out = {n + 1 for n in numbers if n + 1 not in numbers and n + 2 in numbers}
    return sorted(numbers | left_out)  # a row of dots is no shorter than the one line that it stands for


def _focus(places: Sequence[tuple[int, int]], most: int) -> tuple[int, int]:
    """The characters that should be seen of a line: all places, or the first one where they lie far apart."""
    if not places:
        return 0, 0
    first, last = min(p[0] for p in places), max(p[1] for p in places)
    return (first, last) if last - first <= most else places[0]


def _margin(
    width: int, bars: dict[Mark, int], open_: set[Mark], begin: set[Mark] | frozenset[Mark] = frozenset()
) -> Cells:
    cells: Cells = [(" ", "")] * width
    for mark in open_:
        cells[bars[mark]] = ("|", mark.style)
    for mark in begin:
        cells[bars[mark]] = ("/", mark.style)
    return cells


def _reach(cells: Cells, start: int, end: int, mark: Mark) -> None:
    """Draw the way from a bar to the character where the place begins or ends."""
    cells.extend([(" ", "")] * (end + 1 - len(cells)))
    for column in range(start, end):
        if cells[column][0] == " ":
            cells[column] = ("_", mark.style)
    cells[end] = (mark.sign, mark.style)


def _underlined(marks: Sequence[Mark], part: Excerpt) -> Iterator[Cells]:
    """The rows under a line: all underlines and one label, then the labels that hang."""
    if not marks:
        return
    cells: Cells = []
    places = {mark: _cells_of(mark, part) for mark in marks}
    drawn = sorted(
        marks, key=lambda m: (places[m][0] - places[m][1], m.primary)
    )  # the shorter over the longer
    for mark in (*drawn, *(m for m in drawn if m.primary)):
        start, end = places[mark]
        cells.extend([(" ", "")] * (end - len(cells)))
        if not any(cell == (mark.sign, mark.style) for cell in cells[start:end]):  # a primary one stays seen
            cells[start:end] = [(mark.sign, mark.style)] * (end - start)
    labelled = sorted((m for m in marks if m.text), key=lambda m: (places[m], m.primary))
    hanging = labelled
    if labelled and places[labelled[-1]][1] == len(cells):
        *hanging, beside = labelled
        cells.extend((char, beside.style) for char in f" {beside.text}")
    yield cells
    if hanging:
        yield _hung(hanging, places)
    while hanging:
        *hanging, mark = hanging
        row = _hung([m for m in hanging if places[m][0] < places[mark][0]], places)
        row.extend([(" ", "")] * (places[mark][0] - len(row)))
        yield [*row, *((char, mark.style) for char in mark.text)]


def _cells_of(mark: Mark, part: Excerpt) -> tuple[int, int]:
    """From which cell to which a place is underlined, one at least."""
    start = part.cell(mark.start)
    return start, max(part.cell(mark.end), start + 1)


def _hung(marks: Sequence[Mark], places: dict[Mark, tuple[int, int]]) -> Cells:
    row: Cells = []
    for mark in marks:
        row.extend([(" ", "")] * (places[mark][0] + 1 - len(row)))
        row[places[mark][0]] = ("|", mark.style)
    return row


def runs(cells: Cells) -> Iterator[tuple[str, Style]]:
    """The cells of a row as texts of one style each."""
    for style, run in groupby(cells, key=lambda cell: cell[1]):
        yield "".join(char for char, _ in run), style
