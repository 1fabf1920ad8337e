"""Tree -> code of highlights, which the kernel runs on a document to find why a query is true there.

Most queries are made of words and phrases: their code asks for leaves of the segment that holds the query,
and the lists by which words make leaves true are there already. A part that is no text is evaluated by
Python and given. A query that asks for distances (NEAR, slop, sentence ...) is percolator.highlight's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from percolator.analysed import leaf
from percolator.lookup import Lookup
from percolator.matching.kernel import highlights as kernel
from percolator.query import tree
from percolator.schema import Kind, Schema
from percolator.values import Terms, Test, field_values, range_test, value_test

MOST_KEPT = 1 << 16
"""So many terms' rows are kept at hand."""


@dataclass(frozen=True, slots=True)
class HighlightCode:
    """`cells` are the kernel's; `names` are those of the bits, `tests` give what the cells are given."""

    cells: tuple[int, ...]
    names: tuple[str, ...]
    tests: tuple[Test, ...]


class HighlightCoder:
    """Writes the codes of queries in the segment of `lookup`; `numbers` are the fields' at the matcher.

    Queries share words: the row of a term is kept for the next query that has it.
    """

    def __init__(self, schema: Schema, lookup: Lookup, numbers: Mapping[str, int]) -> None:
        self._schema = schema
        self._lookup = lookup
        self._numbers = numbers
        self._rows: dict[tuple[Terms, str], tuple[int, ...] | None] = {}

    def code(self, node: tree.Node) -> HighlightCode | None:
        """The code of a query of the segment; None where distances matter."""
        if len(self._rows) > MOST_KEPT:
            self._rows.clear()
        writer = _Writer(self._schema, self._row)
        try:
            writer.write(node, self._schema.default)
        except _NoCodeError:
            return None
        cells = (writer.deepest, *writer.cells, kernel.MARK_END)
        return HighlightCode(cells, tuple(writer.names), tuple(writer.tests))

    def _row(self, node: Terms, name: str) -> tuple[int, ...] | None:
        """The row of a term in a text field; None where there is none."""
        asked = node, name
        if asked not in self._rows:
            self._rows[asked] = self._row_of(node, name)
        return self._rows[asked]

    def _row_of(self, node: Terms, name: str) -> tuple[int, ...] | None:
        wanted = leaf(node, name, self._schema)
        if wanted.slop and len(wanted.parts) > 1:
            return None
        leaves: list[int] = []
        for part in wanted.parts:
            found = self._lookup.leaf(name, part)
            if found is None:  # the query does not hang on this part, which the segment has left out
                return None
            leaves.append(found)
        return _row(kernel.MARK_WORDS, self._numbers[name], int(wanted.ends_in_unit), *leaves)


def _row(kind: int, *arguments: int) -> tuple[int, ...]:
    return kind, 2 + len(arguments), *arguments


class _NoCodeError(Exception):
    """A part that the kernel's code cannot say."""


class _Writer:
    def __init__(self, schema: Schema, row: Callable[[Terms, str], tuple[int, ...] | None]) -> None:
        self._schema = schema
        self._row_of = row
        self._depth = 0
        self.deepest = 0
        self.cells: list[int] = []
        self.names: list[str] = []
        self.tests: list[Test] = []

    def write(self, node: tree.Node, names: Sequence[str]) -> None:
        """Adds the code of a node, which leaves one result; `names` are the fields that terms stand in."""
        match node:
            case tree.And():
                self._several(node.operands, len(node.operands), names)
            case tree.Or():
                self._several(node.operands, 1, names)
            case tree.SomeOf():
                self._several(node.operands, node.count, names)
            case tree.Not():
                self.write(node.operand, names)
                self._row(kernel.MARK_NOT, 0)
            case tree.Fielded():
                self.write(node.operand, (node.name,))
            case tree.Named():
                number = len(self.names)
                if number == kernel.MOST_NAMES:
                    raise _NoCodeError
                self.names.append(node.name)
                self.write(node.operand, names)
                self._row(kernel.MARK_NAME, number)
            case tree.Everything():
                self._enough(0, 0)
            case tree.Present():
                name = node.name
                self._given(lambda document: bool(field_values(document, name)))
            case tree.Range():
                self._given(range_test(node, self._schema.fields[node.name].kind))
            case tree.Word() | tree.Exact() | tree.Wildcard() | tree.Regex() | tree.Fuzzy() | tree.Phrase():
                for name in names:
                    self._term(node, name)
                if len(names) > 1:
                    self._enough(len(names), 1)
            case tree.Near() | tree.NotNear() | tree.AtLeast() | tree.First() | tree.Together():
                raise _NoCodeError
            case _:
                assert_never(node)

    def _several(self, operands: Sequence[tree.Node], count: int, names: Sequence[str]) -> None:
        for operand in operands:
            self.write(operand, names)
        self._enough(len(operands), count)

    def _term(self, node: Terms, name: str) -> None:
        kind = self._schema.fields[name].kind
        if kind is not Kind.TEXT:
            self._given(value_test(node, kind, name))
            return
        row = self._row_of(node, name)
        if row is None:
            raise _NoCodeError
        self._push()
        self.cells += row

    def _given(self, test: Test) -> None:
        self.tests.append(test)
        self._push()
        self._row(kernel.MARK_GIVEN, 0)

    def _enough(self, operands: int, count: int) -> None:
        """Takes the results of the operands for one: whether so many are true."""
        self._depth -= operands
        self._push()
        self._row(kernel.MARK_SOME, operands, count)

    def _push(self) -> None:
        self._depth += 1
        self.deepest = max(self.deepest, self._depth)

    def _row(self, kind: int, *arguments: int) -> None:
        self.cells += _row(kind, *arguments)
