"""Expressions, first half: a flat run of operands and operators, read in one pass without recursion.

The run alone decides where an expression ends: at what cannot go on after a complete operand. It
keeps a stack of open brackets, so that depth costs no Python frames; `precedence` makes the tree.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NoReturn, cast

from pyparsing import ParseException, ParserElement, Token

from rules.grammar.boundaries import CLAUSES
from rules.grammar.errors import UNITS, Refusal
from rules.grammar.lexical import DOTTED, NAME, NUMBER, STRING, BlockText
from rules.grammar.nodes import folded
from rules.grammar.precedence import Piece, tree
from rules.instants import DURATION

DEPTH = 200
"""Brackets may be open at once."""

_SPACE = re.compile(r"[ \t\r\n]*")
_OPERAND = re.compile(
    rf"(?P<duration>{DURATION})|(?P<number>{NUMBER})|(?P<string>{STRING})"
    r"|(?P<constant>(?:true|false|null)(?!\w))|(?P<not>not(?!\w))|(?P<minus>-(?!>))|(?P<open>\()"
    rf"|(?P<call>{NAME}(?=\s*\())|(?P<lookup>{NAME}(?=\s*\[))|(?P<name>{DOTTED})"
)
_OPERATOR = re.compile(
    r"(?P<compare>==(?!=)|!=(?!=)|<=(?!>)|>=|<(?!>)|>)|(?P<search>=~)|(?P<add>\+|-(?!>))|(?P<multiply>\*(?!\*)|[/%])"
    r"|(?P<and>and(?!\w))|(?P<or>or(?!\w))|(?P<test>(?:not\s+)?(?:in|like)(?!\w))"
    r"|(?P<between>(?:not\s+)?between(?!\w))|(?P<null>is\s+(?:not\s+)?null(?!\w))|(?P<matches>matches(?!\w))"
    r"|(?P<then>\?)|(?P<else>:)|(?P<comma>,)|(?P<close>\))"
    rf"|(?P<shut>\](?:\s*\.\s*{NAME})*)"
)
_MISTAKES = (
    ("===", "`===` is no operator", "did you mean `==`?"),
    ("!==", "`!==` is no operator", "did you mean `!=`?"),
    ("!~", "`!~` is no operator", 'write `not (a =~ "...")`'),
    ("~=", "`~=` is no operator", "did you mean `=~`?"),
    ("=<", "`=<` does not compare", "did you mean `<=`?"),
    ("**", "`**` is no operator", "there are no powers: write `x * x`"),
    ("=>", "`=>` does not compare", "did you mean `>=`?"),
    ("=", "`=` does not compare", "did you mean `==`?"),
    ("&&", "`&&` is no operator", "did you mean `and`?"),
    ("||", "`||` is no operator", "did you mean `or`?"),
    ("<>", "`<>` is no operator", "did you mean `!=`?"),
    ("!", "`!` is no operator", "did you mean `not`?"),
    ("^", "`^` is no operator", "there are no powers: write `x * x`"),
)
_NULL_TESTS = {"=": "is null", "<>": "is not null", "===": "is null", "!==": "is not null"}
_NULL = re.compile(r"\s*(?:null|none|nil|undefined)\b", re.IGNORECASE)
_CLAUSE = re.compile(rf"(?:{'|'.join(CLAUSES)})(?!\w)")
_BAD_NUMBER = re.compile(r"[0-9][\w.]*")


class Open:
    """The state while a run is read: brackets, and in each of them the `?` that wait for a `:`."""

    def __init__(self) -> None:
        self.brackets: list[Piece] = []
        self.waiting = [0]

    def enter(self, text: BlockText, piece: Piece) -> None:
        """Open a bracket. Raises Refusal where too many are."""
        if len(self.brackets) >= DEPTH:
            message = f"more than {DEPTH} brackets are open here"
            raise Refusal(
                text,
                piece.start,
                piece.end,
                "CEP0104",
                message,
                help_="name parts of it with `let`, or split the rule",
            )
        self.brackets.append(piece)
        self.waiting.append(0)

    def takes(self, text: BlockText, piece: Piece) -> bool:
        """True if an operator is part of the expression; its `)` closes, its `:` answers a `?`."""
        match piece.kind:
            case "then":
                self.waiting[-1] += 1
            case "else":
                self.waiting[-1] -= 1
                return self.waiting[-1] >= 0
            case "comma" | "close" | "shut":
                return bool(self.brackets) and self._separates(text, piece)
        return True

    def _separates(self, text: BlockText, piece: Piece) -> bool:
        square = self.brackets[-1].kind == "lookup"
        if (piece.kind == "comma" and square) or (piece.kind != "comma" and (piece.kind == "shut") != square):
            message = f"expected `{']' if square else ')'}`, found `{piece.text}`"
            raise Refusal(
                text,
                piece.start,
                piece.end,
                "CEP0103",
                message,
                help_="close the bracket that was opened last",
            )
        if piece.kind != "comma":
            self.brackets.pop()
            self.waiting.pop()
        return True


class Run(Token):
    """One expression as a flat list of pieces, brackets in it closed, operands and operators in turn."""

    def __init__(self) -> None:
        super().__init__()
        self.set_name("a value")
        self.errmsg = "expected a value"
        self.mayReturnEmpty = False
        self.mayIndexError = False

    def _generateDefaultName(self) -> str:  # noqa: N802  # pyparsing's own name
        return "expression"

    def parseImpl(  # noqa: N802  # pyparsing's own name
        self, instring: BlockText, loc: int, _do_actions: bool = True
    ) -> tuple[int, list[Piece]]:
        pieces: list[Piece] = []
        open_ = Open()
        at, end = loc, loc
        wants_operand = True
        while True:
            at = _after_space(instring, at)
            found = (_OPERAND if wants_operand else _OPERATOR).match(instring, at)
            if found is None or found.lastgroup is None:
                if not pieces:
                    _refuse_number(instring, at)
                    raise ParseException(instring, at, self.errmsg, self)
                _refuse(instring, at, wants_operand, pieces[-1], open_)
                return end, pieces
            at = found.end()
            piece = Piece(found.lastgroup, found.group(), found.start(), at)
            if not wants_operand and not open_.takes(instring, piece):
                if open_.brackets:  # a `:` without its `?`
                    _refuse_open(instring, open_.brackets[-1])
                return end, pieces
            pieces.append(piece)
            match piece.kind:
                case "open" | "call" | "lookup":
                    open_.enter(instring, piece)
                    at = at if piece.kind == "open" else _after_space(instring, at) + 1
                    empty = piece.kind == "call" and instring.startswith(")", _after_space(instring, at))
                    wants_operand = not empty
                case "not" | "minus":
                    wants_operand = True
                case _:
                    wants_operand = not wants_operand and piece.kind not in {"null", "close", "shut"}
            end = at


def _after_space(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too


def _refuse(text: BlockText, at: int, wants_operand: bool, last: Piece, open_: Open) -> None:
    """Raise Refusal where the expression cannot end here; return where it can."""
    if open_.brackets and text.startswith("=", at) and "\n" in text[open_.brackets[-1].start : at]:
        _refuse_open(
            text, open_.brackets[-1]
        )  # more likely than a comparison: the next line's `name = value`
    for mistake, message, help_ in _MISTAKES:
        if text.startswith(mistake, at) and not (wants_operand and mistake[0] in "=<*"):
            if mistake in _NULL_TESTS and _NULL.match(text, at + len(mistake)):
                help_ = f"did you mean `{_NULL_TESTS[mistake]}`?"
            raise Refusal(text, at, at + len(mistake), "CEP0107", message, help_=help_)
    if wants_operand:
        _refuse_number(text, at)
        if last.kind == "comma":
            message = "an item must follow the comma"
            raise Refusal(text, last.start, last.end, "CEP0109", message, help_="remove the comma")
        raise Refusal(
            text,
            at,
            at,
            "CEP0101",
            f"expected a value after `{last.text}`",
            help_="write a field, a number, a string or an expression in parentheses here",
        )
    if not open_.brackets:
        return
    if "\n" in text[last.end : at] and _CLAUSE.match(text, at):
        _refuse_open(text, open_.brackets[-1])
    if at < len(text):
        raise Refusal(
            text,
            at,
            at,
            "CEP0101",
            f"expected an operator or `{_closing(open_.brackets[-1])}`",
            help_="close the bracket, or go on with `and`, `or`, `==`, `+`, ...",
        )
    _refuse_open(text, open_.brackets[-1])


def _closing(opened: Piece) -> str:
    return "]" if opened.kind == "lookup" else ")"


def _refuse_open(text: BlockText, opened: Piece) -> NoReturn:
    raise Refusal(
        text,
        opened.start,
        opened.end,
        "CEP0103",
        f"`{_closing(opened)}` is missing",
        help_=f"write `{_closing(opened)}` where this bracket ends",
    )


def _refuse_number(text: BlockText, at: int) -> None:
    """Raise Refusal where what begins like a number is none."""
    if found := _BAD_NUMBER.match(text, at):
        message = f"`{found.group()}` is no number and no duration"
        from rules.grammar.foreign_times import number_meant  # only where something is wrong

        help_ = number_meant(found.group()) or UNITS
        raise Refusal(text, at, found.end(), "CEP0105", message, help_=help_)


@cache
def expression() -> ParserElement:
    """An expression, as a rules.syntax.Expression."""
    return folded(Run(), lambda text, pieces: tree(text, cast(list[Piece], pieces)))
