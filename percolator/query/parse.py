"""Text -> tree, in one pass, without recursion.

    or     = and ("OR" and)*
    and    = not (["AND"] not)*                  side by side means AND
    not    = ("NOT" | "-") not | near
    near   = tight (("NEAR" | "ONEAR" | "NOT NEAR") "/" n tight)*      from the left
    tight  = ("atleast" | "first") "/" n tight | primary
    primary = leaf | "(" or ")" | field ":" (leaf | "(" or ")") | name "=" "(" or ")" | "*:*"
            | n "of" "(" or ("," or)* ")" | ("sentence" | "paragraph") "(" or ("," or)* ")"

Operators are capitals, standing alone. An open bracket is a `_Frame` on a stack; a frame holds what was
read of its expression, one field per level of precedence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from percolator.query import leaves
from percolator.query.errors import Code, QueryError
from percolator.query.pieces import pieces
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
    Regex,
    SomeOf,
    Span,
    Together,
    Wildcard,
    Word,
)

MAX_LENGTH = 1_000_000
"""Longest query, in code points."""
MAX_BRACKETS = 500
"""Brackets that may be open at one time."""
MAX_HEIGHT = 200
"""Height of the tree, so that passes over it may recurse."""
MAX_NODES = 100_000

_SPACE = re.compile(r"\s*")
_SIMPLE = re.compile(r"\w+(?=[\s()\"{}]|\Z)")
_OPERATOR = re.compile(r"(AND|OR|NOT)(?=[\s()\"{},]|\Z)")
_NEAR = re.compile(r"(NOT\s+)?(O?)NEAR(?:/([^\s()\"{},]*)|(?=[\s()\"{},]|\Z))")
_COUNTED = re.compile(r"(atleast|first)/([^\s()\"{},]*)")
_NAMED = re.compile(r"([^\W\d]\w*)\s*=\s*\(")
_SOME_OF = re.compile(r"(\d+)\s+(?:of|OF)\s*\(")
_TOGETHER = re.compile(r"(sentence|paragraph)\(")
_FIELD = re.compile(r"([^\W\d][\w.-]*):")

FrameKind = Literal["query", "group", "field", "named", "some", "sentence", "paragraph"]


@dataclass(slots=True)
class _Frame:
    """An expression being read: the whole query, or what an open bracket holds.

    `left` is the operand that NEAR would take next. `wanted` is set where an operator still needs its
    right operand. Heights are those of the trees beside them.
    """

    kind: FrameKind
    start: int
    name: str = ""
    count: int = 0
    in_field: bool = False
    branches: list[Node] = field(default_factory=list)
    ors: list[Node] = field(default_factory=list)
    ands: list[Node] = field(default_factory=list)
    nots: list[int] = field(default_factory=list)
    tight: list[tuple[str, int, int]] = field(default_factory=list)
    near: tuple[str, int, int] | None = None
    left: Node | None = None
    wanted: bool = False
    left_height: int = 0
    height: int = 0

    @property
    def is_list(self) -> bool:
        return self.kind in ("some", "sentence", "paragraph")


def parse(text: str) -> Node:
    """The tree of a query.

    Raises QueryError with the position of the first thing that is wrong: nothing is left out silently.
    """
    if len(text) > MAX_LENGTH:
        raise QueryError(Code.TOO_LARGE, f"a query may have {MAX_LENGTH} characters, not {len(text)}")
    if not text.strip():
        raise QueryError(Code.EMPTY, "empty query")
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.frames: list[_Frame] = []
        self.frame = _Frame("query", 0)
        self.nodes = 0

    def parse(self) -> Node:
        text, length = self.text, len(self.text)
        at = 0
        while True:
            space = _SPACE.match(text, at)
            at = space.end() if space is not None else at
            if at == length:
                break
            at = self._read(at)
        if self.frames:
            raise QueryError(Code.UNCLOSED, "unclosed bracket (", self.frame.start)
        node, _ = self._close_expression(length)
        return node

    def _read(self, at: int) -> int:
        """Takes in what stands at an offset where no space does; the offset behind it."""
        text = self.text
        sign = text[at]
        if sign in "ANO":
            if (near := _NEAR.match(text, at)) is not None:
                return self._near(at, near)
            if (operator := _OPERATOR.match(text, at)) is not None:
                if operator[1] == "NOT":
                    self._not(at)
                else:
                    self._binary(operator[1], at)
                return operator.end()
        simple = _SIMPLE.match(text, at)
        if simple is not None:
            if (opened := self._prefixed_bracket(at)) is not None:
                return opened
            self._operand(Word(simple[0], Span(at, simple.end())), 1)
            return simple.end()
        if sign == "(":
            return self._open("group", at, at + 1)
        if sign == ")":
            self._close(at)
            return at + 1
        if sign == "," and self.frame.is_list:
            self._branch(at)
            return at + 1
        if sign == "-" and at + 1 < len(text) and not text[at + 1].isspace():
            self._not(at)
            return at + 1
        if sign == "*" and text.startswith("*:*", at):
            self._operand(Everything(Span(at, at + 3)), 1)
            return at + 3
        if (opened := self._prefixed_bracket(at)) is not None:
            return opened
        if (counted := _COUNTED.match(text, at)) is not None:
            return self._counted(at, counted)
        if (named := _FIELD.match(text, at)) is not None:
            return self._field(at, named)
        return self._leaf(at)

    def _prefixed_bracket(self, at: int) -> int | None:
        """Opens `name = (`, `2 of (`, `sentence(`; None where none of them stands."""
        text = self.text
        if (some := _SOME_OF.match(text, at)) is not None:
            count = leaves.number(some[1], "the number of branches", at, least=1)
            return self._open("some", at, some.end(), count=count)
        if (named := _NAMED.match(text, at)) is not None:
            return self._open("named", at, named.end(), name=named[1])
        if (together := _TOGETHER.match(text, at)) is not None:
            kind: FrameKind = "sentence" if together[1] == "sentence" else "paragraph"
            return self._open(kind, at, together.end())
        return None

    # Leaves

    def _leaf(self, at: int) -> int:
        sign = self.text[at]
        if sign == "[":
            raise QueryError(Code.MISPLACED, "a range needs a field, as in price:[10 TO 20]", at)
        if sign in "]}":
            raise QueryError(Code.UNOPENED, f"closing bracket {sign} without its opening one", at)
        node, end = self._any_leaf(at, self.frame.in_field)
        self._operand(node, 1)
        return end

    def _any_leaf(self, at: int, in_field: bool) -> tuple[Node, int]:
        text, sign = self.text, self.text[at]
        node: Word | Exact | Wildcard | Phrase | Fuzzy | Regex
        match sign:
            case '"':
                node, end = leaves.quoted(text, at)
            case "{":
                node, end = leaves.exact(text, at)
            case "/":
                node, end = leaves.regex(text, at)
            case _:
                node, end = leaves.term(text, at, self.frame.is_list)
        # In a field the text may be a keyword, which need not have words: the schema decides.
        if not in_field and isinstance(node, Word | Phrase) and not pieces(node):
            whole = text.strip() == text[at:end]
            message = f"no searchable word in {text[at:end]}"
            raise QueryError(Code.NO_WORD, message, None if whole else at)
        return node, end

    def _field(self, at: int, named: re.Match[str]) -> int:
        text, name, start = self.text, named[1], named.end()
        if start == len(text) or text[start].isspace() or text[start] in "),":
            raise QueryError(Code.MISSING_OPERAND, f"nothing to look for after {name}:", start)
        if text[start] == "(":
            return self._open("field", at, start + 1, name=name)
        if text[start] == "-" and not text[start + 1 : start + 2].isdigit():
            raise QueryError(Code.MISPLACED, f"write -{name}:x for the opposite of {name}:x", start)
        if (found := leaves.value(text, start, name)) is not None:
            node, end = found
            self._operand(node, 1)
            return end
        if text[start] in "]}":
            raise QueryError(Code.UNOPENED, f"closing bracket {text[start]} without its opening one", start)
        inner, end = self._any_leaf(start, True)
        self._operand(Fielded(name, inner, Span(at, end)), 2)
        return end

    # Operators

    def _binary(self, word: str, at: int) -> None:
        self._need_left(at, word)
        self._finish_not()
        if word == "OR":
            self._finish_and()
        self.frame.wanted = True

    def _not(self, at: int) -> None:
        frame = self.frame
        if frame.near is not None or frame.tight:
            raise QueryError(Code.BAD_OPERAND, "NOT cannot stand inside NEAR, atleast or first", at)
        if frame.left is not None:
            self._finish_not()
        frame.nots.append(at)
        if len(frame.nots) > MAX_HEIGHT:
            raise QueryError(Code.TOO_DEEP, f"more than {MAX_HEIGHT} levels", at)
        frame.wanted = True

    def _near(self, at: int, found: re.Match[str]) -> int:
        operator = "NOT NEAR" if found[1] else f"{found[2]}NEAR"
        if found[1] and found[2]:
            raise QueryError(Code.MISPLACED, "NOT ONEAR does not exist; write a NOT NEAR/5 b", at)
        self._need_left(at, operator)
        if found[3] is None:
            raise QueryError(Code.BAD_NUMBER, f"{operator} needs a distance, as in NEAR/5", at)
        distance = leaves.number(found[3], f"the distance of {operator}", found.start(3))
        frame = self.frame
        assert frame.left is not None
        _check_positional(frame.left, operator)
        frame.near = (operator, distance, at)
        frame.wanted = True
        return found.end()

    def _counted(self, at: int, found: re.Match[str]) -> int:
        frame, word = self.frame, found[1]
        if frame.near is not None:
            raise QueryError(Code.BAD_OPERAND, f"{word} cannot stand inside NEAR", at)
        if frame.left is not None:
            self._finish_not()
        frame.tight.append((word, leaves.number(found[2], f"the number of {word}", found.start(2), 1), at))
        if len(frame.tight) > 1:
            raise QueryError(Code.BAD_OPERAND, f"{frame.tight[0][0]} cannot hold {word}", at)
        frame.wanted = True
        return found.end()

    def _need_left(self, at: int, operator: str) -> None:
        if self.frame.left is None or self.frame.wanted:
            raise QueryError(Code.MISSING_OPERAND, f"operand missing before {operator}", at)

    # Brackets

    def _open(self, kind: FrameKind, at: int, end: int, name: str = "", count: int = 0) -> int:
        if len(self.frames) >= MAX_BRACKETS:
            raise QueryError(Code.TOO_DEEP, f"more than {MAX_BRACKETS} open brackets", at)
        self.frames.append(self.frame)
        self.frame = _Frame(kind, at, name, count, in_field=kind == "field" or self.frame.in_field)
        return end

    def _branch(self, at: int) -> None:
        """Ends a branch of a list at its comma."""
        frame = self.frame
        node, height = self._close_expression(at)
        frame.branches.append(node)
        frame.height = max(frame.height, height)
        frame.wanted = True

    def _close(self, at: int) -> None:
        if not self.frames:
            raise QueryError(Code.UNOPENED, "closing bracket ) without its opening one", at)
        frame = self.frame
        inner, height = self._close_expression(at)
        height = max(height, frame.height)
        self.frame = self.frames.pop()
        span = Span(frame.start, at + 1)
        node: Node
        match frame.kind:
            case "field":
                node = Fielded(frame.name, inner, span)
            case "named":
                node = Named(frame.name, inner, span)
            case "some":
                branches = (*frame.branches, inner)
                if frame.count > len(branches):
                    message = f"{frame.count} of {len(branches)} branches can never be true"
                    raise QueryError(Code.BAD_NUMBER, message, frame.start)
                node = SomeOf(frame.count, branches, span)
            case "sentence" | "paragraph":
                branches = (*frame.branches, inner)
                for branch in branches:
                    _check_positional(branch, frame.kind)
                node = Together(frame.kind, branches, span)
            case _:
                self._operand(inner, height)
                return
        self._operand(node, height + 1)

    # Putting operands together, from the tightest level to the loosest

    def _operand(self, node: Node, height: int) -> None:
        frame = self.frame
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise QueryError(Code.TOO_LARGE, f"a query may have {MAX_NODES} terms", node.span.start)
        if frame.tight:
            word, count, at = frame.tight.pop()
            _check_positional(node, word)
            span = Span(at, node.span.end)
            node = AtLeast(count, node, span) if word == "atleast" else First(count, node, span)
            height += 1
        if frame.near is not None:
            operator, distance, _ = frame.near
            left = frame.left
            assert left is not None
            _check_positional(node, operator)
            span = Span(left.span.start, node.span.end)
            if operator == "NOT NEAR":
                node = NotNear(left, node, distance, span)
            else:
                node = Near(left, node, distance, operator == "ONEAR", span)
            height = max(height, frame.left_height) + 1
            frame.near = None
        elif frame.left is not None:
            self._finish_not()
        frame.left, frame.left_height, frame.wanted = node, height, False
        self._check_height(height, node.span.start)

    def _finish_not(self) -> None:
        frame = self.frame
        node, height = frame.left, frame.left_height
        assert node is not None
        while frame.nots:
            node = Not(node, Span(frame.nots.pop(), node.span.end))
            height += 1
        frame.ands.append(node)
        frame.height = max(frame.height, height)
        frame.left = None

    def _finish_and(self) -> None:
        ands = self.frame.ands
        node = ands[0]
        if len(ands) > 1:
            node = And(tuple(ands), Span(node.span.start, ands[-1].span.end))
        self.frame.ors.append(node)
        ands.clear()

    def _close_expression(self, at: int) -> tuple[Node, int]:
        """The expression that ends at an offset, and the height of its tree."""
        frame = self.frame
        if frame.wanted or frame.left is None:
            raise QueryError(Code.MISSING_OPERAND, "operand missing", at)
        self._finish_not()
        deepest = frame.height
        levels = (len(frame.ands) > 1) + bool(frame.ors)
        self._finish_and()
        ors = frame.ors
        node = ors[0]
        if len(ors) > 1:
            # An operand of this OR may be an AND, one level more.
            levels = 1 + any(isinstance(operand, And) for operand in ors)
            node = Or(tuple(ors), Span(node.span.start, ors[-1].span.end))
        frame.ors = []
        self._check_height(deepest + levels, at)
        return node, deepest + levels

    def _check_height(self, height: int, at: int) -> None:
        if height > MAX_HEIGHT:
            raise QueryError(Code.TOO_DEEP, f"more than {MAX_HEIGHT} levels", at)


def _check_positional(node: Node, operator: str) -> None:
    """Raises unless the node has places in the text: words, phrases, ORs and NEARs of them."""
    waiting = [node]
    while waiting:
        match current := waiting.pop():
            case Word() | Exact() | Wildcard() | Regex() | Fuzzy() | Phrase():
                pass
            case Or():
                waiting.extend(current.operands)
            case Near():
                pass  # its operands were looked at when it was built
            case Fielded():
                waiting.append(current.operand)
            case _:
                message = f"{operator} takes words, phrases, ORs and NEARs of them"
                raise QueryError(Code.BAD_OPERAND, message, current.span.start)
