"""The boundaries between words, and the extent of a CJK character."""

from __future__ import annotations

from percolator.matching.kernel.arrays import KeptBytes
from percolator.matching.kernel.utf8 import (
    CLOSER,
    DIGIT,
    JOINER,
    LEADING,
    LINE_END,
    MARK,
    PARAGRAPH_SIGN,
    SPACE,
    STOP,
    TRAILING,
    VOICE,
    VOWEL,
    WIDE_STOP,
    kind_at,
)

SENTENCE_END, PARAGRAPH_END = -1, -2
"""Tokens below zero, which stand between words."""


def unit_end(data: KeptBytes, at: int, end: int, classes: KeptBytes) -> int:
    """The byte behind a CJK character, or the jamo of one syllable, with its marks."""
    kind = kind_at(data, at, end, classes)
    first = kind >> 3
    at += kind & 7
    kind = kind_at(data, at, end, classes)
    if first == LEADING:
        while kind >> 3 == VOWEL:
            at += kind & 7
            kind = kind_at(data, at, end, classes)
        while kind >> 3 == TRAILING:
            at += kind & 7
            kind = kind_at(data, at, end, classes)
    while kind >> 3 == MARK or kind >> 3 == VOICE:
        at += kind & 7
        kind = kind_at(data, at, end, classes)
    return at


def is_initial(data: KeptBytes, start: int, end: int, classes: KeptBytes) -> bool:
    """True if the last part of a word is one character that is no digit."""
    at = end - 1
    while at > start and data[at] & 0xC0 == 0x80:
        at -= 1
    if kind_at(data, at, end, classes) >> 3 == DIGIT:
        return False
    if at == start:
        return True
    before = at - 1
    while before > start and data[before] & 0xC0 == 0x80:
        before -= 1
    return kind_at(data, before, at, classes) >> 3 == JOINER


def boundary(data: KeptBytes, word: int, start: int, end: int, classes: KeptBytes) -> int:
    """The boundary that the signs from `start` to `end` make: SENTENCE_END, PARAGRAPH_END or 0.

    `word` is where the word before begins.
    """
    found = 0
    at = start
    line = False  # a line has ended, and only white space came since
    run = -1  # where stops began that only stops and closing signs follow
    single = False  # it is one full stop
    stops = False  # no closing sign came yet
    while at < end:
        kind = kind_at(data, at, end, classes)
        size, kind = kind & 7, kind >> 3
        if kind == LINE_END:
            if line:
                return PARAGRAPH_END
            line = True
            if data[at] == 13 and at + 1 < end and data[at + 1] == 10:
                size = 2
        elif kind == PARAGRAPH_SIGN:
            return PARAGRAPH_END
        elif kind != SPACE:
            line = False
        dot = data[at] == 46
        if kind == WIDE_STOP:
            found = SENTENCE_END
            run = -1
        elif kind == STOP or dot:
            if run < 0 or not stops:
                run = at
                single = dot
            else:
                single = False
            stops = True
        elif kind in (CLOSER, JOINER):
            stops = False
        elif kind in (SPACE, LINE_END):
            if run >= 0 and not (single and run == start and is_initial(data, word, start, classes)):
                found = SENTENCE_END
            run = -1
        else:
            run = -1
        at += size
    return found
