"""Parts of a query that are not what they look like: unseen characters, words that mix scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from percolator.query.foreign_words import Lookalike, LookalikeCode
from percolator.query.tree import Span
from percolator.query.unseen import described, mixes, skeleton, unseen

_WORD = re.compile(r"\w+")


def strange_words(text: str) -> Iterator[Lookalike]:
    """The first character that cannot be seen, and the first word that looks like one of Latin letters."""
    if text.isascii() and text.isprintable():
        return
    for at, what in unseen(text):
        message = f"{what} cannot be seen, and is no part of a word"
        yield Lookalike(LookalikeCode.UNSEEN, message, "remove it", Span(at, at + 1))
        break
    for word in _WORD.finditer(text):
        if mixes(word[0]) and skeleton(word[0]).isascii():
            odd = next(char for char in word[0] if not char.isascii())
            message = f"`{word[0]}` mixes letters of different scripts: `{odd}` is {described(odd)}"
            help_ = "write all of its letters in one script: now it is found only where they are mixed so"
            yield Lookalike(LookalikeCode.SCRIPTS, message, help_, Span(*word.span()))
            break
