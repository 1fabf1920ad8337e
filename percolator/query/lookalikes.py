"""Words of a query that read like operators of another search language, and are searched as words here.

None of this is an error: `football or soccer` is a query for three words. Most of its authors mean something
else, so the finding has the place and how to write it. Nothing is found where the author was explicit (in
quotes, escaped, the value of a field, beside an operator as in `gold AND or`), nor where the dialect gives
the word a meaning.

The tree is right about what was read as a word, so its leaves are looked at, with the text between them. A
search by regular expression comes first and spares most queries that walk; foreign_words decides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from percolator.query.foreign_words import (
    QUOTES,
    BareWord,
    Finding,
    Lookalike,
    flags_finding,
    is_distance,
    may_be_foreign,
    regex_finding,
    word_finding,
)
from percolator.query.strange_words import strange_words
from percolator.query.tree import Everything, Fuzzy, Node, Phrase, Regex, Span, Wildcard, Word, children

# A superset of what foreign_words decides on, quick to search for. The first finds words by their beginning,
# behind white space or a bracket; the second what stands inside of words. Native operators are left out: most
# queries have some.
_BEGINS = (
    r"[\s()\"/}\]](?:(?:and|And|or|Or|not|Not|xor|Xor|XOR|andnot|ANDNOT|butnot|BUTNOT|adj|ADJ|SAME|NEAR|WITHIN|PRE)(?=[\s()\"{]|\Z)"
    r"|[+&]|(?i:o?near|adj|pre|within|w|n|atl(?:east)?)(?=\d)"
)
_QUOTE = rf"|[{QUOTES}](?=[^\W\d_])"
_NATIVE = (
    re.compile(_BEGINS + ")"),
    re.compile(
        r"[|!^]|&(?=[&\s)]|\Z)|[$%](?<=[a-z].)|=(?<=\w=)(?==?\w)|\[(?<=\w\[)|/(?<!NEAR/)(?<!first/)(?<!atleast/)(?=[\dsSpPf])"
        r"|/(?=[a-z]{1,4}(?:[\s)]|\Z))|\((?<=\w\()(?<!sentence\()(?<!paragraph\()" + _QUOTE
    ),
)
_OTHER = re.compile(_BEGINS + "|-)"), re.compile(r"[|!^$%&\[=/(~]" + _QUOTE)
_SUSPECT = MappingProxyType({"native": _NATIVE, "lucene": _OTHER, "factiva": _OTHER})

_JOINED = re.compile(r"(?:\^[\d.]+)?[\s)]*(NOT\s+)?")
_OPERATOR: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "native": re.compile(r"\s*(?:\Z|[),]|(?:AND|OR|O?NEAR|NOT\s+O?NEAR)(?!\w))"),
        "lucene": re.compile(r"\s*(?:\Z|\)|&&|\|\||(?:AND|OR)(?!\w))"),
        "factiva": re.compile(r"\s*(?:\Z|\)|(?i:and|or|same|(?:adj|near|w/?)\d*)(?!\w))"),
    }
)
"""Text behind a word that no operand follows directly: an operator, a bracket or the end, by dialect."""
Operand = tuple[Span, Node | None]
"""A leaf in order of the text; None stands for one that is no word outside of quotes."""
_BITS = re.compile(r"\"[^\"]*\"|[^\s()\"=<>]+")


def lookalikes(text: str, node: Node, dialect: str = "native") -> tuple[Lookalike, ...]:
    """Words of a query that look like operators and are none: the first of each kind, in order of the text.

    `node` is the query's tree.
    """
    strange = tuple(strange_words(text))
    begins, inside = _SUSPECT[dialect]
    if begins.search(" " + text) is None and inside.search(text) is None:
        return strange
    found: dict[Finding, Span] = {}
    times: Counter[tuple[str, str]] = Counter()
    for span, finding in _findings(text, node, dialect):
        times[finding.code, finding.written] += 1
        if times[finding.code, finding.written] == 1:
            found[finding] = span
    return (*strange, *(one.lookalike(span, times[one.code, one.written]) for one, span in found.items()))


def _findings(text: str, node: Node, dialect: str) -> Iterator[tuple[Span, Finding]]:
    parts = _parts(text, node, dialect)
    for number, (span, leaf) in enumerate(parts):
        written = text[span.start : span.end]
        if leaf is None or "\\" in written:
            continue
        if text[span.start - 1 : span.start] in (":", "=") and written[0] not in QUOTES:
            continue
        if flags := _flags(text, parts, number, dialect):
            yield span, flags
            continue
        if not may_be_foreign(written) and text[span.end : span.end + 1] != "(":
            continue
        first = number
        if number and _says_not(text, parts[number - 1]) and is_distance(written):
            first, span = number - 1, Span(parts[number - 1][0].start, span.end)
        elif number + 1 < len(parts) and _says_not(text, parts[number]):
            after = parts[number + 1][0]
            if is_distance(text[after.start : after.end]):
                continue  # `not near/5` is one operator
        finding = (
            regex_finding(leaf.pattern, dialect)
            if isinstance(leaf, Regex)
            else word_finding(_place(text, written, parts, first, number, dialect), dialect)
        )
        if finding is not None:
            yield span, finding


def _flags(text: str, parts: Sequence[Operand], number: int, dialect: str) -> Finding | None:
    """The finding about a word that touches the regular expression before it, as `i` in `/fire/i`."""
    span, leaf = parts[number]
    before, regex = parts[number - 1] if number else (span, None)
    if not isinstance(leaf, Word) or not isinstance(regex, Regex) or before.end != span.start:
        return None
    if regex_finding(regex.pattern, dialect) is not None:  # no regular expression was meant
        return None
    flags = text[span.start : span.end]
    if re.fullmatch("[a-z]{1,4}", flags) is None:
        return None
    return flags_finding(text[before.start : before.end], flags)


def _says_not(text: str, part: Operand) -> bool:
    span, leaf = part
    return leaf is not None and text[span.start : span.end].lower() == "not"


def _place(text: str, word: str, parts: Sequence[Operand], first: int, last: int, dialect: str) -> BareWord:
    """A word, which with a `not` before it has the parts `first` to `last`, and what stands beside it."""
    start, end = parts[first][0].start, parts[last][0].end
    before = parts[first - 1][0] if first else None
    after = parts[last + 1][0] if last + 1 < len(parts) else None
    left = text[before.end if before else 0 : start]
    right = text[end : after.start if after else len(text)]
    joined = None if before is None else _JOINED.fullmatch(left)
    merged = first < last
    return BareWord(
        word,
        joined is not None,
        _OPERATOR[dialect].match(text, end) is None,
        merged or (joined is not None and joined[1] is not None),
        merged,
        _shown(text[before.start : before.end] if before and ")" not in left else ""),
        _shown((right + text[after.start : after.end]).strip() if after and "(" not in right else ""),
        right.startswith("("),
    )


def _shown(operand: str) -> str:
    """An operand as a help shows it."""
    return operand if 0 < len(operand) <= 24 else "..." if operand else "(...)"


def _parts(text: str, node: Node, dialect: str) -> list[Operand]:
    found: list[Operand] = []
    for leaf in sorted(_leaves(text, node), key=lambda leaf: leaf.span.start):
        if dialect == "factiva" and isinstance(leaf, Phrase):
            # Words side by side are a phrase, with quoted ones or without.
            for bit in _BITS.finditer(text, leaf.span.start, leaf.span.end):
                found.append((Span(*bit.span()), None if bit[0].startswith('"') else leaf))
        else:
            found.append((leaf.span, leaf if isinstance(leaf, Word | Wildcard | Fuzzy | Regex) else None))
    return found


def _leaves(text: str, node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if below := children(current):
            waiting.extend(below)
        elif not isinstance(current, Everything) or text[current.span.start] == "*":
            # The other ones stand for clauses of Lucene's that may be missing, and have no text.
            yield current
