"""The bounds of a text's words as arrays: those of percolator.words.token_spans, without objects."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import numpy.typing as npt

from percolator.words import has_cjk, marks, token_spans

_LETTER, _JOINER, _MARK = 1, 2, 3

Edges = tuple[list[int], list[int], list[int]]


def edges(text: str) -> Edges:
    """`start`, `end` and `unit_end` of every token, in code points."""
    if text.isascii():
        kinds = _kinds()[np.frombuffer(text.encode(), np.uint8)]
    elif has_cjk(text):
        return _by_token(text)
    else:
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        kinds = _kinds()[points]
    padded = np.zeros(len(kinds) + 2, np.uint8)
    padded[1:-1] = kinds
    inside = padded == _LETTER
    marked = padded == _MARK
    if marked.any():
        # A mark continues a word and begins none; where one stands apart, the slow way decides.
        if (marked[1:] & ~(inside | marked)[:-1]).any():
            return _by_token(text)
        letters, inside = inside, inside | marked
    else:
        letters = inside
    joined = inside.copy()
    joined[1:-1] |= (padded[1:-1] == _JOINER) & inside[:-2] & letters[2:]
    changes = np.flatnonzero(joined[1:] != joined[:-1])
    ends = changes[1::2].tolist()
    return changes[::2].tolist(), ends, ends


def _by_token(text: str) -> Edges:
    at = token_spans(text)
    return [place.start for place in at], [place.end for place in at], [place.unit_end for place in at]


@cache
def _kinds() -> npt.NDArray[np.uint8]:
    """The kind of each code point in words; CJK counts as letters here."""
    found = np.zeros(0x110000, np.uint8)
    everything = "".join(map(chr, range(0x110000)))
    for kind, pattern in ((_LETTER, r"\w+"), (_MARK, f"[{marks()}]+")):
        for run in re.finditer(pattern, everything):
            found[run.start() : run.end()] = kind
    found[[ord(sign) for sign in ".'’"]] = _JOINER
    return found
