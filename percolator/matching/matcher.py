"""Segments against documents: `Matcher.match` for one document, `match_batch` for columns of them.

A matcher is one worker's: its tables of words and lists are private, learnt while documents pass, and
change the speed, never an answer. One thread may use it at a time. Segments are shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from percolator.analysis import Analyser, analyser
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
from percolator.matching.regexes import Regexes
from percolator.matching.surface import MOST_WORDS, SurfaceWords
from percolator.schema import Kind, Schema
from percolator.segment import Segment
from percolator.values import Document

Longs = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]

CHUNK_BYTES = 1 << 18
"""Text that is scanned before it is matched: its tokens stay in the processor's cache."""
COMPILE_AFTER = 100_000
"""So many bytes a matcher reads with the interpreted kernel, before it waits for the compiled one."""
MOST_POOL = 1 << 24
"""So many numbers are in the lists of words of one segment, before they are started anew."""
BUDGET = 1 << 20
"""So many spans a positional node may have in one document."""


class TooLongError(ValueError):
    """More than two thousand million positions: words, and a hundred between values."""


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
    of the kernel; without it, the compiled one is loaded as soon as it pays.
    """

    def __init__(
        self,
        schema: Schema,
        segments: Sequence[Segment] = (),
        *,
        engine: Engine | None = None,
        most_words: int = MOST_WORDS,
        budget: int = BUDGET,
    ) -> None:
        self.schema = schema
        self._fixed = engine
        self._read = 0
        self._words = SurfaceWords(most_words)
        self._budget = budget
        self._numbers: dict[str, int] = {}
        self._modes = np.empty(0, np.int32)
        self._analysers: list[Analyser | None] = []
        for name in schema.fields:
            self._declare(name)
        self._work = _Work()
        self._views: list[_View] = []
        self._texts: dict[str, int] = {}
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
            known.get(id(segment)) or _View(segment, self.schema, self._numbers, self._words)
            for segment in segments
        ]
        for view in self._views:
            view.number_fields(self._numbers)
        self._texts, self._values, self._metadata = {}, {}, {}
        for name, number in self._numbers.items():
            if name not in asked:
                continue
            if name.startswith(METADATA):
                self._metadata[name.removeprefix(METADATA)] = number
            elif (kind := self.schema.fields[name].kind) in (Kind.TEXT, Kind.KEYWORD):
                self._texts[name] = number
            else:
                self._values[name] = number, kind
        self._units = any(segment.units for segment in segments)

    @property
    def fields(self) -> frozenset[str]:
        """The fields that some query asks for: `match_batch` needs their columns."""
        return frozenset((*self._texts, *self._values))

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

    def id_of(self, query: int) -> str:
        """The id of a query by its place."""
        view, place = self._find(query)
        return view.segment.id_of(place)

    def _find(self, query: int) -> tuple[_View, int]:
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

    def match(self, document: Document, metadata: Mapping[str, str | Sequence[str]] | None = None) -> Hits:
        """The hits of one document: by field a value, a sequence of values, or None. Raises DocumentError."""
        pieces = [of_document(document, self._texts)]
        if metadata and self._metadata:
            pieces.append(of_document(metadata, self._metadata))
        return self._run(pieces, values_of_document(document, self._values), 1)

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
        pieces = [of_column(columns[name], name, number) for name, number in self._texts.items()]
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
        return self._run(pieces, rows, lengths.pop() if lengths else 0)

    def _run(self, pieces: Sequence[Pieces], values: Longs, documents: int) -> Hits:
        """`values` are rows (document, field, key) in order of documents."""
        self._read += sum(piece.size for piece in pieces)
        engine = self._fixed or (load() if self._read > COMPILE_AFTER else interpreted())
        parts = [0, documents] if documents < 2 else cuts(pieces, documents, CHUNK_BYTES)
        found: list[Longs] = []
        doubts: list[Longs] = []
        for first, behind in pairwise(parts):
            runs = self._scan(engine, [(piece.data, piece.of(first, behind)) for piece in pieces])
            low, high = np.searchsorted(values[:, k.VALUE_DOCUMENT], (first, behind))
            mine = values[low:high] - np.array([first, 0, 0, 0], np.int64)
            base = first << 32
            for view in self._views:
                hits, undecided = view.match(
                    engine, self._words, self._work, runs, mine.ravel(), behind - first, self._budget
                )
                found.append(hits + base)
                if len(undecided):
                    doubts.append(undecided + base)
                base += len(view.segment)
        keys = np.concatenate(found) if found else np.empty(0, np.int64)
        if len(self._views) > 1:
            keys.sort()
        unknown = [(key >> 32, key & 0xFFFFFFFF) for one in doubts for key in one.tolist()]
        return Hits((keys >> 32).astype(np.int32), keys.astype(np.int32), unknown)

    def _scan(self, engine: Engine, parts: Sequence[tuple[npt.NDArray[np.uint8], Longs]]) -> Longs:
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
                    work.tokens, work.runs, counters, self._units,
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


_NO_VALUES = np.empty((0, k.VALUE), np.int64)


class _Work:
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


class _View:
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
        arrays = (self.lists, self.pool, self.truth, self.scratch, self.marks)
        return sum(array.nbytes for array in arrays)

    def match(
        self,
        engine: Engine,
        words: SurfaceWords,
        work: _Work,
        runs: Longs,
        values: Longs,
        documents: int,
        budget: int,
    ) -> tuple[Longs, Longs]:
        """Hits and doubts of this segment, as document << 32 | query, sorted."""
        if self.generation != words.generation:
            self._forget(words)
        if len(self.lists) < words.capacity:
            more = np.full(words.capacity - len(self.lists), k.UNKNOWN, np.int32)
            self.lists = np.concatenate((self.lists, more))
        afresh = self._learn_regexes(engine, words, work, afresh=False)
        if work.stamp > (1 << 31) - documents - 64:
            words.seen[:] = 0
            work.stamp = 0
        segment, counters = self.segment, self.counters
        counters[k.C_STAMP] = work.stamp
        counters[k.C_BUDGET] = budget
        counters[k.C_DOCUMENT] = counters[k.C_RUN] = counters[k.C_VALUE] = 0
        counters[k.C_HITS] = counters[k.C_DOUBTS] = 0
        borders = len(runs) // k.RUN + 1
        if segment.units:
            borders += int(words.counters[k.C_TOKENS])
        if 3 * borders > len(work.borders):
            work.borders = np.empty(6 * borders, np.int32)
        while True:
            engine.match(
                segment.longs, segment.ints, segment.text, self.fields, self.lists, self.pool, self.truth,
                self.scratch, self.marks, words.rows, words.letters, words.seen, work.tokens, runs, values,
                work.states, work.log, work.spans, work.borders, work.hits, work.doubts, counters, documents,
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
        return work.hits[: counters[k.C_HITS]].copy(), work.doubts[: counters[k.C_DOUBTS]].copy()

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

    def _learn_regexes(self, engine: Engine, words: SurfaceWords, work: _Work, afresh: bool) -> bool:
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
        segment = self.segment
        while True:
            new = asked[self.lists[asked] == k.UNKNOWN].tolist()
            if not new:
                return afresh
            extra: list[int] = []
            ends: list[int] = []
            for word in new:
                extra.extend(self._regexes.leaves(int(fields[word]), words.forms_of(word)))
                ends.append(len(extra))
            done = engine.learn_all(
                segment.longs, segment.ints, segment.text, self.fields, self.lists, self.pool, self.truth,
                self.scratch, words.rows, words.letters, self.counters, np.array(new, np.int32),
                np.array(extra, np.int32), np.array(ends, np.int32),
            )  # fmt: skip
            if done < len(new):
                afresh = self._more_pool(afresh)
