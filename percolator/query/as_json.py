"""Tree <-> plain JSON data, with a version: for those who build queries by program, or keep them parsed.

    {"version": 1, "query": {"kind": "and", "operands": [{"kind": "word", "text": "apple"}, ...]}}

A node is its `kind` (the node's name in lower case, words parted by `_`), the node's attributes under their
names, and `span` where it came from a text. What is left out has the node's default.

TreeFormatError    data that is no tree; its text begins with the path to the place
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, get_args

from percolator.query.assembly import MAX_HEIGHT
from percolator.query.errors import QueryError
from percolator.query.parse import parse
from percolator.query.print import to_text
from percolator.query.tree import NOWHERE, Node, Span

VERSION = 1


class TreeFormatError(ValueError):
    """Its text is one sentence, as in `query.operands[1].text: a string is needed`."""


_KINDS: Mapping[str, type[Any]] = {
    re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower(): kind for kind in get_args(Node)
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def to_json(node: Node) -> dict[str, Any]:
    """The tree as dicts, lists, strings, numbers and booleans."""
    return {"version": VERSION, "query": _written(node)}


def from_json(data: object) -> Node:
    """The tree that `to_json` wrote, or one that the query language has. Raises TreeFormatError."""
    if not isinstance(data, Mapping) or data.get("version") != VERSION:
        raise TreeFormatError(f"version: {VERSION} is needed")
    if unknown := data.keys() - {"version", "query"}:
        raise TreeFormatError(f"{min(map(str, unknown))}: not known")
    node = _node(data.get("query"), "query", 1)
    # A tree that no text has (an AND inside NEAR, a word without letters) could not be answered.
    try:
        text = to_text(node)
        same = parse(text) == node
    except QueryError as problem:
        raise TreeFormatError(f"query: {problem.message}") from problem
    if not same:
        raise TreeFormatError(f"query: no query has this tree; the nearest is {text}")
    return node


def _written(node: Node) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": _NAMES[type(node)]}
    for field in fields(node):
        value = getattr(node, field.name)
        if field.name == "span":
            if value != NOWHERE:
                found["span"] = list(value)
        elif field.name in ("operand", "left", "right"):
            found[field.name] = _written(value)
        elif field.name == "operands":
            found[field.name] = [_written(operand) for operand in value]
        else:
            found[field.name] = value
    return found


def _node(data: object, path: str, height: int) -> Node:
    if height > MAX_HEIGHT:
        raise TreeFormatError(f"{path[:60]}...: more than {MAX_HEIGHT} levels")
    if not isinstance(data, Mapping):
        raise TreeFormatError(f"{path}: an object is needed")
    kind = _KINDS.get(str(data.get("kind")))
    if kind is None:
        raise TreeFormatError(f"{path}.kind: one of {', '.join(_KINDS)} is needed")
    declared = {field.name: field for field in fields(kind)}
    if unknown := data.keys() - declared.keys() - {"kind"}:
        raise TreeFormatError(f"{path}.{min(map(str, unknown))}: a {data['kind']} has no such part")
    values: dict[str, Any] = {}
    for name, field in declared.items():
        if name in data:
            values[name] = _value(data[name], name, str(field.type), f"{path}.{name}", height)
        elif field.default is MISSING:
            raise TreeFormatError(f"{path}.{name}: missing")
    node: Node = kind(**values)
    return node


def _value(data: object, name: str, declared: str, path: str, height: int) -> object:
    if name in ("operand", "left", "right"):
        return _node(data, path, height + 1)
    if name == "operands":
        if not isinstance(data, list) or not data:
            raise TreeFormatError(f"{path}: a list of nodes is needed")
        return tuple([_node(one, f"{path}[{at}]", height + 1) for at, one in enumerate(data)])
    if name == "span":
        if isinstance(data, list) and len(data) == 2 and all(type(edge) is int for edge in data):
            return Span(*data)
        raise TreeFormatError(f"{path}: two offsets are needed")
    needed = {"int": int, "bool": bool}.get(declared, str)
    if type(data) is not needed and not (data is None and "None" in declared):
        shown = {int: "a whole number", bool: "true or false", str: "a string"}[needed]
        raise TreeFormatError(f"{path}: {shown} is needed")
    return data
