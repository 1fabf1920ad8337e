"""The other engine: the shortest reading of a query over plain lists of words. Oracle of every test.

It shares with the index only the parser, what a word is, and the analysers; no compilation, no arrays,
no candidates. Slow on purpose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import translate
from itertools import product
from re import match as re_match
from typing import NamedTuple

from percolator.analysis import Analyser, analyser
from percolator.query import tree
from percolator.query.pieces import Piece, pieces
from percolator.schema import Schema
from percolator.words import exact, split

VALUE_GAP = 100

Document = Mapping[str, str | Sequence[str]]


class _Word(NamedTuple):
    position: int
    surface: str
    term: str


def matches(
    node: tree.Node, document: Document, schema: Schema, default: Sequence[str] | None = None
) -> bool:
    """Whether the query is true on the document; `default` is the schema's where it is not given.

    Raises NotImplementedError for what no engine executes yet, KeyError for an unknown field.
    """
    return _true(node, document, schema, schema.default if default is None else default)


def _true(node: tree.Node, document: Document, schema: Schema, names: Sequence[str]) -> bool:
    match node:
        case tree.Word() | tree.Exact() | tree.Wildcard() | tree.Phrase():
            return any(_stands(node, document, name, schema) for name in names)
        case tree.And():
            return all(_true(operand, document, schema, names) for operand in node.operands)
        case tree.Or():
            return any(_true(operand, document, schema, names) for operand in node.operands)
        case tree.Not():
            return not _true(node.operand, document, schema, names)
        case tree.SomeOf():
            return sum(_true(operand, document, schema, names) for operand in node.operands) >= node.count
        case tree.Fielded():
            return _true(node.operand, document, schema, (node.name,))
        case tree.Everything():
            return True
        case tree.Present():
            return bool(_values(document, node.name))
        case _:
            raise NotImplementedError(type(node).__name__)


def _analyser(schema: Schema, name: str) -> Analyser:
    return analyser(schema.fields[name].analyser)


def _values(document: Document, name: str) -> Sequence[str]:
    value = document.get(name, ())
    return (value,) if isinstance(value, str) else value


def _words(document: Document, name: str, schema: Schema) -> list[_Word]:
    """The words of a field with their positions; values stand a gap apart."""
    found: list[_Word] = []
    position = 0
    for text in _values(document, name):
        for surface in split(text):
            found.append(_Word(position, surface, _analyser(schema, name).term(surface)))
            position += 1
        position += VALUE_GAP
    return found


def _stands(
    node: tree.Word | tree.Exact | tree.Wildcard | tree.Phrase, document: Document, name: str, schema: Schema
) -> bool:
    """Whether each part has a word of its own and (position - index) spreads over at most the slop."""
    words, analysed = _words(document, name, schema), _analyser(schema, name)
    slop = node.slop if isinstance(node, tree.Phrase) else 0
    parts = [[word.position for word in words if _fits(piece, word, analysed)] for piece in pieces(node)]
    for chosen in product(*parts):
        shifted = [position - index for index, position in enumerate(chosen)]
        if len(set(chosen)) == len(chosen) and max(shifted) - min(shifted) <= slop:
            return True
    return False


def _fits(piece: Piece, word: _Word, analysed: Analyser) -> bool:
    match piece.kind:
        case "word":
            return word.term == analysed.term(piece.text)
        case "exact":
            return exact(word.surface) == exact(piece.text)
        case "pattern":
            # A word holds no [, the one other sign that fnmatch knows.
            pattern = translate(analysed.fold(piece.text))
            forms = (word.term, analysed.fold(word.surface))
            return any(re_match(pattern, form) is not None for form in forms)
