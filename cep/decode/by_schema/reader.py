"""The values of some records as rows of a stream, each read by the schema that it was written by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from cep.decode.arrays import numbers
from cep.decode.by_schema.codec import Codec, Target, arrays
from cep.decode.by_schema.laid import Laid
from cep.decode.by_schema.opened import Opened, opened
from cep.decode.formats import FeedFormat
from cep.decode.malformed import Malformed
from cep.decode.salvage import Indices
from cep.hashing.compiled import at_hand
from rules.typed import Stream

if TYPE_CHECKING:
    from cep.decode.by_schema.compiled import Kernel

PATIENCE = 1 << 20
"""Bytes in one process from which the kernel has paid for the import of numba and its own loading."""
LOADED = 12
"""So many times a byte counts where other kernels have been loaded."""
_PART, _PARTS = 256, 8
"""Values of which one refuses all others, at most; in so many parts the rest is tried again."""


@dataclass(slots=True)
class _Patience:
    """The bytes that this process still reads without the kernel: it decides how fast, never what is read."""

    octets: int = PATIENCE


_LEFT = _Patience()


def kernel_for(octets: int) -> Kernel | None:
    """The kernel for values of so many bytes; None where they are to be read without it."""
    _LEFT.octets -= octets if at_hand() is None else LOADED * octets
    if _LEFT.octets > 0:
        return None
    from cep.decode.by_schema.compiled import load

    return load()


_OPENED: dict[tuple[Stream, FeedFormat], Opened] = {}
_MOST = 64
"""Feeds whose codecs are kept from block to block."""


def schema_reader(
    values: Sequence[bytes], stream: Stream, feed: FeedFormat, constants: Mapping[str, pa.Scalar]
) -> SchemaReader:
    """A reader of values as a feed's schemas say, which were looked at before. Raises SchemaError."""
    target = Target(stream, feed, constants)
    if (stream, feed) not in _OPENED:
        if len(_OPENED) >= _MOST:
            _OPENED.clear()
        _OPENED[stream, feed] = opened(target)
    return SchemaReader(values, _OPENED[stream, feed], target)


class SchemaReader:
    """Reads the values of one block of records."""

    def __init__(self, values: Sequence[bytes], opened: Opened, target: Target) -> None:
        self._values, self._opened, self._target = values, opened, target
        self._lengths = np.fromiter(map(len, values), np.int64, len(values))

    def usual(self, chosen: Indices) -> Iterator[tuple[pa.Table, Indices]]:
        """Those of the chosen values that the kernel reads, as `read` would, in one part."""
        kernel = kernel_for(int(self._lengths.sum())) if len(chosen) else None
        if kernel is None:
            return
        laid = Laid.of(self._values, self._lengths)
        parts = [
            part
            for codec, records, begins in self._opened.groups(laid, chosen)
            for part in self._tables(kernel, codec, laid, records, begins)
        ]
        if len(parts) == 1:
            yield parts[0]
        elif parts:
            records = np.concatenate([some for _, some in parts])
            order = np.argsort(records)
            yield pa.concat_tables([table for table, _ in parts]).take(numbers(order)), records[order]

    def _tables(
        self, kernel: Kernel, codec: Codec, laid: Laid, records: Indices, begins: Indices
    ) -> Iterator[tuple[pa.Table, Indices]]:
        """Tables of the values of one schema that the kernel takes; rows are tried together, then in smaller
        parts, since one with a text that is no UTF-8 refuses all."""
        if codec.program is None or codec.refusal is not None:
            return
        for columns, taken in codec.program.read(kernel, laid.octets, begins, laid.ends[records]):
            try:
                if len(taken):
                    yield self._target.table(columns, len(taken)), records[taken]
            except Malformed:
                if len(taken) > _PART:
                    for some in np.array_split(taken, _PARTS):
                        yield from self._tables(kernel, codec, laid, records[some], begins[some])

    def read(self, chosen: Indices) -> pa.Table:
        """The chosen values as rows of the declared schema. Raises Malformed."""
        rows: dict[Codec, list[Mapping[str, Any]]] = {}
        places: dict[Codec, list[int]] = {}
        for place, record in enumerate(chosen):
            codec, found = self._row(int(record))
            rows.setdefault(codec, []).append(found)
            places.setdefault(codec, []).append(place)
        tables = [self._target.table(arrays(one.columns, some), len(some)) for one, some in rows.items()]
        if len(tables) == 1:
            return tables[0]
        order = np.argsort(np.concatenate([np.array(some, np.int64) for some in places.values()]))
        return pa.concat_tables(tables).take(numbers(order))

    def explain(self, record: int) -> str | None:
        """Why a value is certainly refused, or None."""
        try:
            self._row(record)
        except Malformed as error:
            return error.reason
        return None

    def longer_than(self, most: int) -> Indices:
        """The values that have more bytes, rising."""
        return np.flatnonzero(self._lengths > most)

    def octets(self, record: int) -> bytes:
        """The bytes of a value."""
        return self._values[record]

    def _row(self, record: int) -> tuple[Codec, Mapping[str, Any]]:
        """A value by the codec of its schema. Raises Malformed."""
        value = self._values[record]
        codec, begin = self._opened.of(value)
        if codec.refusal is not None:
            raise Malformed(codec.refusal)
        return codec, codec.values(value, begin)
