"""The words of a term or phrase as its author meant them: literal, by pattern, or exactly as written."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple

from percolator.query.tree import Exact, Phrase, Wildcard, Word
from percolator.words import has_cjk, marks, pattern_for

Kind = Literal["word", "pattern", "exact"]


class Piece(NamedTuple):
    """One word of a term. A pattern holds `*` or `?`; nothing in it is escaped.

    One CJK character is the pattern of all words that begin with it: documents have pairs (percolator.words).
    """

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
            return tuple(_plain("word", node.text))
        case Exact():
            return tuple(_plain("exact", node.text))
        case Wildcard():
            return _read(node.pattern)
        case Phrase():
            return _read(node.text)


def _plain(kind: Kind, text: str) -> list[Piece]:
    pattern = pattern_for(text)
    if not pattern.groups:
        return [Piece(kind, word) for word in pattern.findall(text)]
    found: list[Piece] = []
    covered = 0
    for token in pattern.finditer(text):
        whole, end = token[1], token.end(1)
        if end <= covered:
            continue  # the last character of a run, which the pair before holds
        # A pair, or a character that stands alone, as `finditer` took no more than it.
        alone = whole == token[0] and has_cjk(whole)
        found.append(Piece("pattern", whole + "*") if alone else Piece(kind, whole))
        covered = end
    return found


def _read(raw: str) -> tuple[Piece, ...]:
    found: list[Piece] = []
    for exact, word in _written(raw.isascii()).findall(raw):
        if word:
            if has_cjk(word):
                found.extend(_plain("word", word.strip("*")))
            else:
                found.append(Piece("pattern" if "*" in word or "?" in word else "word", word))
        elif exact:
            found.extend(_plain("exact", exact))
    return tuple(found)


def torn_by_wildcard(raw: str) -> bool:
    """True if a wildcard stands where it means nothing: inside a word that is searched by pairs.

    At its ends `*` is what every such word has anyway.
    """
    if not has_cjk(raw):
        return False
    words = (word for _, word in _written(raw.isascii()).findall(raw))
    return any(has_cjk(word) and re.search(r"[*?]", word.strip("*")) for word in words)


def unescaped(raw: str) -> str:
    """A phrase's text without its escapes: the value that a keyword field is compared with."""
    return re.sub(r"\\(.)", r"\1", raw, flags=re.DOTALL)
