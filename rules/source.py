"""Source text and places in it: where every node of the front end and every diagnostic points."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class SourceFile:
    """A named text, with its lines indexed once.

    `name` is what messages show: a path as the user gave it, or a label such as `<stdin>`. Of a large file
    `text` may be the lines that messages are about: `first_line` is the number of its first one. `drawn` is
    what messages show of a text that not everybody may see, character by character; empty: the text itself.
    """

    name: str
    text: str
    first_line: int = 1
    drawn: str = field(default="", repr=False)
    line_starts: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        starts = [0]
        starts.extend(i + 1 for i, char in enumerate(self.text) if char == "\n")
        object.__setattr__(self, "line_starts", tuple(starts))

    def position(self, offset: int) -> tuple[int, int]:
        """The line and column of a character offset, both counted from 1."""
        line = bisect_right(self.line_starts, offset)
        return line - 1 + self.first_line, offset - self.line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text shown of a line, counted from 1, without its line end."""
        number -= self.first_line - 1
        start = self.line_starts[number - 1]
        end = self.line_starts[number] - 1 if number < len(self.line_starts) else len(self.text)
        return (self.drawn or self.text)[start:end].rstrip("\r")


@dataclass(frozen=True, slots=True)
class Span:
    """The characters `start` to `end` (exclusive, in code points) of one file."""

    file: SourceFile
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters themselves."""
        return self.file.text[self.start : self.end]

    @property
    def line(self) -> int:
        """Line of the first character, from 1."""
        return self.file.position(self.start)[0]

    @property
    def column(self) -> int:
        """Column of the first character, from 1, in code points."""
        return self.file.position(self.start)[1]

    def to(self, other: Span) -> Span:
        """The span from this one's start to the other's end."""
        return Span(self.file, self.start, max(self.end, other.end))
