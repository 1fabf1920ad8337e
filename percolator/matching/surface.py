"""The table of surface words: what words of a stream look like and what their terms are. One worker's own.

A word is a field and its letters as written. The kernel adds words as it scans; those that are not plain
ASCII, or whose field has a language, get their forms here. The table is bounded: when it is full it is
started anew, which costs some time and changes no answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from percolator.analysis import Analyser
from percolator.matching.compiled import Engine
from percolator.matching.kernel import arrays as k
from percolator.matching.kernel import counters as c
from percolator.words import exact, lower

FIRST_WORDS = 1 << 12
MOST_WORDS = 1 << 18
"""So many words are remembered before the table is started anew."""
LETTERS_A_WORD = 24
MOST_LETTERS_A_WORD = 96
"""As a mean over all words that are remembered: longer texts of words start the table anew, too."""


class SurfaceWords:
    """`generation` changes when all numbers of words become invalid."""

    def __init__(self, most: int = MOST_WORDS) -> None:
        self._most = most
        self.generation = 0
        self._analysed = 0
        self._allocate(min(FIRST_WORDS, most))

    def _allocate(self, words: int) -> None:
        slots = 1 << (2 * words - 1).bit_length()
        self.table = k.WordTable(
            slots=np.zeros(k.SLOT * slots, np.uint64),
            rows=np.zeros(words * k.WORD, np.int32),
            letters=np.zeros(words * LETTERS_A_WORD, np.uint8),
            seen=np.zeros(words, np.int32),
            counters=np.zeros(c.SCAN_COUNTS, np.int64),
        )
        self.table.counters[c.S_WORDS] = self._analysed = k.NOTHING + 1

    @property
    def capacity(self) -> int:
        """The number of words that there is room for."""
        return len(self.table.seen)

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""
        return sum(array.nbytes for array in self.table)

    def make_room(self, engine: Engine, afresh: bool) -> bool:
        """More room for words or letters, or an empty table (True) where it has all it may have.

        `afresh`: it was emptied for the very text that does not fit, so it grows in any case.
        Raises MemoryError beyond 2 GB of letters.
        """
        table = self.table
        letters = table.counters[c.S_STATUS] == c.NEED_LETTERS
        full = (
            len(table.letters) >= MOST_LETTERS_A_WORD * self._most if letters else self.capacity >= self._most
        )
        if full and not afresh:
            self._allocate(self.capacity)
            self.generation += 1
            return True
        if letters:
            self._more_letters(2 * len(table.letters))
            return False
        slots = np.zeros(2 * len(table.slots), np.uint64)
        engine.rehash(slots, table.slots)
        self.table = table._replace(
            slots=slots,
            rows=np.concatenate((table.rows, np.zeros_like(table.rows))),
            seen=np.concatenate((table.seen, np.zeros_like(table.seen))),
        )
        self._more_letters(max(len(table.letters), self.capacity * LETTERS_A_WORD))
        return False

    def _more_letters(self, size: int) -> None:
        if size >= 1 << 31:
            raise MemoryError("the words of one part of the text take more than 2 GB")
        letters = np.zeros(size, np.uint8)
        used = int(self.table.counters[c.S_LETTERS])
        letters[:used] = self.table.letters[:used]
        self.table = self.table._replace(letters=letters)

    def analyse(self, analysers: Sequence[Analyser | None]) -> None:
        """Writes the forms of new words that the kernel could not; `analysers` are those of the fields."""
        first, last = self._analysed, int(self.table.counters[c.S_WORDS])
        self._analysed = last
        if first == last:
            return
        rows = self.table.rows.reshape(-1, k.WORD)[first:last]
        places = np.flatnonzero(rows[:, k.W_TERM] == k.UNKNOWN)
        if not len(places):
            return
        new = rows[places]
        # All at once: to read and write arrays word by word takes half as long as a stemmer.
        begin = int(new[0, k.W_START])
        known = self.table.letters[begin : int(self.table.counters[c.S_LETTERS])].tobytes()
        forms: list[tuple[int, ...]] = []
        letters = bytearray()
        end = begin + len(known)
        for start, length, field in new[:, [k.W_START, k.W_LENGTH, k.W_FIELD]].tolist():
            analysed = analysers[field]
            assert analysed is not None
            word = known[start - begin : start - begin + length].decode("utf-8", "surrogatepass")
            written: dict[str, tuple[int, int]] = {}
            found: tuple[int, ...] = ()
            for form in (exact(word), analysed.term(word), analysed.fold(word), lower(word)):
                place = written.get(form)
                if place is None:
                    if form == word:
                        place = start, length
                    else:
                        data = form.encode("utf-8", "surrogatepass")
                        place = end + len(letters), len(data)
                        letters += data
                    written[form] = place
                found += place
            forms.append(found)
        if end + len(letters) > len(self.table.letters):
            self._more_letters(2 * (end + len(letters)))
        self.table.letters[end : end + len(letters)] = letters
        self.table.counters[c.S_LETTERS] = end + len(letters)
        rows[places, k.W_EXACT : k.WORD] = forms

    def text_of(self, word: int) -> str:
        """A word as written."""
        start, length = (
            self.table.rows[word * k.WORD + k.W_START],
            self.table.rows[word * k.WORD + k.W_LENGTH],
        )
        return self.table.letters[start : start + length].tobytes().decode("utf-8", "surrogatepass")

    def forms_of(self, word: int) -> set[str]:
        """The forms that regular expressions match: the term, the word before stemming, before folding."""
        row = self.table.rows[word * k.WORD : (word + 1) * k.WORD]
        found = set()
        for column in (k.W_TERM, k.W_FOLD, k.W_LOWER):
            start, length = row[column : column + 2]
            found.add(self.table.letters[start : start + length].tobytes().decode("utf-8", "surrogatepass"))
        return found
