"""Source text as a terminal shows it: what is printed for a character, and how many cells it takes.

Terminals differ over joined emoji and over variation selectors, so those joints are left out: each part is
drawn on its own and takes the cells that every terminal gives it. Characters that would move the cursor or
turn the direction of writing are replaced by one that can be seen.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from unicodedata import category

TAB = 4
_CUT = "..."
_UNPRINTABLE = frozenset({"Cc", "Cs", "Cf", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A line, or the part of it that is shown. `edges[i]` is the cell where its character `i` begins.

    `begin` is where the part begins in the line, in characters.
    """

    text: str
    begin: int
    edges: tuple[int, ...]

    def cell(self, character: int) -> int:
        """The cell where a character of the line begins; the dots that stand for it where it is not shown."""
        if character < self.begin:
            return 0
        return self.edges[min(character - self.begin, len(self.edges) - 1)]


def excerpt(line: str, first: int, last: int, width: int) -> Excerpt:
    """The part of a line that fits into `width` cells, with as much of `first` to `last` as can be.

    Three dots stand for what is cut off.
    """
    if len(line) <= width:
        whole = _drawn(line, 0)
        if whole.edges[-1] <= width:
            return whole
    room = max(width - 2 * len(_CUT), 1)
    begin = 0
    if _drawn(line[: min(last, room)], 0).edges[-1] > room * 2 // 3 or last > room:
        shown = _drawn(line[first:last][:room], 0).edges[-1]  # tabs aside, wherever it stands
        begin = first - _fitting(line[max(0, first - room) : first][::-1], max(room - shown, 0) // 2)
    end = begin + _fitting(line[begin : begin + room], room)
    part = _drawn(line[begin:end], begin)
    before, after = _CUT if begin else "", _CUT if end < len(line) else ""
    edges = tuple(len(before) + edge for edge in part.edges)
    return Excerpt(before + part.text + after, begin, edges)


def printable(text: str) -> str:
    """Text of one line, such as a message, without what a terminal would act on."""
    return text if text.isascii() and text.isprintable() else "".join(map(_printed, text))


def _drawn(text: str, begin: int) -> Excerpt:
    """The whole text with its cells."""
    if text.isascii() and text.isprintable():
        return Excerpt(text, begin, tuple(range(len(text) + 1)))
    pieces: list[str] = []
    edges = [0]
    for char in text:
        pieces.append(" " * (TAB - edges[-1] % TAB) if char == "\t" else _printed(char))
        edges.append(edges[-1] + sum(map(_width, pieces[-1])))
    return Excerpt("".join(pieces), begin, tuple(edges))


def _fitting(text: str, cells: int) -> int:
    """The number of characters of a text that fit into so many cells."""
    return bisect_right(_drawn(text, 0).edges, cells) - 1


def _printed(char: str) -> str:
    if char == "\N{ZERO WIDTH JOINER}" or "\ufe00" <= char <= "\ufe0f":
        return ""
    return "\N{REPLACEMENT CHARACTER}" if category(char) in _UNPRINTABLE else char


def _width(char: str) -> int:
    if char.isascii():
        return 1
    from wcwidth import wcwidth  # its tables are only needed for such text

    return max(wcwidth(char), 0)
