"""Tree + schema -> an expression over tests (percolator.expressions): what a segment is built from.

Default fields, terms of several words, brackets and constants are gone here: the expression says exactly
what has to be true. A positional node stands beside the leaves without which it cannot be true, so that
it is evaluated only where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from percolator.expressions import TRUE, Expression, all_of, any_of, negated, some_of
from percolator.leaves import LeafTable, Scope
from percolator.nodes import NodeTable
from percolator.points import bounds
from percolator.query import tree
from percolator.query.errors import Code, QueryError
from percolator.query.pieces import pieces
from percolator.schema import Kind, Schema
from percolator.values import Interval, range_of, value_of, written

Text = tree.Word | tree.Exact | tree.Wildcard | tree.Phrase | tree.Fuzzy | tree.Regex


@dataclass(frozen=True, slots=True)
class Compiler:
    """Compiles queries that percolator.checks lets pass, those of one segment; its tables grow with them."""

    schema: Schema
    leaves: LeafTable
    nodes: NodeTable = field(default_factory=NodeTable)

    @classmethod
    def over(cls, schema: Schema) -> Compiler:
        """A compiler with empty tables."""
        return cls(schema, LeafTable(schema))

    def expression(self, node: tree.Node) -> Expression:
        """The expression of one query; its tests are added to the tables."""
        return self._expression(node, None)

    def _expression(self, node: tree.Node, name: str | None) -> Expression:
        """`name` is the innermost field around the node, None where the default fields count."""
        match node:
            case tree.Word() | tree.Exact() | tree.Wildcard() | tree.Phrase() | tree.Fuzzy() | tree.Regex():
                return self._text(node, name)
            case tree.And():
                return all_of([self._expression(operand, name) for operand in node.operands])
            case tree.Or():
                return any_of([self._expression(operand, name) for operand in node.operands])
            case tree.Not():
                return negated(self._expression(node.operand, name))
            case tree.SomeOf():
                return some_of(node.count, [self._expression(operand, name) for operand in node.operands])
            case tree.Fielded():
                return self._expression(node.operand, node.name)
            case tree.Named():
                return self._expression(node.operand, name)
            case tree.Everything():
                return TRUE
            case tree.Present():
                return self.leaves.presence(node.name)
            case tree.Range():
                kind = self.schema.fields[node.name].kind
                return self._interval(node.name, kind, range_of(node, kind))
            case tree.Near() | tree.NotNear() | tree.AtLeast() | tree.First() | tree.Together():
                needed, number = self._positional(node, name)
                return all_of([needed, ~number])
            case _:
                assert_never(node)

    def _scope(self, name: str | None) -> Scope:
        """The text fields in which a term is looked for."""
        return self.leaves.scope(self.schema.default if name is None else (name,))

    def _text(self, node: Text, name: str | None) -> Expression:
        """A term or phrase: one leaf, or a phrase whose words may move."""
        if name is not None and self.schema.fields[name].kind is not Kind.TEXT:
            return self._value(node, name, self.schema.fields[name].kind)
        parts = self._parts(node, self._scope(name))
        if isinstance(node, tree.Phrase) and node.slop and len(parts) > 1:
            needed, number = self._loose(parts, node.slop)
            return all_of([needed, ~number])
        return self.leaves.phrase(parts)

    def _parts(self, node: Text, scope: Scope) -> tuple[int, ...]:
        """The leaves of a term's words."""
        match node:
            case tree.Regex():
                return (self.leaves.regex(scope, node),)
            case tree.Fuzzy():
                return (self.leaves.fuzzy_word(scope, node.text, node.distance),)
            case _:
                return tuple([self.leaves.word(scope, piece) for piece in pieces(node)])

    def _loose(self, parts: tuple[int, ...], slop: int) -> tuple[Expression, int]:
        """A phrase whose words may move: what it needs, and the node of its spans."""
        self.leaves.placed.update(parts)
        places = tuple([self.nodes.leaf(part) for part in parts])
        return all_of(parts), self.nodes.slop(places, slop)

    def _spans(self, node: tree.Node, name: str | None) -> tuple[Expression, int]:
        """An operand of a positional node: what it needs, and the node of its spans."""
        match node:
            case tree.Word() | tree.Exact() | tree.Wildcard() | tree.Phrase() | tree.Fuzzy() | tree.Regex():
                parts = self._parts(node, self._scope(name))
                if isinstance(node, tree.Phrase) and node.slop and len(parts) > 1:
                    return self._loose(parts, node.slop)
                leaf = self.leaves.phrase(parts)
                self.leaves.placed.add(leaf)
                return leaf, self.nodes.leaf(leaf, len(parts))
            case tree.Or():
                needed, numbers = self._several(node.operands, name)
                return any_of(needed), self.nodes.any_of(tuple(dict.fromkeys(numbers)))
            case tree.Fielded():
                return self._spans(node.operand, node.name)
            case tree.Near():
                return self._positional(node, name)
            case _:
                # The parser lets none of these stand here.
                message = f"{type(node).__name__} has no places that an operator could take"
                raise QueryError(Code.BAD_OPERAND, message, node.span.start)

    def _several(self, operands: Sequence[tree.Node], name: str | None) -> tuple[list[Expression], list[int]]:
        found = [self._spans(operand, name) for operand in operands]
        return [needed for needed, _ in found], [number for _, number in found]

    def _positional(
        self, node: tree.Near | tree.NotNear | tree.AtLeast | tree.First | tree.Together, name: str | None
    ) -> tuple[Expression, int]:
        """The needs of a positional node, and its number."""
        match node:
            case tree.Near() | tree.NotNear():
                (needed, also), (left, right) = self._several((node.left, node.right), name)
                if isinstance(node, tree.NotNear):
                    return needed, self.nodes.not_near(left, right, node.distance)
                return all_of([needed, also]), self.nodes.near(left, right, node.distance, node.ordered)
            case tree.AtLeast():
                needed, operand = self._spans(node.operand, name)
                return needed, self.nodes.at_least(operand, node.count)
            case tree.First():
                needed, operand = self._spans(node.operand, name)
                return needed, self.nodes.first(operand, node.within)
            case tree.Together():
                needs, numbers = self._several(node.operands, name)
                return all_of(needs), self.nodes.together(tuple(numbers), node.unit)
            case _:
                assert_never(node)

    def _value(self, node: Text, name: str, kind: Kind) -> Expression:
        """A value of a field that is no text."""
        scope = self.leaves.scope((name,))
        match node:
            case tree.Word() | tree.Exact() | tree.Phrase():
                if kind is Kind.KEYWORD:
                    return self.leaves.value(name, written(node))
                return self._interval(name, kind, value_of(node, kind, name))
            case tree.Wildcard():
                return self.leaves.value(name, node.pattern, "pattern")
            case tree.Regex():
                return self.leaves.regex(scope, node)
            case tree.Fuzzy():
                return self.leaves.fuzzy_word(scope, node.text, node.distance)
            case _:
                assert_never(node)

    def _interval(self, name: str, kind: Kind, asked: Interval) -> Expression:
        if asked.low is None and asked.high is None:
            return self.leaves.presence(name)
        return self.leaves.range(name, *bounds(asked, kind))
