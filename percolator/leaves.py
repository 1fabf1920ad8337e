"""Leaves: the tests of one word or value, and the phrases, numbered over all queries of a segment.

A leaf belongs to a *scope*, the fields it is looked for in, so that a term without a field name is one
leaf however many default fields there are. A *space* is a scope under one analyser: words of a field are
looked up in each of its spaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from percolator.analysis import Analyser, analyser
from percolator.query.pieces import Piece
from percolator.query.tree import Regex
from percolator.schema import Kind, Schema
from percolator.words import exact

DOCUMENT = 0
"""The leaf that is true on every document."""

WHOLE = "whole"
"""The analyser of spaces whose words are whole values, compared as they are."""


METADATA = "@"
"""Begins the names of the fields that are no fields of documents, but keys of their metadata."""


class Scope(NamedTuple):
    """Fields, and for each of their analysers (by name) a space."""

    fields: tuple[str, ...]
    spaces: tuple[tuple[int, str], ...]


class WordTest(NamedTuple):
    """A term or pattern, or exactly these letters, in a space."""

    space: int
    kind: Literal["word", "pattern", "exact"]
    text: str
    leaf: int


class FuzzyTest(NamedTuple):
    """A word at most that many edits from a term."""

    space: int
    text: str
    distance: int
    leaf: int


class RegexTest(NamedTuple):
    """A regular expression on words or whole values of some fields."""

    fields: tuple[str, ...]
    pattern: str
    leaf: int


class RangeTest(NamedTuple):
    """Keys between two bounds, both included; a key is a pair of 64-bit numbers that order as values do."""

    field: str
    low: tuple[int, int]
    high: tuple[int, int]
    leaf: int


@dataclass(slots=True)
class LeafTable:
    """Makes and numbers leaves at their first use; the same test is the same leaf."""

    schema: Schema
    count: int = 1
    words: list[WordTest] = field(default_factory=list)
    fuzzy: list[FuzzyTest] = field(default_factory=list)
    regexes: list[RegexTest] = field(default_factory=list)
    ranges: list[RangeTest] = field(default_factory=list)
    phrases: dict[tuple[int, ...], int] = field(default_factory=dict)
    present: dict[str, int] = field(default_factory=dict)
    placed: set[int] = field(default_factory=set)
    """Leaves whose places some positional node wants."""
    spaces: dict[tuple[tuple[str, ...], str], int] = field(default_factory=dict)
    _scopes: dict[tuple[str, ...], Scope] = field(default_factory=dict)
    _known: dict[tuple[object, ...], int] = field(default_factory=dict)

    def scope(self, names: tuple[str, ...]) -> Scope:
        """The scope of these fields, whose kinds are all text or all not."""
        found = self._scopes.get(names)
        if found is None:
            analysers = dict.fromkeys([self.analyser(name) for name in names])
            spaces = [(self.spaces.setdefault((names, one), len(self.spaces)), one) for one in analysers]
            found = self._scopes[names] = Scope(names, tuple(spaces))
        return found

    def analyser(self, name: str) -> str:
        """The name of a field's analyser, WHOLE where it is no text."""
        declared = self.schema.fields.get(name)
        return declared.analyser if declared is not None and declared.kind is Kind.TEXT else WHOLE

    def spaces_of(self, name: str) -> list[int]:
        """The spaces in which the words of a field are looked up."""
        analysed = self.analyser(name)
        return [space for (scope, one), space in self.spaces.items() if name in scope and one == analysed]

    def word(self, scope: Scope, piece: Piece) -> int:
        """The leaf of a word of a text, as its author wrote it."""
        written = (scope.fields, piece)
        leaf = self._known.get(written)
        if leaf is None:
            texts = [(space, _analysed(piece, analyser(name))) for space, name in scope.spaces]
            leaf = self._known[written] = self._word(piece.kind, texts)
        return leaf

    def value(self, name: str, text: str, kind: Literal["word", "pattern"] = "word") -> int:
        """The leaf of a whole value of a field that is no text."""
        space = self.scope((name,)).spaces[0][0]
        return self._word(kind, [(space, text)])

    def _word(self, kind: Literal["word", "pattern", "exact"], texts: Sequence[tuple[int, str]]) -> int:
        key = (kind, *texts)
        leaf = self._known.get(key)
        if leaf is None:
            leaf = self._new(key)
            self.words.extend([WordTest(space, kind, text, leaf) for space, text in texts])
        return leaf

    def fuzzy_word(self, scope: Scope, text: str, distance: int) -> int:
        """The leaf of a word that may differ by some edits before it is stemmed, or has the same term."""
        found = []
        for space, name in scope.spaces:
            analysed = None if name == WHOLE else analyser(name)
            terms = (text, text) if analysed is None else (analysed.term(text), analysed.fold(text))
            found.append((space, *terms))
        key = ("fuzzy", distance, *found)
        leaf = self._known.get(key)
        if leaf is None:
            leaf = self._new(key)
            self.words.extend([WordTest(space, "word", term, leaf) for space, term, _ in found])
            self.fuzzy.extend([FuzzyTest(space, fold, distance, leaf) for space, _, fold in found])
        return leaf

    def regex(self, scope: Scope, node: Regex) -> int:
        """The leaf of a regular expression on one word or whole value."""
        key = ("regex", scope.fields, node.pattern)
        leaf = self._known.get(key)
        if leaf is None:
            leaf = self._new(key)
            self.regexes.append(RegexTest(scope.fields, node.pattern, leaf))
        return leaf

    def range(self, name: str, low: tuple[int, int], high: tuple[int, int]) -> int:
        """The leaf of a range of keys of a field."""
        key = ("range", name, low, high)
        leaf = self._known.get(key)
        if leaf is None:
            leaf = self._new(key)
            self.ranges.append(RangeTest(name, low, high, leaf))
        return leaf

    def phrase(self, parts: tuple[int, ...]) -> int:
        """The leaf of words that follow each other; of one word, its own."""
        if len(parts) == 1:
            return parts[0]
        leaf = self.phrases.get(parts)
        if leaf is None:
            leaf = self.phrases[parts] = self._new(("phrase", parts))
        return leaf

    def presence(self, name: str) -> int:
        """The leaf of a field that has a value."""
        leaf = self.present.get(name)
        if leaf is None:
            leaf = self.present[name] = self._new(("present", name))
        return leaf

    def _new(self, key: tuple[object, ...]) -> int:
        leaf = self._known[key] = self.count
        self.count += 1
        return leaf


def _analysed(piece: Piece, analysed: Analyser) -> str:
    match piece.kind:
        case "word":
            return analysed.term(piece.text)
        case "pattern":
            return analysed.fold(piece.text)
        case "exact":
            return exact(piece.text)
