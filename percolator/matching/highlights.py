"""Highlights of the hits of one document, by the kernel: once over its words for all of them.

The code of a query is made when its first highlights are asked for, and kept with the segment in use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from percolator.highlight_code import HighlightCode, highlight_code
from percolator.hit import Hit
from percolator.lookup import Lookup
from percolator.matching.documents import Pieces
from percolator.matching.kernel.arrays import EDGE, PIECE
from percolator.matching.kernel.highlights import HighlightCodes, HighlightText
from percolator.query.tree import Node
from percolator.schema import Schema
from percolator.segment import QuerySegment
from percolator.values import Document, Test, texts

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

HITS_AT_ONCE = 1024
"""So many hits get their highlights by one call of the kernel, which bounds the ranges that it holds."""
MOST_CODE = 1 << 22
"""So many cells of code a segment keeps, before they are made anew."""
MOST_KEPT = 100_000
"""So many queries it knows the code of, or that there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class TextPieces:
    """One document and its texts, for words with their places.

    `bases` are by piece where it begins in code points and how many it has; `names` are the text fields, of
    which each begins behind the one before, as `borders` has it.
    """

    document: Document
    pieces: Pieces
    bases: Longs
    names: tuple[str, ...]
    borders: Longs

    def room(self) -> Ints:
        """Room for the edges of its words."""
        return np.empty(EDGE * self.pieces.size, np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Noted:
    """The edges of the words of the document that was scanned last; `generation` is that of the words."""

    text: TextPieces
    edges: Ints
    generation: int


def text_pieces(document: Document, numbers: Mapping[str, int]) -> TextPieces:
    """The texts of a document; `numbers` are those of its text fields, in order. Raises DocumentError."""
    rows: list[tuple[int, int, int, int]] = []
    bases: list[tuple[int, int]] = []
    borders: list[int] = []
    encoded: list[bytes] = []
    at = point = 0
    for name, number in numbers.items():
        borders.append(point)
        for text in texts(document, name):
            data = text.encode("utf-8", "surrogatepass")
            rows.append((0, number, at, at + len(data)))
            bases.append((point, len(text)))
            encoded.append(data)
            at += len(data)
            point += len(text) + 1
    return TextPieces(
        document,
        Pieces(np.frombuffer(b"".join(encoded), np.uint8), np.array(rows, np.int64).reshape(-1, PIECE)),
        np.array(bases, np.int64).ravel(),
        tuple(numbers),
        np.array(borders, np.int64),
    )


@dataclass(frozen=True, slots=True)
class QueryCode:
    """Where the code of a query begins, and what belongs to it."""

    begin: int
    names: tuple[str, ...]
    tests: tuple[Test, ...]


class Codes:
    """The codes of highlights of one segment's queries, as they are asked for."""

    def __init__(self, segment: QuerySegment, schema: Schema, numbers: Mapping[str, int]) -> None:
        self._schema = schema
        self._numbers = numbers
        self._lookup = Lookup(segment)
        self._forget()

    def _forget(self) -> None:
        self.cells: Ints = np.empty(256, np.int32)
        self._size = 0
        self._kept: dict[int, QueryCode | None] = {}

    @property
    def nbytes(self) -> int:
        """The memory that the codes take."""
        return self.cells.nbytes

    def of(self, queries: Sequence[int], node: Callable[[int], Node]) -> list[QueryCode | None]:
        """The codes of queries by their places; None for those that the kernel has no code for."""
        if self._size > MOST_CODE or len(self._kept) > MOST_KEPT:
            self._forget()
        kept = self._kept
        for query in [query for query in queries if query not in kept]:
            made = highlight_code(node(query), self._schema, self._lookup, self._numbers)
            kept[query] = None if made is None else self._keep(made)
        return [kept[query] for query in queries]

    def _keep(self, code: HighlightCode) -> QueryCode:
        begin, end = self._size, self._size + len(code.cells)
        if end > len(self.cells):
            cells = np.empty(2 * end, np.int32)
            cells[:begin] = self.cells[:begin]
            self.cells = cells
        self.cells[begin:end] = code.cells
        self._size = end
        return QueryCode(begin, code.names, code.tests)


@dataclass(frozen=True, slots=True, eq=False)
class HighlightDocument:
    """A document with its tokens, as the kernel takes them; `names` are its text fields."""

    document: Document
    names: tuple[str, ...]
    text: HighlightText


def highlight_document(text: TextPieces, edges: Ints, tokens: Ints, runs: Longs) -> HighlightDocument:
    """A document that was scanned; its `edges` are in code points."""
    owners, places = np.empty(len(tokens), np.int32), np.empty(len(tokens), np.int32)
    return HighlightDocument(
        text.document, text.names, HighlightText(tokens, runs, edges, text.borders, owners, places)
    )


def highlight_codes(cells: Ints, codes: Sequence[QueryCode], document: HighlightDocument) -> HighlightCodes:
    """The codes of some queries, with what they are given of a document."""
    chosen = np.array([code.begin for code in codes], np.int32)
    deepest = max(1, int(cells[chosen].max()))
    return HighlightCodes(
        cells=cells,
        chosen=chosen,
        given=np.array([test(document.document) for code in codes for test in code.tests], np.uint8),
        results=np.zeros(deepest, np.uint8),
        begins=np.zeros(deepest, np.int64),
        names=np.zeros(len(codes), np.int64),
        ends=np.zeros(len(codes) * len(document.names), np.int32),
    )


def hits_of(
    codes: Sequence[QueryCode], names: Sequence[str], asked: HighlightCodes, ranges: Longs, which: Ints
) -> list[Hit]:
    """Hits made of the ranges that the kernel found; `names` are the text fields.

    All codes were true on the document.
    """
    bits, ends = asked.names, asked.ends
    if len(bits) and bits.min() < 0:
        raise AssertionError("a query hit a document on which it is not true")
    each = list(zip((ranges >> 32).tolist(), (ranges & 0xFFFFFFFF).tolist(), strict=True))
    pairs = [each[number] for number in which.tolist()]
    hits: list[Hit] = []
    if len(names) == 1:
        begin, (name,) = 0, names
        for code, end, true in zip(codes, ends.tolist(), bits.tolist(), strict=True):
            named = _named(code, true) if code.names else ()
            hits.append(Hit(named, {name: pairs[begin:end]} if end > begin else {}))
            begin = end
        return hits
    begin = 0
    for code, row, true in zip(codes, ends.reshape(len(codes), -1).tolist(), bits.tolist(), strict=True):
        highlights = {}
        for name, end in zip(names, row, strict=True):
            if end > begin:
                highlights[name] = pairs[begin:end]
            begin = end
        hits.append(Hit(_named(code, true), highlights))
    return hits


def _named(code: QueryCode, bits: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys([name for number, name in enumerate(code.names) if bits >> number & 1]))
