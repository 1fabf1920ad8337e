"""One surface word -> the term that documents and queries are compared by.

`plain` lowers each word (percolator.words.lower): `café` and `cafe` differ. A language also stems, then
folds accents, both with Whoosh 2.7.4's tables. One's own analyser is a function from a word to its term,
named as `package.module:function` or by an entry point. No analyser drops, adds or splits words: it is
called once per distinct word.

AnalyserError    a name that is no analyser, or a function that gives no term
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import entry_points

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
"""The names that are always there."""

ENTRY_POINTS = "percolator.analysers"
"""The group in which a package registers its own: name -> function from a word to its term."""

_REMEMBERED = 1 << 17
_COMBINING = dict.fromkeys(range(0x300, 0x370))


class AnalyserError(ValueError):
    """Its text is one sentence for the author of the schema or of the analyser."""


class Analyser:
    """Turns words of one kind of text into terms; the same word always gives the same term."""

    def __init__(self, name: str, term: Callable[[str], str], fold: Callable[[str], str]) -> None:
        self.name = name
        self.term = term
        """surface word -> term"""
        self.fold = fold
        """what is done to a wildcard's letters: all but the stemming"""

    def forms(self, surface: str) -> tuple[str, ...]:
        """The forms with which wildcards, fuzzy words and regular expressions are compared, each once.

        The term; the word before stemming; the word also before folding.
        """
        return tuple(dict.fromkeys((self.term(surface), self.fold(surface), lower(surface))))


@cache
def analyser(name: str) -> Analyser:
    """The analyser of that name; `""` is plain. Raises AnalyserError where there is none."""
    if name in ("", "plain"):
        remembered = lru_cache(maxsize=_REMEMBERED)(lower)
        return Analyser("plain", remembered, remembered)
    if name in _LANGUAGES:
        return _language(name, _LANGUAGES[name])
    return _own(name, _function(name))


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


def _function(name: str) -> Callable[[str], object]:
    module, colon, attribute = name.partition(":")
    if not colon:
        registered = entry_points(group=ENTRY_POINTS, name=name)
        if not registered:
            known = ", ".join(ANALYSERS)
            raise AnalyserError(f"{name!r} is none of {known}, and no package registers it")
        found = next(iter(registered)).load()
    else:
        try:
            found = import_module(module)
            for part in attribute.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError, ValueError) as problem:
            raise AnalyserError(f"the analyser {name!r} cannot be imported: {problem}") from problem
    if not callable(found):
        raise AnalyserError(f"the analyser {name!r} is no function from a word to its term")
    function: Callable[[str], object] = found
    return function


def _own(name: str, function: Callable[[str], object]) -> Analyser:
    @lru_cache(maxsize=_REMEMBERED)
    def term(surface: str) -> str:
        made = function(surface)
        if not isinstance(made, str) or not made:
            raise AnalyserError(f"the analyser {name!r} made {made!r} of {surface!r}, which is no term")
        return made

    return Analyser(name, term, lower)
