r"""Text -> tree, in one pass, without recursion, in linear time.

    or     = and ("OR" and)*
    and    = not (["AND"] not)*                  side by side means AND
    not    = ("NOT" | "-") not | near
    near   = tight (("NEAR" | "ONEAR" | "NOT NEAR") "/" n tight)*      from the left
    tight  = ("atleast" | "first") "/" n tight | primary
    primary = leaf | "(" or ")" | field ":" (leaf | "(" or ")") | name "=" "(" or ")" | "*:*"
            | n "of" "(" or ("," or)* ")" | ("sentence" | "paragraph") "(" or ("," or)* ")"

Operators are capitals, standing alone. One regular expression takes what most queries are made of;
the rest is looked at sign by sign.
"""

from __future__ import annotations

import re

from percolator.query import leaves
from percolator.query.assembly import MAX_HEIGHT, MAX_LENGTH, MAX_NODES, Assembly, FrameKind, NearKind
from percolator.query.errors import Code, QueryError
from percolator.query.foreign_words import sign_meant
from percolator.query.pieces import pieces
from percolator.query.tree import Everything, Exact, Fielded, Fuzzy, Node, Phrase, Regex, Span, Wildcard, Word

__all__ = ["MAX_HEIGHT", "MAX_LENGTH", "MAX_NODES", "parse"]

_END = r"(?=[\s()]|\Z)"
# The groups' numbers are the cases of `_Parser.parse`. A word that opens a bracket (`2 of (`, `x = (`), or
# looks like an operator but is none, is left to the last group.
_TOKEN = re.compile(
    rf"""\s*(?:
      (AND|OR|NOT(?!\s+O?NEAR\b)){_END}
    | (?!(?:NOT|O?NEAR)\b|(?:sentence|paragraph)\()(\w+){_END}(?!\s+(?:of|OF)\s*\(|\s*=\s*\()
    | (\+*\w+\*){_END}
    | "(\w+(?:\ \w+)*)"(?!~)
    | (\()
    | (\))
    | (\Z)
    | ([^\W\d]\w*):(\w+){_END}
    | (.)
    )""",
    re.DOTALL | re.VERBOSE,
)
_OPERATOR = re.compile(r"(AND|OR|NOT)(?=[\s()\"{},]|\Z)")
_NEAR = re.compile(r"(NOT\s+)?(O?)NEAR(?:/([^\s()\"{},]*)|(?=[\s()\"{},]|\Z))")
_COUNTED = re.compile(r"(atleast|first)/([^\s()\"{},]*)")
_NAMED = re.compile(r"([^\W\d]\w*)\s*=\s*\(")
_SOME_OF = re.compile(r"(\d+)\s+(?:of|OF)\s*\(")
_TOGETHER = re.compile(r"(sentence|paragraph)\(")
_FIELD = re.compile(r"([^\W\d][\w.-]*):")


def parse(text: str) -> Node:
    """The tree of a query.

    Raises QueryError with the position of the first thing that is wrong: nothing is left out silently.
    """
    if len(text) > MAX_LENGTH:
        raise QueryError(Code.TOO_LARGE, f"a query may have {MAX_LENGTH} characters, not {len(text)}")
    if not text or text.isspace():
        raise QueryError(Code.EMPTY, "empty query")
    return _Parser(text).parse()


class _Parser:
    __slots__ = ("assembly", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.assembly = Assembly()

    def parse(self) -> Node:
        text, assembly, take = self.text, self.assembly, _TOKEN.match
        operand = assembly.operand
        at = 0
        while True:
            token = take(text, at)
            assert token is not None
            kind = token.lastindex
            at = token.end()
            if kind == 2:
                operand(Word(token[2], Span._make(token.span(2))), 1)
            elif kind == 3:
                operand(Wildcard(token[3], Span._make(token.span(3))), 1)
            elif kind == 1:
                if token[1] == "NOT":
                    assembly.negation(token.start(1))
                else:
                    assembly.binary(token[1], token.start(1))
            elif kind == 4:
                operand(Phrase(token[4], 0, Span(token.start(4) - 1, at)), 1)
            elif kind == 5:
                assembly.open("group", at - 1)
            elif kind == 6:
                assembly.close(at - 1)
            elif kind == 7:
                return assembly.finish(len(text))
            elif kind == 9:
                word = Word(token[9], Span._make(token.span(9)))
                operand(Fielded(token[8], word, Span(token.start(8), at)), 2)
            else:
                at = self._read(at - 1)

    def _read(self, at: int) -> int:
        """Takes in what begins at an offset; the offset behind it."""
        text, assembly = self.text, self.assembly
        sign = text[at]
        if sign in "ANO":
            if (near := _NEAR.match(text, at)) is not None:
                return self._near(at, near)
            if (operator := _OPERATOR.match(text, at)) is not None:
                if operator[1] == "NOT":
                    assembly.negation(at)
                else:
                    assembly.binary(operator[1], at)
                return operator.end()
        if sign == "," and assembly.frame.is_list:
            assembly.branch(at)
            return at + 1
        if sign == "-" and at + 1 < len(text) and not text[at + 1].isspace():
            assembly.negation(at)
            return at + 1
        if sign == "*" and text.startswith("*:*", at):
            assembly.operand(Everything(Span(at, at + 3)), 1)
            return at + 3
        if (opened := self._prefixed_bracket(at)) is not None:
            return opened
        if (counted := _COUNTED.match(text, at)) is not None:
            word = counted[1]
            count = leaves.number(counted[2], f"the number of {word}", counted.start(2), 1)
            assembly.counted("atleast" if word == "atleast" else "first", count, at)
            return counted.end()
        if (named := _FIELD.match(text, at)) is not None:
            return self._field(at, named)
        return self._leaf(at)

    def _prefixed_bracket(self, at: int) -> int | None:
        """Opens `name = (`, `2 of (`, `sentence(`; None where none of them stands."""
        text, assembly = self.text, self.assembly
        if (some := _SOME_OF.match(text, at)) is not None:
            count = leaves.number(some[1], "the number of branches", at, least=1)
            assembly.open("some", at, count=count)
            return some.end()
        if (named := _NAMED.match(text, at)) is not None:
            assembly.open("named", at, name=named[1])
            return named.end()
        if (together := _TOGETHER.match(text, at)) is not None:
            kind: FrameKind = "sentence" if together[1] == "sentence" else "paragraph"
            assembly.open(kind, at)
            return together.end()
        return None

    def _near(self, at: int, found: re.Match[str]) -> int:
        operator: NearKind = "NOT NEAR" if found[1] else "ONEAR" if found[2] else "NEAR"
        if found[1] and found[2]:
            raise QueryError(Code.MISPLACED, "NOT ONEAR does not exist; write a NOT NEAR/5 b", at)
        self.assembly.need_left(at, operator)
        if found[3] is None:
            raise QueryError(Code.BAD_NUMBER, f"{operator} needs a distance, as in NEAR/5", at)
        self.assembly.near(operator, leaves.number(found[3], f"the distance of {operator}", found.start(3)))
        return found.end()

    # Leaves

    def _leaf(self, at: int) -> int:
        sign = self.text[at]
        if sign == "[":
            raise QueryError(Code.MISPLACED, "a range needs a field, as in price:[10 TO 20]", at)
        if sign in "]}":
            raise QueryError(Code.UNOPENED, f"closing bracket {sign} without its opening one", at)
        node, end = self._any_leaf(at, self.assembly.frame.in_field)
        self.assembly.operand(node, 1)
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
                node, end = leaves.term(text, at, self.assembly.frame.is_list)
        # In a field the text may be a keyword, which need not have words: the schema decides.
        if not in_field and isinstance(node, Word | Phrase) and not pieces(node):
            whole = text.strip() == text[at:end]
            message = f"no searchable word in {text[at:end]}{sign_meant(text[at:end])}"
            raise QueryError(Code.NO_WORD, message, None if whole else at)
        return node, end

    def _field(self, at: int, named: re.Match[str]) -> int:
        text, name, start = self.text, named[1], named.end()
        if start == len(text) or text[start].isspace() or text[start] in "),":
            raise QueryError(Code.MISSING_OPERAND, f"nothing to look for after {name}:", start)
        if text[start] == "(":
            self.assembly.open("field", at, name=name)
            return start + 1
        if text[start] == "-" and not text[start + 1 : start + 2].isdigit():
            raise QueryError(Code.MISPLACED, f"write -{name}:x for the opposite of {name}:x", start)
        if (found := leaves.value(text, start, name, self.assembly.frame.is_list)) is not None:
            node, end = found
            self.assembly.operand(node, 1)
            return end
        if text[start] in "]}":
            raise QueryError(Code.UNOPENED, f"closing bracket {text[start]} without its opening one", start)
        inner, end = self._any_leaf(start, True)
        self.assembly.operand(Fielded(name, inner, Span(at, end)), 2)
        return end
