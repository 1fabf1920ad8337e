"""A file's text cut into its top-level blocks, in one pass, so that each can be read on its own.

Knows strings, comments, backquotes and braces, and the signs of other languages that stand for those;
nothing else of the language. A block whose brace is never closed ends where something stands that can only
begin another block.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import cast

from rules.diagnostics import Diagnostic
from rules.grammar import foreign
from rules.grammar.lexical import NAME, STRING, BlockText
from rules.source import SourceFile, Span
from rules.syntax import Comment

KEYWORDS = ("pack", "stream", "table", "queries", "let", "rule", "test")

_WORDS = "|".join(KEYWORDS)
_CERTAIN = (
    rf"(?:stream|rule|queries)\s+{NAME}\s*\{{|table\s+{NAME}\s+key\s+{NAME}\s*\{{|test\s+(?:\*|{NAME}(?:\s*,\s*{NAME})*)\s*{STRING}\s*\{{"
    rf"|pack\s+{NAME}\s+version\s|let\s+{NAME}\s*=(?![=>~])"
)
_SCAN = re.compile(
    rf"(?P<comment>\#[^\n]*)|(?P<string>{STRING})|(?P<unclosed>\"[^\n]*)|(?P<name>`[^`\n]+`)"
    rf"|(?P<brace>[{{}}])|(?P<head>(?<![\w.])(?:{_WORDS})(?!\w))|{foreign.SIGNS}",
    re.MULTILINE,
)
_IS_CERTAIN = re.compile(_CERTAIN)
_GAP = r"(?:\s|\#[^\n]*\n)"
_IS_LIKELY = re.compile(rf"\w+(?:{_GAP}+[\w`*\"]|{_GAP}*\{{|{_GAP}*\*{_GAP}*\")")
_ONLY_GAP = re.compile(rf"{_GAP}*")
_WHOLE = frozenset(["string", "name"])
"""What is passed over as it stands."""
_NEAR = 2000
_JOINED = frozenset("=(,+-*/%<>?:&|")


@dataclass(frozen=True, slots=True)
class RawBlock:
    """A block's text; keyword empty: stray text. `whole`: its strings and braces are closed."""

    keyword: str
    text: BlockText
    whole: bool


@dataclass(frozen=True, slots=True)
class Cut:
    """A file's text, cut into blocks."""

    blocks: tuple[RawBlock, ...]
    comments: tuple[Comment, ...]
    diagnostics: tuple[Diagnostic, ...]


def cut(source: SourceFile) -> Cut:
    """The blocks of a file in order, comments blanked out in them, with what is never closed."""
    cutter = _Cutter(source)
    for found in _SCAN.finditer(source.text):
        if found.lastgroup not in _WHOLE:
            cutter.take(found)
    cutter.finish()
    return Cut(tuple(cutter.blocks), tuple(cutter.comments), tuple(cutter.diagnostics))


class _Cutter:
    def __init__(self, source: SourceFile) -> None:
        self.blocks: list[RawBlock] = []
        self.comments: list[Comment] = []
        self.diagnostics: list[Diagnostic] = []
        self._source = source
        self._pieces: list[str] = []
        self._copied = 0
        self._start = 0
        self._keyword = ""
        self._whole = True
        self._braces: list[int] = []
        self._outdented: int | None = None
        self._owed = 0
        self._foreign: list[tuple[foreign.Kind, Span]] = []

    def take(self, found: re.Match[str]) -> None:
        """The next string, comment, brace or word of the file that matters here."""
        start, end = found.span()
        match found.lastgroup:
            case "comment":
                self.comments.append(Comment(Span(self._source, start, end)))
                self._blank(start, end)
            case "unclosed":
                self._report(
                    "CEP0102", "this string is never closed", start, start + 1, 'write `"` where it ends'
                )
                self._whole = False
                self._blank(start, end)
            case "brace" if found.group() == "{":
                self._braces.append(start)
            case "brace":
                self._close(start)
            case "head":
                self._begin(found.group(), start)
            case None:
                pass
            case kind:
                self._translate(cast(foreign.Kind, kind), found.group(), start)

    def finish(self) -> None:
        """The end of the file."""
        self._unclosed()
        self._end(len(self._source.text))
        self._tell_foreign()

    def _begin(self, word: str, start: int) -> None:
        text = self._source.text
        if self._keyword and self._at_name(start) and not _IS_CERTAIN.match(text, start):
            return  # `rule test {`: the word is the block's name
        if self._braces:
            if _IS_CERTAIN.match(text, start) and not text[text.rfind("\n", 0, start) + 1 : start].strip():
                self._unclosed()
            else:
                return
        elif not _IS_LIKELY.match(text, start) or self._joined(start) or self._in_name(word, start):
            return
        self._end(start)
        self._keyword = word

    def _at_name(self, start: int) -> bool:
        """True if nothing but its keyword stands before this place of the block."""
        begun = self._start + len(self._keyword)
        return start - begun < _NEAR and _ONLY_GAP.fullmatch(self._source.text, begun, start) is not None

    def _in_name(self, word: str, start: int) -> bool:
        """True if this is a later word of a block's name, as in `rule my rule {`: a brace follows at once."""
        begun = self._source.text[self._start + len(self._keyword) : start]
        return (
            bool(self._keyword)
            and bool(re.fullmatch(r"[ \t]+\w+[ \t]+", begun))
            and bool(re.match(r"[ \t]*\{", self._source.text[start + len(word) :][:_NEAR]))
        )

    def _joined(self, start: int) -> bool:
        """True if what stands before asks for an operand, so that the word is a name."""
        text, at = self._source.text, start - 1
        while at >= self._copied and text[at] in " \t\r\n":
            at -= 1
        return at >= self._copied and text[at] in _JOINED

    def _close(self, start: int) -> None:
        if not self._braces and self._owed:
            self._owed -= 1  # the `}` of the block around, which was reported as never closed
            self._blank(start, start + 1)
            return
        if not self._braces:
            self._report(
                "CEP0103",
                "`}` closes nothing",
                start,
                start + 1,
                "remove it, or write the `{` that it closes",
            )
            self._blank(start, start + 1)
            return
        opened = self._braces.pop()
        if self._outdented is None and self._indentation(opened) > self._indentation(start) == self._column(
            start
        ):
            self._outdented = opened
        if not self._braces:
            self._end(start + 1)

    def _unclosed(self) -> None:
        if self._braces:
            if self._whole:  # else a string that is never closed holds the brace
                # a `}` that stands further left than the line of its `{` is meant for another one
                opened = self._braces[0] if self._outdented is None else self._outdented
                self._report(
                    "CEP0103", "`{` is never closed", opened, opened + 1, "write `}` where the block ends"
                )
            self._owed += len(self._braces) if self._whole else 0
            self._braces.clear()
            self._whole = False

    def _column(self, place: int) -> int:
        return place - self._source.text.rfind("\n", 0, place) - 1

    def _indentation(self, place: int) -> int:
        """The indentation of the line of a place, in characters."""
        begin = place - self._column(place)
        line = self._source.text[begin : place + 1]
        return len(line) - len(line.lstrip())

    def _blank(self, start: int, end: int) -> None:
        self._put(start, " " * (end - start))

    def _put(self, start: int, text: str) -> None:
        """Let that text stand for as many characters of the file."""
        self._pieces.append(self._source.text[self._copied : start])
        self._pieces.append(text)
        self._copied = start + len(text)

    def _translate(self, kind: foreign.Kind, written: str, start: int) -> None:
        place = start + foreign.begins(kind, written)
        self._foreign.append((kind, Span(self._source, place, start + len(written))))
        self._put(start, foreign.ours(kind, written))

    def _end(self, end: int) -> None:
        text = "".join(self._pieces) + self._source.text[self._copied : end]
        if text.strip():
            self._tell_foreign()
            block = BlockText.of(self._source, self._start, text)
            self.blocks.append(RawBlock(self._keyword, block, self._whole))
        self._pieces.clear()
        self._copied = self._start = end
        self._outdented = None
        self._keyword, self._whole = "", True

    def _tell_foreign(self) -> None:
        """Report the signs of other languages in a block, and before it."""
        self.diagnostics.extend(foreign.of_block(self._foreign))
        self._foreign.clear()

    def _report(self, code: str, message: str, start: int, end: int, help_: str) -> None:
        span = Span(self._source, start, end)
        self.diagnostics.append(Diagnostic(code, "error", message, span, help=help_))
