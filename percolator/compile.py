"""Tree + schema -> an expression over tests (percolator.expressions): what a segment is built from.

Default fields, terms of several words, brackets and constants are gone here: the expression says exactly
what has to be true. A positional node stands beside the leaves without which it cannot be true, so that
it is worked out only where they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from percolator.expressions import FALSE, TRUE, Expression, all_of, any_of, negated, some_of
from percolator.leaves import LeafTable, Scope
from percolator.nodes import NodeTable
from percolator.points import bounds
from percolator.query import tree
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
                return FALSE if number is None else all_of([needed, ~number])
            case _:
                assert_never(node)

    def _scope(self, name: str | None) -> Scope:
        """The text fields in which a term is looked for."""
        return self.leaves.scope(self.schema.default if name is None else (name,))

    def _text(self, node: Text, name: str | None) -> Expression:
        """A term or phrase: one leaf, or a phrase whose words may move."""
        if name is not None and self.schema.fields[name].kind is not Kind.TEXT:
            return self._value(node, name, self.schema.fields[name].kind)
        scope = self._scope(name)
        if isinstance(node, tree.Phrase) and node.slop:
            needed, number = self._words(node, scope)
            return needed if number is None else all_of([needed, ~number])
        return self.leaves.phrase(self._parts(node, scope))

    def _parts(self, node: Text, scope: Scope) -> tuple[int, ...]:
        """The leaves of a term's words."""
        match node:
            case tree.Regex():
                return (self.leaves.regex(scope, node),)
            case tree.Fuzzy():
                return (self.leaves.fuzzy_word(scope, node.text, node.distance),)
            case _:
                return tuple([self.leaves.word(scope, piece) for piece in pieces(node)])

    def _words(self, node: Text, scope: Scope) -> tuple[Expression, int | None]:
        """A term as an operand: what it needs, and where that is more than a leaf, the node of its spans."""
        parts = self._parts(node, scope)
        slop = node.slop if isinstance(node, tree.Phrase) and len(parts) > 1 else 0
        if slop:
            self.leaves.placed.update(parts)
            places = tuple([self.nodes.leaf(part) for part in parts])
            return all_of(list(parts)), self.nodes.slop(places, slop)
        leaf = self.leaves.phrase(parts)
        return leaf, None

    def _spans(self, node: tree.Node, name: str | None) -> tuple[Expression, int | None]:
        """An operand of a positional node: what it needs, and the node of its spans.

        None where it cannot have any.
        """
        match node:
            case tree.Word() | tree.Exact() | tree.Wildcard() | tree.Phrase() | tree.Fuzzy() | tree.Regex():
                scope = self._scope(name)
                needed, number = self._words(node, scope)
                if number is None:
                    assert isinstance(needed, int)
                    self.leaves.placed.add(needed)
                    number = self.nodes.leaf(needed, len(self._parts(node, scope)))
                return needed, number
            case tree.Or():
                found = [self._spans(operand, name) for operand in node.operands]
                numbers = dict.fromkeys([number for _, number in found if number is not None])
                if not numbers:
                    return FALSE, None
                return any_of([needed for needed, _ in found]), self.nodes.any_of(tuple(numbers))
            case tree.Fielded():
                return self._spans(node.operand, node.name)
            case tree.Named():
                return self._spans(node.operand, name)
            case tree.Near() | tree.NotNear() | tree.AtLeast() | tree.First() | tree.Together():
                return self._positional(node, name)
            case _:
                raise AssertionError(f"{type(node).__name__} has no places")

    def _positional(
        self, node: tree.Near | tree.NotNear | tree.AtLeast | tree.First | tree.Together, name: str | None
    ) -> tuple[Expression, int | None]:
        match node:
            case tree.Near() | tree.NotNear():
                needed, left = self._spans(node.left, name)
                also, right = self._spans(node.right, name)
                if left is None:
                    return FALSE, None
                if isinstance(node, tree.NotNear):
                    return (
                        needed,
                        left if right is None else self.nodes.not_near(left, right, node.distance),
                    )
                if right is None:
                    return FALSE, None
                return all_of([needed, also]), self.nodes.near(left, right, node.distance, node.ordered)
            case tree.AtLeast() | tree.First():
                needed, operand = self._spans(node.operand, name)
                if operand is None:
                    return FALSE, None
                if isinstance(node, tree.AtLeast):
                    return needed, self.nodes.at_least(operand, node.count)
                return needed, self.nodes.first(operand, node.within)
            case tree.Together():
                found = [self._spans(operand, name) for operand in node.operands]
                numbers = [number for _, number in found if number is not None]
                if len(numbers) < len(found):
                    return FALSE, None
                return all_of([one for one, _ in found]), self.nodes.together(tuple(numbers), node.unit)
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
