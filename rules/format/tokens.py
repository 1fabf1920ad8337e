"""A file's tokens and comments in order, to be laid out one after another.

A layout takes every token of the file exactly once and in order, and nothing else: so it can change
blanks and line ends, and no more. A comment belongs to the token after it; the only tokens that comments
are moved over are commas.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import assert_never

from rules.format.document import NOTHING, SPACE, Blanks, Document, EmptyLine, Remark, Text, joined, text
from rules.grammar.lexical import STRING
from rules.source import Span
from rules.syntax import File

_TOKEN = re.compile(
    rf"{STRING}|`[^`\n]+`|[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9]+)?\w*|\w+"
    r"|->|=>|~>|==|!=|<=|>=|=~|\S"
)


class Gap(Enum):
    """The treatment of the empty lines before a token and its comments."""

    NONE = "none stays"
    INSIDE = "none stays before the first comment, or before a token without one"
    WRITTEN = "one stays where there were some"
    ALWAYS = "one stands before the first comment, or before a token without one"

    def stays(self, written: bool, first: bool) -> bool:
        """True if an empty line stands at a place: the first one or a later one, with one there or not."""
        match self:
            case Gap.NONE:
                return False
            case Gap.INSIDE:
                return written and not first
            case Gap.WRITTEN:
                return written
            case Gap.ALWAYS:
                return written or first
            case _:
                assert_never(self)


class Tokens:
    """The tokens of a file that are still to be laid out."""

    def __init__(self, file: File) -> None:
        self._source = file.source.text
        self._texts: list[str] = []
        self._starts: list[int] = []
        self._comments: dict[int, list[tuple[Remark, bool]]] = {}
        """By the token before which they stand: comments, each with whether empty lines stand before it."""
        self._made: dict[str, Document] = {}
        self._next = 0
        self._scan(file)

    def take(self, expected: str) -> Document:
        """The next token, which is that one."""
        if not self.is_next(expected):
            raise self._lost(expected)
        return self._take()

    def leaf(self, span: Span, between: Blanks | Text = NOTHING) -> Document:
        """The tokens of a span, which begins with the next one, with that between every two of them."""
        if self._at() != span.start:
            raise self._lost(span.text)
        end = span.end
        first = self._take()
        if self._at() >= end:
            return first
        parts = [first]
        while self._at() < end:
            parts += (between, self._take())
        return joined(*parts)

    def cut(self, prefix: str) -> Document:
        """The beginning of the next token; what is glued to it becomes a token of its own."""
        whole = self._texts[self._next]
        if whole == prefix:
            return self._take()
        if not whole.startswith(prefix):
            raise self._lost(prefix)
        lead = self.lead()
        self._texts[self._next] = whole[len(prefix) :]
        self._starts[self._next] += len(prefix)
        return joined(lead, text(prefix))

    def words(self, *expected: str) -> Document:
        """The next tokens, which are those, with a blank between every two of them."""
        parts = [self.take(expected[0])]
        for word in expected[1:]:
            parts += (SPACE, self.take(word))
        return joined(*parts)

    def comma(self) -> Document:
        """The next token, a comma; comments before it come to stand after it."""
        moved = self._comments.pop(self._next, None)
        if moved is not None:
            following = self._comments.get(self._next + 1, [])
            moved += [(Remark(remark.text, False), empty) for remark, empty in following]
            self._comments[self._next + 1] = moved
        return self.take(",")

    def is_next(self, token: str) -> bool:
        """True if that token comes next."""
        return self._next < len(self._texts) and self._texts[self._next] == token

    def lead(self, gap: Gap = Gap.NONE) -> Document:
        """The comments before the next token, which is then laid out without them."""
        if gap is Gap.NONE and self._next not in self._comments:
            return NOTHING
        return self.leads(gap)[0]

    def leads(self, *gaps: Gap) -> list[Document]:
        """The comments before the next token in several ways, of which one is to be chosen."""
        comments = self._comments.pop(self._next, [])
        return [self._lead(comments, gap) for gap in gaps]

    def _lead(self, comments: list[tuple[Remark, bool]], gap: Gap) -> Document:
        parts: list[Document] = []
        first = True
        for remark, empty in comments:
            if not remark.trailing:
                if gap.stays(empty, first):
                    parts.append(EmptyLine())
                first = False
            parts.append(remark)
        begins = self._next < len(self._texts) and self._texts[self._next] != "}"
        if begins and gap.stays(self._empty_line_before(self._at()), first):
            parts.append(EmptyLine())
        return joined(*parts)

    def end(self) -> Document:
        """The comments at the end of the file, all tokens of which are laid out."""
        if self._next < len(self._texts):
            raise self._lost("the end")
        return self.lead(Gap.ALWAYS if self._texts else Gap.INSIDE)

    def _lost(self, expected: str) -> ValueError:
        """That the layout of some construct does not follow its grammar: better no text than another one."""
        found = self._texts[self._next] if self._next < len(self._texts) else "the end"
        return ValueError(f"{found!r} stands at {self._at()}, where the layout has {expected!r}")

    def _scan(self, file: File) -> None:
        source = self._source
        at = end_of_token = 0
        ends = [(comment.span.start, comment.span.end) for comment in file.comments]
        for start, end in (*ends, (len(source), len(source))):
            for found in _TOKEN.finditer(source, at, start):
                self._texts.append(found.group())
                self._starts.append(found.start())
                end_of_token = found.end()
            if start < end:
                waiting = self._comments.setdefault(len(self._texts), [])
                trailing = not waiting and bool(self._texts) and "\n" not in source[end_of_token:start]
                remark = Remark(source[start:end].rstrip(), trailing)
                waiting.append((remark, self._empty_line_before(start)))
            at = end

    def _take(self) -> Document:
        characters = self._texts[self._next]
        token = self._made.get(characters)
        if token is None:
            token = self._made[characters] = text(characters)
        comments = self._comments.pop(self._next, None)
        self._next += 1
        return token if comments is None else joined(*(remark for remark, _ in comments), token)

    def _at(self) -> int:
        return self._starts[self._next] if self._next < len(self._starts) else len(self._source)

    def _empty_line_before(self, start: int) -> bool:
        """True if only blanks and at least two line ends stand before that place."""
        before = start
        while before > 0 and self._source[before - 1] in " \t\r\n":
            before -= 1
        return self._source.count("\n", before, start) > 1
