"""The estimated cost of a query, before it runs: a number and the reasons for it.

The unit is a microsecond on a document of 200 words, a tenth of them never seen before, in which the query's
words are common. The weights are measured (benchmarks/percolator_cost.py) and rough, within a factor of three
for most: they find the queries that are a hundred times dearer than others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from percolator.query import tree
from percolator.query.pieces import pieces

_QUERY = 0.5  # to know its words and to look at it
_PREFIX, _PATTERN, _REGEX = 0.5, 1.0, 30.0  # to try them on new words
_FUZZY = {1: 4.5, 2: 13.0}
_PLACES = 3.0  # of a word
_PATTERN_PLACES = 15.0
_PLACE = 0.1  # to look at one


@dataclass(frozen=True, slots=True)
class Estimate:
    """`units` of cost; `warnings` are sentences for the query's author."""

    units: float
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """From `warn` units on an estimate carries a warning, above `refuse` the query is not taken in.

    `queries` is how many a collection takes.
    """

    warn: float = 100.0
    refuse: float = 1_000.0
    queries: int = 50_000_000


def estimate(node: tree.Node, limits: Limits) -> Estimate:
    """The estimated cost of a query."""
    warnings = []
    if not needs_words(node):
        warnings.append("it asks for no word or value: every document is checked against it")
    units = _QUERY + sum(map(_pattern_cost, _leaves(node))) + _place_cost(node)
    if units >= limits.warn:
        warnings.append(f"it is believed to cost {units:,.0f} units; most queries cost about one")
    return Estimate(units, tuple(warnings))


def needs_words(node: tree.Node) -> bool:
    """True if no document without any of the query's words and values can be hit."""
    match node:
        case tree.And():
            return any(map(needs_words, node.operands))
        case tree.Or():
            return all(map(needs_words, node.operands))
        case tree.SomeOf():
            return sum(map(needs_words, node.operands)) > len(node.operands) - node.count
        case tree.Not() | tree.Everything():
            return False
        case tree.Fielded() | tree.Named():
            return needs_words(node.operand)
        case _:
            return True


def _leaves(node: tree.Node) -> list[tree.Node]:
    below = tree.children(node)
    return [leaf for one in below for leaf in _leaves(one)] if below else [node]


def _pattern_cost(node: tree.Node) -> float:
    """The cost of a leaf for the new words of a document."""
    match node:
        case tree.Regex():
            return _REGEX
        case tree.Fuzzy():
            return _FUZZY[node.distance]
        case tree.Wildcard() | tree.Phrase():
            patterns = [piece.text for piece in pieces(node) if piece.kind == "pattern"]
            return sum([_PATTERN if text[0] in "*?" else _PREFIX for text in patterns])
        case _:
            return 0.0


def _place_cost(node: tree.Node) -> float:
    """The cost of the positional nodes in a document that has their words."""
    match node:
        case tree.Near() | tree.NotNear() | tree.AtLeast() | tree.First() | tree.Together():
            return _PLACE * _spans(node)[1]
        case tree.Phrase():
            return _PLACE * _spans(node)[1] if node.slop else 0.0
        case _:
            return sum(map(_place_cost, tree.children(node)))


def _spans(node: tree.Node) -> tuple[float, float]:
    """The number of places of a node, and how many are looked at for them."""
    match node:
        case tree.Phrase() if node.slop:
            return _PLACES, min(_PLACES ** len(pieces(node)), _PLACES * len(pieces(node)) * node.slop)
        case tree.Word() | tree.Exact() | tree.Wildcard() | tree.Regex() | tree.Fuzzy() | tree.Phrase():
            found = _PATTERN_PLACES if isinstance(node, tree.Wildcard | tree.Regex) else _PLACES
            return found, found
        case tree.Near():
            (left, before), (right, more) = _spans(node.left), _spans(node.right)
            # Of all pairs those count that are near enough.
            found = min(left * right, (left + right) * max(1.0, node.distance / 50))
            return found, before + more + found
        case tree.NotNear() | tree.AtLeast() | tree.First() | tree.Together() | tree.Or():
            below = [_spans(one) for one in tree.children(node)]
            return sum([found for found, _ in below]), sum([steps for _, steps in below])
        case tree.Fielded() | tree.Named():
            return _spans(node.operand)
        case tree.And() | tree.Not() | tree.SomeOf() | tree.Everything() | tree.Present() | tree.Range():
            return 0.0, 0.0
        case _:
            assert_never(node)
