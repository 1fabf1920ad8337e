"""Putting operands together by precedence: NEAR binds tightest, then NOT, AND, OR. No recursion.

The parser calls `operand`, `binary`, `near`, `open`, `close` in the order of the text; `finish` gives the
tree. An open bracket is a `Frame` on a stack, which holds what was read of its expression, one attribute
per level of precedence. Every dialect has its own reader and shares this.
"""

from __future__ import annotations

from typing import Literal

from percolator.query.errors import Code, QueryError
from percolator.query.tree import (
    And,
    AtLeast,
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

FrameKind = Literal["query", "group", "field", "named", "some", "sentence", "paragraph"]
NearKind = Literal["NEAR", "ONEAR", "NOT NEAR", "same"]
"""`same` is Factiva's: both in one paragraph."""


class Frame:
    """An expression being read: the whole query, or what an open bracket holds.

    `left` is the operand that NEAR would take next. `wanted` is set where an operator still needs its
    right operand. Heights are those of the trees beside them.
    """

    __slots__ = (
        "ands",
        "branches",
        "count",
        "height",
        "in_field",
        "kind",
        "left",
        "left_height",
        "name",
        "near",
        "nots",
        "ors",
        "start",
        "tight",
        "wanted",
    )

    def __init__(self, kind: FrameKind, start: int, name: str, count: int, in_field: bool) -> None:
        self.kind = kind
        self.start = start
        self.name = name
        self.count = count
        self.in_field = in_field
        self.branches: list[Node] = []
        self.ors: list[Node] = []
        self.ands: list[Node] = []
        self.nots: list[int] = []
        self.tight: tuple[str, int, int] | None = None
        self.near: tuple[NearKind, int] | None = None
        self.left: Node | None = None
        self.wanted = False
        self.left_height = 0
        self.height = 0

    @property
    def is_list(self) -> bool:
        """True if commas part branches here."""
        return self.kind in ("some", "sentence", "paragraph")


class Assembly:
    """The tree of one query while it is read; `frame` is the innermost open bracket."""

    __slots__ = ("frame", "frames", "nodes")

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.frame = Frame("query", 0, "", 0, False)
        self.nodes = 0

    def operand(self, node: Node, height: int) -> None:
        """A leaf or a whole bracket; side by side with an operand it means AND."""
        frame = self.frame
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise QueryError(Code.TOO_LARGE, f"a query may have {MAX_NODES} terms", node.span.start)
        if frame.near is not None or frame.tight is not None:
            node, height = self._applied(node, height)
        elif frame.left is not None:
            self._finish_not()
        frame.left, frame.left_height, frame.wanted = node, height, False
        if height > MAX_HEIGHT:
            _too_deep(node.span.start)

    def _applied(self, node: Node, height: int) -> tuple[Node, int]:
        """The operators that wait for their right operand, with it."""
        frame = self.frame
        if frame.tight is not None:
            word, count, at = frame.tight
            check_positional(node, word)
            span = Span(at, node.span.end)
            node = AtLeast(count, node, span) if word == "atleast" else First(count, node, span)
            height += 1
            frame.tight = None
        if frame.near is not None:
            operator, distance = frame.near
            left = frame.left
            assert left is not None
            check_positional(node, operator)
            span = Span(left.span.start, node.span.end)
            if operator == "NOT NEAR":
                node = NotNear(left, node, distance, span)
            elif operator == "same":
                others = left.operands if isinstance(left, Together) else (left,)
                node = Together("paragraph", (*others, node), span)
            else:
                node = Near(left, node, distance, operator == "ONEAR", span)
            height = max(height, frame.left_height) + 1
            frame.near = None
        return node, height

    # Operators

    def binary(self, word: str, at: int) -> None:
        """AND or OR."""
        self.need_left(at, word)
        self._finish_not()
        if word == "OR":
            self._finish_and()
        self.frame.wanted = True

    def negation(self, at: int) -> None:
        """NOT, before its operand."""
        frame = self.frame
        if frame.near is not None or frame.tight is not None:
            raise QueryError(Code.BAD_OPERAND, "NOT cannot stand inside NEAR, atleast or first", at)
        if frame.left is not None:
            self._finish_not()
        frame.nots.append(at)
        if len(frame.nots) > MAX_HEIGHT:
            _too_deep(at)
        frame.wanted = True

    def near(self, operator: NearKind, distance: int) -> None:
        """NEAR and its kin, between their operands; `need_left` was asked."""
        frame = self.frame
        assert frame.left is not None
        if not (operator == "same" and isinstance(frame.left, Together)):
            check_positional(frame.left, operator)
        frame.near = (operator, distance)
        frame.wanted = True

    def counted(self, word: Literal["atleast", "first"], count: int, at: int) -> None:
        """`atleast/3`, `first/50`, before the operand."""
        frame = self.frame
        if frame.near is not None:
            raise QueryError(Code.BAD_OPERAND, f"{word} cannot stand inside NEAR", at)
        if frame.tight is not None:
            raise QueryError(Code.BAD_OPERAND, f"{frame.tight[0]} cannot hold {word}", at)
        if frame.left is not None:
            self._finish_not()
        frame.tight = (word, count, at)
        frame.wanted = True

    def need_left(self, at: int, operator: str) -> None:
        """Raises where an infix operator has no left operand."""
        if self.frame.left is None or self.frame.wanted:
            raise QueryError(Code.MISSING_OPERAND, f"operand missing before {operator}", at)

    # Brackets

    def open(self, kind: FrameKind, at: int, name: str = "", count: int = 0) -> None:
        """An opening bracket, with what stands before it."""
        if len(self.frames) >= MAX_BRACKETS:
            raise QueryError(Code.TOO_DEEP, f"more than {MAX_BRACKETS} open brackets", at)
        frame = self.frame
        self.frames.append(frame)
        self.frame = Frame(kind, at, name, count, kind == "field" or frame.in_field)

    def branch(self, at: int) -> None:
        """Ends a branch of a list at its comma."""
        frame = self.frame
        node, height = self._close_expression(at)
        frame.branches.append(node)
        frame.height = max(frame.height, height)
        frame.wanted = True

    def close(self, at: int) -> None:
        """A closing bracket."""
        if not self.frames:
            raise QueryError(Code.UNOPENED, "closing bracket ) without its opening one", at)
        frame = self.frame
        inner, height = self._close_expression(at)
        height = max(height, frame.height)
        self.frame = self.frames.pop()
        if frame.kind == "group":
            self.operand(inner, height)
            return
        self.operand(_bracket(frame, inner, Span(frame.start, at + 1)), height + 1)

    def finish(self, length: int) -> Node:
        """The tree, at the end of the text."""
        if self.frames:
            raise QueryError(Code.UNCLOSED, "unclosed bracket (", self.frame.start)
        node, _ = self._close_expression(length)
        return node

    # From the tightest level to the loosest

    def _finish_not(self) -> None:
        frame = self.frame
        node = frame.left
        assert node is not None
        height = frame.left_height
        if frame.nots:
            height += len(frame.nots)
            while frame.nots:
                node = Not(node, Span(frame.nots.pop(), node.span.end))
        frame.ands.append(node)
        if height > frame.height:
            frame.height = height
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
        levels = frame.height + (len(frame.ands) > 1 or bool(frame.ors))
        self._finish_and()
        ors = frame.ors
        node = ors[0]
        if len(ors) > 1:
            # An operand of this OR may be an AND, one level more.
            levels = frame.height + 1 + any(isinstance(operand, And) for operand in ors)
            node = Or(tuple(ors), Span(node.span.start, ors[-1].span.end))
        frame.ors = []
        if levels > MAX_HEIGHT:
            _too_deep(at)
        return node, levels


def _bracket(frame: Frame, inner: Node, span: Span) -> Node:
    match frame.kind:
        case "field":
            return Fielded(frame.name, inner, span)
        case "named":
            return Named(frame.name, inner, span)
        case "sentence" | "paragraph":
            branches = (*frame.branches, inner)
            for branch in branches:
                check_positional(branch, frame.kind)
            return Together(frame.kind, branches, span)
        case _:
            branches = (*frame.branches, inner)
            if frame.count > len(branches):
                message = f"{frame.count} of {len(branches)} branches can never be true"
                raise QueryError(Code.BAD_NUMBER, message, frame.start)
            return SomeOf(frame.count, branches, span)


def check_positional(node: Node, operator: str) -> None:
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


def _too_deep(at: int) -> None:
    raise QueryError(Code.TOO_DEEP, f"more than {MAX_HEIGHT} levels", at)
