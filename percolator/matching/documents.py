"""Documents as the kernel takes them: pieces of UTF-8 text, and keys of values, by document and field.

A piece is one value of a text or keyword field. Arrow's own buffers are read, nothing is copied but for
kinds of columns that are rare; a single document is encoded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from percolator.matching.kernel.arrays import (
    PIECE,
    PIECE_DOCUMENT,
    PIECE_END,
    PIECE_FIELD,
    PIECE_START,
    VALUE,
    VALUE_DOCUMENT,
    VALUE_FIELD,
    VALUE_HIGH,
    VALUE_LOW,
)
from percolator.matching.kernel.scan import READ_AHEAD
from percolator.points import doubles, point
from percolator.schema import Kind
from percolator.values import Document, DocumentError, keys, texts

Longs = npt.NDArray[np.int64]
Column = Any  # pa.Array | pa.ChunkedArray, which come without types


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Rows (document, field, start, end) in order of documents; the bytes are in `data`."""

    data: npt.NDArray[np.uint8]
    rows: Longs

    @property
    def size(self) -> int:
        """The number of its bytes."""
        return int((self.rows[:, PIECE_END] - self.rows[:, PIECE_START]).sum())

    def of(self, first: int, behind: int) -> Longs:
        """The rows of the documents `first` up to `behind`, numbered from 0."""
        if not first and (not len(self.rows) or self.rows[-1, PIECE_DOCUMENT] < behind):
            return self.rows
        low, high = np.searchsorted(self.rows[:, 0], (first, behind))
        found = self.rows[low:high].copy()
        found[:, 0] -= first
        return found


def of_document(document: Document, fields: Mapping[str, int]) -> Pieces:
    """The texts and keywords of one document; `fields` are their numbers. Raises DocumentError."""
    rows: list[tuple[int, int, int, int]] = []
    encoded: list[bytes] = []
    at = 0
    for name, number in fields.items():
        for text in texts(document, name):
            data = text.encode("utf-8", "surrogatepass")
            rows.append((0, number, at, at + len(data)))
            encoded.append(data)
            at += len(data)
    encoded.append(bytes(READ_AHEAD))  # so that the last words are read as quickly as the others
    return Pieces(np.frombuffer(b"".join(encoded), np.uint8), np.array(rows, np.int64).reshape(-1, PIECE))


def values_of_document(document: Document, fields: Mapping[str, tuple[int, Kind]]) -> Longs:
    """Rows (document, field, key) of what is no text in one document. Raises DocumentError."""
    rows = [
        (0, number, *point(key, kind))
        for name, (number, kind) in fields.items()
        for key in keys(document, name, kind)
    ]
    return np.array(rows, np.int64).reshape(-1, VALUE)


def values_of_column(column: Column, name: str, number: int, kind: Kind) -> Longs:
    """The same of a column. Raises DocumentError."""
    column, documents = _flat(column)
    if kind is Kind.NUMBER and (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        known = column.is_valid().to_numpy(zero_copy_only=False)
        values = column.drop_null().to_numpy(zero_copy_only=False)
        rows = np.zeros((len(values), VALUE), np.int64)
        rows[:, VALUE_DOCUMENT] = documents[known]
        near = values.astype(np.float64)
        rows[:, VALUE_HIGH] = doubles(near)
        if pa.types.is_integer(column.type):
            # The nearest double of 2 ** 64 - 1 is no 64-bit number; Python's numbers do not care.
            large = np.flatnonzero(np.abs(near) > 2**53)
            rows[large, VALUE_LOW] = [int(values[i]) - int(near[i]) for i in large.tolist()]
    else:
        found = [
            (document, 0, *point(key, kind))
            for document, value in zip(documents.tolist(), column.to_pylist(), strict=True)
            for key in keys({name: value}, name, kind)
        ]
        rows = np.array(found, np.int64).reshape(-1, VALUE)
    rows[:, VALUE_FIELD] = number
    return rows


def of_column(column: Column, name: str, number: int) -> Pieces:
    """A column of strings, dictionaries of strings, or lists of strings; a null is no value.

    Raises DocumentError where it is none of these.
    """
    column, documents = _flat(column)
    type_ = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_null(type_):
        column = column.cast(pa.string())
    elif not (pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_)):
        raise DocumentError(f"field {name} holds strings, not {type_}")
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        column = column.cast(pa.large_string())
    size = len(column)
    if not size:
        return Pieces(np.empty(0, np.uint8), np.empty((0, PIECE), np.int64))
    width = np.int64 if pa.types.is_large_string(column.type) else np.int32
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, width)[column.offset : column.offset + size + 1]
    rows = np.empty((size, PIECE), np.int64)
    rows[:, PIECE_DOCUMENT] = documents
    rows[:, PIECE_FIELD] = number
    rows[:, PIECE_START] = ends[:-1]
    rows[:, PIECE_END] = ends[1:]
    if column.null_count:
        rows = rows[column.is_valid().to_numpy(zero_copy_only=False)]
    return Pieces(np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8), rows)


def _flat(column: Column) -> tuple[pa.Array, Longs]:
    """The values of a column, those of lists too, and the document of each."""
    if isinstance(column, pa.ChunkedArray):
        chunks = column.combine_chunks()
        # Texts beyond what 32 bits can point into stay in chunks.
        column = chunks if isinstance(chunks, pa.Array) else column.cast(_large(column.type)).combine_chunks()
    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
        return column, np.arange(len(column))
    lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    return column.flatten(), np.repeat(np.arange(len(column)), lengths)


def _large(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return pa.large_list(pa.large_string())
    return pa.large_string()


def row_of(columns: Mapping[str, Column], row: int) -> Document:
    """One row of columns as a document."""
    return {name: column[row].as_py() for name, column in columns.items()}


def cuts(pieces: Sequence[Pieces], documents: int, most_bytes: int) -> list[int]:
    """Where to divide the documents, so that no part with more than one has more bytes than that."""
    weights = np.full(documents + 1, 16, np.int64)
    weights[0] = 0
    for one in pieces:
        sizes = one.rows[:, PIECE_END] - one.rows[:, PIECE_START]
        weights[1:] += np.bincount(one.rows[:, PIECE_DOCUMENT], sizes, documents).astype(np.int64)
    total = np.cumsum(weights)
    found = [0]
    while found[-1] < documents:
        behind = int(np.searchsorted(total, total[found[-1]] + most_bytes, side="right")) - 1
        found.append(max(behind, found[-1] + 1))
    return found
