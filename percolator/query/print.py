"""Tree -> text: `parse(to_text(node)) == node` for every tree that the parser can give."""

from __future__ import annotations

import re
from typing import assert_never

from percolator.query.tree import (
    And,
    AtLeast,
    Everything,
    Exact,
    Fielded,
    First,
    Fuzzy,
    Named,
    Near,
    Node,
    Not,
    NotNear,
    Or,
    Phrase,
    Present,
    Range,
    Regex,
    SomeOf,
    Together,
    Wildcard,
    Word,
)

# Precedence: an operand that binds less tightly than its place needs brackets.
_OR, _AND, _NOT, _NEAR, _PRIMARY = range(5)

_SPECIAL = re.compile(r"[\s()\"{}\\*?~,:]")
_LEADING = re.compile(r"[-/\[\]<>=]")
_BARE_BOUND = re.compile(r"[\w.:/+-]+")
_OPERATOR = re.compile(r"(?:AND|OR|NOT)\Z|O?NEAR(?:/|\Z)|(?:atleast|first)/")


def to_text(node: Node) -> str:
    """The query as text, with explicit operators and only the brackets that are needed."""
    return _print(node, _OR)


def _print(node: Node, place: int) -> str:
    match node:
        case Word():
            return _term(node.text)
        case Exact():
            return f"{{{node.text}}}"
        case Wildcard():
            return _outside_wildcards(node.pattern)
        case Regex():
            return "/" + node.pattern.replace("/", "\\/") + "/"
        case Fuzzy():
            return f"{_term(node.text)}~{node.distance}"
        case Phrase():
            return f'"{node.text}"' + (f"~{node.slop}" if node.slop else "")
        case Near():
            operator = "ONEAR" if node.ordered else "NEAR"
            return _infix(node, f"{operator}/{node.distance}", place)
        case NotNear():
            return _infix(node, f"NOT NEAR/{node.distance}", place)
        case And():
            inner = " AND ".join([_print(operand, _NOT) for operand in node.operands])
            return _bracketed(inner, place > _AND)
        case Or():
            inner = " OR ".join([_print(operand, _AND) for operand in node.operands])
            return _bracketed(inner, place > _OR)
        case Not():
            return _bracketed(f"NOT {_print(node.operand, _NOT)}", place > _NOT)
        case Fielded():
            match node.operand:
                case Word() | Exact() | Wildcard() | Regex() | Fuzzy() | Phrase():
                    return f"{node.name}:{_print(node.operand, _PRIMARY)}"
                case _:
                    return f"{node.name}:({_print(node.operand, _OR)})"
        case Range():
            return f"{node.name}:{_range(node)}"
        case Everything():
            return "*:*"
        case Present():
            return f"{node.name}:*"
        case SomeOf():
            return f"{node.count} of ({_branches(node.operands)})"
        case AtLeast():
            return f"atleast/{node.count} {_print(node.operand, _PRIMARY)}"
        case First():
            return f"first/{node.within} {_print(node.operand, _PRIMARY)}"
        case Together():
            return f"{node.unit}({_branches(node.operands)})"
        case Named():
            return f"{node.name} = ({_print(node.operand, _OR)})"
        case _:
            assert_never(node)


def _infix(node: Near | NotNear, operator: str, place: int) -> str:
    inner = f"{_print(node.left, _NEAR)} {operator} {_print(node.right, _PRIMARY)}"
    return _bracketed(inner, place > _NEAR)


def _branches(operands: tuple[Node, ...]) -> str:
    return ", ".join([_print(operand, _OR) for operand in operands])


def _bracketed(inner: str, needed: bool) -> str:
    return f"({inner})" if needed else inner


def _term(text: str) -> str:
    escaped = _SPECIAL.sub(lambda found: "\\" + found[0], text)
    if _LEADING.match(text) or _OPERATOR.match(text):
        return "\\" + escaped
    return escaped


def _outside_wildcards(pattern: str) -> str:
    """A wildcard's pattern, where `\\*`, `\\?` and `\\\\` are escaped already."""
    parts = re.split(r"(\\.|[*?])", pattern, flags=re.DOTALL)
    text = "".join(
        part if index % 2 else _SPECIAL.sub(lambda found: "\\" + found[0], part)
        for index, part in enumerate(parts)
    )
    return "\\" + text if _LEADING.match(pattern) or _OPERATOR.match(pattern) else text


def _range(node: Range) -> str:
    if node.low and node.high is None:
        return f"{'>=' if node.with_low else '>'}{_bound(node.low)}"
    if node.low is None and node.high:
        return f"{'<=' if node.with_high else '<'}{_bound(node.high)}"
    low, high = _bound(node.low), _bound(node.high)
    return f"{'[' if node.with_low else '{'}{low} TO {high}{']' if node.with_high else '}'}"


def _bound(text: str | None) -> str:
    if text is None:
        return "*"
    return text if _BARE_BOUND.fullmatch(text) else f'"{text}"'
