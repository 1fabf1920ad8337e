"""The other engine: the shortest reading of a query over plain lists of words. Oracle of every test.

It shares with the index the parser, what a word is, the analysers, and what values mean; no compilation,
no arrays, no candidates. Slow on purpose.

A *place* is where an operand stands: the positions from its first word to behind its last. Whatever is
true of places is true in one field: an operand of NEAR, atleast, first, sentence is true where it has a
place there. With every place come the *ranges* of the text, those of the terms and phrases that it is
made of. They are the highlights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Literal, NamedTuple

from percolator.analysis import Analyser, analyser
from percolator.hit import Hit, Range, apart
from percolator.patterns import regex, takes, within
from percolator.query import tree
from percolator.query.pieces import Piece, pieces
from percolator.schema import Kind, Schema
from percolator.values import Document, Terms, field_values, range_test, texts, value_test
from percolator.words import exact, is_unit, sections, split, token_spans

VALUE_GAP = 100
"""Positions that lie between two values of a field."""

Names = Sequence[str]


class PositionSpan(NamedTuple):
    """Positions, `end` exclusive."""

    start: int
    end: int


Places = dict[PositionSpan, frozenset[Range]]


class Word(NamedTuple):
    """One word of a field, and where it stands; `unit_end` as in percolator.words."""

    position: int
    surface: str
    start: int
    end: int
    unit_end: int
    sentence: int
    paragraph: int


def matches(
    node: tree.Node, document: Document, schema: Schema, default: Sequence[str] | None = None
) -> bool:
    """True if the query is true on the document; `default` is the schema's where it is not given.

    The query is one that percolator.checks lets pass. Raises DocumentError.
    """
    return Reader(document, schema).true(node, schema.default if default is None else default)


def hit(
    node: tree.Node, document: Document, schema: Schema, default: Sequence[str] | None = None
) -> Hit | None:
    """The hit of a query in the document, None where it is not true. Raises DocumentError."""
    reader, names = Reader(document, schema), schema.default if default is None else default
    if not reader.true(node, names):
        return None
    return Hit(tuple(dict.fromkeys(reader.named(node, names))), reader.highlights(node, names))


@dataclass(frozen=True)
class Reader:
    """One document over one schema; `names` are the fields that a term is looked for in."""

    document: Document
    schema: Schema

    def true(self, node: tree.Node, names: Names) -> bool:
        """True if the node is true."""
        match node:
            case tree.And():
                return all(self.true(operand, names) for operand in node.operands)
            case tree.Or():
                return any(self.true(operand, names) for operand in node.operands)
            case tree.Not():
                return not self.true(node.operand, names)
            case tree.SomeOf():
                return sum(self.true(operand, names) for operand in node.operands) >= node.count
            case tree.Fielded():
                return self.true(node.operand, (node.name,))
            case tree.Named():
                return self.true(node.operand, names)
            case tree.Everything():
                return True
            case tree.Present():
                return bool(field_values(self.document, node.name))
            case tree.Range():
                return range_test(node, self.schema.fields[node.name].kind)(self.document)
            case tree.Near() | tree.NotNear() | tree.AtLeast() | tree.First() | tree.Together():
                return any(self.places(node, name, names) for name in self.words)
            case _:
                return any(
                    self.places(node, name, names)
                    if name in self.words
                    else value_test(node, self.schema.fields[name].kind, name)(self.document)
                    for name in names
                )

    def places(self, node: tree.Node, name: str, names: Names) -> Places:
        """Where in the text field `name` the node stands, its terms looked for in `names`."""

        def inner(operand: tree.Node) -> Places:
            return self.places(operand, name, names)

        match node:
            case tree.Or():
                return _union(inner(operand) for operand in node.operands)
            case tree.Fielded():
                return self.places(node.operand, name, (node.name,))
            case tree.Near():
                return _near(inner(node.left), inner(node.right), node.distance, node.ordered)
            case tree.NotNear():
                away = inner(node.right)
                return {
                    place: ranges
                    for place, ranges in inner(node.left).items()
                    if all(_apart(place, other, node.distance) for other in away)
                }
            case tree.AtLeast():
                found = inner(node.operand)
                return found if len(found) >= node.count else {}
            case tree.First():
                return {
                    place: ranges for place, ranges in inner(node.operand).items() if place.end <= node.within
                }
            case tree.Together():
                return self.together([inner(operand) for operand in node.operands], name, node.unit)
            case tree.Word() | tree.Exact() | tree.Wildcard() | tree.Regex() | tree.Fuzzy() | tree.Phrase():
                return self.terms(node, name) if name in names else {}
            case _:
                raise AssertionError(f"{type(node).__name__} has no places")

    def together(self, operands: list[Places], name: str, unit: Literal["sentence", "paragraph"]) -> Places:
        """The places in those sentences or paragraphs that hold one of every operand."""
        number = {word.position: getattr(word, unit) for word in self.words[name]}

        def of(place: PositionSpan) -> int | None:
            first, last = number[place.start], number[place.end - 1]
            return first if first == last else None

        shared = set.intersection(*({of(place) for place in found} for found in operands)) - {None}
        return {p: ranges for p, ranges in _union(operands).items() if of(p) in shared}

    def terms(self, node: Terms, name: str) -> Places:
        """All ways to take a word of its own for each part, (position - index) spread by at most the slop."""
        words, analysed = self.words[name], analyser(self.schema.fields[name].analyser)
        slop = node.slop if isinstance(node, tree.Phrase) else 0
        tests = _tests(node, analysed)
        parts = [[word for word in words if test(word.surface)] for test in tests]
        ends_in_unit = not isinstance(node, tree.Regex | tree.Fuzzy) and _is_unit(pieces(node)[-1])
        found: dict[PositionSpan, set[Range]] = {}
        for chosen in _choices(parts, slop):
            last = max(chosen)
            end = last.unit_end if ends_in_unit and last is chosen[-1] else last.end
            place = PositionSpan(min(chosen).position, last.position + 1)
            found.setdefault(place, set()).add((min(chosen).start, end))
        return {place: frozenset(ranges) for place, ranges in found.items()}

    def named(self, node: tree.Node, names: Names) -> Iterator[str]:
        """The names of the true named parts, also of those that did not matter to the whole."""
        if isinstance(node, tree.Named) and self.true(node, names):
            yield node.name
        within_field = (node.name,) if isinstance(node, tree.Fielded) else names
        for operand in tree.children(node):
            yield from self.named(operand, within_field)

    def highlights(self, node: tree.Node, names: Names) -> dict[str, list[Range]]:
        """The ranges of all parts that were true; of parts under a NOT there are none."""
        found: dict[str, set[Range]] = {}
        for name, ranges in self.true_parts(node, names):
            found.setdefault(name, set()).update(ranges)
        return {name: apart(found[name]) for name in self.words if found.get(name)}

    def true_parts(self, node: tree.Node, names: Names) -> Iterator[tuple[str, frozenset[Range]]]:
        """Field and ranges of every place in the text that made the node true."""
        match node:
            case tree.And() | tree.Or() | tree.SomeOf():
                if self.true(node, names):
                    for operand in node.operands:
                        yield from self.true_parts(operand, names)
            case tree.Fielded():
                yield from self.true_parts(node.operand, (node.name,))
            case tree.Named():
                yield from self.true_parts(node.operand, names)
            case tree.Not() | tree.Range() | tree.Everything() | tree.Present():
                return
            case _:
                for name in self.words:
                    for ranges in self.places(node, name, names).values():
                        yield name, ranges

    @cached_property
    def words(self) -> dict[str, list[Word]]:
        """The words of every text field; values stand a gap apart, and end sentence and paragraph."""
        found: dict[str, list[Word]] = {}
        for name, type_ in self.schema.fields.items():
            if type_.kind is Kind.TEXT:
                found[name] = read_words(texts(self.document, name))
        return found


def read_words(values: Sequence[str]) -> list[Word]:
    """The words of a field with these values."""
    words: list[Word] = []
    position = offset = sentences = paragraphs = 0
    for text in values:
        at = token_spans(text)
        numbered = sections(text, at)
        for surface, place, (sentence, paragraph) in zip(split(text), at, numbered, strict=True):
            start, end, unit_end = (offset + edge for edge in place)
            word = Word(position, surface, start, end, unit_end, sentences + sentence, paragraphs + paragraph)
            words.append(word)
            position += 1
        position += VALUE_GAP
        offset += len(text) + 1
        if numbered:
            sentences += numbered[-1][0] + 1
            paragraphs += numbered[-1][1] + 1
    return words


def _tests(node: Terms, analysed: Analyser) -> list[Callable[[str], bool]]:
    """For each part of a term or phrase, whether a surface word is it."""
    match node:
        case tree.Regex():
            expression = regex(node)
            return [lambda surface: any(takes(expression, form) for form in analysed.forms(surface))]
        case tree.Fuzzy():
            term, wanted, fold = analysed.term(node.text), analysed.fold(node.text), analysed.fold
            return [
                lambda surface: analysed.term(surface) == term or within(wanted, fold(surface), node.distance)
            ]
        case _:
            return [_test(piece, analysed) for piece in pieces(node)]


def _test(piece: Piece, analysed: Analyser) -> Callable[[str], bool]:
    match piece.kind:
        case "word":
            term = analysed.term(piece.text)
            return lambda surface: analysed.term(surface) == term
        case "exact":
            letters = exact(piece.text)
            return lambda surface: exact(surface) == letters
        case "pattern":
            # A word holds no [, the one other sign that fnmatch knows.
            pattern = analysed.fold(piece.text)
            return lambda surface: any(fnmatchcase(form, pattern) for form in analysed.forms(surface))


def _is_unit(piece: Piece) -> bool:
    return piece.kind == "pattern" and is_unit(piece.text[:-1])


def _choices(parts: list[list[Word]], slop: int, chosen: tuple[Word, ...] = ()) -> Iterator[tuple[Word, ...]]:
    if len(chosen) == len(parts):
        yield chosen
        return
    shifted = [word.position - index for index, word in enumerate(chosen)]
    for word in parts[len(chosen)]:
        here = word.position - len(chosen)
        if word not in chosen and max([here, *shifted]) - min([here, *shifted]) <= slop:
            yield from _choices(parts, slop, (*chosen, word))


def _near(left: Places, right: Places, distance: int, ordered: bool) -> Places:
    """The enclosing places of all pairs that do not overlap, with at most so many words between them."""
    found: dict[PositionSpan, frozenset[Range]] = {}
    for one, ranges in left.items():
        for other, more in right.items():
            after, before = other.start - one.end, one.start - other.end
            if 0 <= after <= distance or (not ordered and 0 <= before <= distance):
                place = PositionSpan(min(one.start, other.start), max(one.end, other.end))
                found[place] = found.get(place, frozenset()) | ranges | more
    return found


def _apart(place: PositionSpan, other: PositionSpan, distance: int) -> bool:
    """For NOT NEAR/n: whether `other` keeps away from the place and the n words on each side of it."""
    return other.start >= place.end + distance or other.end <= place.start - distance


def _union(operands: Sequence[Places] | Iterator[Places]) -> Places:
    found: dict[PositionSpan, frozenset[Range]] = {}
    for places_ in operands:
        for place, ranges in places_.items():
            found[place] = found.get(place, frozenset()) | ranges
    return found
