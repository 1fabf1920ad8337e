"""The class of every code point, as percolator.words defines words, in the form that the kernel reads."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from percolator.matching.compiled import read_only
from percolator.matching.kernel.utf8 import (
    CLOSER,
    DIGIT,
    JOINER,
    LEADING,
    LETTER,
    LINE_END,
    MARK,
    PARAGRAPH_SIGN,
    SPACE,
    STOP,
    TRAILING,
    UNIT,
    VOICE,
    VOWEL,
    WIDE_STOP,
)
from percolator.words import marks, units

_POINTS = 0x110000
_PAGE = 256
_LEADING, _VOWEL = "\u1100-\u115f\ua960-\ua97c", "\u1160-\u11a7\ud7b0-\ud7c6"
_TRAILING = "\u11a8-\u11ff\ud7cb-\ud7fb"
_SIGNS = {
    VOICE: "\uff9e\uff9f",
    JOINER: ".'’",
    LINE_END: "\r\n",
    STOP: "!?…",
    CLOSER: '"”»)]',
    WIDE_STOP: "。！？",
    PARAGRAPH_SIGN: "\u2029",
}


@lru_cache(maxsize=1)
def classes() -> npt.NDArray[np.uint8]:
    """The number of the page of each 256 code points, then the pages."""
    found = np.zeros(_POINTS, np.uint8)
    patterns = {
        SPACE: r"\s+",
        LETTER: r"\w+",
        MARK: f"[{marks()}]+",
        UNIT: f"[{units()}]+",
        LEADING: f"[{_LEADING}]+",
        VOWEL: f"[{_VOWEL}]+",
        TRAILING: f"[{_TRAILING}]+",
    }
    # No letter stands above plane 3, no mark above plane 14.
    for first, behind in ((0, 0x40000), (0xE0000, 0xF0000)):
        points = "".join(map(chr, range(first, behind)))
        for kind, pattern in patterns.items():
            for run in re.finditer(pattern, points):
                found[first + run.start() : first + run.end()] = kind
        for letter in filter(str.isdigit, points):
            found[ord(letter)] = DIGIT
    for kind, signs in _SIGNS.items():
        found[[ord(sign) for sign in signs]] = kind
    pages, number = np.unique(found.reshape(-1, _PAGE), axis=0, return_inverse=True)
    number = number.ravel()
    # The kernel reads ASCII without looking the page up.
    order = np.arange(len(pages))
    order[[0, number[0]]] = order[[number[0], 0]]
    assert len(pages) <= _PAGE
    return read_only(np.concatenate((order[number].astype(np.uint8), pages[order].ravel())))
