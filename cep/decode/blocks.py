"""Bytes -> events: the one definition of malformed that `cep eval`, `cep test` and `cep run` share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from alerts.notation import decimal, duration, timestamp
from cep.decode.arrays import numbers, repeated, texts
from cep.decode.bounds import LONGEST, SHOWN, too_long
from cep.decode.convert import column, constant, json_type
from cep.decode.csv_records import CsvReader, columns_of
from cep.decode.formats import FeedFormat
from cep.decode.json_lines import JsonReader
from cep.decode.letters import DeadLetter, Decoded
from cep.decode.parquet_rows import TableReader, parquet_table
from cep.decode.records import complete
from cep.decode.salvage import Indices, Reader, in_one, salvage
from cep.events import MAX_TIME, TIME, Events, declared_schema, event_schema
from rules.typed import Stream

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Records:
    """Records that are about to be decoded: `decode` decodes those that are chosen, by number, rising.

    `offsets` has the @offset of each, `octets` gives the bytes of one.
    """

    stream: str
    file: str
    offsets: Indices
    decode: Callable[[Indices], Decoded]
    octets: Callable[[int], bytes]


Aside = Callable[[Records], Mapping[int, DeadLetter]]
"""Chooses records that are not to be decoded: their dead letters, by number."""


def none_aside(_: Records) -> Mapping[int, DeadLetter]:
    """Every record is decoded."""
    return {}


@dataclass(frozen=True, slots=True)
class Decoder:
    """Decodes blocks of one stream's feed. Made by `decoder`; can be pickled.

    With a `clock`, in ns since 1970 UTC, events further ahead of it than the stream's `future` are malformed.
    """

    stream: Stream
    feed: FeedFormat
    constants: dict[str, pa.Scalar] = field(repr=False)
    clock: int | None = None
    aside: Aside = none_aside

    def decode_block(
        self,
        data: bytes | memoryview,
        file: str,
        offset: int,
        partition: str,
        columns: tuple[str, ...] | None = None,
    ) -> Decoded:
        """Whole records of a file, of which the first byte is at `offset` (of the decompressed text).

        The feed or the file's name says the format. A CSV file's first block begins with its header; for
        later ones `columns` gives what `opening` said of the first. A Parquet file is one block. Events
        and dead letters come in order of @offset, which is the byte at which the record begins, or
        in Parquet the row, counted from `offset`. Raises UnknownFormatError if neither says anything
        and ValueError if `columns` is needed.
        """
        kind = self.feed.of(file).kind
        if kind == "parquet":
            return self.decode_table(parquet_table(data), file, offset, partition)
        view = memoryview(data)
        if offset == 0:
            named, begun = self.opening(view, file) if columns is None else (columns, _mark(view))
            columns, view, offset = named, view[begun:], begun
        if kind == "json":
            lines = JsonReader(view, self.stream, self.feed, self.constants)
            return self.decoded(lines, lines.lines.starts + offset, file, partition)
        if columns is None and not self.feed.header:
            columns, _ = columns_of(view, self.stream, self.feed)
        if columns is None:
            raise ValueError("a later block of CSV needs the columns that the file's header names")
        records = CsvReader(view, columns, self.stream, self.feed, self.constants)
        return self.decoded(records, records.lines.starts + offset, file, partition)

    def decode_records(
        self,
        records: Sequence[tuple[int, bytes]],
        file: str,
        partition: str,
        columns: tuple[str, ...] | None = None,
    ) -> Iterator[Decoded]:
        """Records of a file by themselves, each with its @offset; rising. `columns` as in `decode_block`.

        One that is none, or more than one, is a dead letter.
        """
        kind = self.feed.of(file).kind
        if kind == "parquet":
            reason = "a row of Parquet is not decoded from text: write it into a file that is new"
            yield self._refused(records, reason, file, partition)
            return
        stops = b'\n"' if kind == "csv" else b"\n"
        alone = [one for one in records if not one[1].strip() or any(byte in stops for byte in one[1])]
        set_apart = {offset for offset, _ in alone}
        for some in ([one for one in records if one[0] not in set_apart], *([one] for one in alone)):
            if some:
                yield self._decode_lines(some, file, partition, columns)

    def _decode_lines(
        self, records: Sequence[tuple[int, bytes]], file: str, partition: str, columns: tuple[str, ...] | None
    ) -> Decoded:
        view = memoryview(b"\n".join(data for _, data in records))
        reader: JsonReader | CsvReader
        if self.feed.of(file).kind == "json":
            reader = JsonReader(view, self.stream, self.feed, self.constants)
        else:
            if columns is None:
                columns, _ = columns_of(view, self.stream, self.feed)
            reader = CsvReader(view, columns, self.stream, self.feed, self.constants)
        if (found := len(reader.lines)) != len(records):
            reason = f"it holds {found:,} records, not one" if found else "there is no record in it"
            return self._refused(records, reason, file, partition)
        return self.decoded(reader, np.array([offset for offset, _ in records], np.int64), file, partition)

    def _refused(
        self, records: Sequence[tuple[int, bytes]], reason: str, file: str, partition: str
    ) -> Decoded:
        name = self.stream.name
        dead = (DeadLetter(name, file, offset, "decode", reason, data) for offset, data in records)
        return Decoded(Events(name, partition, event_schema(self.stream).empty_table()), tuple(dead))

    def opening(self, data: memoryview, file: str) -> tuple[tuple[str, ...] | None, int]:
        """The columns that a file's first block names (None: it is no CSV), and how many bytes stand
        before its first record: the header and a byte order mark."""
        begun = _mark(data)
        if self.feed.of(file).kind != "csv":
            return None, begun
        columns, length = columns_of(data[begun:], self.stream, self.feed)
        return columns, begun + length

    def fits_nothing(self, columns: tuple[str, ...]) -> bool:
        """True if columns of a file name no field that is read."""
        constants = dict(self.feed.constants)
        return not any(
            self.feed.source(f.name) in columns for f in self.stream.fields if f.name not in constants
        )

    def complete(self, data: bytes, file: str) -> int:
        """The number of bytes of a block, from the start, that are whole records with their line ends."""
        if self.feed.of(file).kind == "csv" and b'"' in data:
            return complete(memoryview(data), self.feed.delimiter)
        return data.rfind(b"\n") + 1

    def decode_table(self, table: pa.Table, file: str, row: int, partition: str) -> Decoded:
        """Rows of a Parquet file, of which the first is row `row` of the file."""
        reader = TableReader(table, self.stream, self.feed, self.constants)
        return self.decoded(reader, np.arange(row, row + table.num_rows), file, partition)

    def decoded(self, reader: Reader, offsets: Indices, file: str, partition: str) -> Decoded:
        """Everything that a reader has; `offsets` has the @offset of each of its records, rising."""

        def decode(chosen: Indices) -> Decoded:
            return self._chosen(reader, chosen, offsets, file, partition)

        aside = self.aside(Records(self.stream.name, file, offsets, decode, reader.octets))
        whole = np.arange(len(offsets))
        if not aside:
            return decode(whole)
        found = decode(np.delete(whole, list(aside)))
        return Decoded(found.events, tuple(sorted((*found.dead, *aside.values()), key=lambda d: d.offset)))

    def _chosen(
        self, reader: Reader, chosen: Indices, offsets: Indices, file: str, partition: str
    ) -> Decoded:
        """Some of a reader's records."""
        longer = reader.longer_than(LONGEST)
        if len(longer):
            longer = np.intersect1d(longer, chosen, assume_unique=True)
            chosen = np.setdiff1d(chosen, longer, assume_unique=True)
        tables, good, refused = salvage(reader, chosen)
        refused |= {int(record): too_long(len(reader.octets(int(record)))) for record in longer}
        events = self._events(tables, offsets[in_one(good)], file, partition)
        if self.clock is not None:
            events, ahead = self._in_time(events, self.clock)
            refused |= {int(good[row]): reason for row, reason in ahead.items()}
        dead = tuple(
            DeadLetter(
                self.stream.name, file, int(offsets[i]), "decode", refused[i], _shown(reader.octets(i))
            )
            for i in sorted(refused)
        )
        return Decoded(events, dead)

    def _in_time(self, events: Events, clock: int) -> tuple[Events, dict[int, str]]:
        """The events that are not too far ahead of a clock, and why the others, by row, are."""
        most = self.stream.furthest_ahead
        times = events.table.column(TIME)
        if not events.table.num_rows or pc.max(times).as_py() <= clock + most:
            return events, {}
        near = pc.less_equal(times, min(clock + most, MAX_TIME))
        ahead = f"more than {duration(most)} ahead of the clock, {timestamp(clock)}"
        reasons = {
            int(row): f"its time, {timestamp(times[int(row)].as_py())}, is {ahead}"
            for row in np.flatnonzero(~near.to_numpy())
        }
        return Events(events.stream, events.partition, events.table.filter(near)), reasons

    def _events(self, tables: list[pa.Table], offsets: Indices, file: str, partition: str) -> Events:
        table = pa.concat_tables(tables) if tables else declared_schema(self.stream).empty_table()
        places = numbers(offsets)
        own = [
            column(table, self.stream.time).cast(pa.int64()),
            self._ids(table, places, file),
            repeated(file, len(offsets)),
            places,
        ]
        whole = pa.Table.from_arrays([*table.columns, *own], schema=event_schema(self.stream))
        return Events(self.stream.name, partition, whole)

    def _ids(self, table: pa.Table, places: pa.Array, file: str) -> pa.Array | pa.ChunkedArray:
        if self.stream.id is None:
            return pc.binary_join_element_wise(texts([file])[0], places.cast(pa.string()), texts([":"])[0])
        ids = column(table, self.stream.id)
        if pa.types.is_decimal(ids.type):
            return texts([decimal(value) or "" for value in ids.to_pylist()])
        return ids.cast(pa.string())


def decoder(stream: Stream, feed: FeedFormat | None = None, clock: int | None = None) -> Decoder:
    """A decoder of the stream's events as the feed writes them; the defaults of FeedFormat without one.

    `clock` is that which `future` is held against, in ns since 1970 UTC; without it nothing is.

    Raises Malformed if a constant has not its field's type, and ValueError if one source field is to
    be read as two types (check_feeds reports both before).
    """
    feed = feed or FeedFormat()
    types = {f.name: f.type for f in stream.fields}
    read: dict[str, pa.DataType] = {}
    for name in types.keys() - dict(feed.constants).keys():
        type_ = json_type(types[name], feed)
        if read.setdefault(feed.source(name), type_) != type_:
            raise ValueError(f"`{feed.source(name)}` is to be read as two types")
    return Decoder(
        stream, feed, {n: constant(v, types[n], feed) for n, v in feed.constants if n in types}, clock
    )


def _shown(octets: bytes) -> bytes:
    """The bytes of a record, or the beginning of one that is too long."""
    return octets if len(octets) <= LONGEST else octets[:SHOWN]


def _mark(data: memoryview) -> int:
    """The length of the byte order mark that a file may begin with."""
    return len(_BOM) if bytes(data[:3]) == _BOM else 0
