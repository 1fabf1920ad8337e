"""The smallest pieces: names, strings, numbers, durations, keywords and punctuation, each with its span.

A grammar element reads from a `BlockText`, which knows where in its file it stands, so that parse
actions need nothing but what pyparsing gives them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from pyparsing import ParseException, ParserElement, Token

from percolator.query.unseen import described, unseen_in_name
from rules.grammar.errors import Refusal
from rules.instants import DURATION, GREATEST, duration_of
from rules.source import SourceFile, Span
from rules.syntax import Dotted, Duration, Name, Number, String

LONGEST = 200
"""Characters of a name."""
DEEPEST = 16
"""Dots in a name."""

RESERVED = frozenset(["and", "or", "not", "in", "between", "like", "is", "matches", "true", "false", "null"])

NAME = r"(?:(?!(?:and|or|not|in|between|like|is|matches|true|false|null)\b)[^\W\d]\w*|`[^`\n]+`)"
STRING = r'"(?:[^"\\\n]|\\[^\n])*"'
NUMBER = r"[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9]+)?(?!\w)"
DOTTED = rf"{NAME}(?:\s*\.\s*{NAME})*"

_NAME = re.compile(NAME)
_ESCAPE = re.compile(r"\\(u(?P<hex>[0-9A-Fa-f]{4})|.)", re.DOTALL)
_PLAIN_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "r": "\r"}


class BlockText(str):
    """A block's text, comments blanked out, with its file and its offset in there."""

    __slots__ = ("base", "file")

    file: SourceFile
    base: int

    @staticmethod
    def of(file: SourceFile, base: int, text: str) -> BlockText:
        """The text as it stands in the file from offset `base` on."""
        block = BlockText(text)
        block.file = file
        block.base = base
        return block

    def span(self, start: int, end: int) -> Span:
        """The place in the file of the characters start to end of this text."""
        return Span(self.file, self.base + start, self.base + end)


Reader = Callable[[BlockText, int, str], object]


class Lexeme(Token):
    """One token by regular expression, made into a value that knows its place."""

    def __init__(self, pattern: str, shown: str, read: Reader) -> None:
        super().__init__()
        self._match = re.compile(rf"[ \n\t\r]*(?P<lexeme>{pattern})").match
        self._read = read
        self.set_name(shown)
        self.errmsg = f"expected {shown}"
        self.mayReturnEmpty = False
        self.mayIndexError = False

    def _generateDefaultName(self) -> str:  # noqa: N802  # pyparsing's own name
        return "lexeme"

    def begins(self, text: BlockText, at: int) -> bool:
        """True if one stands at a place, or behind white space there."""
        return self._match(text, at) is not None

    def _parse(  # type: ignore[override]  # a list does for what looks at no names
        self,
        instring: BlockText,
        loc: int,
        do_actions: bool = True,
        callPreParse: bool = True,  # noqa: ARG002, N803  # white space is in the pattern
    ) -> tuple[int, list[object]]:
        """Without what pyparsing does around `parseImpl`, which is twice the work."""
        found = self._match(instring, loc)
        if found is None:
            raise ParseException(instring, self.preParse(instring, loc), self.errmsg, self)
        end = found.end()
        return end, [self._read(instring, found.start("lexeme"), found["lexeme"])] if do_actions else []


def spell(written: str) -> str:
    """The name that was written, perhaps in backquotes."""
    return written[1:-1] if written.startswith("`") else written


def read_name(text: BlockText, start: int, written: str) -> Name:
    """A name at that place. Raises Refusal where it begins with `@`, which is ours."""
    if written.startswith("`@"):
        message = "a name cannot begin with `@`"
        raise Refusal(text, start, start + len(written), "CEP0108", message, help_="begin it with a letter")
    if (at := unseen_in_name(written)) is not None:
        message, help_ = f"a name cannot have {described(written[at])}, which cannot be seen", "remove it"
        raise Refusal(text, start + at, start + at + 1, "CEP0237", message, help_=help_)
    if len(written) > LONGEST:
        message = f"a name has {LONGEST} characters at most"
        raise Refusal(text, start, start + len(written), "CEP0108", message, help_="give it a shorter name")
    return Name(spell(written), text.span(start, start + len(written)))


def read_dotted(text: BlockText, start: int, written: str) -> Dotted:
    """Names with dots between them."""
    if written.count(".") > DEEPEST:
        message = f"a name has {DEEPEST} dots at most"
        raise Refusal(
            text,
            start,
            start + len(written),
            "CEP0104",
            message,
            help_="let the feed deliver the inner value as a field of its own",
        )
    names = tuple(read_name(text, start + m.start(), m.group()) for m in _NAME.finditer(written))
    return Dotted(names, text.span(start, start + len(written)))


def read_string(text: BlockText, start: int, written: str) -> String:
    r"""A string's value. `\"`, `\\`, `\n`, `\t`, `\r` and `\uXXXX` are escapes.

    Any other backslash stands for itself, so that patterns need not be escaped twice.
    """
    span = text.span(start, start + len(written))
    if "\\" not in written:
        return String(written[1:-1], span)
    pieces: list[str] = []
    done = 1
    for escape in _ESCAPE.finditer(written, 1, len(written) - 1):
        pieces.append(written[done : escape.start()])
        pieces.append(_unescape(text, start + escape.start(), escape))
        done = escape.end()
    pieces.append(written[done:-1])
    return String("".join(pieces), span)


def _unescape(text: BlockText, start: int, escape: re.Match[str]) -> str:
    char = escape[1][0]
    if char != "u":
        return _PLAIN_ESCAPES.get(char, escape[0])
    digits = escape["hex"]
    if digits is None or 0xD800 <= int(digits, 16) <= 0xDFFF:
        raise Refusal(
            text,
            start,
            start + len(escape[0]),
            "CEP0106",
            "`\\u` needs four hexadecimal digits of a character",
            help_="write the character itself, or a backslash as `\\\\`",
        )
    return chr(int(digits, 16))


def offset_in(literal: String, index: int) -> int:
    """Where in the file the character `index` of a string's value was written."""
    written = literal.span.text
    at, value_at = 1, 0
    while value_at < index and at < len(written) - 1:
        escape = _ESCAPE.match(written, at)
        if escape is None:
            at, value_at = at + 1, value_at + 1
        else:
            plain = escape["hex"] is not None or escape[1] in _PLAIN_ESCAPES
            at, value_at = escape.end(), value_at + (1 if plain else len(escape[0]))
    return literal.span.start + at


def read_duration(text: BlockText, start: int, written: str) -> Duration:
    """A duration. Raises Refusal where it does not fit."""
    value = duration_of(written)
    end = start + len(written)
    if value is None:
        message = "this duration is not a whole number of nanoseconds below 2^63 (292 years)"
        raise Refusal(text, start, end, "CEP0105", message, help_="write a shorter one, in ms, s, m, h or d")
    return Duration(value, text.span(start, end))


def read_number(text: BlockText, start: int, written: str, greatest: int = GREATEST) -> Number:
    """A number: whole without a point and an exponent, then up to `greatest`. Raises Refusal."""
    span = text.span(start, start + len(written))
    digits = written.replace("_", "")
    if digits.isdecimal():
        if len(digits.lstrip("0")) > 19 or int(digits) > greatest:
            message = "this whole number does not fit 64 bits"
            help_ = "write it with a point for a double"
            raise Refusal(text, start, start + len(written), "CEP0105", message, help_=help_)
        return Number(int(digits), span)
    value = float(digits)
    if value == float("inf"):
        raise Refusal(
            text,
            start,
            start + len(written),
            "CEP0105",
            "this number does not fit a double",
            help_="write one below 1.8e308",
        )
    return Number(value, span)


def read_span(text: BlockText, start: int, written: str) -> Span:
    """The place of a keyword or of punctuation, which has no other value."""
    return text.span(start, start + len(written))


@cache
def name(shown: str = "a name") -> ParserElement:
    """A name."""
    return Lexeme(NAME, shown, read_name)


@cache
def dotted(shown: str = "a field") -> ParserElement:
    """Names with dots between them."""
    return Lexeme(DOTTED, shown, read_dotted)


@cache
def string(shown: str = "a string in quotes") -> ParserElement:
    """A string."""
    return Lexeme(STRING, shown, read_string)


@cache
def duration() -> ParserElement:
    """A duration."""
    return Lexeme(DURATION, "a duration such as `30s` or `5 minutes`", read_duration)


@cache
def whole() -> ParserElement:
    """A whole number."""
    return Lexeme(r"[0-9][0-9_]*(?![\w.])", "a whole number", read_number)


@cache
def keyword(word: str) -> ParserElement:
    """A word that is a keyword by its place; a blank in it is any white space."""
    return Lexeme(word.replace(" ", r"\s+") + r"(?!\w)", f"`{word}`", read_span)


@cache
def mark(text: str) -> ParserElement:
    """Punctuation."""
    return Lexeme(re.escape(text), f"`{text}`", read_span)


def place(part: object) -> Span:
    """The span of a node, or the span that punctuation is."""
    return part if isinstance(part, Span) else part.span  # type: ignore[attr-defined]
