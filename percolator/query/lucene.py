"""Lucene's classic query syntax -> the same tree. Spans and positions are those of the text as written.

    expression = group (["OR" | "||"] group)*       side by side means OR, unless `+` or `-` stand there
    group      = unary (("AND" | "&&") unary)*
    unary      = ("+" | "-" | "!" | "NOT")* primary ["^" boost]
    primary    = leaf | "(" expression ")" | field ":" (value | leaf | "(" expression ")")

AND binds tighter than OR, as everybody reads it (Lucene's own parser does not know precedence). Of clauses
side by side those with `+` must be true, those with `-`, `!`, NOT must not; where some must, the plain ones
may: they become `(x OR *:*)`, so that they are still highlighted. A clause list of `-` alone is true
where none of them is; in Lucene it is never true. Boosts are read and left out: nothing is ranked. In
phrases `*` and `?` are no wildcards, and there are no `{WHO}`.
"""

from __future__ import annotations

import re
from typing import Literal

from percolator.query import leaves
from percolator.query.assembly import MAX_HEIGHT, MAX_LENGTH, MAX_NODES
from percolator.query.errors import Code, QueryError
from percolator.query.foreign_words import sign_meant
from percolator.query.pieces import pieces
from percolator.query.tree import (
    And,
    Everything,
    Exact,
    Fielded,
    Fuzzy,
    Node,
    Not,
    Or,
    Phrase,
    Present,
    Range,
    Regex,
    Span,
    Wildcard,
    Word,
    children,
)

MAX_NESTED = 100
"""Brackets that may be open at one time: every one costs calls of this parser."""

_SPACE = re.compile(r"\s*")
_AND = re.compile(r"AND(?=[\s()\"+!-]|\Z)|&&")
_OR = re.compile(r"OR(?=[\s()\"+!-]|\Z)|\|\|")
_NOT = re.compile(r"NOT(?=[\s()\"+!-]|\Z)|!")
_NAME = re.compile(r"[^\W\d][\w.-]*")
_FIELD = re.compile(r"([^\W\d][\w.-]*):")
_TERM = re.compile(r"(?:[^\s()\"\[\]{}^~:\\/]|\\.)(?:[^\s()\"\[\]{}^~\\]|\\.)*", re.DOTALL)
_BOOST = re.compile(r"\^([^\s()]*)")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_FUZZY = re.compile(r"~([^\s()^]*)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"(?:~([^\s()^]*))?', re.DOTALL)
_PHRASE_SIGN = re.compile(r'["*?{}\\]')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_WILD = re.compile(r"(?:[^\\*?]|\\.)*[*?]", re.DOTALL)

Sign = Literal["", "+", "-"]


def parse(text: str) -> Node:
    """The tree of a query. Raises QueryError with the position of the first thing that is wrong."""
    if len(text) > MAX_LENGTH:
        raise QueryError(Code.TOO_LARGE, f"a query may have {MAX_LENGTH} characters, not {len(text)}")
    if not text or text.isspace():
        raise QueryError(Code.EMPTY, "empty query")
    reader = _Reader(text)
    node = reader.expression(0, "")
    if reader.at < len(text):
        raise QueryError(Code.UNOPENED, "closing bracket ) without its opening one", reader.at)
    check_height(node)
    return node


def check_height(node: Node) -> None:
    """Raises where the tree is too high to be walked."""
    waiting = [(node, 1)]
    while waiting:
        current, height = waiting.pop()
        if height > MAX_HEIGHT:
            raise QueryError(Code.TOO_DEEP, f"more than {MAX_HEIGHT} levels", current.span.start)
        waiting.extend((child, height + 1) for child in children(current))


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.nodes = 0

    def skip(self) -> str:
        """The next sign behind white space, "" at the end."""
        found = _SPACE.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        return self.text[self.at : self.at + 1]

    def take(self, pattern: re.Pattern[str]) -> bool:
        self.skip()
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
        return found is not None

    def expression(self, depth: int, field: str) -> Node:
        """Up to a closing bracket or the end, neither taken."""
        clauses: list[tuple[Sign, Node]] = []
        explicit = False
        while True:
            at = self.at
            if self.skip() in ("", ")"):
                if explicit or not clauses:
                    raise QueryError(Code.MISSING_OPERAND, "operand missing", self.at)
                return _joined(clauses)
            for pattern, word in ((_OR, "OR"), (_AND, "AND")):
                if pattern.match(self.text, self.at):
                    raise QueryError(Code.MISSING_OPERAND, f"operand missing before {word}", self.at)
            sign, node = self.group(depth, field)
            if explicit and sign == "-":
                sign, node = "", Not(node, Span(at, node.span.end))
            clauses.append((sign, node))
            explicit = self.take(_OR)

    def group(self, depth: int, field: str) -> tuple[Sign, Node]:
        self.skip()
        at = self.at
        sign, node = self.unary(depth, field)
        if not self.take(_AND):
            return sign, node
        operands = [_signed(sign, node, at)]
        while True:
            if self.skip() in ("", ")"):
                raise QueryError(Code.MISSING_OPERAND, "operand missing", self.at)
            if _AND.match(self.text, self.at) or _OR.match(self.text, self.at):
                raise QueryError(Code.MISSING_OPERAND, "operand missing before the operator", self.at)
            at = self.at
            operands.append(_signed(*self.unary(depth, field), at))
            if not self.take(_AND):
                return "", And(tuple(operands), Span(operands[0].span.start, operands[-1].span.end))

    def unary(self, depth: int, field: str) -> tuple[Sign, Node]:
        sign: Sign = ""
        while True:
            here = self.skip()
            if here in ("+", "-") and not self.text[self.at + 1 : self.at + 2].isspace():
                self.at += 1
                negative = here == "-"
            elif self.take(_NOT):
                negative = True
            else:
                break
            # A second minus takes the first one back.
            sign = ("+" if sign == "-" else "-") if negative else (sign or "+")
        if self.skip() in ("", ")"):
            raise QueryError(Code.MISSING_OPERAND, "operand missing", self.at)
        node = self.primary(depth, field)
        boost = _BOOST.match(self.text, self.at)
        if boost is not None:
            if _NUMBER.fullmatch(boost[1]) is None:
                raise QueryError(Code.BAD_NUMBER, "a boost must be a number, as in a^2", boost.start())
            self.at = boost.end()
        return sign, node

    def primary(self, depth: int, field: str) -> Node:
        text, start = self.text, self.at
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise QueryError(Code.TOO_LARGE, f"a query may have {MAX_NODES} terms", start)
        if text[start] == "(":
            return self.bracket(depth, field)
        named = _FIELD.match(text, start)
        if named is None:
            return self.leaf(field)
        name, self.at = named[1], named.end()
        if self.at == len(text) or text[self.at].isspace() or text[self.at] == ")":
            raise QueryError(Code.MISSING_OPERAND, f"nothing to look for after {name}:", self.at)
        if text[self.at] == "(":
            inner = self.bracket(depth, name)
            return Fielded(name, inner, Span(start, self.at))
        found = leaves.value(text, self.at, name)
        if found is not None:
            node, self.at = found
            return node
        if name == "_exists_":
            field_name = self.leaf(name)
            if isinstance(field_name, Word) and _NAME.fullmatch(field_name.text):
                return Present(field_name.text, Span(start, self.at))
            raise QueryError(Code.BAD_OPERAND, "_exists_ takes the name of a field", start)
        leaf = self.leaf(name)
        return leaf if isinstance(leaf, Range | Everything) else Fielded(name, leaf, Span(start, self.at))

    def bracket(self, depth: int, field: str) -> Node:
        start = self.at
        if depth >= MAX_NESTED:
            raise QueryError(Code.TOO_DEEP, f"more than {MAX_NESTED} open brackets", start)
        self.at += 1
        inner = self.expression(depth + 1, field)
        if self.at == len(self.text):
            raise QueryError(Code.UNCLOSED, "unclosed bracket (", start)
        self.at += 1
        return inner

    def leaf(self, field: str) -> Node:
        text, start = self.text, self.at
        sign = text[start]
        node: Word | Phrase | Wildcard | Regex | Fuzzy | Exact
        if text.startswith("*:*", start):
            self.at = start + 3
            return Everything(Span(start, self.at))
        if sign == '"':
            node = self.phrase()
        elif sign == "/":
            node, self.at = leaves.regex(text, start)
        elif sign in "[{":
            raise QueryError(Code.MISPLACED, "a range needs a field, as in price:[10 TO 20]", start)
        elif sign in "]}":
            raise QueryError(Code.UNOPENED, f"closing bracket {sign} without its opening one", start)
        else:
            found = _TERM.match(text, start)
            if found is None:
                raise QueryError(
                    Code.MISPLACED, f"{sign} cannot stand here; write \\{sign} for itself", start
                )
            self.at = found.end()
            if found[0] == "*":
                return Everything(Span(start, self.at))
            node = self.term(found[0], start)
        if not field and isinstance(node, Word | Phrase) and not pieces(node):
            whole = text.strip() == text[start : self.at]
            message = f"no searchable word in {text[start : self.at]}{sign_meant(text[start : self.at])}"
            raise QueryError(Code.NO_WORD, message, None if whole else start)
        return node

    def phrase(self) -> Phrase:
        start = self.at
        found = _QUOTED.match(self.text, start)
        if found is None:
            raise QueryError(Code.UNCLOSED, "unclosed quote", start)
        self.at = found.end()
        slop = 0
        if found[2] is not None:
            slop = leaves.number(found[2], "the slop of a phrase", found.start(2) - 1)
        # What is a sign in our phrases is a letter in Lucene's.
        text = _PHRASE_SIGN.sub(r"\\\g<0>", _ESCAPE.sub(r"\1", found[1]))
        return Phrase(text, slop, Span(start, self.at))

    def term(self, raw: str, start: int) -> Word | Wildcard | Fuzzy:
        plain = _ESCAPE.sub(r"\1", raw)
        fuzzy = _FUZZY.match(self.text, self.at)
        if fuzzy is not None:
            self.at = fuzzy.end()
            edits = leaves.number(fuzzy[1] or "2", "the distance of a fuzzy word", fuzzy.start(), most=2)
            span = Span(start, self.at)
            node = Fuzzy(plain, edits, span) if edits else Word(plain, span)
            if [piece.kind for piece in pieces(Word(plain))] != ["word"] or _WILD.match(raw):
                message = "a fuzzy term must be one word without wildcards"
                raise QueryError(Code.BAD_OPERAND, message, start)
            return node
        if _WILD.match(raw):
            return leaves.wildcard(raw, Span(start, self.at))
        return Word(plain, Span(start, self.at))


def _signed(sign: Sign, node: Node, at: int) -> Node:
    return Not(node, Span(at, node.span.end)) if sign == "-" else node


def _joined(clauses: list[tuple[Sign, Node]]) -> Node:
    span = Span(clauses[0][1].span.start, clauses[-1][1].span.end)
    needed = [node for sign, node in clauses if sign == "+"]
    optional = [node for sign, node in clauses if not sign]
    refused: list[Node] = [Not(node, node.span) for sign, node in clauses if sign == "-"]
    if needed and optional:
        needed.append(Or((*optional, Everything(span)), span))
    elif len(optional) > 1:
        needed.append(Or(tuple(optional), span))
    else:
        needed += optional
    operands = (*needed, *refused)
    return operands[0] if len(operands) == 1 else And(operands, span)
