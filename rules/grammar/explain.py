"""A syntax error as a diagnostic: what was expected, what stands there, and the likely fix."""

from __future__ import annotations

import re

from pyparsing import ParseBaseException

from rules.diagnostics import Diagnostic
from rules.grammar.blocks import KEYWORDS
from rules.grammar.boundaries import CLAUSES, LINES, SETTINGS, boundary, last_before
from rules.grammar.errors import UNITS, Refusal
from rules.grammar.habits import duration_meant, said_here
from rules.grammar.lexical import RESERVED, BlockText
from rules.grammar.window import WINDOWS
from rules.suggest import closest

_TOKEN = re.compile(r"`[^`\n]+`|\"(?:[^\"\\\n]|\\.)*\"|[0-9][\w.]*|\w+|->|=>|~>|==|!=|<=|>=|=~|\S")
_KNOWN = frozenset('()[]{},.:?+-*/%<>=!~|&"`#_&^')
_ENDS = frozenset(")]},")
_SHOWN = 40
_BEFORE = 2000
"""Characters in which the clause is looked for that a word stands in."""
_CLAUSE = re.compile(rf"\b(?:{'|'.join(CLAUSES)})\b")
_BODY = re.compile(r"\b(?:match|on|over)\b(?!\s+timeout\b)")
_JOINING = frozenset({"not", "absent"})
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
            help_ = said_here(problem.msg, span.text, text[max(start - _BEFORE, 0) : start]) or help_
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
    start, end = _found(text, 0)
    word = str(text[start:end])
    guess = closest(word, KEYWORDS)
    help_ = f"did you mean `{guess}`?" if guess and guess != word else "begin a block here, or remove it"
    if before and ("\n" not in text[:start] or boundary(before).at(text, start)):
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
    word = str(text[start:end])
    span = text.span(start, end)
    expected = (problem.msg or "").strip()
    expected = expected[:1].lower() + expected[1:]
    if expected in {"", "expected end of text"}:
        expected = "expected the next block"
    if word[:1].isdecimal() and "duration" in expected:
        message = f"`{_clipped(word)}` is not a duration"
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
    help_ = "strings stand in double quotes" if char in "'“”„‘’" else ""
    help_ = help_ or ("nothing is needed between clauses: remove it" if char == ";" else "remove it")
    return Diagnostic("CEP0108", "error", message, text.span(start, end), help=help_)


def _help(text: BlockText, start: int, end: int, word: str, expected: str, keyword: str) -> str:
    if word in RESERVED and "name" in expected:
        return f"`{word}` is reserved; in backquotes it is a name"
    before, following = text[max(start - _BEFORE, 0) : start], text[end:][:_SHOWN].lstrip()
    found = _help_in_clause(before, following, word) if "a clause of a rule" in expected else ""
    if (
        not found
        and "a field `name: type`" in expected
        and re.match(r"[^\W\d]", following)
        and word not in SETTINGS
    ):
        found = f"a field is written `{word}: type`" if word.isidentifier() else ""
    found = found or said_here(expected, word, before)
    if found:
        return found
    words = WINDOWS if "a window: " in expected else _WORDS.get(keyword, ()) if "`}`" in expected else ()
    guess = None if word in CLAUSES else closest(word, words)
    if guess is not None and guess != word:
        return f"did you mean `{guess}`?"
    listed = "a clause of a rule" in expected and _last_clause(before) in {"emit", "tags", "by"}
    if listed:
        return "a comma stands between the items of a list"
    return f"write that here, or remove `{_clipped(word)}`" if word else "write that before the block ends"


def _help_in_clause(before: str, following: str, word: str) -> str:
    """What helps an author who went on in a clause in a way that the language does not have."""
    clause = _last_clause(before)
    match clause:
        case "match" if following[:1] in {":", "["} or word in _JOINING:
            return "steps are joined by `->`, `=>` or `~>`"
        case "match" | "on" | "over" if word == "matching":
            return "`matching` names a block of `queries`; a query in quotes stands in `[field matches ...]`"
        case "match" | "on" | "over" if word == "(":
            return "a condition stands in square brackets: `stream[...]`"
        case "on" | "over" if word == ".":
            return "a window stands after its stream: `over stream sliding 5 minutes`"
        case "on" | "over" if word == ":":
            return "only the steps of a pattern have names: remove it"
        case "over" if word == "every":
            return "`sliding` is judged at each event; `hopping 1h every 5m` is judged every five minutes"
        case _ if word == "," and clause != "match":
            return "nothing stands between clauses: remove it"
        case "emit" if word in {"(", ":", ".", "as"}:
            return _emitted(before, word, following)
        case _:
            return ""


def _last_clause(before: str) -> str:
    """The keyword of the clause that a text ends in."""
    return next(reversed(_CLAUSE.findall(before)), "")


def _emitted(before: str, word: str, following: str) -> str:
    """How the value that `before` ends with is emitted."""
    start, rest = re.search(r"(\w+)\s*$", before), re.match(r"\w+", following)
    written = "name = value"
    match word:
        case "." if start and rest and _BODY.findall(before) == ["on"]:
            return f"a field of the event is emitted under its own name: `{rest[0]}`"
        case "." if start and rest:
            written = f"{rest[0]} = {start[1]}.{rest[0]}"
        case "as" if start and rest:
            written = f"{rest[0]} = {start[1]}"
        case "(" if start:
            written = f"name = {start[1]}(...)"
    return f"a value is emitted under a name: `{written}`"


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
