"""Separate the good records of a block from the malformed ones, by one definition of malformed.

A record is malformed if and only if the reader refuses it alone. Readers accept several records
if and only if they accept each of them, so whole blocks are tried first; a refused one is cut into
parts, and only refused parts are gone through record by record, which puts a reason to each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cep.decode.arrays import numbers
from cep.decode.malformed import Malformed

Indices = NDArray[np.int64]

_PART = 2048  # records: reading them takes about as long as explaining a hundred


class Reader(Protocol):
    """Reads chosen records of one block."""

    def read(self, chosen: Indices) -> pa.Table:
        """The chosen records as rows, in order. Raises Malformed if any of them is malformed."""

    def usual(self, chosen: Indices, /) -> Iterator[tuple[pa.Table, Indices]]:
        """Some of the chosen records, read faster than by `read`, in parts; it is left for the others."""

    def explain(self, record: int) -> str | None:
        """Why a record is certainly refused, or None: `read` is to decide."""

    def longer_than(self, most: int) -> Indices:
        """The records that have more bytes, rising; of rows none."""

    def octets(self, record: int) -> bytes:
        """The bytes of a record."""


def in_one(records: Indices) -> Indices | slice:
    """An index of the same records, a slice if they follow one another: then numpy copies nothing."""
    if len(records) and records[-1] - records[0] + 1 == len(records):
        return slice(int(records[0]), int(records[-1]) + 1)
    return records


def salvage(reader: Reader, chosen: Indices) -> tuple[list[pa.Table], Indices, dict[int, str]]:
    """Tables of the good records among the chosen, their indices, and why each other is refused.

    `chosen` is rising, and so are the indices; the tables, one after another, have one row for each.
    """
    refused: dict[int, str] = {}
    usual = list(reader.usual(chosen))
    left = _without(chosen, usual)
    parts = [*usual, *_good_parts(reader, left, refused)]
    indices = np.concatenate([part for _, part in parts]) if parts else np.empty(0, np.int64)
    tables = [table for table, _ in parts]
    if 0 < len(usual) < len(parts):
        order = np.argsort(indices, kind="stable")
        tables, indices = [pa.concat_tables(tables).take(numbers(order))], indices[order]
    return tables, indices, refused


def _without(chosen: Indices, parts: Sequence[tuple[pa.Table, Indices]]) -> Indices:
    """The chosen records that are in no part."""
    if sum(len(part) for _, part in parts) == len(chosen):
        return chosen[:0]
    return np.setdiff1d(
        chosen, np.concatenate([chosen[:0], *(part for _, part in parts)]), assume_unique=True
    )


def _good_parts(
    reader: Reader, chosen: Indices, refused: dict[int, str]
) -> Iterator[tuple[pa.Table, Indices]]:
    try:
        if len(chosen):
            yield reader.read(chosen), chosen
    except Malformed:
        if len(chosen) <= _PART:
            yield from _explained(reader, chosen, refused)
        else:
            for part in np.array_split(chosen, -(-len(chosen) // _PART)):
                yield from _good_parts(reader, part, refused)


def _explained(
    reader: Reader, chosen: Indices, refused: dict[int, str]
) -> Iterator[tuple[pa.Table, Indices]]:
    certain = {int(r): reason for r in chosen if (reason := reader.explain(int(r))) is not None}
    refused.update(certain)
    yield from _halved(reader, np.array([r for r in chosen if r not in certain], np.int64), refused)


def _halved(reader: Reader, chosen: Indices, refused: dict[int, str]) -> Iterator[tuple[pa.Table, Indices]]:
    try:
        if len(chosen):
            yield reader.read(chosen), chosen
    except Malformed as error:
        if len(chosen) == 1:
            refused[int(chosen[0])] = error.reason
        else:
            for half in np.array_split(chosen, 2):
                yield from _halved(reader, half, refused)
