"""What authors bring from other languages, SQL, EPL, Siddhi, KQL, and how it is said here.

By what is expected where it stands; words without regard to case.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rules.grammar.lexical import RESERVED

_CONDITION = "a condition stands in square brackets: `stream[...]`"
_JOINED = "steps are joined by `->`, `=>` or `~>`"
_CLAUSES = frozenset(
    {"on", "match", "over", "by", "emit", "severity", "within", "summary", "tags", "suppress"}
)
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
    **dict.fromkeys(["group", "partition", "keyby", "per"], _KEY),
    **dict.fromkeys(
        ["select", "return", "project", "measures"], "an alert carries what `emit` names: `emit n = a.n`"
    ),
    "insert": "`into STREAM` makes events of a rule's alerts",
    **dict.fromkeys(
        ["description", "desc", "comment", "doc"], 'write `summary "..."`, or a comment: `# ...`'
    ),
    **dict.fromkeys(
        ["alert", "message", "title"], 'an alert says `summary "..."` and carries what `emit` names'
    ),
    "priority": "write `severity high`",
    "for": "`for` belongs to `absent`; a pattern is bounded by `within 1 hour`",
}
_HABITS: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("a clause of a rule", _OF_A_RULE),
    (
        "a field `name: type`",
        {
            ",": "nothing separates fields: remove it",
            "(": "types have no length: `string`, `decimal`",
            "[": "a list is written `list<string>`",
            "<": "types that hold others are `list<string>` and `{ name: string }`",
        },
    ),
    ("expected `{`", {"-": "a name has no `-`: write `_`, or put the name in backquotes"}),
    ("expected `=`", {":": "a constant is written `let name = value`"}),
    ("a string in quotes", {"[": "a list of tags needs no brackets"}),
    ("the test's title", {"{": 'a test has a title: `test r "what happens" { ... }`'}),
    ("a window: ", {"session": "write `session gap` and a duration"}),
    ("or `nothing`", dict.fromkeys(["none", "no", "empty", "null", "not"], "did you mean `nothing`?")),
    ("or `none`", {"to": "a step is skipped to by `to first STEP` or `to last STEP`"}),
    ("expected `:`", {"=": "did you mean `:`?"}),
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
            "is": "`is` asks for null: `is null`, `is not null`; values are compared by `==` and `!=`",
            "not": "`not` stands before `in`, `between` and `like`, and in `is not null`",
            "exists": "write `is not null`",
            "ilike": 'a comparison in small letters: `lower(field) like "..."`',
        },
    ),
    ("expected a value after `in`", {"[": "a list stands in parentheses: `in (a, b)`"}),
    ("expected a value after `count`", {"*": "events are counted by `count()`"}),
    ("expected a value", {"!": "did you mean `not`?", "=": "here `=` stands once"}),
)
_CALLS = {
    **dict.fromkeys(
        ["now", "today", "current_time", "current_timestamp"], "rules see no clock: compare event times"
    ),
    **dict.fromkeys(["concat", "format", "printf"], 'texts are put together in `summary "{a} {b}"`'),
    **dict.fromkeys(["if", "iff", "iif", "case"], _CHOICE),
    **dict.fromkeys(["ifnull", "nvl"], "write `coalesce(a, b)`"),
    **dict.fromkeys(["isnull", "isnan", "isempty"], "write `is null`"),
    **dict.fromkeys(["contains", "instr", "strpos"], 'write `like "%...%"`, or `matches "..."` for a text'),
    **dict.fromkeys(["startswith", "starts_with"], 'write `like "...%"`'),
    **dict.fromkeys(["endswith", "ends_with"], 'write `like "%..."`'),
    **dict.fromkeys(["regexp_like", "regexp", "rlike", "matches"], 'write `=~ "..."`'),
    **dict.fromkeys(
        ["cast", "convert", "float", "number", "int", "integer", "long", "str", "string"],
        "`double(x)` and `decimal(x)` convert numbers; nothing else is converted",
    ),
}
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
    if "a duration" in expected and word.startswith('"'):
        return 'times are durations; a test counts them from `start "2026-01-05T09:00Z"`'
    if expected == "expected a field" and word.startswith('"'):
        return "names stand without quotes"
    if expected == "expected `,` or `}`" and word.isidentifier():
        return "a comma stands between values"
    if "a severity" in expected and word.startswith('"'):
        return "a severity stands without quotes"
    if operator and previous and previous[1].lower() == "if":
        return _CHOICE
    if operator and previous and previous[1].lower() == "distinct":
        return "different values are counted by `distinct(...)`"
    if expected == "expected an operator or `)`" and word.startswith('"'):
        return "a comma stands between values"
    if word == ":" and previous and previous[1] in _CLAUSES:
        return "only names are followed by a colon: remove it"
    if "a duration" in expected and previous and previous[1] == "suppress":
        return "the time comes first: `suppress 1 hour by card_id`"
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


def called_here(name: str) -> str:
    """The help for a function of another language, empty for others."""
    return _CALLS.get(name.lower(), "")
