"""Tree + schema -> an expression over leaves: what every matcher runs.

A *leaf* is a test of one word in one field (`LeafTest`), numbered over all queries, so that a word that
a hundred queries ask for is looked at once. Default fields, several-word terms, brackets and constants
are gone here: the expression says exactly what has to be true.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, assert_never

from percolator.analysis import analyser
from percolator.checks import check
from percolator.query import tree
from percolator.query.errors import Code, QueryError
from percolator.query.parse import parse
from percolator.query.pieces import Piece, pieces
from percolator.schema import Kind, Schema
from percolator.words import exact


@dataclass(frozen=True, slots=True)
class LeafTest:
    """What a word of a field must be: a term, a pattern over terms, or exactly these letters.

    `text` is analysed as the field's words are.
    """

    field: str
    kind: Literal["word", "pattern", "exact"]
    text: str


@dataclass(frozen=True, slots=True)
class Leaf:
    """Some word of the field passes the test of that number."""

    number: int


@dataclass(frozen=True, slots=True)
class Sequence:
    """Words at positions whose spread of (position - index) is at most `slop`, each its own word."""

    leaves: tuple[int, ...]
    slop: int


@dataclass(frozen=True, slots=True)
class All:
    """Every operand; two or more."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Any:
    """Some operand; two or more."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """At least `count` of the operands; 1 < count < how many there are."""

    count: int
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class No:
    """Not the operand."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Has:
    """The field has a value."""

    field: str


@dataclass(frozen=True, slots=True)
class Constant:
    """True or false on every document."""

    value: bool


Expression = Leaf | Sequence | All | Any | Some | No | Has | Constant

Clause = frozenset[int]
"""Leaves of which at least one must be true."""


@dataclass(slots=True)
class LeafTable:
    """The leaves of all queries of an index, numbered in order of first use."""

    tests: list[LeafTest] = field(default_factory=list)
    numbers: dict[LeafTest, int] = field(default_factory=dict)

    def number(self, test: LeafTest) -> int:
        """The number of a leaf, a new one at its first use."""
        found = self.numbers.setdefault(test, len(self.tests))
        if found == len(self.tests):
            self.tests.append(test)
        return found


def parse_executable(text: str, schema: Schema) -> tree.Node:
    """The tree of a query that this version answers over that schema.

    Raises QueryError where the text is no query, names an unknown field, has a term without a searchable
    word, or asks for what is not executed yet (Code.NOT_EXECUTED).
    """
    node = parse(text)
    check(node, schema)
    compile_query(node, schema, LeafTable())
    return node


def compile_query(node: tree.Node, schema: Schema, leaves: LeafTable) -> Expression:
    """The expression of one query; its leaves are added to the table. Raises QueryError."""
    return _Compiler(schema, leaves).expression(node, None)


@dataclass(frozen=True, slots=True)
class _Compiler:
    schema: Schema
    leaves: LeafTable

    def expression(self, node: tree.Node, name: str | None) -> Expression:
        """`name` is the innermost field around the node, None where the default fields count."""
        match node:
            case tree.Word() | tree.Exact() | tree.Wildcard() | tree.Phrase():
                return self.words(node, name)
            case tree.And():
                return _all([self.expression(operand, name) for operand in node.operands])
            case tree.Or():
                return _any([self.expression(operand, name) for operand in node.operands])
            case tree.Not():
                return _no(self.expression(node.operand, name))
            case tree.SomeOf():
                return _some(node.count, [self.expression(operand, name) for operand in node.operands])
            case tree.Fielded():
                self.kind(node.name, node)
                return self.expression(node.operand, node.name)
            case tree.Everything():
                return Constant(True)
            case tree.Present():
                self.kind(node.name, node)
                return Has(node.name)
            case tree.Range():
                if self.kind(node.name, node) is Kind.TEXT:
                    raise QueryError(
                        Code.BAD_VALUE, f"{node.name} is text, which has no ranges", node.span.start
                    )
                raise _not_yet("a range", node)
            case tree.Regex():
                raise _not_yet("a regular expression", node)
            case tree.Fuzzy():
                raise _not_yet("a fuzzy word", node)
            case tree.Near() | tree.NotNear():
                raise _not_yet("NEAR", node)
            case tree.AtLeast():
                raise _not_yet("atleast", node)
            case tree.First():
                raise _not_yet("first", node)
            case tree.Together():
                raise _not_yet(node.unit, node)
            case tree.Named():
                raise _not_yet("a named part", node)
            case _:
                assert_never(node)

    def kind(self, name: str, node: tree.Node) -> Kind:
        """The kind of a declared field."""
        found = self.schema.fields.get(name)
        if found is None:
            raise QueryError(Code.UNKNOWN_FIELD, f"there is no field {name}", node.span.start)
        return found.kind

    def words(
        self, node: tree.Word | tree.Exact | tree.Wildcard | tree.Phrase, name: str | None
    ) -> Expression:
        """A term or phrase in one field, or in each default field on its own."""
        names = self.schema.default if name is None else (name,)
        if not names:
            raise QueryError(Code.UNKNOWN_FIELD, "no default field: write field:term", node.span.start)
        if name is not None and self.schema.fields[name].kind is not Kind.TEXT:
            raise _not_yet(f"a value of a {self.schema.fields[name].kind} field", node)
        parts = pieces(node)
        if not parts:
            raise QueryError(Code.NO_WORD, "no searchable word", node.span.start)
        slop = node.slop if isinstance(node, tree.Phrase) else 0
        found: list[Expression] = []
        for one in names:
            numbers = tuple([self.leaf(one, piece) for piece in parts])
            found.append(Leaf(numbers[0]) if len(numbers) == 1 else Sequence(numbers, slop))
        return _any(found)

    def leaf(self, name: str, piece: Piece) -> int:
        analysed = analyser(self.schema.fields[name].analyser)
        match piece.kind:
            case "word":
                text = analysed.term(piece.text)
            case "pattern":
                text = analysed.fold(piece.text)
            case "exact":
                text = exact(piece.text)
        return self.leaves.number(LeafTest(name, piece.kind, text))


def _not_yet(what: str, node: tree.Node) -> QueryError:
    return QueryError(Code.NOT_EXECUTED, f"{what} is not executed yet", node.span.start)


def _all(operands: list[Expression]) -> Expression:
    """And, with constants, nested ands and repetitions gone."""
    kept: dict[Expression, None] = {}
    for operand in operands:
        if operand == Constant(False):
            return operand
        inner = operand.operands if isinstance(operand, All) else (operand,)
        kept.update(dict.fromkeys(one for one in inner if one != Constant(True)))
    if not kept:
        return Constant(True)
    # Words first: they decide most documents before a phrase is looked at.
    ordered = sorted(kept, key=_cost)
    return ordered[0] if len(ordered) == 1 else All(tuple(ordered))


def _any(operands: list[Expression]) -> Expression:
    """Or, with constants, nested ors and repetitions gone."""
    kept: dict[Expression, None] = {}
    for operand in operands:
        if operand == Constant(True):
            return operand
        inner = operand.operands if isinstance(operand, Any) else (operand,)
        kept.update(dict.fromkeys(one for one in inner if one != Constant(False)))
    if not kept:
        return Constant(False)
    ordered = sorted(kept, key=_cost)
    return ordered[0] if len(ordered) == 1 else Any(tuple(ordered))


def _some(count: int, operands: list[Expression]) -> Expression:
    """At least `count`: equal branches count each for itself."""
    count -= sum(operand == Constant(True) for operand in operands)
    kept: list[Expression] = [operand for operand in operands if not isinstance(operand, Constant)]
    if count <= 0:
        return Constant(True)
    if count > len(kept):
        return Constant(False)
    if count == 1:
        return _any(kept)
    return _all(kept) if count == len(kept) else Some(count, tuple(kept))


def _no(operand: Expression) -> Expression:
    match operand:
        case Constant():
            return Constant(not operand.value)
        case No():
            return operand.operand
        case _:
            return No(operand)


def _cost(expression: Expression) -> int:
    """The order in which operands are looked at: single words, then words together, phrases last."""
    match expression:
        case Leaf() | Has() | Constant():
            return 0
        case No():
            return _cost(expression.operand) + 1
        case All() | Any() | Some():
            return 2 + (_cost(expression.operands[-1]) >= 4) * 2
        case Sequence():
            return 4
        case _:
            assert_never(expression)


def clauses(expression: Expression) -> list[Clause]:
    """What must hold for the expression to be true: of every clause some leaf.

    An empty list where nothing must (a pure NOT). Never too much: a document on which a clause fails is
    not hit.
    """
    match expression:
        case Leaf():
            return [frozenset((expression.number,))]
        case Sequence():
            return [frozenset((number,)) for number in dict.fromkeys(expression.leaves)]
        case All():
            found: list[Clause] = []
            for operand in expression.operands:
                found.extend(clauses(operand))
            return found
        case Any() | Some():
            cheapest: list[Clause] = []
            for operand in expression.operands:
                needed = clauses(operand)
                if not needed:
                    return []
                cheapest.append(min(needed, key=len))
            return [frozenset().union(*cheapest)]
        case No() | Has() | Constant():
            return []
        case _:
            assert_never(expression)


def fields_of(expression: Expression) -> frozenset[str]:
    """The fields whose presence the expression asks for; those of its leaves are in the table."""
    match expression:
        case Has():
            return frozenset((expression.field,))
        case All() | Any() | Some():
            return frozenset().union(*map(fields_of, expression.operands))
        case No():
            return fields_of(expression.operand)
        case Leaf() | Sequence() | Constant():
            return frozenset()
        case _:
            assert_never(expression)
