"""Texts with a token left out, doubled, or swapped with the next, and the lines where that must be found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r'(?P<skip>\s+|\#[^\n]*)|"(?:[^"\\\n]|\\.)*"|`[^`\n]+`|[0-9][\w.]*|\w+|->|=>|~>|==|!=|<=|>=|=~|.'
)
_PAIRS = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Token:
    """A token's place; `partner` is the place of the bracket that belongs to it, else its own."""

    start: int
    end: int
    partner: int


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed text, what was done, and the lines on which a diagnostic is at the right place."""

    text: str
    done: str
    lines: frozenset[int]


def tokens(text: str) -> list[Token]:
    """The tokens of a rule file, comments and white space aside."""
    places = [found.span() for found in _TOKEN.finditer(text) if found.lastgroup != "skip"]
    partners: dict[int, int] = {}
    open_: list[int] = []
    for start, end in places:
        if text[start:end] in _PAIRS.values():
            open_.append(start)
        elif text[start:end] in _PAIRS and open_:
            partners[start] = open_.pop()
            partners[partners[start]] = start
    return [Token(start, end, partners.get(start, start)) for start, end in places]


def mutants(text: str, every: int = 1, first: int = 0) -> Iterator[Mutant]:
    """All mutants of a text, or those of every so manieth token from the first given."""
    found = tokens(text)
    for number in range(first, len(found), every):
        token = found[number]
        word = text[token.start : token.end]
        following = found[min(number + 1, len(found) - 1)]
        before = found[max(number - 1, 0)]
        places = (before, token, following)
        lines = frozenset(text.count("\n", 0, at) + 1 for p in places for at in (p.start, p.partner))
        yield Mutant(text[: token.start] + text[token.end :], f"without `{word}`", lines)
        yield Mutant(f"{text[: token.end]} {text[token.start :]}", f"`{word}` twice", lines)
        if following is not token:
            between, other = text[token.end : following.start], text[following.start : following.end]
            swapped = f"{text[: token.start]} {other}{between or ' '}{word} {text[following.end :]}"
            yield Mutant(swapped, f"`{word}` after `{other}`", lines)
