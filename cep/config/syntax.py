"""What tomllib says of a text that is no TOML, in our words and with a place."""

from __future__ import annotations

import re

from cep.config.places import places_of
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
    found = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
    told = message[: found.start()] if found else message
    if found and found[1]:
        start = file.line_starts[int(found[1]) - 1] + int(found[2]) - 1
    else:
        start = len(file.text.rstrip())
    span = Span(file, start, min(start + 1, len(file.text)))
    said, help_ = told[:1].lower() + told[1:], "docs/job.md shows a whole one"
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
    twice = places_of(file).twice if said.endswith("twice") else []
    return Diagnostic(
        "CEP0702", "error", f"the job file is not TOML: {said}", twice[0] if twice else span, help=help_
    )
