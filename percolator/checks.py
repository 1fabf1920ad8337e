"""Tree + schema -> what is wrong with the query there; the last stage before anything runs.

The parser has seen to the text; here the fields count: unknown names, values that a field cannot have,
regular expressions, and what could never be true. Nothing silently matches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import assert_never

from percolator.patterns import regex
from percolator.query import tree
from percolator.query.errors import Code, QueryError
from percolator.query.parse import parse
from percolator.query.pieces import pieces
from percolator.schema import Kind, Schema
from percolator.values import range_of, value_of

ValueLeaf = tree.Word | tree.Exact | tree.Wildcard | tree.Regex | tree.Fuzzy | tree.Phrase


def parse_checked(text: str, schema: Schema) -> tree.Node:
    """The tree of a query over that schema.

    Raises QueryError where the text is no query, or the schema does not allow it.
    """
    node = parse(text)
    check(node, schema)
    return node


def check(node: tree.Node, schema: Schema, default: Sequence[str] | None = None) -> None:
    """Raises QueryError for the first thing, in the order of the text, that the schema does not allow.

    `default` are the default fields, the schema's where it is not given.
    """
    _check(node, schema, schema.default if default is None else default, None)


def _check(node: tree.Node, schema: Schema, default: Sequence[str], name: str | None) -> None:
    match node:
        case tree.Word() | tree.Exact() | tree.Wildcard() | tree.Regex() | tree.Fuzzy() | tree.Phrase():
            if name is None and not default:
                raise QueryError(Code.UNKNOWN_FIELD, "no default field: write field:term", node.span.start)
            if isinstance(node, tree.Regex):
                regex(node)
            kind = Kind.TEXT if name is None else schema.fields[name].kind
            if kind is not Kind.TEXT:
                assert name is not None
                _check_value(node, kind, name)
            elif isinstance(node, tree.Word | tree.Exact | tree.Phrase) and not pieces(node):
                raise QueryError(Code.NO_WORD, "no searchable word", node.span.start)
        case tree.And() | tree.Or() | tree.SomeOf():
            for operand in node.operands:
                _check(operand, schema, default, name)
        case tree.Not() | tree.Named():
            _check(node.operand, schema, default, name)
        case tree.Near() | tree.NotNear() | tree.AtLeast() | tree.First() | tree.Together():
            for operand in tree.children(node):
                _check(operand, schema, default, name)
            _check_places(node, schema, default, name)
        case tree.Fielded():
            _known(node.name, schema, node)
            _check(node.operand, schema, default, node.name)
        case tree.Range():
            range_of(node, _known(node.name, schema, node))
        case tree.Present():
            _known(node.name, schema, node)
        case tree.Everything():
            pass
        case _:
            assert_never(node)


def _known(name: str, schema: Schema, node: tree.Node) -> Kind:
    found = schema.fields.get(name)
    if found is None:
        near = get_close_matches(name, schema.fields, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise QueryError(Code.UNKNOWN_FIELD, f"there is no field {name}{hint}", node.span.start)
    return found.kind


def _check_value(node: ValueLeaf, kind: Kind, name: str) -> None:
    if kind is Kind.KEYWORD:
        if isinstance(node, tree.Phrase) and node.slop:
            message = f"{name} is a keyword, compared as a whole: it has no slop"
            raise QueryError(Code.BAD_OPERAND, message, node.span.start)
        return
    if isinstance(node, tree.Wildcard | tree.Regex | tree.Fuzzy):
        message = f"{name} is of type {kind}, which has values and ranges, no patterns"
        raise QueryError(Code.BAD_VALUE, message, node.span.start)
    value_of(node, kind, name)


def _check_places(node: tree.Node, schema: Schema, default: Sequence[str], name: str | None) -> None:
    fields = _fields(node, default, name)
    for one in sorted(fields):
        if schema.fields[one].kind is not Kind.TEXT:
            message = f"{one} is of type {schema.fields[one].kind}; only words of texts have places"
            raise QueryError(Code.BAD_OPERAND, message, node.span.start)
    if not fields:
        message = "its operands are looked for in different fields, and no place crosses fields"
        raise QueryError(Code.BAD_OPERAND, message, node.span.start)


def _fields(node: tree.Node, default: Sequence[str], name: str | None) -> frozenset[str]:
    """The fields in which the node can have places."""
    match node:
        case tree.Fielded():
            return _fields(node.operand, default, node.name)
        case tree.Or():
            return frozenset().union(*(_fields(operand, default, name) for operand in node.operands))
        case tree.Near() | tree.Together():
            found = [_fields(operand, default, name) for operand in tree.children(node)]
            return frozenset.intersection(*found)
        case tree.NotNear() | tree.AtLeast() | tree.First():
            return _fields(tree.children(node)[0], default, name)
        case _:
            return frozenset(default) if name is None else frozenset((name,))
