"""The words of a term or phrase as its author meant them: literal, by pattern, or exactly as written."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple

from percolator.query.tree import Exact, Phrase, Wildcard, Word
from percolator.words import marks, pattern_for

Kind = Literal["word", "pattern", "exact"]


class Piece(NamedTuple):
    """One word of a term. A pattern holds `*` or `?`; nothing in it is escaped."""

    kind: Kind
    text: str


@cache
def _written(ascii_only: bool) -> re.Pattern[str]:
    # A sign that was escaped is no part of a word, so an escape stands between words.
    part = r"[\w*?]+" if ascii_only else rf"[\w*?][\w*?{marks()}]*"
    joiner = "[.']" if ascii_only else "[.'’]"
    return re.compile(rf"\\.|\{{([^{{}}]*)\}}|({part}(?:{joiner}{part})*)", re.DOTALL)


def pieces(node: Word | Exact | Wildcard | Phrase) -> tuple[Piece, ...]:
    """The words in order; none at all where the text holds nothing that can be searched for."""
    match node:
        case Word():
            return tuple(Piece("word", word) for word in pattern_for(node.text).findall(node.text))
        case Exact():
            return tuple(Piece("exact", word) for word in pattern_for(node.text).findall(node.text))
        case Wildcard():
            return _read(node.pattern)
        case Phrase():
            return _read(node.text)


def _read(raw: str) -> tuple[Piece, ...]:
    found: list[Piece] = []
    for exact, word in _written(raw.isascii()).findall(raw):
        if word:
            found.append(Piece("pattern" if "*" in word or "?" in word else "word", word))
        elif exact:
            found.extend(Piece("exact", inner) for inner in pattern_for(exact).findall(exact))
    return tuple(found)


def unescaped(raw: str) -> str:
    """A phrase's text without its escapes: the value that a keyword field is compared with."""
    return re.sub(r"\\(.)", r"\1", raw, flags=re.DOTALL)
