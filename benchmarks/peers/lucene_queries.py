"""Our query trees as lists, of which the Java program makes Lucene's queries: the same words and logic.

    ["word", "apple"]   ["prefix", "recall"]   ["wildcard", "w?men"]   ["phrase", part, part, ...]
    ["and", node, ...]   ["or", node, ...]   ["not", node]   ["near", distance, ordered, left, right]

Words are split and lower-cased here as documents are, so that no analyser of queries can differ.
"""

from __future__ import annotations

from typing import Any

from percolator.query.pieces import Piece, pieces
from percolator.query.tree import And, Near, Node, Not, Or, Phrase, Wildcard, Word

Form = list[Any]


def form(node: Node) -> Form:
    """The list of a tree. Raises ValueError for nodes that none of the compared sets has."""
    match node:
        case Word() | Phrase() | Wildcard():
            parts = [_part(piece) for piece in pieces(node)]
            if isinstance(node, Phrase) and node.slop:
                raise ValueError(f"a phrase with slop: {node}")
            return parts[0] if len(parts) == 1 else ["phrase", *parts]
        case And():
            return ["and", *map(form, node.operands)]
        case Or():
            return ["or", *map(form, node.operands)]
        case Not():
            return ["not", form(node.operand)]
        case Near():
            # A word near itself is twice there for us; to Lucene one word is both, unless they have an order.
            ordered = node.ordered or node.left == node.right
            return ["near", node.distance, ordered, form(node.left), form(node.right)]
        case _:
            raise ValueError(f"no list for {type(node).__name__}")


def _part(piece: Piece) -> Form:
    text = piece.text.lower()
    if piece.kind == "word":
        return ["word", text]
    if piece.kind == "pattern":
        stem = text.rstrip("*")
        plain = stem and "*" not in stem and "?" not in stem and len(text) == len(stem) + 1
        return ["prefix", stem] if plain else ["wildcard", text]
    raise ValueError(f"no list for a word as it is written: {piece}")
