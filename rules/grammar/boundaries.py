"""Where reading can go on after an error inside a block: at the words that begin its next member.

All keywords are such by their place only, so a word counts where what follows it fits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from rules.grammar.lexical import NAME, STRING, BlockText

CLAUSES = (
    *("match", "on", "over", "within", "having", "skip", "limit", "by", "emit"),
    *("severity", "summary", "tags", "runbook", "suppress", "into"),
)
"""The words that begin a clause of a rule."""
SETTINGS = ("id", "time", "lateness", "idle", "future")
"""The words that begin a setting of a stream."""
LINES = ("at", "expect", "start", "allow")
"""The words that begin a line of a test."""

_NUMBER = r"\s+[0-9]"
_SURE_CLAUSE = (
    rf"within(?={_NUMBER}|\s+unbounded\b)|skip(?=\s+(?:past|to|none)\b)|limit(?={_NUMBER})"
    r"|severity(?=\s+(?:critical|high|medium|low|info)\b)|(?:summary|tags|runbook)(?=\s*\")"
    rf"|suppress(?={_NUMBER})|on\s+timeout(?=\s+emit\b)"
)
_CLAUSE = (
    rf"match(?=\s*\(|\s+{NAME})|having(?=[\s(])"
    rf"|(?:on|over|by|emit|into|severity)(?=\s+{NAME}(?![\w`]|\s*:))"
)
_FIELD = rf"{NAME}(?=\s*:)"
_SURE_LINE = rf"at(?={_NUMBER})|expect(?=\s+(?:at\b|nothing\b)|\s*\{{)|start(?=\s*\")|allow(?=\s+other\b)"
_JOINED = frozenset("=(,+-*/%<>?:&|.[")
_SCAN = re.compile(rf"{STRING}|`[^`\n]+`|(?P<open>[(\[{{])|(?P<shut>[)\]}}])|(?P<word>(?<![\w.])[^\W\d]\w*)")


@dataclass(frozen=True, slots=True)
class Boundary:
    """The beginnings of members: those that hardly anything else can be, those that are one where nothing
    before them asks for more, and those that are one where a line begins.
    """

    sure: re.Pattern[str]
    likely: re.Pattern[str]
    first: re.Pattern[str]

    def after(self, text: BlockText, start: int, error: int, end: int) -> int:
        """Where to go on after an error in the member that begins at `start`: at `end`, if nowhere else.

        Inside brackets, and where the text before asks for more, only the first word of a line counts, or the
        very word that was not expected.
        """
        depth = 0
        for found in _SCAN.finditer(text, start, end):
            at = found.start()
            match found.lastgroup:
                case "open":
                    depth += 1
                case "shut":
                    depth = max(depth - 1, 0)
                case "word" if at > start and self._begins(text, at, error, depth):
                    return at
        return end

    def at(self, text: BlockText, place: int) -> bool:
        """Whether a member may begin at that place, the first of a line."""
        return any(p.match(text, place) for p in (self.sure, self.likely, self.first))

    def _begins(self, text: BlockText, at: int, error: int, depth: int) -> bool:
        first = not text[text.rfind("\n", 0, at) + 1 : at].strip()
        before = text[max(last_before(text, at), 0)]
        free = first or at == error or (at > error and depth == 0)
        if self.sure.match(text, at):
            return free or (depth == 0 and before == ",")
        if first and self.first.match(text, at):
            return True
        return free and before not in _JOINED and self.likely.match(text, at) is not None


def last_before(text: str, at: int) -> int:
    """The place of the last character before a place that is no white space, -1 where there is none."""
    at -= 1
    while at >= 0 and text[at].isspace():
        at -= 1
    return at


def _boundary(words: tuple[str, ...], sure: str, likely: str) -> Boundary:
    first = rf"(?:{'|'.join(words)})(?!\w|\s*[=:.,])"
    return Boundary(re.compile(sure), re.compile(likely), re.compile(first))


_SETTING = rf"(?:id|time)(?=\s+{NAME})"
BOUNDARIES: Mapping[str, Boundary] = MappingProxyType(
    {
        "rule": _boundary(CLAUSES, _SURE_CLAUSE, _CLAUSE),
        "stream": _boundary(SETTINGS, rf"{_FIELD}|(?:lateness|idle|future)(?={_NUMBER})", _SETTING),
        "table": _boundary(("time",), _FIELD, _SETTING),
        "test": _boundary(LINES, _SURE_LINE, _SURE_LINE),
    }
)
"""By the keyword of the block."""
