"""Segments against documents: `Matcher.match` for one document, `match_batch` for columns of them.

A matcher is one worker's: its tables of words and lists are private, learnt while documents pass, and
change the speed, never an answer. One thread may use it at a time. Segments are shared.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from percolator.analysis import Analyser, analyser
from percolator.highlighted import HighlightedPairs
from percolator.hit import Hit
from percolator.leaves import METADATA
from percolator.matching.characters import classes
from percolator.matching.compiled import Engine, interpreted, load, read_only
from percolator.matching.documents import (
    Column,
    Pieces,
    cuts,
    of_column,
    of_document,
    row_of,
    values_of_column,
    values_of_document,
)
from percolator.matching.highlights import Noted, Showing, Shown, gathered, highlight_text, joined
from percolator.matching.kernel.arrays import (
    KILLED,
    PIECE_END,
    PIECE_START,
    RUN,
    RUN_DOCUMENT,
    VALUE,
    VALUE_DOCUMENT,
    DocumentBatch,
    Ints,
    Longs,
    Splitting,
)
from percolator.matching.kernel.counters import DONE, S_PIECE, S_RUNS, S_STATUS, S_TOKENS
from percolator.matching.kernel.highlights import HighlightText
from percolator.matching.kernel.word_table import MODE_ANALYSED, MODE_PLAIN, MODE_WHOLE
from percolator.matching.sieve import WordSieve
from percolator.matching.surface import MOST_WORDS, SurfaceWords
from percolator.matching.view import Clock, View
from percolator.matching.work import NO_EDGES, Work
from percolator.query.tree import Node
from percolator.schema import Kind, Schema
from percolator.segment import QuerySegment
from percolator.values import Document

CHUNK_BYTES = 1 << 18
"""Text that is scanned before it is matched: its tokens stay in the processor's cache."""
COMPILE_AFTER = 100_000
"""So many bytes a matcher reads with the interpreted kernel, before it waits for the compiled one."""
TIMED = 512
"""One of so many runs of the kernel, each over a chunk of documents or one alone, is timed."""
BUDGET = 1 << 20
"""So many spans a positional node may have in one document."""


@dataclass(frozen=True, slots=True)
class HitPairs:
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
        segments: Sequence[QuerySegment] = (),
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
        self._budget = budget
        self._work = Work(engine or interpreted(), SurfaceWords(most_words))
        self._numbers: dict[str, int] = {}
        self._modes = np.empty(0, np.int32)
        self._analysers: list[Analyser | None] = []
        for name in schema.fields:
            self._declare(name)
        self._views: list[View] = []
        self._sieve = WordSieve()
        self._sifted: Engine | None = None
        self._noted: Noted | None = None
        self._texts: dict[str, int] = {}
        self._keywords: dict[str, int] = {}
        self._values: dict[str, tuple[int, Kind]] = {}
        self._metadata: dict[str, int] = {}
        self.use(segments)

    def _declare(self, name: str) -> None:
        """Gives a field its number, for good: words are remembered with it."""
        declared = self.schema.fields.get(name)
        mode = MODE_WHOLE
        analysed: Analyser | None = None
        if declared is not None and declared.kind is Kind.TEXT:
            analysed = analyser(declared.analyser)
            mode = MODE_PLAIN if declared.analyser == "plain" else MODE_ANALYSED
        self._numbers[name] = len(self._numbers)
        self._analysers.append(analysed)
        self._modes = read_only(np.append(self._modes, np.int32(mode)))

    def use(self, segments: Sequence[QuerySegment]) -> None:
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
            known.get(id(segment)) or View(segment, self.schema, self._numbers, self._work.words)
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
        self._text_rows = np.full(len(self._modes), -1, np.int32)
        self._text_rows[list(self._texts.values())] = np.arange(len(self._texts))
        self._units = any(segment.units for segment in segments)
        self._sifted = None
        self._noted = None

    @property
    def fields(self) -> frozenset[str]:
        """The fields that some query asks for: `match_batch` needs their columns."""
        return frozenset((*self._texts, *self._keywords, *self._values))

    @property
    def metadata(self) -> frozenset[str]:
        """The keys of metadata that some query's filter asks for."""
        return frozenset(self._metadata)

    @property
    def segments(self) -> tuple[QuerySegment, ...]:
        """The segments in use, in order."""
        return tuple(view.segment for view in self._views)

    def __len__(self) -> int:
        """The number of queries in the segments."""
        return sum(len(view.segment) for view in self._views)

    def kill(self, queries: Iterable[int]) -> None:
        """These queries hit nothing any more, until their segment is no longer in use."""
        places = np.fromiter(queries, np.int64)
        for view in self._views:
            size = len(view.segment)
            view.marks[places[(places >= 0) & (places < size)]] |= KILLED
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
        return self._work.nbytes + self._sieve.nbytes + sum(view.nbytes for view in self._views)

    def match(
        self,
        document: Document,
        metadata: Mapping[str, str | Sequence[str]] | None = None,
        *,
        noted: bool = False,
    ) -> HitPairs:
        """The hits of one document: by field a value, a sequence of values, or None. Raises DocumentError.

        `noted`: `highlights` of the same document will be asked for next.
        """
        pieces = [of_document(document, self._texts)]
        if self._keywords:
            pieces.append(of_document(document, self._keywords))
        if metadata and self._metadata:
            pieces.append(of_document(metadata, self._metadata))
        noted = noted and not self._units  # ends of sentences stand among the words
        parts = list(self._parts(pieces, values_of_document(document, self._values), 1, int(noted)))
        self._noted = Noted(document, parts[0].edges, self._work.words.generation) if noted else None
        return self._pairs(parts)

    def match_batch(
        self,
        columns: pa.Table | pa.RecordBatch | Mapping[str, Column],
        metadata: Mapping[str, Column] | None = None,
    ) -> HitPairs:
        """The hits of each row.

        Columns of texts and keywords are strings, dictionaries of strings, or lists of them (a field with
        several values), those of other fields numbers, times, dates, booleans or strings; all have one
        length, and a null is no value. Columns that no query asks for are only counted. `metadata` has
        columns of strings by key. Raises ValueError where a field that a query asks for has no column, or
        lengths differ, DocumentError where a value is not what its field holds.
        """
        self._noted = None
        return self._pairs(list(self._parts(*self._taken(columns, metadata))))

    def highlight_batch(
        self,
        columns: pa.Table | pa.RecordBatch | Mapping[str, Column],
        metadata: Mapping[str, Column] | None,
        node: Callable[[int], Node],
    ) -> tuple[HighlightedPairs, npt.NDArray[np.bool_]]:
        """The hits of each row as in `match_batch`, and their highlights; `node` gives trees by place.

        The second array is False by pair where percolator.highlight has to answer. Raises as `match_batch`.
        """
        self._noted = None
        if isinstance(columns, pa.Table | pa.RecordBatch):
            columns = {name: columns.column(name) for name in columns.schema.names}
        asked = {name: columns[name] for name in self.fields if name in columns}
        showing = Showing(node, partial(row_of, asked))
        parts: list[_Part] = []
        shown: list[Shown] = []
        for part in self._parts(*self._taken(columns, metadata), len(self._texts)):
            parts.append(part)
            shown += self._shown(part, showing)
        pairs = self._pairs(parts)
        keys = _keys(part.keys(part.hits) for part in parts)
        return gathered(keys, shown, tuple(self._texts), pairs.undecided)

    def _taken(
        self,
        columns: pa.Table | pa.RecordBatch | Mapping[str, Column],
        metadata: Mapping[str, Column] | None,
    ) -> tuple[list[Pieces], Longs, int]:
        """Columns as `_run` takes them."""
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
            rows = rows[np.argsort(rows[:, VALUE_DOCUMENT], kind="stable")]
        return pieces, rows, lengths.pop() if lengths else 0

    def _parts(
        self, pieces: Sequence[Pieces], values: Longs, documents: int, noted: int = 0
    ) -> Iterator[_Part]:
        """The findings in one part of the documents after the other.

        `values` are rows (document, field, key) in order of documents. The first `noted` pieces are texts
        whose words are noted with their places.
        """
        self._read += sum(piece.size for piece in pieces)
        work = self._ready()
        borders = [0, documents] if documents < 2 else cuts(pieces, documents, CHUNK_BYTES)
        starts = list(accumulate((len(view.segment) for view in self._views), initial=0))
        for first, behind in pairwise(borders):
            compiled = work.engine is not interpreted()
            timed = compiled and self._runs % self._timed == 0
            self._runs += compiled
            texts = [(piece.data, piece.of(first, behind)) for piece in pieces]
            edges = work.edges_for(_size(texts[:noted])) if noted else NO_EDGES
            tokens, runs = self._scan(texts, NO_EDGES if self._units else edges, self._units)
            batch = DocumentBatch(tokens, runs, _values_of(values, first, behind), behind - first)
            clock = self._clock if timed else None
            found = [view.match(work, batch, self._budget, clock) for view in self._views]
            if self._units and noted:
                tokens, runs = self._scan(texts[:noted], edges, units=False)
            hits, doubts = ([one[kind] for one in found] for kind in (0, 1))
            yield _Part(first, starts, hits, doubts, edges, tokens, runs)

    def _pairs(self, parts: Sequence[_Part]) -> HitPairs:
        keys = _keys(part.keys(part.hits) for part in parts)
        if len(self._views) > 1:
            keys.sort()
        doubts = _keys(part.keys(part.doubts) for part in parts).tolist()
        unknown = [(key >> 32, key & 0xFFFFFFFF) for key in doubts]
        return HitPairs((keys >> 32).astype(np.int32), keys.astype(np.int32), unknown)

    def _shown(self, part: _Part, showing: Showing) -> Iterator[Shown]:
        """The highlights of the hits of a part, which was scanned last, by segment."""
        text = self._highlight_text(part.tokens, part.runs, part.edges)
        for view, start, hits in zip(self._views, part.starts, part.hits, strict=False):
            given = showing.behind(start, part.first)
            yield view.highlights(
                self._work, text, (hits >> 32).astype(np.int32), hits.astype(np.int32), given
            )

    def highlights(
        self, document: Document, queries: Sequence[int], node: Callable[[int], Node]
    ) -> list[Hit | None]:
        """The highlights of these queries, which are true on the document; `node` gives their trees.

        Queries are in order of their places. None for those that ask for distances, which
        percolator.highlight answers. Raises DocumentError.
        """
        if not queries:
            return []
        work = self._ready()
        noted, self._noted = self._noted, None
        if noted is None or noted.document is not document or noted.generation != work.words.generation:
            pieces = of_document(document, self._texts)
            noted = Noted(document, work.edges_for(pieces.size), work.words.generation)
            self._scan([(pieces.data, pieces.rows)], noted.edges, units=False)
        text = self._highlight_text(*self._scanned(), noted.edges)
        showing = Showing(node, lambda _row: document)
        names = tuple(self._texts)
        found: list[Hit | None] = []
        first = 0
        for view in self._views:
            behind = first + len(view.segment)
            mine = queries[len(found) : bisect_left(queries, behind, len(found))]
            if mine:
                places = np.array(mine, np.int32) - np.int32(first)
                rows = np.zeros(len(mine), np.int32)
                found += view.highlights(work, text, rows, places, showing.behind(first, 0)).hits(names)
            first = behind
        return found

    def _highlight_text(self, tokens: Ints, runs: Longs, edges: Ints) -> HighlightText:
        return highlight_text(tokens, runs, edges, self._text_rows)

    def _ready(self) -> Work:
        """The worker's room, with the form of the kernel that pays."""
        engine = self._fixed or (load() if self._read > COMPILE_AFTER else interpreted())
        if self._sifted is not engine:
            self._sift(engine)
        self._work.engine = engine
        return self._work

    def _sift(self, engine: Engine) -> None:
        """Lets the sieve follow the segments in use; it pays only compiled."""
        self._sifted = engine
        fields = np.zeros(len(self._modes), np.int32)
        if engine is interpreted():
            self._sieve.open_to(fields)
            return
        fields[self._modes != MODE_ANALYSED] = 1
        for view in self._views:
            fields[[self._numbers[name] for name in view.open_fields]] = 0
        self._sieve.follow(engine, [view.arrays for view in self._views], fields)

    def _scan(
        self, parts: Sequence[tuple[npt.NDArray[np.uint8], Longs]], edges: Ints, units: bool
    ) -> tuple[Ints, Longs]:
        """The tokens of some documents, and the runs in order of documents."""
        work, words = self._work, self._work.words
        room = 0
        count = 0
        for _, rows in parts:
            room += int((rows[:, PIECE_END] - rows[:, PIECE_START]).sum()) + len(rows)
            count += len(rows)
        found = work.tokens_for(room, count, edges)
        splitting = Splitting(classes(), self._modes, units)
        afresh = False
        while True:
            counters = words.table.counters
            counters[S_TOKENS] = counters[S_RUNS] = 0
            for data, rows in parts:
                counters[S_PIECE] = 0
                work.engine.scan(data, rows.ravel(), splitting, self._sieve.arrays, words.table, found)
                if counters[S_STATUS] != DONE:
                    break
            if counters[S_STATUS] == DONE:
                break
            afresh = words.make_room(work.engine, afresh) or afresh
        words.analyse(self._analysers)
        tokens, runs = self._scanned()
        if len(parts) > 1:
            table = runs.reshape(-1, RUN)
            runs = table[np.argsort(table[:, RUN_DOCUMENT], kind="stable")].ravel()
        return tokens, runs

    def _scanned(self) -> tuple[Ints, Longs]:
        """The tokens and runs that were scanned last."""
        counters = self._work.words.table.counters
        return self._work.tokens[: counters[S_TOKENS]], self._work.runs[: int(counters[S_RUNS]) * RUN]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Documents from `first` on: by segment, whose places begin at `starts`, hits and doubts in them.

    Tokens, runs and `edges` are there until the next documents come.
    """

    first: int
    starts: Sequence[int]
    hits: Sequence[Longs]
    doubts: Sequence[Longs]
    edges: Ints
    tokens: Ints
    runs: Longs

    def keys(self, found: Sequence[Longs]) -> list[Longs]:
        """Hits or doubts as row << 32 | place among all queries."""
        return [one + (self.first << 32 | start) for one, start in zip(found, self.starts, strict=False)]


def _keys(parts: Iterable[Iterable[Longs]]) -> Longs:
    return joined([one for part in parts for one in part])


def _values_of(values: Longs, first: int, behind: int) -> Longs:
    """The values of the documents from `first` on, which are numbered from 0."""
    if not len(values):
        return values.ravel()
    low, high = np.searchsorted(values[:, VALUE_DOCUMENT], (first, behind))
    found: Longs = values[low:high] - np.array([first, 0, 0, 0], np.int64)
    return found.ravel()


def _size(texts: Sequence[tuple[npt.NDArray[np.uint8], Longs]]) -> int:
    """The bytes of some pieces."""
    return sum(int((rows[:, PIECE_END] - rows[:, PIECE_START]).sum()) for _, rows in texts)


_NO_VALUES = np.empty((0, VALUE), np.int64)
