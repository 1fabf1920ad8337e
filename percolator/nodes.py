"""Positional nodes: what is decided by where words stand. Numbered over all queries of a segment.

A node's operands have lower numbers than the node. Equal nodes are one, and a document works each out
at most once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from percolator.matching.kernel.layout import (
    NODE_AT_LEAST,
    NODE_FIRST,
    NODE_LEAF,
    NODE_NEAR,
    NODE_NOT_NEAR,
    NODE_OR,
    NODE_SLOP,
    NODE_TOGETHER,
    PARAGRAPH,
    SENTENCE,
)


class Node(NamedTuple):
    """`a` and `b` are the kind's parameters: a leaf and its length, a distance and whether ordered ..."""

    kind: int
    operands: tuple[int, ...]
    a: int = 0
    b: int = 0


@dataclass(slots=True)
class NodeTable:
    """Makes and numbers nodes at their first use."""

    nodes: list[Node] = field(default_factory=list)
    numbers: dict[Node, int] = field(default_factory=dict)
    inner: set[int] = field(default_factory=set)
    """Nodes that are operands: all their spans are needed, not only whether there is one."""

    def leaf(self, leaf: int, length: int = 1) -> int:
        """The places of a leaf; of a phrase, so many words long."""
        return self._number(Node(NODE_LEAF, (), leaf, length))

    def any_of(self, operands: tuple[int, ...]) -> int:
        """The spans of all operands."""
        return operands[0] if len(operands) == 1 else self._number(Node(NODE_OR, operands))

    def near(self, left: int, right: int, distance: int, ordered: bool) -> int:
        """The spans that enclose one of each with at most so many words between them."""
        return self._number(Node(NODE_NEAR, (left, right), distance, int(ordered)))

    def not_near(self, left: int, right: int, distance: int) -> int:
        """The spans of the left that have none of the right so near."""
        return self._number(Node(NODE_NOT_NEAR, (left, right), distance))

    def slop(self, parts: tuple[int, ...], slop: int) -> int:
        """A phrase whose words may move, each its own word."""
        return self._number(Node(NODE_SLOP, parts, slop))

    def at_least(self, operand: int, count: int) -> int:
        """True if the operand has so many spans in one field."""
        return self._number(Node(NODE_AT_LEAST, (operand,), count))

    def first(self, operand: int, within: int) -> int:
        """True if the operand has a span that ends within so many words of a field."""
        return self._number(Node(NODE_FIRST, (operand,), within))

    def together(self, operands: tuple[int, ...], unit: str) -> int:
        """True if all operands have a span in the same sentence or paragraph."""
        return self._number(Node(NODE_TOGETHER, operands, SENTENCE if unit == "sentence" else PARAGRAPH))

    def _number(self, node: Node) -> int:
        found = self.numbers.setdefault(node, len(self.nodes))
        if found == len(self.nodes):
            self.nodes.append(node)
            self.inner.update(node.operands)
        return found
