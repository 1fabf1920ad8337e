"""The accepted events of a batch, written by the mappers: one file for a stream and lane, whole or absent.

What a loss of power takes with it is a page. Columns are the stream's own; where the id or the time of an
event is one of them, it is not written twice, and the file says which it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np
import pyarrow as pa

from alerts.masking import Mask
from cep.counters import Counts, RecordBytes, RecordEvents, RecordFailures
from cep.events import FILE, ID, TIME, Events
from cep.record.layout import aside_of, file_of
from cep.record.places import Sink, sink
from rules.types import Scalar

if TYPE_CHECKING:
    import pyarrow.parquet as pq

    from cep.files import AnyPath
    from rules.typed import Stream

PARTITION, ARRIVAL = "@partition", "@arrival"
"""Beside the columns of cep.events: the source partition, and when the batch began, by the clock."""
STREAM_NAME, ID_COLUMN, TIME_COLUMN = b"cep.stream", b"cep.id", b"cep.time"
"""Keys of a file's metadata: its stream, and the columns that hold @id and @time."""
RESERVE = 1 << 30
"""Free bytes that are left to the job itself: with less on the disk nothing is recorded."""
_LEVEL = 1
_SAMPLE, _AGAIN = 4096, 8
"""A column of texts or doubles is written as numbers of its values if it has a value for so many rows, or
fewer, as far as so many first rows tell."""


@dataclass(frozen=True, slots=True)
class RecordedBatch:
    """The lane of a batch whose events are recorded; `clock` is that of the manifest.

    `streams` are those that some rule reads. `reserve`: the free bytes below which nothing is written.
    `mask` hashes the values of secret fields.
    """

    folder: AnyPath
    batch: int
    clock: int
    lane: int
    streams: Mapping[str, Stream]
    reserve: int = RESERVE
    mask: Mask | None = None


class LaneRecord:
    """Writes what is added; as a context manager, files that were not finished are gone at its end.

    No method raises for what cannot be written: it is counted.
    """

    def __init__(self, of: RecordedBatch) -> None:
        self._of = of
        self._files: dict[str, _File] = {}

    def __enter__(self) -> Self:
        """This record."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave nothing that is not whole."""
        for file in self._files.values():
            file.abandon()

    def add(self, events: Events) -> None:
        """Write events that were accepted; those of a stream that nothing reads are left out."""
        stream = self._of.streams.get(events.stream)
        if stream is None or not len(events.table):
            return
        if stream.name not in self._files:
            self._files[stream.name] = _File(self._of, stream)
        self._files[stream.name].add(events)

    def finish(self) -> Counts:
        """Give the files their names; what was written and what was lost."""
        counts = Counts()
        for name, file in self._files.items():
            size = file.finish()
            if file.failure is None:
                counts[RecordEvents(name, "written")] += file.rows
                counts[RecordBytes(name)] += size
            else:
                counts[RecordEvents(name, "lost")] += file.rows
                counts[RecordFailures(name, file.failure)] += file.rows
        return counts


@dataclass(slots=True)
class _File:
    """One file. `rows` counts what came, `failure` is why it will not be there."""

    of: RecordedBatch
    stream: Stream
    rows: int = 0
    failure: str | None = None
    _writer: pq.ParquetWriter | None = None
    _sink: Sink | None = None
    _form: _Form = field(init=False)

    def __post_init__(self) -> None:
        self._form = _Form.of(self.stream)

    def add(self, events: Events) -> None:
        self.rows += len(events.table)
        if self.failure is not None:
            return
        try:
            table = self._form.table(events, self.of.clock, self.of.mask)
            if self._writer is None:
                self._writer = self._opened(table)
            self._writer.write_table(table, row_group_size=len(table))
        except (OSError, pa.ArrowException) as error:
            self._fail(error)

    def finish(self) -> int:
        """Close it and give it its name; the number of bytes written, 0 where that failed."""
        if self._writer is None or self._sink is None or self.failure is not None:
            return 0
        try:
            self._writer.close()
            size = self._sink.finish()
        except (OSError, pa.ArrowException) as error:
            self._fail(error)
            return 0
        self._sink = None
        return size

    def abandon(self) -> None:
        """Remove what has not its name yet."""
        if self._sink is None:
            return
        if self._writer is not None:
            with suppress(OSError, pa.ArrowException):
                self._writer.close()
            self._writer.is_open = (
                False  # else it is closed again, and complains, when nobody has it any more
            )
        self._sink.abandon()
        self._sink = None

    def _opened(self, first: pa.Table) -> pq.ParquetWriter:
        """The writer. Raises OSError."""
        of = self.of
        path = file_of(of.folder, self.stream.name, of.batch, of.clock, of.lane)
        self._sink = sink(path, aside_of(path), of.reserve)
        again = [FILE, PARTITION, *_coming_again(first)]
        return writer(self._sink.stream, first.schema, self._form.time, again)

    def _fail(self, error: Exception) -> None:
        number = getattr(error, "errno", None)
        said = os.strerror(number).lower() if number else getattr(error, "strerror", None) or str(error)
        self.failure = next(iter(said.splitlines()), type(error).__name__)
        self.abandon()


@dataclass(frozen=True, slots=True)
class _Form:
    """The columns of a stream's files: `id` and `time` name those that hold @id and @time."""

    stream: Stream
    id: str
    time: str

    @classmethod
    def of(cls, stream: Stream) -> _Form:
        return cls(stream, _id_column(stream), _time_column(stream))

    def table(self, events: Events, clock: int, mask: Mask | None) -> pa.Table:
        """The events as they are written."""
        twice = [own for own, column in ((ID, self.id), (TIME, self.time)) if own != column]
        table = events.table.drop_columns(twice) if twice else events.table
        if mask is not None:
            table = _masked(table, self.stream, mask)
        rows = len(table)
        zeros = pa.array(np.zeros(rows, np.int32))
        partition = pa.DictionaryArray.from_arrays(zeros, pa.array([events.partition], pa.string()))
        arrival = pa.array(np.full(rows, clock, np.int64)).view(pa.timestamp("ns", "UTC"))
        table = table.append_column(PARTITION, partition).append_column(ARRIVAL, arrival)
        said = {
            STREAM_NAME: self.stream.name.encode(),
            ID_COLUMN: self.id.encode(),
            TIME_COLUMN: self.time.encode(),
        }
        return table.replace_schema_metadata(said)


def _masked(table: pa.Table, stream: Stream, mask: Mask) -> pa.Table:
    """The table with hashes in place of the values of secret fields."""
    for name in stream.secrets:
        column = table.column(name).combine_chunks().dictionary_encode()
        if isinstance(column, pa.ChunkedArray):
            column = column.unify_dictionaries().combine_chunks()
        hashes = pa.array([mask.value(one) for one in column.dictionary.to_pylist()], pa.string())
        place = table.schema.get_field_index(name)
        table = table.set_column(place, table.schema.field(name), hashes.take(column.indices))
    return table


def writer(stream: pa.NativeFile, schema: pa.Schema, time: str, again: Sequence[str]) -> pq.ParquetWriter:
    """A writer of a file of the record, whose column `time` holds the times of events; the values of those of
    `again` are few, and written once."""
    import pyarrow.parquet as pq

    return pq.ParquetWriter(
        stream, schema, compression="zstd", compression_level=_LEVEL, use_dictionary=list(again),
        column_encoding=_encodings(schema), write_statistics=[time],
    )  # fmt: skip


def _coming_again(table: pa.Table) -> Iterator[str]:
    """The columns of texts and doubles whose values come again and again, by the first rows."""
    some = table.slice(0, _SAMPLE)
    for of in some.schema:
        numbered = pa.types.is_string(of.type) or pa.types.is_float64(of.type)
        if numbered and _values(some.column(of.name), len(table)) * _AGAIN <= len(table):
            yield of.name


def _values(first: pa.ChunkedArray, rows: int) -> float:
    """The number of values of a column, of whose rows the first are given; at least so many, but for chance.

    From how many were seen once and twice: A. Chao, "Nonparametric estimation of the number of classes in a
    population", 1984, in the form that needs none seen twice.
    """
    times = first.value_counts().field("counts").to_numpy()
    if rows <= len(first):
        return len(times)
    once, twice = np.count_nonzero(times == 1), np.count_nonzero(times == 2)
    return len(times) + once * (once - 1) / (2 * (twice + 1))


def _id_column(stream: Stream) -> str:
    """The column that holds an event's id: the stream's own where that is text."""
    if stream.id is not None and len(stream.id) == 1 and stream.field(stream.id[0]).type is Scalar.STRING:
        return stream.id[0]
    return ID


def _time_column(stream: Stream) -> str:
    """The column that holds an event's time: the stream's own where nothing corrects it."""
    return stream.time[0] if len(stream.time) == 1 and stream.corrected is None else TIME


def _encodings(schema: pa.Schema) -> dict[str, str]:
    """Differences for whole numbers and times: they take least, and are written quickest."""
    return {
        one.name: "DELTA_BINARY_PACKED"
        for one in schema
        if "." not in one.name
        and (pa.types.is_int64(one.type) or pa.types.is_timestamp(one.type) or pa.types.is_duration(one.type))
    }
