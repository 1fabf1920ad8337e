"""One segment at work: what a worker keeps beside its arrays while documents pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from percolator.hit import Hit
from percolator.matching import kernel as k
from percolator.matching.compiled import Engine
from percolator.matching.highlights import HITS_AT_ONCE, Codes, Kept, Shown, TextPieces, given, hits_of
from percolator.matching.regexes import Regexes
from percolator.matching.surface import SurfaceWords
from percolator.schema import Schema
from percolator.segment import Segment

Longs = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]

Clock = Callable[[], int]
"""Nanoseconds, from anywhere on."""

MOST_POOL = 1 << 24
"""So many numbers are in the lists of words of one segment, before they are started anew."""


class TooLongError(ValueError):
    """More than two thousand million positions: words, and a hundred between values."""


class Work:
    """Room that all segments share, enlarged when the kernel asks for it."""

    def __init__(self) -> None:
        self.tokens = np.empty(1 << 12, np.int32)
        self.runs = np.empty(64 * k.RUN, np.int64)
        self.states = np.empty(1 << 10, np.int32)
        self.log = np.empty(1 << 12, np.int32)
        self.spans = np.empty(1 << 12, np.int64)
        self.borders = np.empty(3 * 256, np.int32)
        self.hits = np.empty(1 << 10, np.int64)
        self.doubts = np.empty(1 << 6, np.int64)
        self.stamp = 0

    @property
    def nbytes(self) -> int:
        arrays = (self.tokens, self.runs, self.states, self.log, self.spans, self.borders, self.hits)
        return sum(array.nbytes for array in arrays)

    def room_for(self, tokens: int, runs: int) -> None:
        """So many tokens and runs, also if each of them is a border."""
        if tokens > len(self.tokens):
            self.tokens = np.empty(2 * tokens, np.int32)
        if runs * k.RUN > len(self.runs):
            self.runs = np.empty(2 * runs * k.RUN, np.int64)

    def enlarge(self, status: int) -> None:
        """Twice the room of what the kernel found too small."""
        match status:
            case k.NEED_STATES:
                self.states = np.empty(2 * len(self.states), np.int32)
            case k.NEED_LOG:
                self.log = np.empty(2 * len(self.log), np.int32)
            case k.NEED_SPANS:
                self.spans = np.empty(2 * len(self.spans), np.int64)
            case k.NEED_HITS:
                self.hits = np.concatenate((self.hits, np.empty_like(self.hits)))
                self.doubts = np.concatenate((self.doubts, np.empty_like(self.doubts)))
            case _:
                raise AssertionError(status)


class View:
    """What one worker keeps about a segment: lists of the words it met, and room for one document."""

    def __init__(
        self, segment: Segment, schema: Schema, numbers: Mapping[str, int], words: SurfaceWords
    ) -> None:
        self.segment = segment
        leaves, nodes = int(segment.longs[k.H_LEAVES]), int(segment.longs[k.H_NODES])
        self.truth = np.zeros(leaves, np.uint8)
        self.scratch = np.zeros(3 * leaves + 5 * nodes + 2, np.int32)
        self.marks = np.zeros(len(segment), np.uint8)
        self.counters = np.zeros(k.COUNTS, np.int64)
        self.spent = np.zeros(len(segment), np.int64)
        """By query, the work it has made in the documents that were timed (`kernel.offer`)."""
        self.candidates_took = 0
        """Nanoseconds of all that work."""
        self.timed = 0
        """Documents that were timed."""
        self.codes = Codes(segment, schema, numbers)
        self._regexes = Regexes(segment.regexes, schema, numbers)
        self._forget(words)

    def number_fields(self, numbers: Mapping[str, int]) -> None:
        """Which of the matcher's fields are which of the segment's, -1 for none."""
        places = {name: place for place, name in enumerate(self.segment.fields)}
        self.fields = np.array([places.get(name, -1) for name in numbers], np.int32)

    def _forget(self, words: SurfaceWords) -> None:
        self.generation = words.generation
        self.lists = np.full(words.capacity, k.UNKNOWN, np.int32)
        self.pool = np.empty(1 << 10, np.int32)
        self.counters[k.C_POOL] = 1

    @property
    def nbytes(self) -> int:
        arrays = (self.lists, self.pool, self.truth, self.scratch, self.marks, self.spent)
        return sum(array.nbytes for array in arrays) + self.codes.nbytes

    def match(
        self,
        engine: Engine,
        words: SurfaceWords,
        work: Work,
        runs: Longs,
        values: Longs,
        documents: int,
        budget: int,
        clock: Clock | None = None,
    ) -> tuple[Longs, Longs]:
        """Hits and doubts of this segment, as document << 32 | query, sorted.

        With a clock the time that candidates take is measured and shared out to the queries.
        """
        self._follow(words)
        if work.stamp > (1 << 31) - 3 * documents - 64:
            words.seen[:] = 0
            work.stamp = 0
        borders = len(runs) // k.RUN + 1
        if self.segment.units:
            borders += int(words.counters[k.C_TOKENS])
        if 3 * borders > len(work.borders):
            work.borders = np.empty(6 * borders, np.int32)
        self.counters[k.C_BUDGET] = budget
        if clock is None:
            self._run(engine, words, work, runs, values, documents, k.MATCHING)
        else:
            self._run(engine, words, work, runs, values, documents, k.WALKING)  # so that all words are learnt
            start = clock()
            self._run(engine, words, work, runs, values, documents, k.WALKING)
            between = clock()
            self._run(engine, words, work, runs, values, documents, k.COUNTING)
            self.candidates_took += clock() - between - (between - start)
            self.timed += documents
        counters = self.counters
        return work.hits[: counters[k.C_HITS]].copy(), work.doubts[: counters[k.C_DOUBTS]].copy()

    def _run(
        self,
        engine: Engine,
        words: SurfaceWords,
        work: Work,
        runs: Longs,
        values: Longs,
        documents: int,
        mode: int,
    ) -> None:
        """The kernel over all documents, with all the room it needs."""
        afresh = self._learn_regexes(engine, words, work, afresh=False)
        segment, counters = self.segment, self.counters
        counters[k.C_MODE] = mode
        counters[k.C_STAMP] = work.stamp
        counters[k.C_DOCUMENT] = counters[k.C_RUN] = counters[k.C_VALUE] = 0
        counters[k.C_HITS] = counters[k.C_DOUBTS] = 0
        while True:
            engine.match(
                segment.longs, segment.ints, segment.text, self.fields, self.lists, self.pool, self.truth,
                self.scratch, self.marks, words.rows, words.letters, words.seen, work.tokens, runs, values,
                work.states, work.log, work.spans, work.borders, work.hits, work.doubts, counters, self.spent,
                documents,
            )  # fmt: skip
            status = int(counters[k.C_STATUS])
            if status == k.DONE:
                break
            if status == k.TOO_LONG:
                raise TooLongError("a document has more positions than 31 bits can count")
            if status == k.NEED_POOL:
                afresh = self._more_pool(afresh)
                afresh = self._learn_regexes(engine, words, work, afresh)
            else:
                work.enlarge(status)
        work.stamp = int(counters[k.C_STAMP])

    def microseconds(self) -> npt.NDArray[np.float64]:
        """By query, what it takes of a document as a candidate; a mean over those that were timed."""
        work = int(self.spent.sum())
        if not work or not self.timed:
            return np.zeros(len(self.segment))
        a_step = max(0, self.candidates_took) / work / self.timed / 1000
        return self.spent.astype(np.float64) * a_step

    def highlights(
        self,
        engine: Engine,
        words: SurfaceWords,
        work: Work,
        runs: Longs,
        edges: Ints,
        text: TextPieces,
        codes: Sequence[Kept | None],
    ) -> list[Hit | None]:
        """What queries found in a document, by their codes; None where there is no code."""
        self._follow(words)
        known = [code for code in codes if code is not None]
        found: list[Hit] = []
        for at in range(0, len(known), HITS_AT_ONCE):
            some = known[at : at + HITS_AT_ONCE]
            found += hits_of(some, self._shown(engine, words, work, runs, edges, text, some), text.names)
        hits = iter(found)
        return [None if code is None else next(hits) for code in codes]

    def _shown(
        self,
        engine: Engine,
        words: SurfaceWords,
        work: Work,
        runs: Longs,
        edges: Ints,
        text: TextPieces,
        codes: Sequence[Kept],
    ) -> Shown:
        segment, counters = self.segment, self.counters
        tokens = work.tokens[: words.counters[k.C_TOKENS]]
        chosen = np.array([code.begin for code in codes], np.int32)
        told = given(codes, text.document)
        afresh = False
        while True:
            afresh = self._learn_regexes(engine, words, work, afresh)
            found: Shown = engine.shown(
                segment.longs, segment.ints, self.fields, self.lists, self.pool, self.truth, self.scratch,
                tokens, edges, runs, text.borders, self.codes.cells, chosen, told, counters,
            )  # fmt: skip
            if counters[k.C_STATUS] == k.DONE:
                return found
            # The tables were started anew since the document was matched.
            fields = self.fields[words.rows.reshape(-1, k.WORD)[tokens, k.W_FIELD]]
            new = np.unique(tokens[(fields >= 0) & (self.lists[tokens] == k.UNKNOWN)])
            afresh = self._learn(engine, words, new, [()] * len(new), afresh)

    def _follow(self, words: SurfaceWords) -> None:
        """Room for all words; lists of words that were forgotten are, too."""
        if self.generation != words.generation:
            self._forget(words)
        if len(self.lists) < words.capacity:
            more = np.full(words.capacity - len(self.lists), k.UNKNOWN, np.int32)
            self.lists = np.concatenate((self.lists, more))

    def _more_pool(self, afresh: bool) -> bool:
        """More room for lists, or none learnt (True) where they have all the room they may have.

        `afresh` tells that they were forgotten for the very documents that need more: then they grow.
        """
        if len(self.pool) >= MOST_POOL and not afresh:
            self.lists[:] = k.UNKNOWN
            self.counters[k.C_POOL] = 1
            return True
        pool = np.empty(2 * len(self.pool), np.int32)
        pool[: len(self.pool)] = self.pool
        self.pool = pool
        return afresh

    def _learn_regexes(self, engine: Engine, words: SurfaceWords, work: Work, afresh: bool) -> bool:
        """Learns the unknown words of fields that regular expressions look at: RE2 takes linear time.

        The kernel knows none of them, so that no such word may be left for it to learn. Returns `afresh`
        as `_more_pool` does.
        """
        if not self._regexes.fields:
            return afresh
        tokens = work.tokens[: words.counters[k.C_TOKENS]]
        seen = np.unique(tokens[tokens >= 0])
        fields = words.rows.reshape(-1, k.WORD)[:, k.W_FIELD]
        asked = seen[np.isin(fields[seen], list(self._regexes.fields))]
        while True:
            new = asked[self.lists[asked] == k.UNKNOWN]
            if not len(new):
                return afresh
            extra = [self._regexes.leaves(int(fields[word]), words.forms_of(word)) for word in new.tolist()]
            afresh = self._learn(engine, words, new, extra, afresh)

    def _learn(
        self,
        engine: Engine,
        words: SurfaceWords,
        new: Ints,
        extra: Sequence[Sequence[int]],
        afresh: bool,
    ) -> bool:
        """Learns words, each with leaves that were found elsewhere; not all where room has to be made first.

        Returns `afresh` as `_more_pool` does.
        """
        segment = self.segment
        done = engine.learn_all(
            segment.longs, segment.ints, segment.text, self.fields, self.lists, self.pool, self.truth,
            self.scratch, words.rows, words.letters, self.counters, new,
            np.array([leaf for leaves in extra for leaf in leaves], np.int32),
            np.cumsum([len(leaves) for leaves in extra], dtype=np.int32),
        )  # fmt: skip
        return self._more_pool(afresh) if done < len(new) else afresh
