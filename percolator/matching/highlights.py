"""Highlights of hits, by the kernel: once over the words of a document for all of them.

The code of a query is made when its first highlights are asked for, and kept with the segment in use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from percolator.highlight_code import HighlightCode, HighlightCoder
from percolator.highlighted import HighlightedPairs, by_field
from percolator.hit import Hit
from percolator.lookup import Lookup
from percolator.matching.kernel.arrays import RUN
from percolator.matching.kernel.highlights import HighlightCodes, HighlightText
from percolator.query.tree import Node
from percolator.schema import Schema
from percolator.segment import QuerySegment
from percolator.values import Document, Test

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

PAIRS_AT_ONCE = 4096
"""So many pairs get their highlights by one call of the kernel, which bounds the ranges that it holds."""
MOST_CODE = 1 << 22
"""So many cells of code a segment keeps, before they are made anew."""
MOST_KEPT = 100_000
"""So many queries it knows the code of, or that there is none."""
_UNKNOWN, _NONE = -2, -1


@dataclass(frozen=True, slots=True, eq=False)
class Noted:
    """The document that was scanned last, one alone, with the edges of its words.

    `generation` is that of the words, whose numbers they are no more under another.
    """

    document: Document
    edges: Ints
    generation: int


@dataclass(frozen=True, slots=True)
class Showing:
    """Gives what highlights are made of: the tree of a query by its place, a document by its row."""

    node: Callable[[int], Node]
    document: Callable[[int], Document]

    def behind(self, query: int, row: int) -> Showing:
        """The same for places and rows that are counted from these on."""
        return Showing(lambda place: self.node(query + place), lambda at: self.document(row + at))


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """The highlights of pairs of a document and a query, by column.

    `ranges` are start << 32 | end in code points of a field, by pair, text field and place. `names` has by
    number of the pair, where there are any, the names of its true parts.
    """

    coded: npt.NDArray[np.bool_]
    """By pair, False where percolator.highlight has to answer."""
    counts: Longs
    """A row a pair: the number of its ranges by text field."""
    ranges: Longs
    names: Mapping[int, tuple[str, ...]]

    def hits(self, fields: tuple[str, ...]) -> list[Hit | None]:
        """By pair the hit, None where there is none; `fields` are the text fields."""
        ranges = by_field(fields, self.counts, self.ranges)
        if not self.names and self.coded.all():
            return [Hit((), one) for one in ranges]
        each = enumerate(zip(self.coded.tolist(), ranges, strict=True))
        return [Hit(self.names.get(at, ()), one) if coded else None for at, (coded, one) in each]


def joined(arrays: Sequence[Longs]) -> Longs:
    """One array behind the other; a lone one is not copied."""
    if len(arrays) == 1:
        return arrays[0]
    return np.concatenate(arrays) if arrays else np.empty(0, np.int64)


def gathered(
    keys: Longs, shown: Sequence[Shown], fields: tuple[str, ...], undecided: Sequence[tuple[int, int]]
) -> tuple[HighlightedPairs, npt.NDArray[np.bool_]]:
    """The highlights of all parts and segments in order of the keys, and by pair whether they are known."""
    coded = np.concatenate([np.empty(0, np.bool_), *[one.coded for one in shown]])
    counts = np.concatenate([np.empty((0, len(fields)), np.int64), *[one.counts for one in shown]])
    names: dict[int, tuple[str, ...]] = {}
    first = 0
    for one in shown:
        names |= {first + number: true for number, true in one.names.items()}
        first += len(one.coded)
    every = HighlightedPairs(
        (keys >> 32).astype(np.int32), keys.astype(np.int32), fields, counts,
        np.concatenate([np.empty(0, np.int64), *[one.ranges for one in shown]]), names,
        undecided=undecided,
    )  # fmt: skip
    if (np.diff(keys) > 0).all():
        return every, coded
    order = np.argsort(keys)
    return every.taken(order), coded[order]


@dataclass(frozen=True, slots=True)
class QueryCode:
    """The parts of a query's code beside its cells."""

    names: tuple[str, ...]
    tests: tuple[Test, ...]


class Codes:
    """The codes of highlights of one segment's queries, as they are asked for.

    `more` are what belongs to those that have names or tests.
    """

    def __init__(self, segment: QuerySegment, schema: Schema, numbers: Mapping[str, int]) -> None:
        self._coder = HighlightCoder(schema, Lookup(segment), numbers)
        self._queries = len(segment)
        self._begins: Ints = np.empty(0, np.int32)
        self._forget()

    def _forget(self) -> None:
        self.cells: Ints = np.empty(256, np.int32)
        self._size = self.kept = 0
        self._begins[:] = _UNKNOWN
        self.more: dict[int, QueryCode] = {}

    @property
    def nbytes(self) -> int:
        """The memory that the codes take."""
        return self.cells.nbytes + self._begins.nbytes

    def begins(self, queries: Ints, node: Callable[[int], Node]) -> Ints:
        """Where in `cells` the codes of queries begin, below 0 for those that the kernel has no code for."""
        if not len(self._begins):
            self._begins = np.full(self._queries, _UNKNOWN, np.int32)
        if self._size > MOST_CODE or self.kept > MOST_KEPT:
            self._forget()
        found = self._begins[queries]
        new = queries[found == _UNKNOWN]
        if not len(new):
            return found
        for query in np.unique(new).tolist():
            made = self._coder.code(node(query))
            self._begins[query] = _NONE if made is None else self._keep(query, made)
            self.kept += 1
        return self._begins[queries]

    def _keep(self, query: int, code: HighlightCode) -> int:
        begin, end = self._size, self._size + len(code.cells)
        if end > len(self.cells):
            cells = np.empty(2 * end, np.int32)
            cells[:begin] = self.cells[:begin]
            self.cells = cells
        self.cells[begin:end] = code.cells
        self._size = end
        if code.names or code.tests:
            self.more[query] = QueryCode(code.names, code.tests)
        return begin


def highlight_text(tokens: Ints, runs: Longs, edges: Ints, rows: Ints) -> HighlightText:
    """Documents that were scanned with their `edges`; `rows` are the text fields' by the matcher's number."""
    return HighlightText(
        tokens, runs, edges, rows,
        owners=np.empty(len(tokens), np.int32),
        bases=np.empty(len(runs) // RUN, np.int64),
        borders=np.empty(int(rows.max()) + 1 if len(rows) else 0, np.int64),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of a document and a query of one segment, with their code; documents ascend."""

    documents: Ints
    queries: Ints
    begins: Ints

    def of(self, first: int, behind: int) -> Pairs:
        """Some of them."""
        return Pairs(*(part[first:behind] for part in (self.documents, self.queries, self.begins)))


def highlight_codes(codes: Codes, pairs: Pairs, fields: int, showing: Showing) -> HighlightCodes:
    """The codes of pairs, with what they are given of their documents."""
    deepest = max(1, int(codes.cells[pairs.begins].max()))
    return HighlightCodes(
        cells=codes.cells,
        documents=pairs.documents,
        chosen=pairs.begins,
        given=_given(codes, pairs, showing),
        results=np.zeros(deepest, np.uint8),
        begins=np.zeros(deepest, np.int64),
        names=np.zeros(len(pairs.begins), np.int64),
        ends=np.zeros(len(pairs.begins) * fields, np.int64),
    )


def _given(codes: Codes, pairs: Pairs, showing: Showing) -> npt.NDArray[np.uint8]:
    found: list[bool] = []
    if codes.more:
        for document, query in zip(pairs.documents.tolist(), pairs.queries.tolist(), strict=True):
            more = codes.more.get(query)
            if more is not None and more.tests:
                row = showing.document(document)
                found += [test(row) for test in more.tests]
    return np.array(found, np.uint8)


def true_names(codes: Codes, pairs: Pairs, bits: Longs, first: int) -> dict[int, tuple[str, ...]]:
    """The names of the true parts by number of the pair, counted from `first` on.

    All codes were true on their documents.
    """
    if len(bits) and bits.min() < 0:
        raise AssertionError("a query hit a document on which it is not true")
    found = {}
    for number in np.flatnonzero(bits).tolist():
        names = codes.more[int(pairs.queries[number])].names
        true = [name for place, name in enumerate(names) if int(bits[number]) >> place & 1]
        found[first + number] = tuple(dict.fromkeys(true))
    return found
