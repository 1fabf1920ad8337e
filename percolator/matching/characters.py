"""The class of every code point, as percolator.words defines words, in the form that the kernel reads."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from percolator.matching.kernel import JOINER, LETTER, MARK
from percolator.words import marks

_POINTS = 0x110000
_PAGE = 256


@lru_cache(maxsize=1)
def classes() -> npt.NDArray[np.uint8]:
    """The number of the page of each 256 code points, then the pages."""
    found = np.zeros(_POINTS, np.uint8)
    # No letter stands above plane 3, no mark above plane 14.
    for first, behind in ((0, 0x40000), (0xE0000, 0xF0000)):
        points = "".join(map(chr, range(first, behind)))
        for pattern, kind in ((r"\w+", LETTER), (f"[{marks()}]+", MARK)):
            for run in re.finditer(pattern, points):
                found[first + run.start() : first + run.end()] = kind
    found[[ord("."), ord("'"), ord("’")]] = JOINER
    pages, number = np.unique(found.reshape(-1, _PAGE), axis=0, return_inverse=True)
    number = number.ravel()
    # The kernel reads ASCII without looking the page up.
    order = np.arange(len(pages))
    order[[0, number[0]]] = order[[number[0], 0]]
    assert len(pages) <= _PAGE
    return np.concatenate((order[number].astype(np.uint8), pages[order].ravel()))
