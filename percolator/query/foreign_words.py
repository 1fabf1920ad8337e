"""Operators of other search languages, and how ours are written: one word of a query -> what to say of it.

Distances are counted in two ways. Our `NEAR/5` lets 5 words stand between, and so do `W/5` in Scopus,
`NEAR/5` in Web of Science and ProQuest, `N5` and `W5` at EBSCO. LexisNexis, Ovid, Embase and Factiva count
the step to the second word: their 5 lets 4 words stand between.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from percolator.query.tree import Span

_LONGEST = 60
"""Characters of a word in a message."""


class LookalikeCode(StrEnum):
    """The kinds of words that look like operators; the codes go on from those of what cannot be read."""

    WORD = "PQ14"  # `or` between two words
    DISTANCE = "PQ15"  # `W/5`, `adj5`, `/s`
    SIGN = "PQ16"  # `+x`, `!x`, `a|b`, `x^2`, `recall!`
    UNSEEN = "PQ17"  # a sign that turns the direction of writing
    SCRIPTS = "PQ18"  # a Cyrillic letter in a Latin word


@dataclass(frozen=True, slots=True)
class Lookalike:
    """`span` is its first place in the query's text; `help` is how to write what was probably meant."""

    code: LookalikeCode
    message: str
    help: str
    span: Span

    def as_json(self) -> dict[str, object]:
        """Code, message, position and help."""
        return {
            "code": str(self.code),
            "message": self.message,
            "position": self.span.start,
            "help": self.help,
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """A lookalike without its place. `written` is its word; `said` goes on from there."""

    code: LookalikeCode
    written: str
    said: str
    help: str

    def lookalike(self, span: Span, times: int) -> Lookalike:
        """At its first place, with how often there is one like it."""
        more = "" if times == 1 else f", here and at {times - 1:,} other place{'' if times == 2 else 's'},"
        return Lookalike(self.code, f"`{_cut(self.written)}`{more} {self.said}", self.help, span)


def _cut(word: str) -> str:
    return word if len(word) <= _LONGEST else f"{word[:_LONGEST]}..."


@dataclass(frozen=True, slots=True)
class BareWord:
    """A word outside of quotes, and what stands beside it.

    An operand stands before it (`joined`) or behind it (`joins`) without an operator between; `before` and
    `after` are these operands, as a help shows them. `negated`: a NOT stands before it; `merged`: one that is
    no operator. `touches`: a bracket opens right behind it.
    """

    word: str
    joined: bool
    joins: bool
    negated: bool
    merged: bool
    before: str
    after: str
    touches: bool


_LOGIC: Mapping[str, str] = MappingProxyType(
    {"and": "AND", "or": "OR", "not": "NOT", "andnot": "NOT", "butnot": "NOT"}
)
_LETTERS = frozenset([*_LOGIC, "xor", "adj", "near", "within", "pre", "same"])
_SIGNS: Mapping[str, str] = MappingProxyType(
    {"&": "AND", "&&": "AND", "+": "AND", "|": "OR", "||": "OR", "!": "NOT", "%": "NOT"}
)
_DISTANCE = (
    r"(?i)(?P<name>o?near|adj|pre|within|with|win|next|w|n|p)/(?P<number>\d{1,7})"
    r"|(?P<close>o?near|adj|pre|within)(?P<steps>\d{1,7})"
    r"|(?P<letter>[wn])(?P<few>\d|[12]\d)"
    r"|(?:w(?:ithin)?/|(?P<sign>[/+]))(?P<unit>s|p|sent|para|sentence|paragraph)"
    r"|(?P<step>[/+])(?P<words>\d{1,3})"
)
# Patterns are compiled when they are first needed: few queries come so far.
_BARE = r"adj|ADJ|NEAR|WITHIN|PRE|SAME"
_COUNTED = r"(?i)atl(?:east)?/?(\d{1,7})"
_ORDERED = frozenset(["onear", "adj", "pre", "next", "p"])
_STEPS = frozenset(["near", "adj"])
"""Without a slash these are Factiva's and Ovid's, who count the step."""
_BLANK = r"(?is)(s|p|\d{1,3})\s.*"
_UNIT = r"(?i)/(s|p|\d{1,3})(?=\s)"
_FIRST = r"(?i)f(\d{1,7})"

_AS_WORD = "is searched as a word, and is no operator here"
_AS_WORDS = "is searched as its words, one behind the other"


class _Sign(NamedTuple):
    """A word with a sign that other languages have; `said` and `help` may name the groups of the pattern."""

    pattern: str
    dialects: tuple[str, ...]
    said: str
    help: str


_ALL = ("native", "lucene", "factiva")
_NATIVE, _FACTIVA = _ALL[:1], _ALL[2:]
QUOTES = "“„‟«‘‚'"
"""Marks that begin a phrase elsewhere."""
_IN_WORDS = (
    # A quote that the same word closes says nothing; some words begin with an apostrophe.
    _Sign(
        rf"(?!'(?i:n|em|til|tis|twas|cause|bout|round)\Z)[{QUOTES}](?P<x>[^\W\d_][^”“»’']*)",
        ("native", "lucene"), "is searched without its quote, which begins no phrase here",
        'a phrase stands in straight double quotes: `"{x} ..."`',
    ),
    _Sign(r"[|]+|&&+", _ALL, "is left out: it holds no word", "write the operator: AND, OR"),
    _Sign(
        r".*[|].*", _ALL, _AS_WORDS,
        "write `a OR b`, with blanks; if the sign is meant, put it in quotes",
    ),
    _Sign(
        r".*&&.*|&\w.*|.*\w&", _ALL, _AS_WORDS,
        "write `a AND b`, with blanks; if the sign is meant, put it in quotes",
    ),
    # A telephone number is none.
    _Sign(
        r"\+(?!\d[\d().-]{4,}\Z).+", _NATIVE,
        "is searched without its `+`, which is no operator here",
        "leave the sign out: words side by side must all be there; `a OR b` where one is enough",
    ),
    _Sign(
        r"\+(?!\d[\d().-]{4,}\Z)(?P<x>.+)", _FACTIVA,
        "is searched without its `+`, which is no operator here", "write `and {x}`",
    ),
    _Sign(
        r"!(?P<x>.+)", _NATIVE, "is searched as `{x}`: `!` is no operator here",
        "write `-{x}` for documents without it",
    ),
    _Sign(
        r"(?P<sign>[!-])(?P<x>.+)", _FACTIVA,
        "is searched as `{x}`: `{sign}` is no operator here",
        "write `not {x}` for documents without it",
    ),
    _Sign(
        r".*\^[\d.]+", ("native", "factiva"), "is searched with its number",
        "leave the weight out: nothing is ranked",
    ),
    # With a capital it may be a name: Yahoo!
    _Sign(
        r"(?P<x>[a-z]+)(?P<sign>[!$%])", _ALL,
        "is searched as `{x}`: `{sign}` is no wildcard here",
        "write `{x}*` for all words that begin so; if the sign is meant, put it in quotes",
    ),
    _Sign(
        r".*~[\d.]*", _FACTIVA, "is searched as a word: `~` is no distance here",
        "write `a near5 b`, or give the query its `dialect`",
    ),
    _Sign(
        r"(?P<x>.*[\w*])\[[A-Za-z].*", _NATIVE, _AS_WORDS,
        "a field stands before its words: `title:{x}`",
    ),
    _Sign(
        r"(?P<x>.*[\w*])\[[A-Za-z].*", _FACTIVA, _AS_WORDS,
        "a field stands before its words: `hd={x}`",
    ),
    _Sign(
        r"(?P<field>[A-Za-z]{2,})==?(?P<x>[^\W_].*)", ("native", "lucene"), _AS_WORDS,
        "a field has a colon: `{field}:{x}`; if the text is meant, put it in quotes",
    ),
)  # fmt: skip


def word_finding(place: BareWord, dialect: str) -> Finding | None:
    """The finding about a word."""
    return _logic(place, dialect) or _distance(place, dialect) or _sign(place, dialect)


def may_be_foreign(word: str) -> bool:
    """True if a word that touches no bracket may have a finding. Few words of letters alone do."""
    return not word.isalpha() or word.lower() in _LETTERS


def is_distance(word: str) -> bool:
    """True if a word between two operands is a distance operator of some query language."""
    return re.fullmatch(_DISTANCE, word) is not None


def regex_finding(pattern: str, dialect: str) -> Finding | None:
    """The finding about a regular expression: one between two of Westlaw's `/s`, or Factiva's `/f50/`."""
    if (blank := re.match(_BLANK, pattern)) is not None:
        said = f"begins a regular expression, `/{pattern}/`, which no word can be: words hold no blanks"
        help_ = _unit_help(blank[1], "a", "b", dialect)
        return Finding(LookalikeCode.DISTANCE, "/" + blank[1], said, help_)
    if (first := re.fullmatch(_FIRST, pattern)) is not None:
        help_ = f"`first/{first[1]} x` is a place of x that ends within the first {first[1]} words"
        said = "is a regular expression that is compared with every word"
        return Finding(LookalikeCode.DISTANCE, f"/{pattern}/", said, _in_native(dialect) + help_)
    return None


def flags_finding(written: str, flags: str) -> Finding:
    """The finding about letters that touch the end of a regular expression."""
    help_ = f"write `{written}`, and a blank before a word that follows"
    if "i" in flags:
        help_ = f"write `{written}`: words are compared whatever their case; of a keyword, `/(?i).../`"
    said = "is searched as a word of its own: no flags stand behind a regular expression here"
    return Finding(LookalikeCode.SIGN, flags, said, help_)


def _in_native(dialect: str) -> str:
    return "write " if dialect == "native" else "only the native language has this: "


def _logic(place: BareWord, dialect: str) -> Finding | None:
    if place.word.lower() == "xor":
        return _either(place, dialect) if place.joins and place.joined else None
    meant = _LOGIC.get(place.word.lower())
    if meant is None or not place.joins or not (place.joined or meant == "NOT"):
        return None
    after = "NOT ..." if place.after.lower() == "not" else place.after
    example = f"NOT {after}" if meant == "NOT" else f"{place.before} {meant} {after}"
    help_ = f'operators are capitals: `{example}`; if the word is meant, put it in quotes: `"{place.word}"`'
    return Finding(LookalikeCode.WORD, place.word, _AS_WORD, help_)


def _either(place: BareWord, dialect: str) -> Finding:
    """One of two and not both, which no dialect has a word for."""
    a, b = place.before, place.after
    help_ = f"`({a} AND NOT {b}) OR ({b} AND NOT {a})` is one of the two, and not both"
    help_ = help_.lower() if dialect == "factiva" else help_
    said = f"{_AS_WORD}; if the word is meant, put it in quotes"
    return Finding(LookalikeCode.WORD, place.word, said, help_)


def _distance(place: BareWord, dialect: str) -> Finding | None:
    if (counted := re.fullmatch(_COUNTED, place.word)) is not None and (place.joins or place.touches):
        slash = "" if dialect == "factiva" else "/"
        help_ = f"`atleast{slash}{counted[1]} {place.after}` has {counted[1]} places of it, or more"
        native = _in_native("native" if dialect == "factiva" else dialect)
        return Finding(LookalikeCode.DISTANCE, place.word, _AS_WORD, native + help_)
    if not place.joined or not place.joins:
        return None
    a, b = place.before, place.after
    if (found := re.fullmatch(_DISTANCE, place.word)) is not None:
        if found["unit"] is not None:
            help_ = _unit_help(found["unit"], a, b, dialect)
        else:
            help_ = _distance_help(found, place, dialect)
    elif dialect != "factiva" and re.fullmatch(_BARE, place.word) is not None:
        help_ = _in_native(dialect) + (
            f"`paragraph({a}, {b})`, both in one paragraph"
            if place.word == "SAME"
            else f"`{a} NEAR/5 {b}`, at most 5 words between the two, or `ONEAR/5` in this order"
        )
    else:
        return None
    written = f"not {place.word}" if place.merged else place.word
    return Finding(LookalikeCode.DISTANCE, written, _AS_WORD, help_)


def _distance_help(found: re.Match[str], place: BareWord, dialect: str) -> str:
    name = (found["name"] or found["close"] or found["letter"] or found["step"]).lower()
    number = int(found["number"] or found["steps"] or found["few"] or found["words"])
    ordered = name in _ORDERED or name == "+" or found["letter"] in ("w", "W")
    by_step = found["close"] is not None and name in _STEPS
    between, other = (number - 1, number) if by_step and number else (number, max(number - 1, 0))
    operator = "NOT NEAR" if place.negated else "ONEAR" if ordered else "NEAR"
    order = "in this order" if ordered else "in either order"
    at_most = f"at most {between:,} {'word' if between == 1 else 'words'} between the two, {order}"
    if dialect == "factiva":
        written = f"{'adj' if ordered else 'near'}{between + 1}"
        return f"write `{place.before} {written} {place.after}`: {at_most}, as Factiva counts the step"
    native = f"`{place.before} {operator}/{between} {place.after}`"
    if place.negated:
        far = f"`{place.before}` where the other is not among the {between:,} words on either side"
        return f"{_in_native(dialect)}{native}, {far}"
    if dialect == "lucene":
        return f'write a phrase with slop, `"a b"~{between}`, or in the native language {native}: {at_most}'
    if by_step:
        step = f"as Factiva and Ovid count the step; `{operator}/{other}` if words are counted"
        return f"write {native}: {at_most}, {step}"
    if name in ("near", "onear") or not number:
        return f"operators are capitals: {native}, {at_most}"
    step = (
        f"`{operator}/{other}` if the step to the second word is counted, as LexisNexis, Ovid and Factiva do"
    )
    return f"write {native}: {at_most}; {step}"


def _unit_help(unit: str, a: str, b: str, dialect: str) -> str:
    if unit.isdigit():
        near = f"`{a} NEAR/{unit} {b}`, at most {unit} words between the two, in either order"
        return _in_native(dialect) + near
    if dialect == "factiva":
        return f"write `{a} same {b}`: both in one paragraph"
    word = "sentence" if unit.lower().startswith("s") else "paragraph"
    return f"{_in_native(dialect)}`{word}({a}, {b})`, both in one {word}"


def sign_meant(text: str) -> str:
    """The end of the sentence that a term holds no word: how its author's operator is written here."""
    meant = _SIGNS.get(text)
    return "" if meant is None else f"; the operator is written {meant}"


def unit_meant(text: str, at: int) -> str:
    """The end of the sentence that a regular expression is not closed, where Westlaw's `/s` stands."""
    unit = re.match(_UNIT, text[at : at + 8])
    if unit is None:
        return ""
    return f"; `a {unit[0]} b` of other languages is {_unit_help(unit[1], 'a', 'b', 'native')}"


def _sign(place: BareWord, dialect: str) -> Finding | None:
    for sign in _IN_WORDS:
        if dialect in sign.dialects and (found := re.fullmatch(sign.pattern, place.word)) is not None:
            parts = {name: _cut(text) for name, text in found.groupdict("").items()}
            said, help_ = sign.said.format(**parts), sign.help.format(**parts)
            return Finding(LookalikeCode.SIGN, place.word, said, help_)
    if place.touches and re.search(r"\w\Z", place.word):
        said = "is searched as a word, beside what the bracket holds"
        blank = "if the word is meant, leave a blank before the bracket"
        help_ = f"a field has a colon: `{_cut(place.word)}:(...)`; {blank}"
        return Finding(LookalikeCode.SIGN, f"{place.word}(", said, help_)
    return None
