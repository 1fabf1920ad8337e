"""The things that the segments of one worker share: the engine at hand, the words, and room that grows."""

from __future__ import annotations

import numpy as np

from percolator.matching.compiled import Engine
from percolator.matching.kernel import counters
from percolator.matching.kernel.arrays import EDGE, RUN, SORTING, Ints, Longs, MatchOutput, Room, TokenRoom
from percolator.matching.kernel.highlights import HighlightRoom
from percolator.matching.kernel.layout import COUNTERS
from percolator.matching.kernel.window import A_BLOCK, WAITING, WINDOW
from percolator.matching.surface import SurfaceWords

NO_EDGES = np.empty(0, np.int32)


class Work:
    """`engine` may be another one from one document to the next; `stamp` is that of the last document."""

    def __init__(self, engine: Engine, words: SurfaceWords) -> None:
        self.engine = engine
        self.words = words
        self.stamp = 0
        self.tokens = np.empty(1 << 12, np.int32)
        self.runs = np.empty(64 * RUN, np.int64)
        self._waiting = np.empty(WAITING * (WINDOW + A_BLOCK), np.int64)
        self._edges = np.empty(0, np.int32)
        self.room = Room(
            states=np.empty(1 << 10, np.int32),
            log=np.empty(1 << 12, np.int32),
            spans=np.empty(1 << 12, np.int64),
            borders=np.empty(3 * 256, np.int32),
            parts=np.empty(1 << 8, np.int64),
            tallies=np.zeros(COUNTERS, np.int32),
        )
        self.hits = np.empty(1 << 10, np.int64)
        self.doubts = np.empty(1 << 6, np.int64)
        self._spare = _spare(self.hits)
        self.highlights = _highlight_room(1 << 9, 1 << 10)

    @property
    def nbytes(self) -> int:
        found = (self.hits, self.doubts, self._spare, *self.highlights)
        arrays = (self.tokens, self.runs, self._edges, self._waiting, *self.room, *found)
        return self.words.nbytes + sum(array.nbytes for array in arrays)

    def tokens_for(self, tokens: int, runs: int, edges: Ints = NO_EDGES) -> TokenRoom:
        """Room for so many tokens and runs."""
        if tokens > len(self.tokens):
            self.tokens = np.empty(2 * tokens, np.int32)
        if runs * RUN > len(self.runs):
            self.runs = np.empty(2 * runs * RUN, np.int64)
        return TokenRoom(self.tokens, edges, self._waiting, self.runs)

    def edges_for(self, bytes_: int) -> Ints:
        """Room for the edges of the words in so many bytes of text; the next call may give the same."""
        if EDGE * bytes_ > len(self._edges):
            self._edges = np.empty(2 * EDGE * bytes_, np.int32)
        return self._edges

    def borders_for(self, borders: int) -> None:
        """Room for so many borders of each kind."""
        if 3 * borders > len(self.room.borders):
            self.room = self.room._replace(borders=np.empty(6 * borders, np.int32))

    def results(self, marks: np.ndarray[tuple[int], np.dtype[np.uint8]], spent: Longs) -> MatchOutput:
        """Room for the hits of queries with these marks."""
        return MatchOutput(self.hits, self.doubts, self._spare, marks, spent)

    def stamps_for(self, documents: int) -> None:
        """Stamps for so many documents, all greater than any that words have seen."""
        if self.stamp > (1 << 31) - 3 * documents - 64:
            self.words.table.seen[:] = 0
            self.stamp = 0

    def enlarge(self, status: int) -> None:
        """Twice the room of what the kernel found too small while matching."""
        room = self.room
        match status:
            case counters.NEED_STATES:
                self.room = room._replace(states=np.empty(2 * len(room.states), np.int32))
            case counters.NEED_LOG:
                self.room = room._replace(log=np.empty(2 * len(room.log), np.int32))
            case counters.NEED_SPANS:
                self.room = room._replace(spans=np.empty(2 * len(room.spans), np.int64))
            case counters.NEED_PARTS:
                self.room = room._replace(parts=np.empty(2 * len(room.parts), np.int64))
            case counters.NEED_HITS:
                self.hits = np.concatenate((self.hits, np.empty_like(self.hits)))
                self.doubts = np.concatenate((self.doubts, np.empty_like(self.doubts)))
                self._spare = _spare(self.hits)
            case _:
                raise AssertionError(status)

    def enlarge_highlights(self, status: int) -> None:
        """Twice the room of what it found too small for highlights."""
        words, ranges = len(self.highlights.words), len(self.highlights.ranges)
        if status == counters.NEED_LOG:
            self.highlights = _highlight_room(2 * words, ranges)
        elif status == counters.NEED_SPANS:
            self.highlights = _highlight_room(words, 2 * ranges)
        else:
            raise AssertionError(status)


def _spare(hits: Longs) -> Longs:
    return np.empty(len(hits) + SORTING, np.int64)


def _highlight_room(words: int, ranges: int) -> HighlightRoom:
    return HighlightRoom(
        log=np.empty(2 * words, np.int32),
        words=np.empty(words, np.int32),
        spans=np.empty(words, np.int64),
        ranges=np.empty(ranges, np.int64),
    )
