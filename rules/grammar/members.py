"""The members of a block, clauses or fields or lines, read one by one so that an error costs one member.

What cannot be read becomes a rules.syntax.Lost, which names its diagnostic and what it may have been.
"""

from __future__ import annotations

from pyparsing import (
    ParseBaseException,
    ParseElementEnhance,
    ParseFatalException,
    ParserElement,
    ParseSyntaxException,
)

from rules.grammar.boundaries import CLAUSES, boundary, last_before
from rules.grammar.errors import nothing_after
from rules.grammar.lexical import BlockText, place
from rules.suggest import closest, edits
from rules.syntax import Lost

ERRORS = 1000
"""Syntax errors of one file that are reported; a block with more is not read to its end."""


class Members(ParseElementEnhance):
    """All members of a block up to its closing brace, that brace included, which ends the block's text."""

    def __init__(self, member: ParserElement, block: str, shown: str) -> None:
        super().__init__(member)
        self._block = block
        self.errmsg = f"expected {shown} or `}}`"
        self.mayReturnEmpty = False

    def _generateDefaultName(self) -> str:  # noqa: N802  # pyparsing's own name
        return "members"

    def parseImpl(  # noqa: N802  # pyparsing's own name
        self, instring: BlockText, loc: int, do_actions: bool = True
    ) -> tuple[int, list[object]]:
        end = _last(instring)
        found: list[object] = []
        errors = 0
        while (loc := self.preParse(instring, loc)) < end:
            try:
                loc, parts = self.expr._parse(instring, loc, do_actions, False)
                found.extend(parts)
            except ParseBaseException as problem:
                errors += 1
                if errors > ERRORS:
                    break
                loc = self._lose(instring, loc, end, problem, found)
        if loc > end or not instring.startswith("}", end):
            raise ParseSyntaxException(instring, min(loc, end), self.errmsg)
        return end + 1, [*found, instring.span(end, end + 1)]

    def _lose(
        self, text: BlockText, start: int, end: int, problem: ParseBaseException, found: list[object]
    ) -> int:
        """Add what could not be read to what was found, and return where to go on."""
        from rules.grammar.explain import explain

        words = {_word(text, start)}
        if not isinstance(problem, ParseFatalException):  # no member begins here
            problem = ParseSyntaxException(text, start, self.errmsg)
            guess = self._meant(*words)
            words = {guess or ""}
            if guess is None and found and not isinstance(found[-1], Lost):
                # more likely it goes on with the member before than that it begins one
                start = place(found.pop()).start - text.base
                words.add(_word(text, start))
        goes_on = boundary(self._block).after(text, start, problem.loc, end)
        comma = last_before(text, goes_on)
        if goes_on <= problem.loc and text.startswith(",", comma):
            problem = nothing_after(text, comma)
        finding = explain(text, problem, self._block)
        found.append(Lost(frozenset(words), finding, text.span(start, goes_on)))
        return goes_on

    def _meant(self, word: str) -> str | None:
        """The clause that a word is a misspelling of, by a letter or two."""
        guess = closest(word, CLAUSES) if self._block == "rule" and len(word) > 2 else None
        return guess if guess is not None and edits(word.lower(), guess) <= 1 + len(word) // 6 else None


def _word(text: BlockText, at: int) -> str:
    end = at
    while end < len(text) and text[end].isalnum():
        end += 1
    return str(text[at:end])


def _last(text: BlockText) -> int:
    """The place of the last character that is no white space: the block's closing brace."""
    end = len(text) - 1
    while end > 0 and text[end].isspace():
        end -= 1
    return end


def lost(parts: list[object]) -> tuple[Lost, ...]:
    """Those of a block's parts that could not be read."""
    return tuple(part for part in parts if isinstance(part, Lost))
