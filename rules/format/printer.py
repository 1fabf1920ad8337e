"""A document -> text: decides which lines end, and puts comments at the ends of theirs.

One pass without recursion; what fits is decided from the widths that documents know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from rules.format.document import (
    Align,
    Blanks,
    Document,
    EmptyLine,
    Group,
    Joined,
    Line,
    Nest,
    Remark,
    Text,
    Wrap,
)

WIDTH = 100
"""Characters of a line, its trailing comment aside."""
LONG = 60
"""Characters of a line that is too long for the comments of others to stand behind its end."""

Waiting = list[tuple[int, bool, Document]]
"""What is still to be printed, the next one last: indentation, whether on one line, document."""


def printed(documents: Iterable[Document]) -> str:
    """The text of documents one after another, its lines ended; empty if there is nothing in them."""
    page = _Page()
    for document in documents:
        _print(document, page)
    return page.text()


def _print(document: Document, page: _Page) -> None:
    waiting: Waiting = [(0, False, document)]
    while waiting:
        indent, flat, item = waiting.pop()
        match item:
            case Text():
                page.write(item.text, indent)
            case Joined():
                waiting.extend((indent, flat, part) for part in reversed(item.parts))
            case Group():
                fits = flat or page.column_of_next(indent) + item.flat + _rest(waiting) <= WIDTH
                waiting.append((indent, fits, item.item))
            case Nest():
                waiting.append((indent + item.by, flat, item.item))
            case Align():
                waiting.append((page.column_of_next(indent), flat, item.item))
            case Line():
                page.space(item.flat) if flat else page.end_line(indent)
            case Blanks():
                page.space(item.flat if flat else item.head)
            case Wrap():
                if flat or page.column_of_next(indent) + item.flat + _rest(waiting) <= WIDTH:
                    page.space(1)
                    waiting.append((indent, True, item.item))
                else:
                    page.end_line(indent)
                    waiting.append((indent, False, item.item))
            case Remark():
                page.remark(item.text, item.trailing, indent)
            case EmptyLine():
                page.empty_line(indent)
            case _:
                assert_never(item)


def _rest(waiting: Waiting) -> int:
    """The width of what must stand on the same line as what is printed next."""
    width = 0
    for _, flat, item in reversed(waiting):
        if not flat and item.breaks:
            return width + item.head
        width += item.flat if flat else item.head
        if width > WIDTH:
            break
    return width


class _Page:
    """The lines so far; the last one may still grow."""

    def __init__(self) -> None:
        self.column = 0
        self._rows: list[tuple[str, str]] = []
        """Finished lines: code, comment."""
        self._indent = 0
        self._pieces: list[str] = []
        self._ended = False
        """Whether a comment has ended the line."""

    def write(self, characters: str, indent: int) -> None:
        """Characters at the end of the line, or on the next one where a comment has ended it."""
        if not characters:
            return
        if self._ended:
            self.end_line(indent)
        self._pieces.append(characters)
        self.column += len(characters)

    def space(self, width: int) -> None:
        """Blanks, but not at the beginning of a line."""
        if self._pieces and not self._ended:
            self._pieces.append(" " * width)
            self.column += width

    def column_of_next(self, indent: int) -> int:
        """Where the next characters will stand."""
        return indent if self._ended else self.column

    def end_line(self, indent: int) -> None:
        """Begin a new line, unless a comment ended the last one and nothing was written since."""
        if not self._ended:
            self._rows.append((self._code(), ""))
        self._begin(indent)

    def remark(self, comment: str, trailing: bool, indent: int) -> None:
        """A comment at the end of the line that what is before it stands on, or on a line of its own."""
        if trailing and self._pieces:
            self._rows.append((self._code(), comment))
            self._pieces.clear()
        elif trailing:
            code, _ = self._rows[-1]
            self._rows[-1] = (code, comment)
            return
        else:
            if self._pieces or self._ended:
                self.end_line(indent)
            self._rows.append((" " * self._indent + comment, ""))
        self._ended = True

    def empty_line(self, indent: int) -> None:
        """An empty line before the line that begins here."""
        if self._pieces or self._ended:
            self.end_line(indent)
        self._rows.append(("", ""))

    def text(self) -> str:
        """All lines, the comments of lines without an empty line between them in one column."""
        if self._pieces:
            self.end_line(0)
        lines: list[str] = []
        paragraph: list[tuple[str, str]] = []
        for code, comment in (*self._rows, ("", "")):
            if code and not code.lstrip().startswith("#"):
                paragraph.append((code, comment))
                continue
            lines += _in_column(paragraph)
            paragraph.clear()
            lines.append(code)
        return "".join(f"{line}\n" for line in lines[:-1])

    def _begin(self, indent: int) -> None:
        self._indent = self.column = indent
        self._pieces.clear()
        self._ended = False

    def _code(self) -> str:
        return (" " * self._indent + "".join(self._pieces)).rstrip(" ") if self._pieces else ""


def _in_column(paragraph: list[tuple[str, str]]) -> Iterator[str]:
    """Lines with their comments in one column, but for those that are too long to set it."""
    widths = (len(code) for code, comment in paragraph if comment)
    column = max((width for width in widths if width <= LONG), default=0)
    for code, comment in paragraph:
        yield f"{code:<{column}}  {comment}" if comment else code
