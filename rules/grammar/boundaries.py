"""Where reading can go on after an error inside a block: at the words that begin its next member.

All keywords are such by their place only, so a word counts where what follows it fits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from rules.grammar.lexical import NAME, STRING, BlockText

CLAUSES = (
    *("match", "on", "over", "within", "having", "skip", "limit", "by", "emit"),
    *("severity", "summary", "tags", "runbook", "suppress", "episode", "into"),
)
"""The words that begin a clause of a rule."""
SETTINGS = ("id", "time", "lateness", "idle", "future")
"""The words that begin a setting of a stream."""
LINES = ("at", "expect", "start", "allow")
"""The words that begin a line of a test."""

_NUMBER = r"\s+[0-9]"
_SURE_CLAUSE = (
    rf"within(?={_NUMBER}|\s+unbounded\b)|(?<!(?i:match ))skip(?=\s+(?:past|to|none)\b)|limit(?={_NUMBER})"
    r"|severity(?=\s+(?:critical|high|medium|low|info)\b)|(?:summary|tags|runbook)(?=\s*\")"
    rf"|(?:suppress|episode)(?={_NUMBER})|on\s+timeout(?=\s+emit\b)"
)
# SQL's `group by`, `order by`, `after match skip` begin no clause of ours in their middle
_CLAUSE = (
    rf"(?<!(?i:after ))match(?=\s*\(|\s+{NAME})|having(?=[\s(])"
    rf"|(?:on|over|(?<!(?i:group ))(?<!(?i:partition ))(?<!(?i:order ))(?<!suppress )by|emit|into|severity)"
    rf"(?=\s+{NAME}(?![\w`]|\s*:))"
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
        """True if a member may begin at that place, the first of a line."""
        return any(p.match(text, place) for p in (self.sure, self.likely, self.first))

    def _begins(self, text: BlockText, at: int, error: int, depth: int) -> bool:
        line = text[text.rfind("\n", 0, at) + 1 : at].strip()
        if line.startswith("|") and text.startswith("|", error):
            return False  # a line of a query in pipes, as KQL has them
        first = not line
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


@cache
def boundary(block: str) -> Boundary:
    """Patterns for the beginnings of a block's members, by its keyword. Raises KeyError for no such block."""
    words, sure, likely = _MEMBERS[block]
    first = rf"(?:{'|'.join(words)})(?!\w|\s*[=:.,])"
    return Boundary(re.compile(sure), re.compile(likely), re.compile(first))


_SETTING = rf"(?:id|time)(?=\s+{NAME})"
_MEMBERS = {
    "rule": (CLAUSES, _SURE_CLAUSE, _CLAUSE),
    "stream": (SETTINGS, rf"{_FIELD}|(?:lateness|idle|future)(?={_NUMBER})", _SETTING),
    "table": (("time",), _FIELD, _SETTING),
    "test": (LINES, _SURE_LINE, _SURE_LINE),
}
"""By the keyword of the block: the words that begin a member; what is surely one, and what is likely one."""
