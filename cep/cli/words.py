"""Texts of `cep explain` for a function, and for `functions` and `codes`, which list all of a kind.

There are no other words, on purpose: what a message names (a function, a code) can be looked up, one or all.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict

from cep.cli.output import paint, terminal_width
from rules.functions import AGGREGATES, FUNCTIONS, NAVIGATION, OVER_WINDOWS, WINDOW_AGGREGATES
from rules.manual import Entry, entries

_WIDTH = 100
"""Cells of a line, where the terminal has more."""
_NAMES = 35
"""Cells of the column of calls; a longer one has a line of its own."""


def told(word: str, form: str) -> str | None:
    """The text for a word, in the form text or json; None for a word that is not known here."""
    known: Mapping[str, Callable[[str], str]] = {"functions": _functions, "codes": _codes}
    if word in known:
        return known[word](form)
    if any(word in names for names in (FUNCTIONS, AGGREGATES, NAVIGATION, WINDOW_AGGREGATES, OVER_WINDOWS)):
        return _function([entry for entry in entries() if entry.name == word], form)
    return None


def subjects() -> list[str]:
    """All words that are known here."""
    return ["functions", "codes", *dict.fromkeys(entry.name for entry in entries())]


def _functions(form: str) -> str:
    every = list(entries())
    if form == "json":
        return _json({"functions": [_dict(entry) for entry in every]})
    lines: list[str] = []
    for section in dict.fromkeys(entry.section for entry in every):
        lines += ["", paint(section[:1].upper() + section[1:], "bold", sys.stdout)]
        for entry in every:
            if entry.section == section:
                lines += _beside(entry.shown, entry.meaning)
    lines += ["", "`cep explain NAME` says of one what it takes and gives. docs/functions.md has all of it."]
    return "\n".join(lines[1:]) + "\n"


def _codes(form: str) -> str:
    from cep.explanation.pages import titles

    if form == "json":
        return _json({"codes": [{"code": code, "title": title} for code, title in titles().items()]})
    lines = [f"{paint(code, 'bold', sys.stdout):<8}  {title}" for code, title in titles().items()]
    return "\n".join(lines) + "\n"


def _function(found: Sequence[Entry], form: str) -> str:
    if form == "json":
        return _json({"functions": [_dict(entry) for entry in found]})
    lines: list[str] = []
    for entry in found:
        lines += ["", f"{paint(entry.shown, 'bold', sys.stdout)}  {entry.section}"]
        lines += textwrap.wrap(entry.meaning, _width(), initial_indent="  ", subsequent_indent="  ")
        wide = max(len(label) for label, _ in entry.facts)
        lines += [f"  {label:<{wide}}  {value}" for label, value in entry.facts]
    return "\n".join(lines[1:]) + "\n"


def _beside(shown: str, meaning: str) -> Iterator[str]:
    """A call, and its meaning in a column of its own."""
    left = f"  {shown}"
    wrapped = textwrap.wrap(meaning, max(_width() - _NAMES, _NAMES)) or [""]
    if len(left) + 2 > _NAMES:
        yield left
        left = ""
    for number, line in enumerate(wrapped):
        yield f"{left if number == 0 else '':<{_NAMES}}{line}".rstrip()


def _dict(entry: Entry) -> dict[str, object]:
    return {**asdict(entry), "facts": [{"label": label, "value": value} for label, value in entry.facts]}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def _width() -> int:
    return min(terminal_width(sys.stdout) or _WIDTH, _WIDTH)
