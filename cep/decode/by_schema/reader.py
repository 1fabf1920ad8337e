"""The values of some records as rows of a stream, each read by the schema that it was written by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cep.decode.arrays import numbers
from cep.decode.by_schema.codec import Codec, Target, arrays
from cep.decode.by_schema.opened import Opened, opened
from cep.decode.formats import FeedFormat
from cep.decode.malformed import Malformed
from cep.decode.salvage import Indices
from rules.typed import Stream

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

    def usual(self, _: Indices) -> Iterator[tuple[pa.Table, Indices]]:
        """None: `read` is to read all."""
        return iter(())

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
        return np.flatnonzero(np.fromiter(map(len, self._values), np.int64, len(self._values)) > most)

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
