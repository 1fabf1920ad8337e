"""Texts as messages show them that may hold secrets: of the same length, and mostly blank.

Messages go to logs and tickets: a file that was named by mistake, or a secret, is not repeated there.
"""

from __future__ import annotations

import re

MARK = "\N{HORIZONTAL ELLIPSIS}"
_BEGINNING = 4


def around(text: str, start: int, end: int, more: int) -> str:
    """The text where only a place, cut to `more` characters, and as many around it are left."""
    first, last = max(start - more, 0), min(min(end, start + more) + more, len(text))
    before = _blank(text[:first])[:-1] + MARK if first else ""
    after = MARK + _blank(text[last:])[1:] if last < len(text) else ""
    return before + text[first:last] + after


def beginning(text: str) -> str:
    """The text where of each line only its first characters are left."""
    return "\n".join(hidden_from(line, _BEGINNING) for line in text.split("\n"))


def hidden_from(line: str, place: int) -> str:
    """A line that is blank from a place on."""
    return line[:place] + MARK + _blank(line[place + 1 :]) if place < len(line) else line


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
