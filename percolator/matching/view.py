"""One segment at work: what a worker keeps beside its arrays while documents pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from percolator.matching.compiled import interpreted, read_only
from percolator.matching.highlights import (
    PAIRS_AT_ONCE,
    Codes,
    Pairs,
    Showing,
    Shown,
    highlight_codes,
    joined,
    true_names,
)
from percolator.matching.kernel import counters as c
from percolator.matching.kernel.arrays import (
    NODE_ROOM,
    NOTHING,
    RUN,
    UNKNOWN,
    W_FIELD,
    WORD,
    DocumentBatch,
    DocumentState,
    Ints,
    Longs,
    SegmentArrays,
    WordLists,
)
from percolator.matching.kernel.highlights import HighlightCodes, HighlightText
from percolator.matching.kernel.layout import H_LEAVES, H_NODES, H_TRIE_FIRST, H_TRIE_LEAF
from percolator.matching.regexes import Regexes
from percolator.matching.sieve import open_fields
from percolator.matching.surface import SurfaceWords
from percolator.matching.work import Work
from percolator.schema import Schema
from percolator.segment import QuerySegment

Clock = Callable[[], int]
"""Nanoseconds, from anywhere on."""

MOST_POOL = 1 << 24
"""So many numbers are in the lists of words of one segment, before they are started anew."""
_EDGES_A_WORD = 4


class TooLongError(ValueError):
    """More than two thousand million positions: words, and a hundred between values."""


class View:
    """A segment in one worker: lists of the words it met, and the knowledge of one document.

    `numbers` are the matcher's fields, `words` its table of words.
    """

    def __init__(
        self, segment: QuerySegment, schema: Schema, numbers: Mapping[str, int], words: SurfaceWords
    ) -> None:
        self.segment = segment
        leaves, nodes = int(segment.longs[H_LEAVES]), int(segment.longs[H_NODES])
        self.marks = np.zeros(len(segment), np.uint8)
        self.spent = np.zeros(len(segment), np.int64)
        """By query, the work it has made in the documents that were timed."""
        self.candidates_took = 0
        """Nanoseconds of all that work."""
        self.timed = 0
        """Documents that were timed."""
        self.codes = Codes(segment, schema, numbers)
        self.open_fields = open_fields(segment)
        self.arrays = SegmentArrays(
            read_only(segment.longs), read_only(segment.ints), read_only(segment.text)
        )
        self._state = DocumentState(
            truth=np.zeros(leaves, np.uint8),
            touched=np.zeros(leaves, np.int32),
            found=np.zeros(leaves, np.int32),
            chains=np.zeros(leaves, np.int32),
            nodes=np.zeros(NODE_ROOM * nodes + 2, np.int32),
            counters=np.zeros(c.COUNTS, np.int64),
        )
        self._edges = np.full(1, np.iinfo(np.uint64).max, np.uint64)
        self._regexes = Regexes(segment.regexes, schema, numbers)
        self._lists: WordLists
        self._forget(words, np.empty(0, np.int32))

    def number_fields(self, numbers: Mapping[str, int]) -> None:
        """Notes which of the matcher's fields are which of the segment's, -1 for none."""
        places = {name: place for place, name in enumerate(self.segment.fields)}
        self._lists = self._lists._replace(
            fields=np.array([places.get(name, -1) for name in numbers], np.int32)
        )

    def _forget(self, words: SurfaceWords, fields: Ints) -> None:
        self.generation = words.generation
        lists = np.full(words.capacity, UNKNOWN, np.int32)
        lists[NOTHING] = 0
        self._lists = WordLists(fields, lists, np.empty(1 << 10, np.int32), self._edges)
        self._state.counters[c.C_POOL] = 1

    @property
    def nbytes(self) -> int:
        arrays: tuple[np.ndarray[Any, Any], ...] = (*self._lists, *self._state, self.marks, self.spent)
        return sum(array.nbytes for array in arrays) + self.codes.nbytes

    def match(
        self, work: Work, batch: DocumentBatch, budget: int, clock: Clock | None = None
    ) -> tuple[Longs, Longs]:
        """Hits and doubts of this segment, as document << 32 | query, sorted.

        With a clock the time that candidates take is measured and shared out to the queries.
        """
        self._follow(work)
        work.stamps_for(batch.documents)
        work.borders_for(len(batch.runs) // RUN + 1 + (len(batch.tokens) if self.segment.units else 0))
        counters = self._state.counters
        counters[c.C_BUDGET] = budget
        if clock is None:
            self._run(work, batch, c.MATCHING)
        else:
            self._run(work, batch, c.WALKING)  # so that all words are learnt
            start = clock()
            self._run(work, batch, c.WALKING)
            between = clock()
            self._run(work, batch, c.COUNTING)
            self.candidates_took += clock() - between - (between - start)
            self.timed += batch.documents
        return work.hits[: counters[c.C_HITS]].copy(), work.doubts[: counters[c.C_DOUBTS]].copy()

    def _run(self, work: Work, batch: DocumentBatch, mode: int) -> None:
        """The kernel over all documents, with all the room it needs."""
        afresh = self._learn_regexes(work, batch.tokens, afresh=False)
        counters = self._state.counters
        counters[c.C_MODE] = mode
        counters[c.C_STAMP] = work.stamp
        counters[c.C_DOCUMENT] = counters[c.C_RUN] = counters[c.C_VALUE] = 0
        counters[c.C_HITS] = counters[c.C_DOUBTS] = 0
        while True:
            results = work.results(self.marks, self.spent)
            work.engine.match(
                self.arrays, self._lists, self._state, work.room, work.words.table, batch, results
            )
            status = int(counters[c.C_STATUS])
            if status == c.DONE:
                break
            if status == c.TOO_LONG:
                raise TooLongError("a document has more positions than 31 bits can count")
            if status == c.NEED_POOL:
                afresh = self._more_pool(afresh)
                afresh = self._learn_regexes(work, batch.tokens, afresh)
            else:
                work.enlarge(status)
        work.stamp = int(counters[c.C_STAMP])

    def microseconds(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """By query, what it takes of a document as a candidate; a mean over those that were timed."""
        work = int(self.spent.sum())
        if not work or not self.timed:
            return np.zeros(len(self.segment))
        a_step = max(0, self.candidates_took) / work / self.timed / 1000
        return self.spent.astype(np.float64) * a_step

    def highlights(
        self, work: Work, text: HighlightText, documents: Ints, queries: Ints, showing: Showing
    ) -> Shown:
        """The highlights of pairs of documents, which ascend, and queries, which are true on them."""
        self._follow(work)
        fields = len(text.borders)
        begins = self.codes.begins(queries, showing.node)
        coded = begins >= 0
        known = Pairs(documents, queries, begins)
        if not coded.all():
            known = Pairs(documents[coded], queries[coded], begins[coded])
        counts: list[Longs] = []
        ranges: list[Longs] = []
        names: dict[int, tuple[str, ...]] = {}
        for first in range(0, len(known.begins), PAIRS_AT_ONCE):
            pairs = known.of(first, first + PAIRS_AT_ONCE)
            asked = highlight_codes(self.codes, pairs, fields, showing)
            ranges.append(self._highlights(work, text, asked))
            asked.ends[1:] -= asked.ends[:-1].copy()
            counts.append(asked.ends)
            names |= true_names(self.codes, pairs, asked.names, first)
        every = joined(counts).reshape(len(known.begins), fields)
        if len(every) < len(queries):
            places = np.flatnonzero(coded)
            names = {int(places[number]): true for number, true in names.items()}
            spread = np.zeros((len(queries), fields), np.int64)
            spread[places] = every
            every = spread
        return Shown(coded, every, joined(ranges), names)

    def _highlights(self, work: Work, text: HighlightText, asked: HighlightCodes) -> Longs:
        """The ranges of some pairs; `asked` gets the rest."""
        counters, tokens = self._state.counters, text.tokens
        afresh = False
        while True:
            afresh = self._learn_regexes(work, tokens, afresh)
            work.engine.highlight(self.arrays, self._lists, self._state, text, asked, work.highlights)
            status = int(counters[c.C_STATUS])
            if status == c.DONE:
                return work.highlights.ranges[: counters[c.C_RANGES]].copy()
            if status != c.NEED_WORDS:
                work.enlarge_highlights(status)
                continue
            # The tables were started anew since the document was matched.
            fields = self._lists.fields[work.words.table.rows.reshape(-1, WORD)[tokens, W_FIELD]]
            new = np.unique(tokens[(fields >= 0) & (self._lists.lists[tokens] == UNKNOWN)])
            afresh = self._learn(work, new, [()] * len(new), afresh)

    def _follow(self, work: Work) -> None:
        """Room for all words; lists of words that were forgotten are, too."""
        words = work.words
        if len(self._edges) == 1 and work.engine is not interpreted():
            states = int(self.segment.longs[H_TRIE_LEAF] - self.segment.longs[H_TRIE_FIRST])
            self._edges = np.zeros(max(2, 1 << (states // _EDGES_A_WORD).bit_length()), np.uint64)
            work.engine.enter_edges(self.arrays, self._edges)
            self._lists = self._lists._replace(edges=self._edges)
        if self.generation != words.generation:
            self._forget(words, self._lists.fields)
        lists = self._lists.lists
        if len(lists) < words.capacity:
            more = np.full(words.capacity - len(lists), UNKNOWN, np.int32)
            self._lists = self._lists._replace(lists=np.concatenate((lists, more)))

    def _more_pool(self, afresh: bool) -> bool:
        """More room for lists, or none learnt (True) where they have all the room they may have.

        `afresh`: they were forgotten for the very documents that need more, so they grow.
        """
        before = self._lists.pool
        if len(before) >= MOST_POOL and not afresh:
            self._lists.lists[NOTHING + 1 :] = UNKNOWN
            self._state.counters[c.C_POOL] = 1
            return True
        pool = np.empty(2 * len(before), np.int32)
        pool[: len(before)] = before
        self._lists = self._lists._replace(pool=pool)
        return afresh

    def _learn_regexes(self, work: Work, tokens: Ints, afresh: bool) -> bool:
        """Learns the unknown words of fields that regular expressions look at: RE2 takes linear time.

        The kernel knows none of them, so that no such word may be left for it to learn. Returns `afresh`
        as `_more_pool` does.
        """
        if not self._regexes.fields:
            return afresh
        seen = np.unique(tokens[tokens >= 0])
        fields = work.words.table.rows.reshape(-1, WORD)[:, W_FIELD]
        asked = seen[np.isin(fields[seen], list(self._regexes.fields))]
        while True:
            new = asked[self._lists.lists[asked] == UNKNOWN]
            if not len(new):
                return afresh
            extra = [
                self._regexes.leaves(int(fields[word]), work.words.forms_of(word)) for word in new.tolist()
            ]
            afresh = self._learn(work, new, extra, afresh)

    def _learn(self, work: Work, new: Ints, extra: Sequence[Sequence[int]], afresh: bool) -> bool:
        """Learns words, each with leaves that were found elsewhere; not all where room has to be made first.

        Returns `afresh` as `_more_pool` does.
        """
        done = work.engine.learn_all(
            self.arrays, self._lists, self._state, work.words.table, new,
            np.array([leaf for leaves in extra for leaf in leaves], np.int32),
            np.cumsum([len(leaves) for leaves in extra], dtype=np.int32),
        )  # fmt: skip
        return self._more_pool(afresh) if done < len(new) else afresh
