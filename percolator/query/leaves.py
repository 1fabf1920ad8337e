"""Reading one leaf of a query: a term, phrase, exact word, regular expression, range or value.

Every reader takes the text and the offset at which its leaf begins, and returns the node and the offset
behind it. Part of the parser (percolator.query.parse), which knows what may stand where.
"""

from __future__ import annotations

import re

from percolator.query.errors import Code, QueryError
from percolator.query.foreign_words import unit_meant
from percolator.query.pieces import pieces, torn_by_wildcard
from percolator.query.tree import Exact, Fuzzy, Phrase, Present, Range, Regex, Span, Wildcard, Word

MAX_NUMBER = 1_000_000
"""Upper bound of distances, slops and counts."""

_TERM = re.compile(r"(?:[^\s()\"{}\\]|\\.)+", re.DOTALL)
_TERM_IN_LIST = re.compile(r"(?:[^\s()\"{}\\,]|\\.)+", re.DOTALL)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_REGEX = re.compile(r"/((?:[^/\\]|\\.)*)/", re.DOTALL)
_EXACT = re.compile(r"\{([^{}]*)\}")
_BOUND = r'(?:"([^"]*)"|([^\s\[\]{}"]+))'
_RANGE = re.compile(rf"([\[{{])\s*{_BOUND}\s+TO\s+{_BOUND}\s*([\]}}])")
_BRACED_RANGE = re.compile(r"\{[^{}]*?\sTO(?![^\s\]}])")
_COMPARE = re.compile(r'(>=|<=|>|<)(?:"([^"]*)"|([^\s()\[\]{}"]*))')
_COMPARE_IN_LIST = re.compile(r'(>=|<=|>|<)(?:"([^"]*)"|([^\s()\[\]{}",]*))')
_SLOP = re.compile(r"~([^\s()\"{},]*)")
_FUZZY = re.compile(r"((?:[^\\~]|\\.)*)~(.*)", re.DOTALL)
_HAS_STAR = re.compile(r"(?:[^\\]|\\.)*?[*?]", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)

Leaf = Word | Exact | Wildcard | Regex | Fuzzy | Phrase | Range | Present


def number(digits: str, what: str, position: int, least: int = 0, most: int = MAX_NUMBER) -> int:
    """The value of a distance, slop or count, checked against its bounds."""
    if not (digits.isascii() and digits.isdigit()):
        raise QueryError(Code.BAD_NUMBER, f"{what} must be a whole number, as in 5", position)
    value = int(digits) if len(digits) <= 7 else most + 1
    if not least <= value <= most:
        raise QueryError(Code.BAD_NUMBER, f"{what} must be from {least} to {most}", position)
    return value


def quoted(text: str, start: int) -> tuple[Phrase, int]:
    """`"..."` with `~slop`."""
    found = _QUOTED.match(text, start)
    if found is None:
        raise QueryError(Code.UNCLOSED, "unclosed quote", start)
    inner, end = _tidied(found[1], '"*?{}\\'), found.end()
    _check_braces(inner, start + 1)
    _check_pairs(inner, start)
    slop = 0
    if (after := _SLOP.match(text, end)) is not None:
        slop, end = number(after[1], "the slop of a phrase", end), after.end()
    return Phrase(inner, slop, Span(start, end)), end


def exact(text: str, start: int) -> tuple[Exact, int]:
    """`{WHO}`."""
    found = _EXACT.match(text, start)
    if found is None:
        raise QueryError(Code.UNCLOSED, "unclosed bracket {", start)
    node = Exact(found[1], Span(start, found.end()))
    if not pieces(node):
        raise QueryError(Code.NO_WORD, "no searchable word between { and }", start)
    return node, found.end()


def regex(text: str, start: int) -> tuple[Regex, int]:
    """`/.../`; a slash inside is written `\\/`."""
    found = _REGEX.match(text, start)
    if found is None:
        message = "unclosed regular expression" + unit_meant(text, start)
        raise QueryError(Code.UNCLOSED, message, start)
    if not found[1]:
        raise QueryError(Code.BAD_PATTERN, "empty regular expression", start)
    return Regex(found[1].replace("\\/", "/"), Span(start, found.end())), found.end()


def term(text: str, start: int, in_list: bool) -> tuple[Word | Wildcard | Fuzzy, int]:
    """A bare term: a word, a wildcard, or a fuzzy word. In a list a comma ends it."""
    found = (_TERM_IN_LIST if in_list else _TERM).match(text, start)
    if found is None:
        raise QueryError(Code.MISPLACED, "a backslash must stand before a character", start)
    raw, end = found[0], found.end()
    span = Span(start, end)
    if "~" in raw and (parts := _FUZZY.fullmatch(raw)) is not None:
        place = start + parts.start(2) - 1
        distance = number(parts[2], "the distance of a fuzzy word", place, least=1, most=2)
        node = Fuzzy(_ESCAPE.sub(r"\1", parts[1]), distance, span)
        if [piece.kind for piece in pieces(Word(node.text))] != ["word"] or _HAS_STAR.match(parts[1]):
            raise QueryError(Code.BAD_OPERAND, "a fuzzy term must be one word without wildcards", start)
        return node, end
    if ("*" in raw or "?" in raw) and _HAS_STAR.match(raw):
        return wildcard(raw, span), end
    return Word(_ESCAPE.sub(r"\1", raw) if "\\" in raw else raw, span), end


def wildcard(raw: str, span: Span) -> Wildcard:
    """A term with `*` or `?`, as written."""
    pattern = _tidied(raw, "*?\\")
    node = Wildcard(pattern, span)
    if all(not piece.text.strip("*?") for piece in pieces(node)):
        raise QueryError(
            Code.BAD_PATTERN,
            f"`{pattern}` has no letter to look for; `*:*` is every document, `title:*` every title",
            span.start,
        )
    _check_pairs(pattern, span.start)
    return node


def _check_pairs(raw: str, start: int) -> None:
    if torn_by_wildcard(raw):
        message = "in Chinese, Japanese and Korean a wildcard can only stand at the ends of a word"
        raise QueryError(Code.BAD_PATTERN, message, start)


def value(text: str, start: int, name: str, in_list: bool = False) -> tuple[Range | Present, int] | None:
    """A value that may stand only after `name:`: a range, a comparison, `*`. None where it is something else.

    `start` is the offset behind the colon; the node's span has the name in it.
    """
    sign = text[start]
    if sign in "<>":
        return comparison(text, start, name, in_list)
    if sign == "[" or (sign == "{" and _BRACED_RANGE.match(text, start) is not None):
        return _range(text, start, name)
    if sign == "*" and (start + 1 == len(text) or text[start + 1].isspace() or text[start + 1] in "),"):
        return Present(name, Span(start - len(name) - 1, start + 1)), start + 1
    return None


def _range(text: str, start: int, name: str) -> tuple[Range, int]:
    found = _RANGE.match(text, start)
    if found is None:
        if not any(sign in text[start:] for sign in "]}"):
            raise QueryError(Code.UNCLOSED, "unclosed range", start)
        raise QueryError(Code.BAD_VALUE, "a range is written [10 TO 20], {10 TO 20} or [10 TO *]", start)
    low = _bound(found[2], found[3])
    high = _bound(found[4], found[5])
    span = Span(start - len(name) - 1, found.end())
    with_low, with_high = found[1] == "[" and low is not None, found[6] == "]" and high is not None
    return Range(name, low, high, with_low, with_high, span), found.end()


def _bound(in_quotes: str | None, bare: str | None) -> str | None:
    return in_quotes if in_quotes is not None else None if bare == "*" else bare


def comparison(text: str, start: int, name: str, in_list: bool = False) -> tuple[Range, int]:
    """`>=10` and its like, of that field. In a list a comma ends it."""
    found = (_COMPARE_IN_LIST if in_list else _COMPARE).match(text, start)
    # The alternatives cover every text that begins with < or >; a missing value is an empty match.
    assert found is not None
    operator, bound, end = found[1], found[2] if found[2] is not None else found[3], found.end()
    if not bound:
        raise QueryError(Code.MISSING_OPERAND, f"a value is missing after {operator}", found.end(1))
    span, closed = Span(start - len(name) - 1, end), operator.endswith("=")
    if operator.startswith(">"):
        return Range(name, bound, None, closed, False, span), end
    return Range(name, None, bound, False, closed, span), end


def _tidied(raw: str, kept: str) -> str:
    """The text with only those escapes left that mean something there."""
    if "\\" not in raw:
        return raw
    return _ESCAPE.sub(lambda found: found[0] if found[1] in kept else found[1], raw)


def _check_braces(inner: str, start: int) -> None:
    """Raises where the braces of a phrase's exact words do not pair."""
    if "{" not in inner and "}" not in inner:
        return
    # The offset is exact unless needless escapes before it were dropped.
    for found in re.finditer(r"\\.|\{[^{}]*\}|[{}]", inner, re.DOTALL):
        if found[0] == "{":
            raise QueryError(Code.UNCLOSED, "unclosed bracket { in a phrase", start + found.start())
        if found[0] == "}":
            raise QueryError(Code.UNOPENED, "closing bracket } without {", start + found.start())
