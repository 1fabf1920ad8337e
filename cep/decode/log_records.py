"""Records of a log, such as Kafka's: each has a value, a key, a time and an offset.

Values are decoded as lines of a file are, by the same readers: they are laid one after another, and where
each begins and ends is known, so that a line end within a value cuts nothing. Fields that the key and the
record's time give are put beside what the values hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cep.decode.arrays import numbers
from cep.decode.blocks import Decoder
from cep.decode.convert import lacks, required_fields
from cep.decode.csv_records import CsvReader, columns_of
from cep.decode.formats import BY_SCHEMA
from cep.decode.json_lines import JsonReader
from cep.decode.letters import Decoded
from cep.decode.malformed import Malformed
from cep.decode.records import why_not_one
from cep.decode.salvage import Indices, Reader, in_one
from cep.decode.timestamps import INSTANT
from cep.events import MAX_TIME, declared_schema
from rules.typed import Stream
from rules.types import Scalar

NULL = "its value is null: a tombstone"
_EMPTY = "its value is empty"
_MILLISECOND = 1_000_000
_WHOLE = re.compile(r"-?\d{1,19}")


@dataclass(frozen=True, slots=True)
class LogRecords:
    """Some records of one partition, in order.

    `values` and `keys` are None where they are null, `times` milliseconds since 1970 UTC (-1: none),
    `offsets` rise.
    """

    values: Sequence[bytes | None]
    keys: Sequence[bytes | None]
    times: Indices
    offsets: Indices


def decode_log(using: Decoder, records: LogRecords, place: str, partition: str) -> Decoded:
    """The events and dead letters of records; `place` is their @file, their offsets are @offset."""
    return using.decoded(_LogReader(using, records), records.offsets, place, partition)


def decode_values(
    using: Decoder, records: Sequence[tuple[int, bytes]], place: str, partition: str
) -> Decoded:
    """The same of values by themselves, each with its offset: what keys and times gave was not kept."""
    none = (None,) * len(records)
    offsets = np.array([offset for offset, _ in records], np.int64)
    values = LogRecords([data for _, data in records], none, np.full(len(records), -1), offsets)
    return decode_log(using, values, place, partition)


class _LogReader:
    """Reads records of a log: what their values hold, and what keys and times give besides."""

    def __init__(self, using: Decoder, records: LogRecords) -> None:
        self._values = [b"" if value is None else value for value in records.values]
        self._refused = {number: NULL for number, value in enumerate(records.values) if value is None}
        self._stream = using.stream
        self._given = self._columns(using, records)
        own = tuple(field for field in using.stream.fields if field.name not in self._given)
        self._reader = self._of_values(using, replace(using.stream, fields=own))

    def usual(self, chosen: Indices) -> Iterator[tuple[pa.Table, Indices]]:
        """Those of the chosen records whose values the kernel reads."""
        good = np.setdiff1d(chosen, self._bad, assume_unique=True) if self._refused else chosen
        for table, records in self._reader.usual(good):
            yield self._whole(table, records), records

    def read(self, chosen: Indices) -> pa.Table:
        """The chosen records as rows of the declared schema. Raises Malformed."""
        if self._refused and len(bad := np.intersect1d(chosen, self._bad)):
            raise Malformed(self._refused[int(bad[0])])
        return self._whole(self._reader.read(chosen), chosen)

    def explain(self, record: int) -> str | None:
        """Why a record is certainly refused, or None."""
        return self._refused.get(record) or self._reader.explain(record)

    def longer_than(self, most: int) -> Indices:
        """The records whose values have more bytes, rising."""
        return self._reader.longer_than(most)

    def octets(self, record: int) -> bytes:
        """The bytes of a value."""
        return self._values[record]

    @property
    def _bad(self) -> Indices:
        return np.array(sorted(self._refused), np.int64)

    def _whole(self, table: pa.Table, records: Indices) -> pa.Table:
        """Rows of the values, with what keys and times give."""
        if not self._given:
            return table
        where = in_one(records)
        columns = []
        for field in self._stream.fields:
            if field.name not in self._given:
                columns.append(table.column(field.name))
            elif isinstance(where, slice):
                columns.append(self._given[field.name].slice(where.start, where.stop - where.start))
            else:
                columns.append(self._given[field.name].take(numbers(records)))
        return pa.Table.from_arrays(columns, schema=declared_schema(self._stream))

    def _columns(self, using: Decoder, records: LogRecords) -> dict[str, pa.Array]:
        """The columns that keys and times give; a record whose key or time cannot be used is refused."""
        found: dict[str, pa.Array] = {}
        stream, feed = using.stream, using.feed
        if feed.key:
            type_ = stream.field(feed.key).type
            reasons: dict[int, str] = {}
            texts = _texts(records.keys, f"`{feed.key}`, its key, is not valid UTF-8", reasons)
            found[feed.key] = texts if type_ is not Scalar.LONG else _wholes(texts, feed.key, reasons)
            if feed.key in required_fields(stream):
                reasons |= {
                    number: f"{lacks(feed.key)}: its key is null"
                    for number, key in enumerate(records.keys)
                    if key is None
                }
            self._refused = {**reasons, **self._refused}
        if feed.record_time:
            times = records.times
            for number in np.flatnonzero((times < 0) | (times > MAX_TIME // _MILLISECOND)):
                self._refused.setdefault(int(number), "the record has no time")
            inside = np.clip(times, 0, MAX_TIME // _MILLISECOND) * _MILLISECOND
            found[stream.time[0]] = numbers(inside, INSTANT)
        return found

    def _of_values(self, using: Decoder, stream: Stream) -> Reader:
        kind = using.feed.format
        if kind == "raw":
            reasons: dict[int, str] = {}
            texts = _texts(self._values, "not valid UTF-8", reasons)
            self._refused = {**reasons, **self._refused}
            return _RawReader(self._values, texts, declared_schema(stream), using.constants)
        if kind in BY_SCHEMA:
            from cep.decode.by_schema.reader import schema_reader

            return schema_reader(self._values, stream, using.feed, using.constants)
        if not all(self._values):
            for number, value in enumerate(self._values):
                if not value:
                    self._refused.setdefault(number, _EMPTY)
        values = self._values if kind == "json" else self._in_records(using)
        data = b"\n".join(values) + b"\n"
        if kind == "json" and data.count(b"\n") > len(values):
            # in JSON a carriage return may stand wherever a line end may
            data = b"\n".join(value.replace(b"\n", b"\r") for value in values) + b"\n"
        lengths = np.fromiter(map(len, values), np.int64, len(values))
        ends = np.cumsum(lengths + 1) - 1
        places = ends - lengths, ends
        view = memoryview(data)
        if kind == "json":
            return JsonReader(view, stream, using.feed, using.constants, places)
        names, _ = columns_of(view, stream, using.feed)
        return CsvReader(view, names, stream, using.feed, using.constants, places)

    def _in_records(self, using: Decoder) -> list[bytes]:
        """The values without the line end behind them; those that are not one record of CSV are refused."""
        found = []
        for number, value in enumerate(self._values):
            record = value.removesuffix(b"\n").removesuffix(b"\r")
            if (b'"' in record or b"\n" in record) and (reason := why_not_one(record, using.feed.delimiter)):
                self._refused.setdefault(number, reason)
                record = b""
            if not record:
                self._refused.setdefault(number, _EMPTY)
            found.append(record)
        return found


@dataclass(frozen=True, slots=True)
class _RawReader:
    """Reads values that are the text of one field."""

    values: Sequence[bytes]
    texts: pa.Array
    schema: pa.Schema
    constants: Mapping[str, pa.Scalar]

    def usual(self, chosen: Indices, /) -> Iterator[tuple[pa.Table, Indices]]:
        """All of them: there is nothing that could be unusual."""
        if len(chosen):
            yield self.read(chosen), chosen

    def read(self, chosen: Indices) -> pa.Table:
        """The chosen values as rows."""
        own = self.texts.take(numbers(chosen))
        columns = [
            pa.repeat(self.constants[field.name], len(chosen)) if field.name in self.constants else own
            for field in self.schema
        ]
        return pa.Table.from_arrays(columns, schema=self.schema)

    def explain(self, _: int) -> str | None:
        """None: a text is what it is."""
        return None

    def longer_than(self, most: int) -> Indices:
        """The values that have more bytes, rising."""
        return np.flatnonzero(np.fromiter(map(len, self.values), np.int64, len(self.values)) > most)

    def octets(self, record: int) -> bytes:
        """The bytes of a value."""
        return self.values[record]


def _texts(values: Sequence[bytes | None], reason: str, reasons: dict[int, str]) -> pa.Array:
    """Texts, null where there is none; of those that are not UTF-8 `reasons` get the reason."""
    array = _strings(values)
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        kept = list(values)
        for number, value in enumerate(kept):
            if value is not None and not _is_text(value):
                kept[number], reasons[number] = None, reason
        return _strings(kept)
    return array


def _strings(values: Sequence[bytes | None]) -> pa.Array:
    octets = [value or b"" for value in values]
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum(np.fromiter(map(len, octets), np.int32, len(values)), out=offsets[1:])
    there: NDArray[np.bool_] = np.fromiter((value is not None for value in values), np.bool_, len(values))
    valid = None if there.all() else pa.py_buffer(np.packbits(there, bitorder="little"))
    return pa.StringArray.from_buffers(
        len(values), pa.py_buffer(offsets), pa.py_buffer(b"".join(octets)), valid
    )


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _wholes(texts: pa.Array, name: str, reasons: dict[int, str]) -> pa.Array:
    """Whole numbers of texts, null where there is none; of others `reasons` get a reason."""
    found, there = np.zeros(len(texts), np.int64), np.zeros(len(texts), np.bool_)
    for number, text in enumerate(texts.to_pylist()):
        if text is None:
            continue
        if _WHOLE.fullmatch(text) and -(2**63) <= int(text) < 2**63:
            found[number], there[number] = int(text), True
        else:
            reasons[number] = f"`{name}`, its key, is no whole number"
    valid = pa.py_buffer(np.packbits(there, bitorder="little"))
    return pa.Array.from_buffers(pa.int64(), len(texts), [valid, pa.py_buffer(found)])
