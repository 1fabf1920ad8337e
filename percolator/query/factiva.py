"""Factiva's query syntax -> the same tree. Spans and positions are those of the text as written.

    a and b, a or b, a not b, ( )      in any case
    interest rate cut                  words side by side are a phrase; "in quotes" operators are words
    a adj5 b, a w/5 b, a w5 b, a adj b    b at most 5 words behind a: `ONEAR/4`, as Factiva counts the step
    a near5 b                          in either order: `NEAR/4`
    a same b                           in one paragraph
    atleast3 a, /f50/ a                at least 3 places; within the first 50 words
    hd=(a or b), la=en, wc>500         that field; `FIELDS` are the names that become ours
    comput*, organi?e                  wildcards

Precedence is ours: adj, near and their kin bind tightest, then not, and, or.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from percolator.query import leaves
from percolator.query.assembly import MAX_LENGTH, Assembly
from percolator.query.errors import Code, QueryError
from percolator.query.pieces import pieces
from percolator.query.tree import Fielded, Node, Phrase, Range, Span, Wildcard, Word

FIELDS: Mapping[str, str] = {"hd": "title"}
"""Factiva's field codes and what they are called here; other codes keep their names."""

_SPACE = re.compile(r"\s*")
_END = r"(?=[\s()\"]|\Z)"
_LOGIC = re.compile(rf"(and|or|not){_END}", re.IGNORECASE)
_NEAR = re.compile(rf"(?:(same)|(adj|near|w/|w(?=[0-9]))([0-9]*)){_END}", re.IGNORECASE)
_COUNTED = re.compile(rf"(?:(atleast)([0-9]+){_END}|/f([0-9]+)/)", re.IGNORECASE)
_FIELD = re.compile(r"([^\W\d]\w*)=")
_COMPARED = re.compile(r"([^\W\d]\w*)(?=[<>])")
_TERM = re.compile(r"[^\s()\"=<>]+")
_QUOTED = re.compile(r'"([^"]*)"')
_SIGN = re.compile(r"[{}\\]")


def parse(text: str, fields: Mapping[str, str] = FIELDS) -> Node:
    """The tree of a query. Raises QueryError with the position of the first thing that is wrong."""
    if len(text) > MAX_LENGTH:
        raise QueryError(Code.TOO_LARGE, f"a query may have {MAX_LENGTH} characters, not {len(text)}")
    if not text or text.isspace():
        raise QueryError(Code.EMPTY, "empty query")
    reader = _Reader(text, fields)
    at = reader.skip(0)
    while at < len(text):
        at = reader.skip(reader.read(at))
    return reader.assembly.finish(len(text))


class _Reader:
    def __init__(self, text: str, fields: Mapping[str, str]) -> None:
        self.text = text
        self.fields = fields
        self.assembly = Assembly()

    def skip(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        assert found is not None
        return found.end()

    def read(self, at: int) -> int:
        """Takes in what begins at an offset; the offset behind it."""
        text, assembly = self.text, self.assembly
        if (logic := _LOGIC.match(text, at)) is not None:
            if logic[1].lower() == "not":
                assembly.negation(at)
            else:
                assembly.binary(logic[1].upper(), at)
            return logic.end()
        if (near := _NEAR.match(text, at)) is not None:
            return self.near(at, near)
        if text[at] == ")":
            assembly.close(at)
            return at + 1
        if assembly.frame.left is not None and not assembly.frame.wanted:
            raise QueryError(Code.MISPLACED, "an operator is missing before this: and, or, not, adj5", at)
        if text[at] == "(":
            assembly.open("group", at)
            return at + 1
        if (counted := _COUNTED.match(text, at)) is not None:
            count = leaves.number(counted[2] or counted[3], "the number", at, least=1)
            assembly.counted("atleast" if counted[1] else "first", count, at)
            return counted.end()
        if (field := _FIELD.match(text, at)) is not None:
            return self.field(at, field)
        if (compared := _COMPARED.match(text, at)) is not None:
            return self.compared(at, compared)
        node, end = self.words(at, assembly.frame.in_field)
        assembly.operand(node, 1)
        return end

    def near(self, at: int, found: re.Match[str]) -> int:
        written = found[0].lower()
        self.assembly.need_left(at, written)
        if found[1]:
            self.assembly.near("same", 0)
            return found.end()
        word = found[2].lower()
        if not found[3] and word != "adj":
            raise QueryError(Code.BAD_NUMBER, f"{written} needs a number, as in near5", at)
        steps = leaves.number(found[3] or "1", f"the number of {word}", at, least=1)
        self.assembly.near("NEAR" if word == "near" else "ONEAR", steps - 1)
        return found.end()

    def field(self, at: int, found: re.Match[str]) -> int:
        text, start = self.text, found.end()
        name = self.fields.get(found[1].lower(), found[1])
        if start == len(text) or text[start].isspace() or text[start] == ")":
            raise QueryError(Code.MISSING_OPERAND, f"nothing to look for after {found[0]}", start)
        if text[start] == "(":
            self.assembly.open("field", at, name=name)
            return start + 1
        node, end = self.word(start) if text[start] != '"' else self.words(start, True)
        self.assembly.operand(Fielded(name, node, Span(at, end)), 2)
        return end

    def compared(self, at: int, found: re.Match[str]) -> int:
        name = self.fields.get(found[1].lower(), found[1])
        node, end = leaves.comparison(self.text, found.end(), name)
        self.assembly.operand(Range(*_bounds(node), Span(at, end)), 1)
        return end

    def words(self, at: int, in_field: bool) -> tuple[Node, int]:
        """A run of terms and quoted texts side by side: a word, or a phrase of all of them."""
        text, start = self.text, at
        parts: list[str] = []
        end = at
        while at < len(text):
            if (quoted := _QUOTED.match(text, at)) is not None:
                parts.append(_SIGN.sub(r"\\\g<0>", quoted[1]))
                end = quoted.end()
            elif text[at] == '"':
                raise QueryError(Code.UNCLOSED, "unclosed quote", at)
            elif parts and self.is_operator(at):
                break
            elif (term := _TERM.match(text, at)) is not None:
                self.check_term(term[0], at)
                parts.append(_SIGN.sub(r"\\\g<0>", term[0]))
                end = term.end()
            elif parts:
                break
            else:
                raise QueryError(Code.MISPLACED, f"{text[at]} cannot stand here", at)
            at = self.skip(end)
        if len(parts) == 1 and text[start] != '"':
            return self.word(start)
        node = Phrase(" ".join(parts), 0, Span(start, end))
        if not in_field and not pieces(node):
            raise QueryError(Code.NO_WORD, f"no searchable word in {text[start:end]}", start)
        return node, end

    def word(self, start: int) -> tuple[Word | Wildcard, int]:
        found = _TERM.match(self.text, start)
        if found is None:
            raise QueryError(Code.MISPLACED, f"{self.text[start]} cannot stand here", start)
        self.check_term(found[0], start)
        span = Span(start, found.end())
        if "*" in found[0] or "?" in found[0]:
            return leaves.wildcard(found[0].replace("\\", "\\\\"), span), found.end()
        node = Word(found[0], span)
        if not self.assembly.frame.in_field and self.text[start - 1 : start] != "=" and not pieces(node):
            raise QueryError(Code.NO_WORD, f"no searchable word in {found[0]}", start)
        return node, found.end()

    def check_term(self, term: str, at: int) -> None:
        if "$" in term:
            message = "write `*` for any letters or `?` for one; `$` is not known"
            raise QueryError(Code.BAD_PATTERN, message, at + term.index("$"))

    def is_operator(self, at: int) -> bool:
        patterns = (_LOGIC, _NEAR, _COUNTED, _FIELD, _COMPARED)
        return any(pattern.match(self.text, at) is not None for pattern in patterns)


def _bounds(node: Range) -> tuple[str, str | None, str | None, bool, bool]:
    return node.name, node.low, node.high, node.with_low, node.with_high
