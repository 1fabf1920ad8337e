"""The words of one field -> the leaves that they make true, learnt word by word.

Most words of a stream make no leaf true. So a word has a *class*: 0 for none, else the number of a set
of leaves. Wildcards, stems and folds are worked out once for a word, when it is first seen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from percolator.analysis import Analyser
from percolator.compile import LeafTest
from percolator.words import exact

MOST_WORDS = 500_000
"""Words that a field remembers before it starts anew."""


class Vocabulary(dict[str, int]):
    """surface word -> class; looking up an unknown word learns it.

    `tests` are the field's leaves with their numbers.
    """

    def __init__(self, analyser: Analyser, tests: Sequence[tuple[int, LeafTest]]) -> None:
        super().__init__()
        self._analyser = analyser
        self._words = _by_text(tests, "word")
        self._exact = _by_text(tests, "exact")
        patterns = [(number, test.text) for number, test in tests if test.kind == "pattern"]
        self._prefixes: dict[str, list[int]] = {}
        self._patterns: list[tuple[int, re.Pattern[str]]] = []
        for number, text in patterns:
            stem = text.rstrip("*")
            if len(stem) + 1 == len(text) and "*" not in stem and "?" not in stem:
                self._prefixes.setdefault(stem, []).append(number)
            else:
                self._patterns.append((number, wildcard(text)))
        self._prefix_lengths = sorted({len(prefix) for prefix in self._prefixes})
        self._classes: dict[tuple[int, ...], int] = {(): 0}
        self._leaves: list[int] = []
        self._starts = [0, 0]
        self._arrays: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None = None

    def __missing__(self, surface: str) -> int:
        found = self._leaves_of(surface)
        number = self._classes.setdefault(found, len(self._classes))
        if number == len(self._starts) - 1:
            self._leaves.extend(found)
            self._starts.append(len(self._leaves))
            self._arrays = None
        self[surface] = number
        return number

    def arrays(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """`starts`, `leaves`: class c has the leaves `leaves[starts[c] : starts[c + 1]]`."""
        if self._arrays is None:
            self._arrays = np.array(self._starts, np.int64), np.array(self._leaves, np.int64)
        return self._arrays

    def forget_if_full(self) -> None:
        """Starts anew where too many words are remembered: class numbers change."""
        if len(self) > MOST_WORDS:
            self.clear()
            self._classes = {(): 0}
            self._leaves, self._starts, self._arrays = [], [0, 0], None

    def _leaves_of(self, surface: str) -> tuple[int, ...]:
        term = self._analyser.term(surface)
        found = list(self._words.get(term, ()))
        if self._exact:
            found.extend(self._exact.get(exact(surface), ()))
        if self._prefix_lengths or self._patterns:
            for form in self._analyser.forms(surface):
                for length in self._prefix_lengths:
                    if length > len(form):
                        break
                    found.extend(self._prefixes.get(form[:length], ()))
                found.extend(number for number, pattern in self._patterns if pattern.fullmatch(form))
        return tuple(sorted(set(found)))


def wildcard(text: str) -> re.Pattern[str]:
    """The regular expression of a wildcard's text, to be matched with a whole term.

    It never tries a second way: between two stars the leftmost place is as good as any (atomic groups).
    """
    first, *others = re.split(r"\*+", text)
    middle = "".join(f"(?>.*?{_letters(part)})" for part in others[:-1] if part)
    last = f".*{_letters(others[-1])}" if others else ""
    return re.compile(_letters(first) + middle + last, re.DOTALL)


def _letters(part: str) -> str:
    return ".".join(re.escape(piece) for piece in part.split("?"))


def _by_text(tests: Sequence[tuple[int, LeafTest]], kind: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number, test in tests:
        if test.kind == kind:
            found.setdefault(test.text, []).append(number)
    return found
