"""What authors bring from other languages, SQL, EPL, Siddhi, Sigma, KQL, Python, and how it is said here.

By what is expected where it stands and, in a rule, by the clause before it; words without regard to case.
`foreign_words` has the tables, `foreign_times` the durations, `rules.called_elsewhere` the functions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rules.called_elsewhere import SHOWN, called_here
from rules.counting import as_pattern, least_count
from rules.grammar.boundaries import CLAUSES as OF_A_RULE
from rules.grammar.foreign_times import ISO, duration_meant, instant_meant, interval_meant, quoted_duration
from rules.grammar.foreign_words import (
    ABSENT,
    BEHIND,
    BEHIND_OVER,
    BETWEEN_BLOCKS,
    BRACES,
    CHARACTERS,
    CHOICE,
    CLAUSES,
    CONDITION,
    EITHER,
    EVENT,
    EVERY_NAME,
    EXPECTED,
    HABITS,
    JOINED,
    NAMED,
    NUMBER,
    ONE_TEXT,
)
from rules.grammar.lexical import RESERVED
from rules.instants import DURATION

_BEFORE_IT = re.compile(r"(\w+)\s*$")
_NAMED_BLOCK = re.compile(r"\b(?:stream|rule|queries|table)\s+\w+\s*$")
_BODY_WORD = re.compile(r"\b(?:match|on|over)\b(?!\s+timeout\b)")


@dataclass(frozen=True, slots=True)
class Found:
    """What stands where something else was expected.

    `expected` is the message, `word` the token; `before` and `following` are the text around it. `clause` is
    the word of the rule's clause that the text before ends in; empty where there is none.
    """

    expected: str
    word: str
    before: str
    following: str
    clause: str = ""

    @property
    def last(self) -> str:
        """The word right before, in small letters; empty where there is none."""
        found = _BEFORE_IT.search(self.before)
        return found[1].lower() if found else ""


def said_here(found: Found) -> str:
    """The help for a word of another language, empty for others."""
    word = found.word.lower()
    if "a clause of a rule" in found.expected and (help_ := _behind_clause(found, word)):
        return help_
    if help_ := _as_written(found) or _value(found) or _time(found):
        return help_
    for wanted, habits in HABITS:
        if wanted in found.expected and word in habits:
            return habits[word]
    return ""


def _as_written(found: Found) -> str:
    """What helps by how a word is written: its case, quotes, brackets and colons."""
    expected, word, before = found.expected, found.word, found.before
    if word == ":" and re.search(r"\bnot\s+\w+\s*$", before):
        return "what must not happen has no name: `not stream[...]`"
    if word == ":" and found.last in CLAUSES:
        return "only names are followed by a colon: remove it"
    if "a string in quotes" in expected and word.isidentifier() and found.following.startswith('"'):
        return "strings have no letter before them: remove it"
    if "a string in quotes" in expected and word.startswith("`"):
        return "strings stand in double quotes"
    if "a string in quotes" in expected and word.isidentifier():
        rest = re.match(r"[\w:/.\-?=&%+~]*", found.following)
        return f'write it in quotes: `"{word}{rest[0] if rest else ""}"`'
    if "a severity" in expected:
        return "a severity stands without quotes" if word.startswith('"') else _SEVERITIES
    if "name" in expected and word.startswith('"'):
        plain = re.sub(r"\W+", "_", word.strip('"')).strip("_")
        return f"a name stands without quotes: `{plain}`" if plain else "names stand without quotes"
    if expected == "expected a field" and word.startswith('"'):
        return "names stand without quotes"
    if expected == "expected `,` or `}`" and word.isidentifier():
        return "a comma stands between values"
    if expected == "expected a step" and word[:1].isdigit():
        return NUMBER
    if expected == "expected `{`" and _NAMED_BLOCK.search(before) and word.isidentifier():
        return BRACES if word.lower() in (*CLAUSES, "as") else f"a name is one word: `{found.last}_{word}`"
    if expected == "expected `{`" and found.following.startswith(":"):
        return BRACES
    if "or `nothing`" in expected and (found.following.startswith(":") or word[:1].isdigit()):
        return EXPECTED
    if "expected `at`, `expect`" in expected and found.following.startswith("{") and word.isidentifier():
        return EVENT
    if "a rule or `*`" in expected and word.startswith('"'):
        return f"a test names its rule: `test RULE {word}`"
    if "the test's title" in expected and word.isidentifier():
        return f'write it in quotes: `"{word}"`'
    if "a field `name: type`" in expected and found.following.startswith("?"):
        return f"the `?` stands behind the type: `{word}: type?`"
    return ""


_SEVERITIES = "severities are critical, high, medium, low, info"


def _value(found: Found) -> str:
    """What helps within an expression."""
    expected, word, last = found.expected, found.word, found.last
    operator = "an operator or" in expected
    if not operator and not expected.startswith("expected a value"):
        return ""
    before = _BEFORE_IT.search(found.before)
    for written in (word, before[1] if before else ""):
        if written.lower() in RESERVED and written != written.lower():
            return f"keywords are written in small letters: `{written.lower()}`"
    if last == "if":
        return CHOICE
    if (
        word == "is"
        and operator
        and re.match(r"(?:not\s+)?(?:none|nil|NULL)\b", found.following, re.IGNORECASE)
    ):
        return (
            "did you mean `is not null`?" if found.following.startswith("not") else "did you mean `is null`?"
        )
    if word == "is" and operator and re.match(r"not\s+in\b|in\b", found.following):
        return "`in` and `not in` stand without `is`"
    if word == "." and not operator:
        digits = re.match(r"[0-9]+", found.following)
        return f"a number begins with a digit: `0.{digits[0]}`" if digits else "a field stands without a dot"
    if word == "]" and expected == "expected a value":
        return "write a condition in the brackets, or remove them"
    if word == "=" and found.before.endswith((">", "<", "> ", "< ", "! ", "= ")):
        return f"did you mean `{found.before.strip()[-1]}=`?"
    if last == "distinct":
        return "different values are counted by `distinct(...)`"
    if last in ("timestamp", "date", "datetime", "time") and word.startswith('"'):
        return f"an instant is a string alone, with its zone: `{instant_meant(word)}`"
    if last == "interval":
        return interval_meant(word + found.following)
    if word == "*" and last == "" and found.before.rstrip().endswith("count("):
        return _counted(found)
    if not operator:
        return ""
    if last.isdigit() and (meant := duration_meant(last, word)):
        return meant
    if word == ":" and found.following.startswith("="):
        return "did you mean `==`?"
    if last == "select":
        return "rules ask no tables by `select`: write `in (a, b)`, or name a `table` or a list"
    if word == "." and last.isdigit() and found.following.startswith("."):
        return f"write `between {last} and ...`"
    if word == "." and last.isdigit():
        return f"a number ends with a digit: `{last}.0`"
    if word == "as" and re.search(r"\bcast\s*\(\s*[\w.]+\s*$", found.before):
        return called_here("cast")
    if word == "." and found.following.startswith("*"):
        return f"the events of a step are counted by `count({last})`"
    if word.startswith('"') and expected.endswith("`)`"):
        return "a comma stands between values"
    if word == ",":
        return _comma(found)
    if word == "(" and last in SHOWN:
        return f"values have no methods: write `{SHOWN[last]}`"
    if word == "(" and (ours := called_here(last)):
        return f"values have no methods: {ours}"
    if word == ":" and re.match(r":", found.following):
        return called_here("cast")
    if word == ":" and re.match(r"\s*\w+\s*\(", found.following):
        return "functions stand without the name of a library: `lower(kind)`"
    if word.lower() == "not" and re.match(r"\s*(?:=~|~|matches\b|contains\b)", found.following):
        return 'write `not (a =~ "...")`'
    return ""


def _counted(found: Found) -> str:
    """What `count(*)` stands for: a window's events; in the condition of one event, a pattern."""
    if found.clause not in ("on", "match"):
        return "events are counted by `count()`"
    asked = re.match(r"\)\s*(>=?|==?)\s*([0-9]+)\b", found.following)
    least = least_count("==" if asked[1] == "=" else asked[1], int(asked[2])) if asked else None
    return f"several events are a pattern: {as_pattern('s[...]', least)}"


def _comma(found: Found) -> str:
    """What a comma in a condition may mean."""
    if re.search(r"[0-9]$", found.before) and re.match(r"[0-9]{3}\b", found.following):
        return "digits are grouped by `_`: `1_000`"
    if re.search(r"[0-9]$", found.before) and re.match(r"[0-9]", found.following):
        return "a number has a point and groups its digits by `_`: `1_000.50`"
    if re.search(r"\bin\s+[^()]*$", found.before):
        return "a list stands in parentheses: `in (a, b)`"
    return "conditions are joined by `and`"


def _time(found: Found) -> str:
    """What helps where a duration is expected, or the size of a window."""
    if found.word[:1].isdigit() and "a window: " in found.expected:
        return "a window of time is `sliding 5 minutes` or `tumbling 5 minutes`"
    if "a whole number" in found.expected and re.fullmatch(DURATION, found.word):
        return f"a window of time is `sliding {found.word}`"
    if "a duration" not in found.expected:
        return ""
    iso = ISO.fullmatch(found.word) is not None
    if found.last == "suppress" and found.word.isidentifier() and not iso:
        return "the time comes first: `suppress 1 hour by card_id`"
    if found.word.lower() == "interval":
        return interval_meant(found.following)
    if iso:
        return "a duration is written `5m` or `5 minutes`"
    return quoted_duration(found.word) if found.word.startswith('"') else ""


def _behind_clause(found: Found, word: str) -> str:
    """What helps an author who went on in a clause in a way that the language does not have."""
    clause, following = found.clause, found.following
    if clause == "emit" and word in {"(", ":", ".", "as"}:
        return _emitted(found, word)
    if clause == "emit" and found.last in {"final", "running"}:
        return f"what is emitted is always final: remove `{found.last}`"
    if clause == "summary" and word.startswith('"'):
        return ONE_TEXT
    guard = re.search(r"\bnot\s+(\w+)(?:(?!->|=>).)*$", found.before, re.DOTALL)
    if clause == "match" and word == "for" and guard is not None:
        return f"what must not happen for a while is `absent {guard[1]}[...] for 5 minutes`"
    if clause == "match" and found.last in {"no", "without", "never"}:
        return ABSENT
    if clause == "match" and found.last == "every":
        return "a pattern begins anew at every event that fits: remove `every`"
    if clause == "match" and word == "[" and not found.before.rstrip().endswith(("}", "]", "+", "*", "?")):
        return ""
    if clause == "match" and word == "." and re.match(r"\s*(?:where|with)", following):
        return CONDITION
    if clause == "match" and word.isidentifier() and following.startswith(("->", "=>", "~>")):
        return f"a step is named by a colon: `{word}: {found.last}`" if found.last else NAMED
    known = BEHIND_OVER if clause == "over" else BEHIND.get(clause, {})
    if word == "(" and clause == "match" and re.match(r"\s*[0-9]+\s*[,)]", following):
        return NUMBER
    name = re.match(r"[^\W\d]\w*", following)
    if word == "," and clause == "on" and name is not None and name[0] not in OF_A_RULE:
        return EITHER
    if word == "{" and clause == "match":
        return NUMBER if re.match(r"[\w.,\s<>=-]*\}", following) else CONDITION
    if word in known:
        return known[word]
    if clause == "match" and (following[:1] in (":", "[", "+", "*") or word in ("not", "absent")):
        return JOINED
    if clause == "match" and word[:1].isdigit():
        return NUMBER
    return "nothing stands between clauses: remove it" if word == "," and clause != "match" else ""


def _emitted(found: Found, word: str) -> str:
    """How the value that the text before ends with is emitted."""
    start, rest = _BEFORE_IT.search(found.before), re.match(r"\w+", found.following.lstrip('"'))
    written = "name = value"
    match word:
        case "." if found.following.startswith("*"):
            return EVERY_NAME
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


def block_meant(word: str) -> str:
    """The help for a word where a block should begin; empty for others."""
    return BETWEEN_BLOCKS.get(word.lower(), "")


def character_meant(character: str) -> str:
    """The help for a character that the language does not have."""
    return CHARACTERS.get(character, "remove it")
