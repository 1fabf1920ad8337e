"""Phrases of other languages, each with help: the text around a word says what the author means.

The first phrase that fits counts. `habits` looks them up, before the tables of `foreign_words`.
"""

from __future__ import annotations

import re

from rules.called_elsewhere import SHOWN, called_here
from rules.counting import as_pattern, least_count
from rules.functions import WINDOW_AGGREGATES
from rules.grammar.boundaries import CLAUSES as OF_A_RULE
from rules.grammar.foreign_strings import LETTERS, lettered
from rules.grammar.foreign_times import ISO, duration_meant, instant_meant, interval_meant, quoted_duration
from rules.grammar.foreign_windows import view_meant
from rules.grammar.foreign_words import (
    ABSENT,
    BEHIND,
    BRACES,
    CHOICE,
    CLAUSES,
    CONDITION,
    EITHER,
    EVENT,
    EVERY_NAME,
    EXPECTED,
    HOPS,
    JOINED,
    NAMED,
    NUMBER,
    ONE_TEXT,
    SOME_EVENTS,
)
from rules.grammar.lexical import RESERVED
from rules.grammar.phrases import BEFORE_IT, Phrase, UnexpectedToken
from rules.instants import DURATION

_BODY_WORD = re.compile(r"\b(?:match|on|over)\b(?!\s+timeout\b)")


def _behind(found: UnexpectedToken) -> str:
    return BEHIND.get(found.clause, {}).get(found.word.lower(), "")


def _emitted(found: UnexpectedToken) -> str:
    """Help that writes the value before the word as a field of `emit`."""
    start, rest = BEFORE_IT.search(found.before), re.match(r"\w+", found.following.lstrip('"'))
    written = "name = value"
    match found.word.lower():
        case "." if start and rest and _BODY_WORD.findall(found.before) == ["on"]:
            return f"a field of the event is emitted under its own name: `{rest[0]}`"
        case "." if start and rest:
            written = f"{rest[0]} = {start[1]}.{rest[0]}"
        case "as" if start and rest:
            written = f"{rest[0]} = {start[1]}"
        case ":" if start and rest:
            written = f"{start[1]} = {rest[0]}"
        case "(" if start:
            written = f"name = {start[1]}(...)"
    return f"a value is emitted under a name: `{written}`"


def _in_small_letters(found: UnexpectedToken) -> str:
    before = BEFORE_IT.search(found.before)
    for written in (found.word, before[1] if before else ""):
        if written.lower() in RESERVED and written != written.lower():
            return f"keywords are written in small letters: `{written.lower()}`"
    return ""


def _counted(found: UnexpectedToken) -> str:
    """Help for `count(*)`: `count()` in a window; in the condition of a single event, a pattern."""
    if found.clause not in ("on", "match"):
        return "events are counted by `count()`"
    asked = re.match(r"\)\s*(>=?|==?)\s*([0-9]+)\b", found.following)
    least = least_count("==" if asked[1] == "=" else asked[1], int(asked[2])) if asked else None
    return f"several events are a pattern: {as_pattern('s[...]', least)}"


def _method(found: UnexpectedToken) -> str:
    of_window = {name: one.shown for name, one in WINDOW_AGGREGATES.items()}
    shown = {**SHOWN, **of_window} if _BODY_WORD.findall(found.before) == ["over"] else SHOWN
    ours = f"write `{shown[found.last]}`" if found.last in shown else called_here(found.last, shown)
    return f"values have no methods: {ours}" if ours else ""


def _without_quotes(found: UnexpectedToken) -> str:
    plain = re.sub(r"\W+", "_", found.word.strip('"')).strip("_")
    return f"a name stands without quotes: `{plain}`" if plain else "names stand without quotes"


def _for_clauses(*phrases: Phrase) -> tuple[Phrase, ...]:
    """The phrases, where a clause of a rule is expected."""
    return tuple(
        Phrase(p.help, p.word, "a clause of a rule", p.clause, p.before, p.following) for p in phrases
    )


_NAME, _STRING, _BOTH = r"[^\W\d]\w*", r'".*', r"an operator or|^expected a value"
_VALUE, _OPERATOR = r"^expected a value", "an operator or"
PHRASES = (
    *_for_clauses(
        Phrase(lettered, r'".*', clause="emit|by|tags", before=LETTERS),
        Phrase(view_meant, r"\.", clause="match|over|on"),
        Phrase(EVERY_NAME, r"\.", clause="emit", following=r"\*"),
        Phrase(_emitted, r"\(|:|\.|as", clause="emit"),
        Phrase(
            "what is emitted is always final: remove `$last`", clause="emit", before=r"\b(?:final|running)"
        ),
        Phrase(ONE_TEXT, _STRING, clause="summary"),
        Phrase(
            "what must not happen for a while is `absent $stream[...] for 5 minutes`",
            "for",
            clause="match",
            before=r"\bnot\s+(?P<stream>\w+)(?:(?!->|=>).)*",
        ),
        Phrase(ABSENT, clause="match", before=r"\b(?:no|without|never)"),
        Phrase(
            "a pattern begins anew at every event that fits: remove `every`",
            clause="match",
            before=r"\bevery",
        ),
        Phrase(CONDITION, r"\.", clause="match", following=r"where|with"),
        Phrase(
            "a step is named by a colon: `$word: $last`",
            _NAME,
            clause="match",
            before=r"\w",
            following="[-=~]>",
        ),
        Phrase(NAMED, _NAME, clause="match", following="[-=~]>"),
        Phrase(NUMBER, r"\(", clause="match", following=r"[0-9]+\s*[,)]"),
        Phrase(NUMBER, r"\{", clause="match", following=r"[\w.,\s<>=-]*\}"),
        Phrase(CONDITION, r"\{", clause="match"),
        Phrase(
            "the condition stands in one pair of brackets, before the number: `s[a and b]{3}`",
            r"\[",
            clause="match",
            before=r"[}\]+*?]",
        ),
        Phrase(EITHER, ",", clause="on", following=rf"(?!(?:{'|'.join(OF_A_RULE)})\b){_NAME}"),
        Phrase(_in_small_letters, clause="having"),
        Phrase(_method, r"\(", clause="having", before=r"\.\s*\w+"),
        Phrase(_behind),
        Phrase(JOINED, clause="match", following=r"[:\[+*]"),
        Phrase(JOINED, "not|absent", clause="match"),
        Phrase(NUMBER, r"[0-9].*", clause="match"),
        Phrase("nothing stands between clauses: remove it", ",", clause="(?!match).*"),
    ),
    # how it is written
    Phrase("what must not happen has no name: `not stream[...]`", ":", before=r"\bnot\s+\w+"),
    Phrase("only names are followed by a colon: remove it", ":", before=rf"\b(?:{'|'.join(CLAUSES)})"),
    Phrase("strings have no letter before them: remove it", _NAME, "a string in quotes", following='"'),
    Phrase("strings stand in double quotes", "`.*", "a string in quotes"),
    Phrase(
        'write it in quotes: `"$word$rest"`',
        _NAME,
        "a string in quotes",
        following=r"(?P<rest>[\w:/.?=&%+~-]*)",
    ),
    Phrase("a severity stands without quotes", _STRING, "a severity"),
    Phrase("severities are critical, high, medium, low, info", expected="a severity"),
    Phrase(_without_quotes, _STRING, "name"),
    Phrase("names stand without quotes", _STRING, "^expected a field$"),
    Phrase("a comma stands between values", _NAME, "^expected `,` or `}`$"),
    Phrase(NUMBER, r"[0-9].*", "^expected a step$"),
    Phrase(BRACES, "|".join((*sorted(CLAUSES), "as")), "^expected `{`$"),
    Phrase(
        "a name is one word: `${name}_$word`",
        _NAME,
        "^expected `{`$",
        before=r"\b(?:stream|rule|queries|table)\s+(?P<name>\w+)",
    ),
    Phrase(BRACES, expected="^expected `{`$", following=":"),
    Phrase(EXPECTED, expected="or `nothing`", following=":"),
    Phrase(EXPECTED, "[0-9].*", "or `nothing`"),
    Phrase(EVENT, _NAME, "expected `at`, `expect`", following=r"\{"),
    Phrase("a test names its rule: `test RULE $word`", _STRING, r"a rule or `\*`"),
    Phrase('write it in quotes: `"$word"`', _NAME, "the test's title"),
    Phrase(
        "the `?` stands behind the type: `$word: type?`", expected="a field `name: type`", following=r"\?"
    ),
    # values
    Phrase(lettered, _STRING, _BOTH, before=LETTERS),
    Phrase(_in_small_letters, expected=_BOTH),
    Phrase(CHOICE, expected=_BOTH, before=r"\bif"),
    Phrase("did you mean `is not null`?", "is", _OPERATOR, following=r"not\s+(?:none|nil|null)\b"),
    Phrase("did you mean `is null`?", "is", _OPERATOR, following=r"(?:none|nil|null)\b"),
    Phrase("`in` and `not in` stand without `is`", "is", _OPERATOR, following=r"(?:not\s+)?in\b"),
    Phrase(
        "a number begins with a digit: `0.$digits`",
        r"\.",
        r"^expected a value(?! after `\?`)",
        following=r"(?P<digits>[0-9]+)",
    ),
    Phrase("a field stands without a dot", r"\.", r"^expected a value(?! after `\?`)"),
    Phrase("write a condition in the brackets, or remove them", r"\]", "^expected a value$"),
    Phrase("did you mean `$sign=`?", "=", _VALUE, before="(?P<sign>[<>!=])"),
    Phrase("different values are counted by `distinct(...)`", expected=_BOTH, before=r"\bdistinct"),
    Phrase(
        lambda found: f"an instant is a string alone, with its zone: `{instant_meant(found.word)}`",
        _STRING,
        _BOTH,
        before=r"\b(?:timestamp|date|datetime|time)",
    ),
    Phrase(lambda found: interval_meant(found.word + found.following), expected=_BOTH, before=r"\binterval"),
    Phrase(
        SOME_EVENTS,
        "where|filter|if|when",
        _OPERATOR,
        clause="having|emit|over",
        before=r"\b(?:count|sum|avg|min|max|distinct|stddev)\s*\([^()]*",
    ),
    Phrase(_counted, r"\*", _VALUE, before=r"\bcount\s*\("),
    Phrase(lambda found: duration_meant(found.last, found.word), _NAME, _OPERATOR, before=r"\b[0-9]+"),
    Phrase("did you mean `==`?", ":", _OPERATOR, following="="),
    Phrase(
        "rules ask no tables by `select`: write `in (a, b)`, or name a `table` or a list",
        expected=_OPERATOR,
        before=r"\bselect",
    ),
    Phrase("write `between $last and ...`", r"\.", _OPERATOR, before=r"\b[0-9]+", following=r"\."),
    Phrase("a number ends with a digit: `$last.0`", r"\.", _OPERATOR, before=r"\b[0-9]+"),
    Phrase(lambda _: called_here("cast"), "as", _OPERATOR, before=r"\bcast\s*\(\s*[\w.]+"),
    Phrase("the events of a step are counted by `count($last)`", r"\.", _OPERATOR, following=r"\*"),
    Phrase("a comma stands between values", _STRING, r"an operator or `\)`"),
    Phrase("digits are grouped by `_`: `1_000`", ",", _OPERATOR, before=r"\b[0-9]+", following=r"[0-9]{3}\b"),
    Phrase(
        "a number has a point and groups its digits by `_`: `1_000.50`",
        ",",
        _OPERATOR,
        before=r"[0-9]",
        following=r"[0-9]",
    ),
    Phrase("a list stands in parentheses: `in (a, b)`", ",", _OPERATOR, before=r"\bin\s[^()]*"),
    Phrase("conditions are joined by `and`", ",", _OPERATOR),
    Phrase(_method, r"\(", _OPERATOR, before=r"\w"),
    Phrase(lambda _: called_here("cast"), ":", _OPERATOR, following=":"),
    Phrase(
        "functions stand without the name of a library: `lower(kind)`", ":", _OPERATOR, following=r"\w+\s*\("
    ),
    Phrase('write `not (a =~ "...")`', "not", _OPERATOR, following=r"=~|~|matches\b|contains\b"),
    # times
    Phrase(view_meant, r"\.", "a window: "),
    Phrase(HOPS, expected="^expected `every`$"),
    Phrase("write `last $number events`", expected="^expected `events`$", before=r"\blast\s+(?P<number>\w+)"),
    Phrase("a window of time is `sliding 5 minutes` or `tumbling 5 minutes`", "[0-9].*", "a window: "),
    Phrase("a window of time is `sliding $word`", DURATION, "a whole number"),
    Phrase("a duration is written `5m` or `5 minutes`", ISO.pattern, "a duration"),
    Phrase("the time comes first: `suppress 1 hour by card_id`", _NAME, "a duration", before=r"\bsuppress"),
    Phrase(lambda found: interval_meant(found.following), "interval", "a duration"),
    Phrase(lambda found: quoted_duration(found.word), _STRING, "a duration"),
)
