"""Documents as the kernel takes them: pieces of UTF-8 text by document and field.

A piece is one value of a field. Arrow's own buffers are read, nothing is copied but for kinds of columns
that are rare; a single document is encoded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from percolator.matching.kernel import PIECE

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Rows (document, field, start, end) in order of documents; the bytes are in `data`."""

    data: npt.NDArray[np.uint8]
    rows: Longs

    def of(self, first: int, behind: int) -> Longs:
        """The rows of the documents `first` up to `behind`, numbered from 0."""
        low, high = np.searchsorted(self.rows[:, 0], (first, behind))
        found = self.rows[low:high].copy()
        found[:, 0] -= first
        return found


def of_document(document: Mapping[str, Any], numbers: Mapping[str, int]) -> Pieces:
    """One document, as texts or sequences of texts by field; None is no value."""
    rows: list[tuple[int, int, int, int]] = []
    texts: list[bytes] = []
    at = 0
    for name, number in numbers.items():
        value = document.get(name)
        if value is None:
            continue
        for text in (value,) if isinstance(value, str) else value:
            if text is None:
                continue
            encoded = text.encode("utf-8", "surrogatepass")
            rows.append((0, number, at, at + len(encoded)))
            texts.append(encoded)
            at += len(encoded)
    return Pieces(np.frombuffer(b"".join(texts), np.uint8), np.array(rows, np.int64).reshape(-1, PIECE))


def of_column(column: pa.Array | pa.ChunkedArray, number: int) -> Pieces:
    """A column of strings, dictionaries of strings, or lists of strings; a null is no value."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # more than one array can hold
            column = column.cast(_large(column.type)).combine_chunks()
    type_ = column.type
    documents: Longs | None = None
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        documents = np.repeat(np.arange(len(column)), lengths)
        column = column.flatten()
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        column = column.cast(pa.large_string())
    width = np.int64 if pa.types.is_large_string(column.type) else np.int32
    _, offsets, data = column.buffers()
    size = len(column)
    if not size:
        return Pieces(np.empty(0, np.uint8), np.empty((0, PIECE), np.int64))
    ends = np.frombuffer(offsets, width)[column.offset : column.offset + size + 1].astype(np.int64)
    rows = np.empty((size, PIECE), np.int64)
    rows[:, 0] = np.arange(size) if documents is None else documents
    rows[:, 1] = number
    rows[:, 2] = ends[:-1]
    rows[:, 3] = ends[1:]
    if column.null_count:
        rows = rows[column.is_valid().to_numpy(zero_copy_only=False)]
    return Pieces(np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8), rows)


def _large(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return pa.large_list(pa.large_string())
    return pa.large_string()


def cuts(pieces: Sequence[Pieces], documents: int, most_bytes: int) -> list[int]:
    """Where to divide the documents, so that no part with more than one has more bytes than that."""
    weights = np.zeros(documents + 1, np.int64)
    for one in pieces:
        weights[1:] += np.bincount(
            one.rows[:, 0], one.rows[:, 3] - one.rows[:, 2] + 16, minlength=documents
        ).astype(np.int64)
    total = np.cumsum(weights)
    found = [0]
    while found[-1] < documents:
        behind = int(np.searchsorted(total, total[found[-1]] + most_bytes, side="right")) - 1
        found.append(max(behind, found[-1] + 1))
    return found
