"""A document: text with the places where its lines may end, before it is known which of them do.

Of the family of Wadler's "A prettier printer" (1998). Every node knows three widths when it is made, so
that the printer decides in constant time whether something fits:

flat    all of it on one line; ENDLESS where that cannot be
head    up to the first place where a line may end
breaks  whether there is such a place
"""

from __future__ import annotations

from dataclasses import dataclass

ENDLESS = 1 << 40


@dataclass(frozen=True, slots=True)
class Text:
    """Characters without a line end."""

    text: str
    flat: int
    head: int
    breaks: bool = False


@dataclass(frozen=True, slots=True)
class Blanks:
    """As many blanks as a column needs, or on one line `flat`."""

    head: int
    flat: int
    breaks: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line end, or on one line `flat` blanks."""

    flat: int
    head: int = 0
    breaks: bool = True


@dataclass(frozen=True, slots=True)
class Wrap:
    """A blank, or a line end where the item would not fit any more, and the item."""

    item: Document
    flat: int
    head: int = 0
    breaks: bool = True


@dataclass(frozen=True, slots=True)
class Joined:
    """Documents one after another."""

    parts: tuple[Document, ...]
    flat: int
    head: int
    breaks: bool


@dataclass(frozen=True, slots=True)
class Nest:
    """Lines that begin in it are indented by so much more than those around it."""

    by: int
    item: Document
    flat: int
    head: int
    breaks: bool


@dataclass(frozen=True, slots=True)
class Align:
    """Lines that begin in it are indented to the column where it begins."""

    item: Document
    flat: int
    head: int
    breaks: bool


@dataclass(frozen=True, slots=True)
class Group:
    """On one line if it fits, else all its own lines end."""

    item: Document
    flat: int
    head: int
    breaks: bool


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment, which ends its line. `trailing`: it stands on the line of what is before it."""

    text: str
    trailing: bool
    flat: int = ENDLESS
    head: int = 0
    breaks: bool = True


@dataclass(frozen=True, slots=True)
class EmptyLine:
    """An empty line before the line that begins here."""

    flat: int = ENDLESS
    head: int = 0
    breaks: bool = True


Document = Text | Blanks | Line | Wrap | Joined | Nest | Align | Group | Remark | EmptyLine

NOTHING = Text("", 0, 0)
SPACE = Blanks(1, 1)
TIGHT = Line(0)
LINE = Line(1)
ITEM = Line(2)
"""Between the items of a block: two blanks on one line."""


def text(characters: str) -> Text:
    """The characters, on one line."""
    return Text(characters, len(characters), len(characters))


def joined(*parts: Document) -> Document:
    """The parts one after another."""
    flat = head = 0
    breaks = False
    for part in parts:
        flat += part.flat
        if not breaks:
            head += part.head
            breaks = part.breaks
    return Joined(parts, flat, head, breaks)


def nest(by: int, *parts: Document) -> Document:
    """The parts, their lines indented by so much more."""
    item = joined(*parts)
    return Nest(by, item, item.flat, item.head, item.breaks)


def align(*parts: Document) -> Document:
    """The parts, their lines indented to where the first begins."""
    item = joined(*parts)
    return Align(item, item.flat, item.head, item.breaks)


def group(*parts: Document) -> Document:
    """The parts on one line, or with all their lines ended."""
    item = joined(*parts)
    return Group(item, item.flat, item.head, item.breaks) if item.breaks else item


def opened(*parts: Document) -> Document:
    """The parts with all their lines ended, whether they would fit or not."""
    item = joined(*parts)
    return Group(item, ENDLESS, item.head, item.breaks)


def wrap(item: Document) -> Document:
    """The item after a blank, or on a line of its own where it would not fit."""
    return Wrap(item, 1 + item.flat)
