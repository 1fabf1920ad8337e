"""The texts that fuzzy words, regular expressions and wildcards take: a word, or a keyword's whole value.

Regular expressions are RE2's (github.com/google/re2/wiki/Syntax), which takes linear time whatever the
expression; wildcards become such.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import re2

from percolator.query.errors import Code, QueryError
from percolator.query.tree import Regex

if TYPE_CHECKING:
    from re2 import _Regexp

MAX_REGEX = 10_000
"""Longest regular expression, in code points."""
_MEMORY = 8 << 20
_SURROGATE = re.compile("[\ud800-\udfff]")
_SIGN = re.compile(r"\\(.)|(\*+)|(\?)|([^\\*?]+)", re.DOTALL)


def regex(node: Regex, whole_value: bool = False) -> _Regexp:
    """The compiled expression, to be used with `fullmatch`.

    On words it takes no notice of case, as words are lowered; on the whole values of a keyword field it
    does. Raises QueryError (BAD_PATTERN) with RE2's reason.
    """
    # The parser's position is that of the opening slash.
    if len(node.pattern) > MAX_REGEX:
        message = f"a regular expression may have {MAX_REGEX} characters"
        raise QueryError(Code.BAD_PATTERN, message, node.span.start)
    try:
        return _compiled(node.pattern, whole_value)
    except UnicodeEncodeError:
        message = "half of a surrogate pair in a regular expression"
        raise QueryError(Code.BAD_PATTERN, message, node.span.start) from None
    except re2.error as problem:
        reason = problem.args[0]
        shown = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        message = f"this regular expression cannot be used: {shown}"
        raise QueryError(Code.BAD_PATTERN, message, node.span.start) from None


def wildcard(pattern: str) -> _Regexp:
    """The expression of a wildcard, where `\\` keeps `*`, `?`, `\\` literal; for `fullmatch`."""
    return _compiled(wildcard_regex(pattern), True)


def wildcard_regex(pattern: str) -> str:
    """The same as text: `*` any characters, `?` one, everything else itself."""
    parts: list[str] = []
    for escaped, stars, mark, letters in _SIGN.findall(pattern):
        if stars:
            parts.append("(?s:.*)")
        elif mark:
            parts.append("(?s:.)")
        else:
            parts.append(re2.escape(escaped or letters))
    return "".join(parts)


@cache
def _options(case_sensitive: bool) -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = case_sensitive
    options.max_mem = _MEMORY
    return options


def _compiled(pattern: str, case_sensitive: bool) -> _Regexp:
    return re2.compile(pattern, _options(case_sensitive))


def takes(expression: _Regexp, text: str) -> bool:
    """True if the expression takes the whole text; half a surrogate pair counts as U+FFFD."""
    try:
        return expression.fullmatch(text) is not None
    except UnicodeEncodeError:
        return expression.fullmatch(_SURROGATE.sub("\ufffd", text)) is not None


def within(one: str, other: str, distance: int) -> bool:
    """True if so few edits make one text the other: a letter put in, left out, changed, or swapped with
    its neighbour, and no letter edited twice (optimal string alignment, as Lucene's fuzzy queries).

    Damerau, "A technique for computer detection and correction of spelling errors", 1964. Equal first
    letters need no edit, so only `distance` places branch.
    """
    if abs(len(one) - len(other)) > distance:
        return False
    start, shorter = 0, min(len(one), len(other))
    while start < shorter and one[start] == other[start]:
        start += 1
    one, other = one[start:], other[start:]
    if not distance or not one or not other:
        return len(one) + len(other) <= distance
    left = distance - 1
    return (
        within(one[1:], other[1:], left)
        or within(one[1:], other, left)
        or within(one, other[1:], left)
        or (one[:2] == other[1::-1] and len(one) > 1 and within(one[2:], other[2:], left))
    )
