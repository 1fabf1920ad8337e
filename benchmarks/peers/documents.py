"""Documents that nobody has seen: 196 words, of which twelve were in no document before; and what they meet.

Two kinds: words drawn by Zipf's law for generated queries, sentences of articles for queries that people
wrote. All are ASCII letters with plain punctuation, in which Lucene's StandardTokenizer and
percolator.words split alike, so that the same tokens go in on both sides.
"""

from __future__ import annotations

import random
import re
from abc import ABC, abstractmethod

import numpy as np
import unseen
import wikipedia

WORDS = 196
NEW = 12
LETTERS = "etaoinshrdlucmfwypvbgk"
SENTENCE = re.compile(r"[A-Z][A-Za-z ,;()]{20,}\.")
ONE_WORD = re.compile(r"\(?[A-Za-z]+[,;).]*")


class Documents(ABC):
    """A generator of documents; each seed has its own."""

    def __init__(self, seed: int) -> None:
        self._source = random.Random(seed)
        self._made = 0

    def texts(self, count: int) -> list[str]:
        """The next documents."""
        return [self._text() for _ in range(count)]

    def _text(self) -> str:
        words = self._known(WORDS - NEW)
        for _ in range(NEW):
            words.insert(self._source.randrange(len(words)), self._new())
        return " ".join(words)

    @abstractmethod
    def _known(self, count: int) -> list[str]:
        """So many words that documents before may have had, with the signs around them."""

    def _new(self) -> str:
        """A word that nobody has seen: letters by chance, then its number in letters, after a `q`.

        No word of the vocabulary, and hardly one of English, has a `q` at such a place.
        """
        self._made += 1
        number, digits = self._made, ""
        while number:
            number, digit = divmod(number, len(LETTERS))
            digits += LETTERS[digit]
        return "".join(self._source.choices(LETTERS, k=self._source.randrange(2, 8))) + "q" + digits


class Generated(Documents):
    """Words by Zipf's law, one in eleven with a capital and a comma."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._numbers = np.random.default_rng(seed)
        self.corpus = unseen.Corpus(1)
        """The vocabulary, which generated queries are made of."""
        weights = 1 / (np.arange(len(self.corpus.words)) + 2.7)
        self._weights = weights / weights.sum()

    def _known(self, count: int) -> list[str]:
        drawn = self._numbers.choice(len(self._weights), count, p=self._weights).tolist()
        words = [self.corpus.words[number] for number in drawn]
        return [word.capitalize() + "," if at % 11 == 0 else word for at, word in enumerate(words)]


class Sentences(Documents):
    """Sentences of the 999 articles by chance."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        articles = wikipedia.articles()
        found = (
            filter(ONE_WORD.fullmatch, one.split()) for text in articles for one in SENTENCE.findall(text)
        )
        self.sentences = [list(words) for words in found]

    def _known(self, count: int) -> list[str]:
        words: list[str] = []
        while len(words) < count:
            words += self._source.choice(self.sentences)
        return words[:count]
