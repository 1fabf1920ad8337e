"""Expressions, second half: the tree that a flat run of operands and operators stands for.

Precedence climbing (Richards and Whitby-Strevens, BCPL, 1979), from loose to tight:
`? :`, `or`, `and`, `not`, comparisons, `+ -`, `* / %`, unary minus.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, cast

from rules.grammar.errors import Refusal
from rules.grammar.lexical import (
    NAME,
    BlockText,
    read_dotted,
    read_duration,
    read_name,
    read_number,
    read_string,
)
from rules.instants import LEAST
from rules.source import Span
from rules.syntax import (
    Between,
    Binary,
    BinaryOperator,
    Bracketed,
    Call,
    Chain,
    Conditional,
    Constant,
    Expression,
    Lookup,
    Name,
    NullTest,
    Predicate,
    Unary,
)

NESTING = 64
"""Greatest height of an expression's tree: later passes recurse over it."""

_CONSTANTS = {"true": True, "false": False, "null": None}
_COMPARING = frozenset({"compare", "search", "test", "between", "null", "matches"})
_NAME = re.compile(NAME)


class Piece(NamedTuple):
    """A token of the run: its kind (a group of the expressions above), its text, its offsets."""

    kind: str
    text: str
    start: int
    end: int


Tall = tuple[Expression, int]
"""A node and the height of its tree."""


_LITERALS = frozenset(["number", "string", "duration", "constant"])
_ENDS = frozenset(["comma", "close", "shut"])


def tree(text: BlockText, pieces: list[Piece]) -> Expression:
    """The expression that the pieces of a run form. Raises Refusal."""
    reader = _Reader(text, pieces)
    node, _ = reader.conditional(0)
    return node


class _Reader:
    """A place in the run; every method reads one level of precedence from there."""

    def __init__(self, text: BlockText, pieces: list[Piece]) -> None:
        self._text = text
        self._pieces = pieces
        self._at = 0

    def conditional(self, depth: int) -> Tall:
        """`test ? yes : no`, and all that binds tighter."""
        test, height = self._chain("or", depth)
        question = self._take("then")
        if question is None:
            return test, height
        yes, high = self.conditional(self._deeper(depth, question))
        if self._take("else") is None:
            raise self._refusal(
                question, "CEP0101", "`?` without its `:`", help_="write `condition ? value : other`"
            )
        no, higher = self.conditional(depth + 1)
        return self._tall(Conditional(test, yes, no, test.span.to(no.span)), height, high, higher)

    def _chain(self, word: Literal["and", "or"], depth: int) -> Tall:
        operands, heights = [], []
        while True:
            node, height = self._chain("and", depth) if word == "or" else self._negation(depth)
            operands.append(node)
            heights.append(height)
            if self._take(word) is None:
                break
        if len(operands) == 1:
            return operands[0], heights[0]
        return self._tall(Chain(word, tuple(operands), operands[0].span.to(operands[-1].span)), *heights)

    def _negation(self, depth: int) -> Tall:
        sign = self._take("not")
        if sign is None:
            return self._comparison(depth)
        operand, height = self._negation(self._deeper(depth, sign))
        return self._tall(Unary("not", operand, self._span(sign).to(operand.span)), height)

    def _comparison(self, depth: int) -> Tall:
        left, height = self._sum(depth)
        sign = self._peek()
        if sign is None or sign.kind not in _COMPARING:
            return left, height
        self._at += 1
        compared = self._compared(sign, left, height, depth)
        following = self._peek()
        if following is not None and following.kind in _COMPARING:
            help_ = "join two comparisons with `and`"
            raise self._refusal(following, "CEP0110", "comparisons do not chain", help_)
        return compared

    def _compared(self, sign: Piece, left: Expression, height: int, depth: int) -> Tall:
        negated = sign.text.startswith("not")
        match sign.kind:
            case "null":
                span = left.span.to(self._span(sign))
                return self._tall(NullTest(left, "not" in sign.text, span), height)
            case "between":
                low, low_height = self._sum(depth)
                if self._take("and") is None:
                    message = "`between` needs `and` and its upper end"
                    raise self._refusal(sign, "CEP0101", message, "write `between low and high`")
                high, high_height = self._sum(depth)
                between = Between(left, low, high, negated, left.span.to(high.span))
                return self._tall(between, height, low_height, high_height)
            case "compare":
                right, right_height = self._sum(depth)
                operator = cast(BinaryOperator, sign.text)
                binary = Binary(operator, left, right, self._span(sign), left.span.to(right.span))
                return self._tall(binary, height, right_height)
            case _:
                right, right_height = self._sum(depth)
                word = cast(Literal["in", "like", "=~", "matches"], sign.text.split()[-1])
                predicate = Predicate(word, left, right, negated, left.span.to(right.span))
                return self._tall(predicate, height, right_height)

    def _sum(self, depth: int) -> Tall:
        return self._arithmetic("add", depth)

    def _arithmetic(self, level: Literal["add", "multiply"], depth: int) -> Tall:
        def operand() -> Tall:
            return self._arithmetic("multiply", depth) if level == "add" else self._signed(depth)

        left, height = operand()
        while sign := self._take(level):
            right, right_height = operand()
            operator = cast(BinaryOperator, sign.text)
            binary = Binary(operator, left, right, self._span(sign), left.span.to(right.span))
            left, height = self._tall(binary, height, right_height)
        return left, height

    def _signed(self, depth: int) -> Tall:
        sign = self._take("minus")
        if sign is None:
            return self._primary(depth)
        below = self._deeper(depth, sign)
        number = self._take("number")
        # The least long has no positive one: its digits fit only behind their minus.
        operand, height = (
            (read_number(self._text, number.start, number.text, -LEAST), 1) if number else self._signed(below)
        )
        return self._tall(Unary("-", operand, self._span(sign).to(operand.span)), height)

    def _primary(self, depth: int) -> Tall:
        piece = self._pieces[self._at]
        self._at += 1
        match piece.kind:
            case "number":
                return read_number(self._text, piece.start, piece.text), 1
            case "string":
                return read_string(self._text, piece.start, piece.text), 1
            case "duration":
                return read_duration(self._text, piece.start, piece.text), 1
            case "constant":
                return Constant(_CONSTANTS[piece.text], self._span(piece)), 1
            case "name":
                return read_dotted(self._text, piece.start, piece.text), 1
            case "not":
                help_ = "put the `not` and what follows it in parentheses"
                raise self._refusal(piece, "CEP0101", "`not` binds looser than this operator", help_)
            case _:
                return self._bracket(piece, depth)

    def _bracket(self, opened: Piece, depth: int) -> Tall:
        inner = self._deeper(depth, opened)
        items: list[Expression] = []
        heights = [0]
        closing = "shut" if opened.kind == "lookup" else "close"
        while (end := self._take(closing)) is None:
            alone = self._pieces[self._at].kind in _LITERALS and self._pieces[self._at + 1].kind in _ENDS
            node, height = self._primary(inner) if alone else self.conditional(inner)
            items.append(node)
            heights.append(height)
            self._take("comma")
        span = self._text.span(opened.start, end.end)
        if opened.kind == "open":
            return self._tall(Bracketed(tuple(items), span), *heights)
        name = read_name(self._text, opened.start, opened.text)
        if opened.kind == "call":
            return self._tall(Call(name, tuple(items), span), *heights)
        return self._tall(Lookup(name, items[0], self._path(end), span), *heights)

    def _path(self, end: Piece) -> tuple[Name, ...]:
        names = _NAME.finditer(end.text)
        return tuple(read_name(self._text, end.start + m.start(), m.group()) for m in names)

    def _peek(self) -> Piece | None:
        return self._pieces[self._at] if self._at < len(self._pieces) else None

    def _take(self, kind: str) -> Piece | None:
        piece = self._peek()
        if piece is None or piece.kind != kind:
            return None
        self._at += 1
        return piece

    def _deeper(self, depth: int, piece: Piece) -> int:
        if depth >= NESTING:
            raise self._too_deep(piece.start, piece.end)
        return depth + 1

    def _tall(self, node: Expression, *heights: int) -> Tall:
        height = 1 + max(heights)
        if height > NESTING:
            start = node.span.start - self._text.base
            raise self._too_deep(start, start + 1)
        return node, height

    def _too_deep(self, start: int, end: int) -> Refusal:
        message = f"this expression is nested more than {NESTING} deep"
        return Refusal(
            self._text, start, end, "CEP0104", message, help_="name parts of it with `let`, or split the rule"
        )

    def _span(self, piece: Piece) -> Span:
        return self._text.span(piece.start, piece.end)

    def _refusal(self, piece: Piece, code: str, message: str, help_: str) -> Refusal:
        return Refusal(self._text, piece.start, piece.end, code, message, help_=help_)
