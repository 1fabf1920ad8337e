"""Syntax errors of TOML: tomllib's, in our words and with a place."""

from __future__ import annotations

import re

from cep.config.places import Places, places_of
from percolator.query.unseen import unseen
from rules.diagnostics import Diagnostic
from rules.source import SourceFile, Span

_QUOTED = 'text stands in quotes: name = "fraud"'
_ONE = "put the keys of both under one of them"
_PAIR = 'a key is written as name = "fraud", a comment begins with #'
_SAID = (
    ("Invalid value", "this is no value", _QUOTED),
    ("Invalid date or datetime", "this is no time", "write 2026-01-05T09:00:00Z, or text in quotes"),
    ("Expected '=' after a key", "a key without `=`", _PAIR),
    ("Invalid statement|Invalid initial character", "this is neither a key nor a [table]", _PAIR),
    ("Expected newline or end", "the line goes on behind its value", "write one key a line"),
    (r"Expected '\]", "the `[` of a table is not closed", "write `]` behind the table's name"),
    ("Cannot declare|Cannot redefine|Cannot mutate", "this table is written twice", _ONE),
    ("Cannot overwrite|Duplicate inline", "this key is written twice", "remove one of them"),
    ("Unclosed array", "the `[` of a list is never closed", "write `]` behind its last value"),
    (
        "Unclosed inline table",
        "the `{` of a table is not closed on its line",
        "write `}` behind its last value",
    ),
    ("Unescaped", r"`\` begins a special character", r"write `\\`, or single quotes: 'C:\data'"),
    ("Invalid hex|Escaped character", "this is no character", "write the character itself"),
    ('Unterminated|Expected ["\'].?"', "the text is never closed", "write a quote behind it"),
    (r"Illegal character '\\n'", "the text is not closed on its line", "write a quote behind it"),
    ("Illegal character|Found invalid character", "this character cannot stand here", "remove it"),
)
"""Beginnings of tomllib's messages (Python 3.11 to 3.13), what is wrong, and what to write."""
_WORDS = {
    "true": "true",
    "yes": "true",
    "on": "true",
    "false": "false",
    "no": "false",
    "off": "false",
}


def not_toml(message: str, file: SourceFile) -> Diagnostic:
    """The diagnostic for the message of a TOMLDecodeError."""
    told, line, column = _what_and_where(message)
    start = file.line_starts[line - 1] + column - 1 if line else len(file.text.rstrip())
    said, span, help_ = _in_our_words(told, file, start, "docs/job.md shows a whole one")
    if said.endswith("twice") and (twice := places_of(file).twice):
        span = twice[0]
    return Diagnostic("CEP0702", "error", f"the job file is not TOML: {said}", span, help=help_)


def too_deep(file: SourceFile) -> Diagnostic:
    """The diagnostic for lists or tables in one another that nobody can follow."""
    said, help_ = "lists or tables are nested too deeply", "docs/job.md shows a whole one"
    return Diagnostic("CEP0702", "error", f"the job file is not TOML: {said}", Span(file, 0, 0), help=help_)


def unseen_in(file: SourceFile) -> list[Diagnostic]:
    """The characters of a job file that cannot be seen, which may make it read as what it is not."""
    found = [(f"{what} cannot be seen here", Span(file, at, at + 1)) for at, what in unseen(file.text)]
    return [Diagnostic("CEP0706", "error", said, span, help="remove it") for said, span in found]


def no_table(message: str, file: SourceFile, before: int, places: Places) -> Diagnostic:
    """The diagnostic for an option whose text is no inside of an inline table.

    The message counts on one line, in which `before` characters fewer stand before the option's text.
    """
    told, line, column = _what_and_where(message)
    start = min(column - 1 - before, len(file.text)) if line else len(file.text)
    said, span, help_ = _in_our_words(told, file, start, "docs/feeds.md shows one")
    if help_ == _QUOTED:
        help_ = "text stands in quotes, and the option in others: --feed payment='zone=\"UTC\"'"
    elif told.startswith("Expected newline"):
        said, help_ = "something stands behind the closing `}`", "remove it, or put `,` before it"
    elif said.endswith("twice") and places.twice:
        span = places.twice[0]
    return Diagnostic("CEP0730", "error", f"--feed is no inline table of TOML: {said}", span, help=help_)


def _what_and_where(message: str) -> tuple[str, int, int]:
    """A message of tomllib without its place, then line and column, from 1; both 0 at the end of the text."""
    found = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
    if found is None:
        return message, 0, 0
    return message[: found.start()], int(found[1] or 0), int(found[2] or 0)


def _in_our_words(told: str, file: SourceFile, start: int, otherwise: str) -> tuple[str, Span, str]:
    """Message, place and help for an error of tomllib; the help is `otherwise` where we know no better."""
    span = Span(file, start, min(start + 1, len(file.text)))
    said, help_ = told[:1].lower() + told[1:], otherwise
    for beginning, ours, fix in _SAID:
        if re.match(beginning, told):
            said, help_ = ours, fix
            break
    if span.text in "“”„‘’«»" and span.text:
        help_ = 'write straight quotes: name = "fraud"'
    word = re.match(r"\w+", file.text[start:])
    if told == "Invalid value" and word is not None:
        if word[0].lower() in _WORDS:
            help_ = f"write `{_WORDS[word[0].lower()]}`"
        elif word[0].lower() in ("none", "null", "nil"):
            help_ = "leave the key out: it then has its default"
        span = Span(file, start, start + len(word[0]))
    return said, span, help_
