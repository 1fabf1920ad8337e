"""What a word is: the first stage of analysis, the same for every field, document and query.

A word is `\\w+` joined by `.` or an apostrophe inside (`U.S`, `O'Neil`). Combining marks continue the
word that they stand on, so that decomposed text and Indic vowel signs do not tear words. Positions are
counted in words; nothing is left out.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_ASCII_WORD = re.compile(r"\w+(?:[.']\w+)*", re.ASCII)


@cache
def marks() -> str:
    """All combining marks (general category M) as the inside of a regular expression's class."""
    ranges: list[str] = []
    start = None
    # No mark stands outside of these blocks; looking at all 1.1 million code points costs ten times more.
    for code in (*range(0x300, 0x1E960), *range(0xE0100, 0xE01F1)):
        if unicodedata.category(chr(code))[0] == "M":
            start = code if start is None else start
        elif start is not None:
            ranges.append(f"{chr(start)}-{chr(code - 1)}")
            start = None
    return "".join(ranges)


@cache
def _unicode_word() -> re.Pattern[str]:
    part = rf"\w[\w{marks()}]*"
    return re.compile(rf"{part}(?:[.'’]{part})*")


def pattern_for(text: str) -> re.Pattern[str]:
    """The regular expression whose matches in this text are its words; ASCII has a faster one."""
    return _ASCII_WORD if text.isascii() else _unicode_word()


def split(text: str) -> list[str]:
    """The words of a text as they are written, in order."""
    return pattern_for(text).findall(text)


def exact(surface: str) -> str:
    """One word in the form that `{WHO}` compares: NFC, apostrophes made `'`, case as written."""
    if surface.isascii():
        return surface
    return unicodedata.normalize("NFC", surface).replace("’", "'")


def lower(surface: str) -> str:
    """One word in its plain form: as `exact`, in lower case.

    Each word is lowered by itself, so that `İzmir` stays one word.
    """
    if surface.isascii():
        return surface.lower()
    # Lowering can leave a letter and a mark that compose: normalise again.
    return unicodedata.normalize("NFC", exact(surface).lower())
