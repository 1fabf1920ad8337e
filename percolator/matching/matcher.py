"""Segments against documents: `Matcher.match` for one document, `match_batch` for columns of them.

A matcher is one worker's: its tables of words and lists are private, learnt while documents pass, and
change the speed, never an answer. One thread may use it at a time. Segments are shared.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from percolator.analysis import Analyser, analyser
from percolator.hit import Hit
from percolator.leaves import METADATA
from percolator.matching import kernel as k
from percolator.matching.characters import classes
from percolator.matching.compiled import Engine, interpreted, load
from percolator.matching.documents import (
    Column,
    Pieces,
    cuts,
    of_column,
    of_document,
    values_of_column,
    values_of_document,
)
from percolator.matching.highlights import Noted, text_pieces
from percolator.matching.surface import MOST_WORDS, SurfaceWords
from percolator.matching.view import Clock, View, Work
from percolator.query.tree import Node
from percolator.schema import Kind, Schema
from percolator.segment import Segment
from percolator.values import Document

Longs = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]

CHUNK_BYTES = 1 << 18
"""Text that is scanned before it is matched: its tokens stay in the processor's cache."""
COMPILE_AFTER = 100_000
"""So many bytes a matcher reads with the interpreted kernel, before it waits for the compiled one."""
TIMED = 512
"""One of so many runs of the kernel, each over a chunk of documents or one alone, is timed."""
BUDGET = 1 << 20
"""So many spans a positional node may have in one document."""


@dataclass(frozen=True, slots=True)
class Hits:
    """Pairs (document, query) in this order: row of the columns, place among all queries of the matcher.

    `undecided` are pairs for which a positional node came to its budget: no hits, and not known not to be.
    """

    document: npt.NDArray[np.int32]
    query: npt.NDArray[np.int32]
    undecided: Sequence[tuple[int, int]] = ()


class Matcher:
    """Answers the queries of some segments, all of one schema.

    A query's place is that in its segment, plus the sizes of the segments before. `engine` fixes the form
    of the kernel; without it, the compiled one is loaded as soon as it pays. One of `timed` runs of it is
    timed (TIMED, if left out); `clock` gives nanoseconds of the thread.
    """

    def __init__(
        self,
        schema: Schema,
        segments: Sequence[Segment] = (),
        *,
        engine: Engine | None = None,
        most_words: int = MOST_WORDS,
        budget: int = BUDGET,
        timed: int | None = None,
        clock: Clock = time.thread_time_ns,
    ) -> None:
        self.schema = schema
        self._clock = clock
        self._timed = timed or TIMED
        self._runs = 0
        self._fixed = engine
        self._read = 0
        self._words = SurfaceWords(most_words)
        self._budget = budget
        self._numbers: dict[str, int] = {}
        self._modes = np.empty(0, np.int32)
        self._analysers: list[Analyser | None] = []
        for name in schema.fields:
            self._declare(name)
        self._work = Work()
        self._views: list[View] = []
        self._noted: Noted | None = None
        self._texts: dict[str, int] = {}
        self._keywords: dict[str, int] = {}
        self._values: dict[str, tuple[int, Kind]] = {}
        self._metadata: dict[str, int] = {}
        self.use(segments)

    def _declare(self, name: str) -> None:
        """Gives a field its number, for good: words are remembered with it."""
        declared = self.schema.fields.get(name)
        mode = k.MODE_WHOLE
        analysed: Analyser | None = None
        if declared is not None and declared.kind is Kind.TEXT:
            analysed = analyser(declared.analyser)
            mode = k.MODE_PLAIN if declared.analyser == "plain" else k.MODE_ANALYSED
        self._numbers[name] = len(self._numbers)
        self._analysers.append(analysed)
        self._modes = np.append(self._modes, np.int32(mode))

    def use(self, segments: Sequence[Segment]) -> None:
        """The segments that count from now on; what was learnt about those that stay is kept.

        Raises ValueError for a segment of another schema.
        """
        for segment in segments:
            if segment.schema != self.schema.text:
                raise ValueError(f"a segment was built over other fields: {segment.schema}")
        asked = {name for segment in segments for name in segment.fields}
        for name in sorted(asked - self._numbers.keys()):
            self._declare(name)
        known = {id(view.segment): view for view in self._views}
        self._views = [
            known.get(id(segment)) or View(segment, self.schema, self._numbers, self._words)
            for segment in segments
        ]
        for view in self._views:
            view.number_fields(self._numbers)
        self._texts, self._keywords, self._values, self._metadata = {}, {}, {}, {}
        for name, number in self._numbers.items():
            if name not in asked:
                continue
            if name.startswith(METADATA):
                self._metadata[name.removeprefix(METADATA)] = number
            elif (kind := self.schema.fields[name].kind) is Kind.TEXT:
                self._texts[name] = number
            elif kind is Kind.KEYWORD:
                self._keywords[name] = number
            else:
                self._values[name] = number, kind
        self._units = any(segment.units for segment in segments)

    @property
    def fields(self) -> frozenset[str]:
        """The fields that some query asks for: `match_batch` needs their columns."""
        return frozenset((*self._texts, *self._keywords, *self._values))

    @property
    def metadata(self) -> frozenset[str]:
        """The keys of metadata that some query's filter asks for."""
        return frozenset(self._metadata)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The segments in use, in order."""
        return tuple(view.segment for view in self._views)

    def __len__(self) -> int:
        """How many queries the segments hold."""
        return sum(len(view.segment) for view in self._views)

    def kill(self, queries: Iterable[int]) -> None:
        """These queries hit nothing any more, until their segment is no longer in use."""
        places = np.fromiter(queries, np.int64)
        for view in self._views:
            size = len(view.segment)
            view.marks[places[(places >= 0) & (places < size)]] |= k.KILLED
            places = places - size

    def microseconds(self) -> npt.NDArray[np.float64]:
        """By query, what it takes of a document's time as a candidate: looking it up and checking it.

        A mean over the documents that were timed while its segment was in use; 0 where none was. What words
        take before there are candidates - splitting, patterns, the phrases' trie - is nobody's alone.
        """
        return np.concatenate([np.empty(0), *[view.microseconds() for view in self._views]])

    def id_of(self, query: int) -> str:
        """The id of a query by its place."""
        view, place = self._find(query)
        return view.segment.id_of(place)

    def _find(self, query: int) -> tuple[View, int]:
        place = int(query)
        for view in self._views:
            if place < len(view.segment):
                return view, place
            place -= len(view.segment)
        raise IndexError(query)

    @property
    def nbytes(self) -> int:
        """The private memory: words, lists and room to work."""
        return self._words.nbytes + self._work.nbytes + sum(view.nbytes for view in self._views)

    def match(
        self,
        document: Document,
        metadata: Mapping[str, str | Sequence[str]] | None = None,
        *,
        noted: bool = False,
    ) -> Hits:
        """The hits of one document: by field a value, a sequence of values, or None. Raises DocumentError.

        `noted` tells that `highlights` of the same document will be asked for next.
        """
        text = text_pieces(document, self._texts)
        pieces = [text.pieces]
        if self._keywords:
            pieces.append(of_document(document, self._keywords))
        if metadata and self._metadata:
            pieces.append(of_document(metadata, self._metadata))
        noted = noted and not self._units  # ends of sentences stand among the words
        edges = text.room() if noted else _NO_EDGES
        hits = self._run(pieces, values_of_document(document, self._values), 1, edges)
        self._noted = Noted(text, edges, self._words.generation) if noted else None
        return hits

    def match_batch(
        self,
        columns: pa.Table | pa.RecordBatch | Mapping[str, Column],
        metadata: Mapping[str, Column] | None = None,
    ) -> Hits:
        """The hits of each row.

        Columns of texts and keywords are strings, dictionaries of strings, or lists of them (a field with
        several values), those of other fields numbers, times, dates, booleans or strings; all have one
        length, and a null is no value. Columns that no query asks for are only counted. `metadata` has
        columns of strings by key. Raises ValueError where a field that a query asks for has no column, or
        lengths differ, DocumentError where a value is not what its field holds.
        """
        if isinstance(columns, pa.Table | pa.RecordBatch):
            columns = {name: columns.column(name) for name in columns.schema.names}
        missing = sorted(self.fields - columns.keys())
        if missing:
            raise ValueError(f"no column for the field {', '.join(missing)}")
        metadata = metadata or {}
        lengths = {len(column) for column in (*columns.values(), *metadata.values())}
        if len(lengths) > 1:
            raise ValueError(f"the columns differ in length: {sorted(lengths)}")
        texts = {**self._texts, **self._keywords}
        pieces = [of_column(columns[name], name, number) for name, number in texts.items()]
        for key, number in self._metadata.items():
            if key in metadata:
                pieces.append(of_column(metadata[key], key, number))
        values = [
            values_of_column(columns[name], name, number, kind)
            for name, (number, kind) in self._values.items()
        ]
        rows = np.concatenate(values) if values else _NO_VALUES
        if len(values) > 1:
            rows = rows[np.argsort(rows[:, k.VALUE_DOCUMENT], kind="stable")]
        self._noted = None
        return self._run(pieces, rows, lengths.pop() if lengths else 0, _NO_EDGES)

    def _run(self, pieces: Sequence[Pieces], values: Longs, documents: int, edges: Ints) -> Hits:
        """`values` are rows (document, field, key) in order of documents."""
        self._read += sum(piece.size for piece in pieces)
        engine = self._engine()
        parts = [0, documents] if documents < 2 else cuts(pieces, documents, CHUNK_BYTES)
        found: list[Longs] = []
        doubts: list[Longs] = []
        for first, behind in pairwise(parts):
            compiled = engine is not interpreted()
            timed = compiled and self._runs % self._timed == 0
            self._runs += compiled
            parts_ = [(piece.data, piece.of(first, behind)) for piece in pieces]
            runs = self._scan(engine, parts_, edges, self._units)
            low, high = np.searchsorted(values[:, k.VALUE_DOCUMENT], (first, behind))
            mine = values[low:high] - np.array([first, 0, 0, 0], np.int64)
            base = first << 32
            for view in self._views:
                hits, undecided = view.match(
                    engine, self._words, self._work, runs, mine.ravel(), behind - first, self._budget,
                    self._clock if timed else None,
                )  # fmt: skip
                found.append(hits + base)
                if len(undecided):
                    doubts.append(undecided + base)
                base += len(view.segment)
        keys = np.concatenate(found) if found else np.empty(0, np.int64)
        if len(self._views) > 1:
            keys.sort()
        unknown = [(key >> 32, key & 0xFFFFFFFF) for one in doubts for key in one.tolist()]
        return Hits((keys >> 32).astype(np.int32), keys.astype(np.int32), unknown)

    def highlights(
        self, document: Document, queries: Sequence[int], node: Callable[[int], Node]
    ) -> list[Hit | None]:
        """What each of these queries, which are true on the document, found there; `node` gives their trees.

        Queries are in order of their places. None for those of which percolator.highlight has to tell, as
        distances matter. Raises DocumentError.
        """
        if not queries:
            return []
        engine = self._engine()
        noted, self._noted = self._noted, None
        if noted is None or noted.text.document is not document or noted.generation != self._words.generation:
            text = text_pieces(document, self._texts)
            noted = Noted(text, text.room(), self._words.generation)
            self._scan(engine, [(text.pieces.data, text.pieces.rows)], noted.edges, units=False)
        text, edges = noted.text, noted.edges
        runs = self._work.runs[: int(self._words.counters[k.C_RUNS]) * k.RUN]
        engine.code_point_edges(text.pieces.data, text.pieces.rows.ravel(), text.bases, edges, runs)
        found: list[Hit | None] = []
        first = 0
        for view in self._views:
            behind = first + len(view.segment)
            mine = queries[len(found) : bisect_left(queries, behind, len(found))]
            if mine:
                codes = view.codes.of([query - first for query in mine], partial(_of_segment, node, first))
                found += view.highlights(engine, self._words, self._work, runs, edges, text, codes)
            first = behind
        return found

    def _engine(self) -> Engine:
        return self._fixed or (load() if self._read > COMPILE_AFTER else interpreted())

    def _scan(
        self, engine: Engine, parts: Sequence[tuple[npt.NDArray[np.uint8], Longs]], edges: Ints, units: bool
    ) -> Longs:
        """The words of some documents, in `self._work.tokens`; the runs, in order of documents."""
        work, words = self._work, self._words
        room = 0
        count = 0
        for _, rows in parts:
            room += int((rows[:, 3] - rows[:, 2]).sum()) + len(rows)
            count += len(rows)
        work.room_for(room, count)
        afresh = False
        while True:
            counters = words.counters
            counters[k.C_TOKENS] = counters[k.C_RUNS] = 0
            for data, rows in parts:
                counters[k.C_PIECE] = 0
                engine.scan(
                    data, rows.ravel(), self._modes, classes(), words.slots, words.rows, words.letters,
                    work.tokens, edges, work.runs, counters, units,
                )  # fmt: skip
                if counters[k.C_STATUS] != k.DONE:
                    break
            if counters[k.C_STATUS] == k.DONE:
                break
            afresh = words.make_room(engine, afresh) or afresh
        words.analyse(self._analysers)
        runs = work.runs[: int(counters[k.C_RUNS]) * k.RUN]
        if len(parts) > 1:
            table = runs.reshape(-1, k.RUN)
            runs = table[np.argsort(table[:, k.RUN_DOCUMENT], kind="stable")].ravel()
        return runs


def _of_segment(node: Callable[[int], Node], first: int, query: int) -> Node:
    return node(first + query)


_NO_VALUES = np.empty((0, k.VALUE), np.int64)
_NO_EDGES = np.empty(0, np.int32)
