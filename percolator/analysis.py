"""One surface word -> the term that documents and queries are compared by.

`plain` lowers each word (percolator.words.lower): `café` and `cafe` differ. A language also stems, then
folds accents, both with Whoosh 2.7.4's tables, once per distinct word. No analyser drops or adds words.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

from percolator.words import lower

# Whoosh's Arabic stemmer fails on every word since Python 3.7, and it has none for Turkish.
_LANGUAGES = {
    "danish": "da",
    "dutch": "nl",
    "english": "en",
    "finnish": "fi",
    "french": "fr",
    "german": "de",
    "hungarian": "hu",
    "italian": "it",
    "norwegian": "no",
    "portuguese": "pt",
    "romanian": "ro",
    "russian": "ru",
    "spanish": "es",
    "swedish": "sv",
}

ANALYSERS = ("plain", *_LANGUAGES)
"""The names that a schema may use."""

_REMEMBERED = 1 << 17
_COMBINING = dict.fromkeys(range(0x300, 0x370))


class Analyser:
    """Turns words of one kind of text into terms; the same word always gives the same term."""

    def __init__(self, name: str, term: Callable[[str], str], fold: Callable[[str], str]) -> None:
        self.name = name
        self.term = term
        """surface word -> term"""
        self.fold = fold
        """what is done to a wildcard's letters: all but the stemming"""


@cache
def analyser(name: str) -> Analyser:
    """The analyser of that name, one of ANALYSERS; `""` is plain."""
    if name in ("", "plain"):
        return Analyser("plain", lower, lower)
    return _language(name, _LANGUAGES[name])


def _language(name: str, code: str) -> Analyser:
    # Imported here: a query over plain fields needs none of it.
    from whoosh.lang import stemmer_for_language
    from whoosh.support.charset import accent_map

    stem: Callable[[str], str] = stemmer_for_language(code)
    table = {**accent_map, **_COMBINING}

    def fold(word: str) -> str:
        plain = lower(word)
        return plain if plain.isascii() else plain.translate(table)

    @lru_cache(maxsize=_REMEMBERED)
    def term(surface: str) -> str:
        plain = lower(surface)
        try:
            stemmed = stem(plain)
        except IndexError:
            # Whoosh's Spanish stemmer reads behind the end of some letter runs that are no words.
            stemmed = plain
        if not stemmed.isascii():
            stemmed = stemmed.translate(table)
        # A stemmer that leaves nothing would make the word unfindable.
        return stemmed or plain

    return Analyser(name, term, fold)
