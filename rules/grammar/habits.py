"""What authors bring from other languages, SQL, EPL, Siddhi, KQL, and how it is said here.

By what is expected where it stands; words without regard to case.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rules.grammar.lexical import RESERVED

_CONDITION = "a condition stands in square brackets: `stream[...]`"
_JOINED = "steps are joined by `->`, `=>` or `~>`"
_WINDOW = "a window stands after its stream: `over stream sliding 5 minutes`"
_KEY = "the key stands after `by`: `by card_id`"
_BODY = "a rule looks at `on STREAM[...]`, `match PATTERN` or `over STREAM[...] WINDOW`"
_PATTERN = "a pattern is written `match a: s[...] -> b: s[...]`; it begins anew at every event that fits"
_CHOICE = "a choice is written `condition ? value : other`"

_OF_A_RULE = {
    **dict.fromkeys(["where", "when", "if", "filter"], _CONDITION),
    **dict.fromkeys(["followed", "followedby", "followedbyany", "then", "and", ","], _JOINED),
    **dict.fromkeys(["pattern", "sequence", "every", "seq", "match_recognize"], _PATTERN),
    **dict.fromkeys(["from", "join", "|"], _BODY),
    **dict.fromkeys(["window", "timewindow", "win"], _WINDOW),
    **dict.fromkeys(["group", "partition", "keyby"], _KEY),
    **dict.fromkeys(
        ["select", "return", "project", "measures"], "an alert carries what `emit` names: `emit n = a.n`"
    ),
    "insert": "`into STREAM` makes events of a rule's alerts",
    "for": "`for` belongs to `absent`; a pattern is bounded by `within 1 hour`",
}
_HABITS: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("a clause of a rule", _OF_A_RULE),
    ("a field `name: type`", {",": "nothing separates fields: remove it"}),
    ("expected `{`", {"-": "a name has no `-`: write `_`, or put the name in backquotes"}),
    ("expected `=`", {":": "a constant is written `let name = value`"}),
    ("a string in quotes", {"[": "a list of tags needs no brackets"}),
    ("the test's title", {"{": 'a test has a title: `test r "what happens" { ... }`'}),
    ("a window: ", {"session": "write `session gap` and a duration"}),
    ("an emitted name", dict.fromkeys("{(", "a list of names needs no brackets")),
    (
        "an operator or",
        {
            ",": "a list stands in parentheses: `in (a, b)`; digits are grouped by `_`: `1_000`",
            "(": "a function is called as `name(value)`; values have no methods",
            "contains": 'write `=~ "..."`, or `matches "..."` for a field of type text',
            **dict.fromkeys(["startswith", "starts"], 'write `like "...%"`'),
            **dict.fromkeys(["endswith", "ends"], 'write `like "%..."`'),
            **dict.fromkeys(["then", "when"], _CHOICE),
            "is": "only `is null` and `is not null` can be asked by `is`",
        },
    ),
    ("expected a value after `in`", {"[": "a list stands in parentheses: `in (a, b)`"}),
    ("expected a value after `count`", {"*": "events are counted by `count()`"}),
    ("expected a value", {"!": "did you mean `not`?", "=": "here `=` stands once"}),
)
_UNITS = {
    "ms": ("ms", "msec", "millis", "milliseconds"),
    "s": ("sec", "secs"),
    "m": ("min", "mins"),
    "h": ("hr", "hrs"),
}
_NEXT_WORD = re.compile(r"\s*([^\W\d]+)")


def said_here(expected: str, word: str, before: str) -> str:
    """The help for a word of another language, empty for others; `before` is the text before it."""
    previous = re.search(r"(\w+)\s*$", before)
    operator = "an operator or" in expected or expected.startswith("expected a value")
    for written in (word, previous[1] if previous else ""):
        if operator and written.lower() in RESERVED and written != written.lower():
            return f"keywords are written in small letters: `{written.lower()}`"
    if word == ":" and re.search(r"\bnot\s+\w+\s*$", before):
        return "what must not happen has no name: `not stream[...]`"
    if "a string in quotes" in expected and word.isidentifier():
        return f'write it in quotes: `"{word}"`'
    if "a severity" in expected and word.startswith('"'):
        return "a severity stands without quotes"
    for wanted, habits in _HABITS:
        if wanted in expected and word.lower() in habits:
            return habits[word.lower()]
    return ""


def duration_meant(number: str, following: str) -> str:
    """The help for a number whose unit is none of ours; empty where nothing is meant."""
    found = _NEXT_WORD.match(following)
    written = number.lstrip("0123456789_") or (found[1] if found else "")
    digits = number[: len(number) - len(number.lstrip("0123456789_"))]
    for unit, others in _UNITS.items():
        if written.lower() in others:
            return f"did you mean `{digits}{unit}`?"
    return ""
