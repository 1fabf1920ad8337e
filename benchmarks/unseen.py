"""Words and documents that no process has seen before."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

ALPHABET = "etaoinshrdlucmfwypvbgk"
VOCABULARY = 60_000
WORDS_A_DOCUMENT = 196
NEW_A_DOCUMENT = 12
"""Of WORDS_A_DOCUMENT: names, numbers, typing errors."""

_UNIQUE = 5
_TURN = 2_654_435_761
"""Coprime to the number of the beginnings that there are: all come once before one comes again."""


class NewWords:
    """Words of five to twelve letters, none of them twice."""

    def __init__(self, seed: int) -> None:
        self._source = random.Random(seed)
        self._made = self._source.randrange(len(ALPHABET) ** _UNIQUE)

    def one(self) -> str:
        """The next word."""
        self._made += 1
        number = self._made * _TURN % len(ALPHABET) ** _UNIQUE
        letters = self._source.choices(ALPHABET, k=self._source.randrange(8))
        for _ in range(_UNIQUE):
            number, letter = divmod(number, len(ALPHABET))
            letters.append(ALPHABET[letter])
        return "".join(reversed(letters))

    def among(self, words: Sequence[str]) -> list[str]:
        """The words with NEW_A_DOCUMENT of WORDS_A_DOCUMENT replaced, anywhere."""
        found = list(words)
        count = round(len(words) * NEW_A_DOCUMENT / WORDS_A_DOCUMENT)
        for place in self._source.sample(range(len(words)), count):
            found[place] = self.one()
        return found


class Corpus:
    """Documents of words by Zipf's law, NEW_A_DOCUMENT of them never seen before."""

    def __init__(self, seed: int) -> None:
        self._numbers = np.random.default_rng(seed)
        source = random.Random(seed)
        found: dict[str, None] = {}
        while len(found) < VOCABULARY:
            length = min(12, 2 + int(len(found) ** 0.17 * source.uniform(0.8, 1.6)))
            found["".join(source.choices(ALPHABET, k=length))] = None
        self.words = list(found)
        weights = 1 / (np.arange(VOCABULARY) + 2.7)
        self._weights = weights / weights.sum()
        self._new = NewWords(seed)

    def texts(self, count: int) -> list[str]:
        """Texts with capitals and punctuation."""
        drawn = self._numbers.choice(VOCABULARY, (count, WORDS_A_DOCUMENT), p=self._weights)
        return [self._text([self.words[number] for number in numbers]) for numbers in drawn.tolist()]

    def _text(self, words: Sequence[str]) -> str:
        parts = self._new.among(words)
        for place in range(0, len(parts), 11):
            parts[place] = parts[place].capitalize() + ","
        return " ".join(parts) + "."


def renewed(text: str, new: NewWords) -> str:
    """A text with new words instead of some."""
    return " ".join(new.among(text.split(" ")))
