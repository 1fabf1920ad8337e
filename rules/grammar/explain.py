"""A syntax error as a diagnostic: what was expected, what stands there, and the likely fix.

What is known of other languages is imported where something is wrong, and not before.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyparsing import ParseBaseException

from rules.diagnostics import Diagnostic
from rules.grammar.blocks import KEYWORDS
from rules.grammar.boundaries import CLAUSES, LINES, SETTINGS, boundary, last_before
from rules.grammar.errors import UNITS, Refusal
from rules.grammar.lexical import RESERVED, BlockText
from rules.grammar.window import WINDOWS
from rules.suggest import closest

if TYPE_CHECKING:
    from rules.grammar.phrases import UnexpectedToken

_TOKEN = re.compile(r"`[^`\n]+`|\"(?:[^\"\\\n]|\\.)*\"|[0-9][\w.]*|\w+|->|=>|~>|==|!=|<=|>=|=~|\S")
_KNOWN = frozenset('()[]{},.:?+-*/%<>=!~|&"`#_&^')
_YAML = re.compile(r"^\s*(?:detection|logsource|selection|condition|title)\s*:", re.MULTILINE)
_ENDS = frozenset(")]},")
_SHOWN = 40
_BEFORE = 2000
"""Characters in which the clause is looked for that a word stands in."""
_CLAUSE = re.compile(rf"\b(?:{'|'.join(CLAUSES)})\b")
_WORDS = {
    "rule": CLAUSES,
    "stream": SETTINGS,
    "table": ("time",),
    "test": LINES,
}


def explain(text: BlockText, problem: ParseBaseException, keyword: str) -> Diagnostic:
    """The diagnostic for what pyparsing refused in a block of that keyword."""
    start, end = _found(text, problem.loc)
    if not (isinstance(problem, Refusal) and problem.code != "CEP0101"):
        unknown = _unknown_character(text, start, end)
        if unknown is not None:
            return unknown
    comma = _comma_before(text, problem.loc)
    if isinstance(problem, Refusal) and not (comma is not None and problem.code == "CEP0101"):
        start, end = problem.loc, problem.end
        if end <= start:
            start, end = _found(text, start)
        span = text.span(start, end)
        help_ = problem.help
        if problem.code == "CEP0101":
            from rules.grammar.habits import said_here

            help_ = said_here(_at(text, start, end, problem.msg)) or help_
        return Diagnostic(problem.code, "error", problem.msg, span, problem.note, help=help_)
    if comma is not None:
        span = text.span(comma, comma + 1)
        message = "an item must follow the comma"
        return Diagnostic("CEP0109", "error", message, span, help="remove the comma")
    return _unexpected(text, problem, keyword)


TOO_EARLY = "this may belong to the block before"
"""How the help for stray text begins that looks like a member of that block."""


def stray(text: BlockText, before: str) -> Diagnostic:
    """The diagnostic for text that belongs to no block; `before` is the keyword of the one before it."""
    from rules.grammar.habits import block_meant

    start, end = _found(text, 0)
    word = str(text[start:end])
    guess = closest(word, KEYWORDS)
    help_ = f"did you mean `{guess}`?" if guess and guess != word else ""
    help_ = block_meant(word) or help_ or "begin a block here, or remove it"
    if _YAML.search(text):
        help_ = "rules are no YAML: `rule NAME { severity high  on STREAM[...] }`"
    elif before and ("\n" not in text[:start] or boundary(before).at(text, start)):
        help_ = f"{TOO_EARLY}, whose `}}` comes too early"
    return Diagnostic(
        "CEP0101",
        "error",
        "expected a block: `pack`, `stream`, `table`, `queries`, `let`, `rule` or `test`",
        text.span(start, end),
        f"found `{_clipped(word)}`",
        help=help_,
    )


def _unexpected(text: BlockText, problem: ParseBaseException, keyword: str) -> Diagnostic:
    start, end = _found(text, problem.loc)
    ended = not text[problem.loc :].strip()
    word = "" if ended else str(text[start:end])
    span = text.span(start, end)
    expected = (problem.msg or "").strip()
    expected = expected[:1].lower() + expected[1:]
    if expected in {"", "expected end of text"}:
        expected = "expected the next block"
    if word[:1].isdecimal() and "duration" in expected:
        message = f"`{_clipped(word)}` is not a duration"
        from rules.grammar.foreign_times import duration_meant

        help_ = duration_meant(word, text[end : end + _SHOWN]) or UNITS
        return Diagnostic("CEP0105", "error", message, span, help=help_)
    return Diagnostic(
        "CEP0101",
        "error",
        expected,
        span,
        f"found `{_clipped(word)}`" if word else "the block ends here",
        help=_help(text, start, end, word, expected, keyword),
    )


def _unknown_character(text: BlockText, start: int, end: int) -> Diagnostic | None:
    char = str(text[start:end])
    if len(char) != 1 or char.isalnum() or char in _KNOWN:
        return None
    message = f"`{char}` is not a character of the language"
    span = text.span(start, end)
    from rules.grammar.habits import character_meant

    joins = char == ";" and _last_clause(text[max(start - _BEFORE, 0) : start]) == "match"
    help_ = "steps are joined by `->`, `=>` or `~>`" if joins else character_meant(char)
    return Diagnostic("CEP0108", "error", message, span, help=help_)


def _help(text: BlockText, start: int, end: int, word: str, expected: str, keyword: str) -> str:
    from rules.grammar.habits import said_here

    found = _at(text, start, end, expected)
    if said := said_here(found):
        return said
    if word in RESERVED and ("name" in expected or found.following.startswith(":")):
        return f"`{word}` is reserved; in backquotes it is a name"
    field = "a field `name: type`" in expected and word.isidentifier() and word not in SETTINGS
    if field and re.match(r"[^\W\d]", found.following):
        return f"a field is written `{word}: type`"
    words = WINDOWS if "a window: " in expected else _WORDS.get(keyword, ()) if "`}`" in expected else ()
    guess = None if word in CLAUSES else closest(word, words)
    if guess is not None and guess != word:
        return f"did you mean `{guess}`?"
    if "a clause of a rule" in expected and found.clause in {"emit", "tags", "by"}:
        return "a comma stands between the items of a list"
    if "a clause of a rule" in expected and word.isidentifier():
        return f"clauses begin with {', '.join(CLAUSES)}"
    if "an operator or" in expected and word:
        return f"values are joined by `and`, `or`, `==`, `+`, ...: write one, or remove `{_clipped(word)}`"
    return f"write that here, or remove `{_clipped(word)}`" if word else "write that before the block ends"


def _at(text: BlockText, start: int, end: int, expected: str) -> UnexpectedToken:
    """The text from `start` to `end`, which stands where `expected` was, with the text around it."""
    from rules.grammar.phrases import UnexpectedToken

    before = text[max(start - _BEFORE, 0) : start]
    return UnexpectedToken(
        expected, str(text[start:end]), before, text[end:][:_SHOWN].lstrip(), _last_clause(before)
    )


def _last_clause(before: str) -> str:
    """The keyword of the clause that a text ends in."""
    return next(reversed(_CLAUSE.findall(before)), "")


def _clipped(word: str) -> str:
    return word if len(word) <= _SHOWN else word[:_SHOWN] + "..."


def _found(text: BlockText, at: int) -> tuple[int, int]:
    """The token at a place or after it; at the end of the block, its last token."""
    found = _TOKEN.search(text, at)
    if found is not None:
        return found.span()
    end = len(text.rstrip())
    return max(end - 1, 0), end


def _comma_before(text: BlockText, at: int) -> int | None:
    """The comma right before a place where its list ends."""
    start, end = _found(text, at)
    if at < len(text.rstrip()) and text[start:end] not in _ENDS:
        return None
    before = last_before(text, at)
    return before if before >= 0 and text[before] == "," else None
