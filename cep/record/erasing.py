"""Events of the record that somebody asks to have erased: files are written anew without them.

As when they were first written, whole or not at all. A batch that is run again writes its files
again, with the events that its inputs have.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from alerts.notation import json_value
from alerts.sought import Fields, Sought
from cep.events import language_type
from cep.expressions.held import as_held, inside, python
from cep.folders import remove_files
from cep.record.layout import RecordFile, aside_of, days_in, files_in, left_behind, streams_in
from cep.record.places import parquet, sink
from cep.record.writing import STREAM_NAME, TIME_COLUMN, writer

if TYPE_CHECKING:
    import pyarrow.parquet as pq

    from cep.files import AnyPath

_ONE = threading.Lock()
"""Two erasures of one process would write one file aside."""
UNREADABLE = (OSError, pa.ArrowException, ValueError, KeyError)


@dataclass(frozen=True, slots=True)
class Events:
    """Events to erase; `fields` says by stream which fields hold the values that alerts name."""

    sought: Sought
    fields: Mapping[str, Fields]


def files(record: AnyPath) -> Iterator[RecordFile]:
    """All files of the record. Raises OSError."""
    for stream in streams_in(record):
        for _, day in days_in(stream):
            yield from files_in(day)


def remove_unfinished(record: AnyPath) -> None:
    """Remove the files that processes left behind when they ended; nobody reads those. Raises OSError."""
    for stream in streams_in(record):
        for _, day in days_in(stream):
            remove_files(list(left_behind(day)))


def erase(of: RecordFile, events: Events, *, dry_run: bool) -> int:
    """Write a file anew without the events, or remove it where it has no others; the number of events.

    Raises what `UNREADABLE` names. A file that is removed meanwhile has none.
    """
    with _ONE, suppress(FileNotFoundError), parquet(of.path, of.size) as file:
        found = [_rows(file, group, events) for group in range(file.num_row_groups)]
        count = int(sum(rows.sum() for rows in found))
        if not count or dry_run:
            return count
        if count == file.metadata.num_rows:
            remove_files([of.path])
        else:
            _without(of.path, file, found)
        return count
    return 0


def _rows(file: pq.ParquetFile, group: int, events: Events) -> npt.NDArray[np.bool_]:
    """By row of a group: true where the event is to go."""
    rows = np.ones(file.metadata.row_group(group).num_rows, bool)
    schema = file.schema_arrow
    fields = events.fields.get((schema.metadata or {})[STREAM_NAME].decode(), {})
    for name in events.sought.values:
        mine = np.zeros(len(rows), bool)
        for path in fields.get(name, ((name,),)):
            if path[0] in schema.names and not path[0].startswith("@") and rows.any():
                column = file.read_row_group(group, columns=[path[0]]).column(path[0])
                mine |= _fitting(column.combine_chunks(), path[1:], name, events.sought)
        rows &= mine
    return rows


def _fitting(column: pa.Array, path: tuple[str, ...], name: str, sought: Sought) -> npt.NDArray[np.bool_]:
    """By row: true where the value at a path of the column is the one sought under a name."""
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    values = inside(column, path) if path else column
    type_ = language_type(values.type)
    if pa.types.is_nested(values.type):
        found = [sought.fits(name, json_value(one, type_)) for one in python(as_held(values))]
        return np.array(found, bool)
    unique = pc.unique(values)
    fits = [sought.fits(name, json_value(one, type_)) for one in python(as_held(unique))]
    wanted = unique.filter(pa.array(fits, pa.bool_()))
    mask: npt.NDArray[np.bool_] = pc.is_in(values, wanted).to_numpy(zero_copy_only=False)
    return mask


def _with_dictionary(file: pq.ParquetFile) -> list[str]:
    """The columns of a file whose values are written as numbers."""
    if not file.num_row_groups:
        return []
    first = file.metadata.row_group(0)
    columns = (first.column(number) for number in range(first.num_columns))
    return [one.path_in_schema for one in columns if one.has_dictionary_page]


def _without(path: AnyPath, file: pq.ParquetFile, going: list[npt.NDArray[np.bool_]]) -> None:
    schema, anew = file.schema_arrow, sink(path, aside_of(path))
    time = (schema.metadata or {})[TIME_COLUMN].decode()
    try:
        with writer(anew.stream, schema, time, _with_dictionary(file)) as written:
            for group, rows in enumerate(going):
                if not rows.all():
                    table = file.read_row_group(group).filter(pa.array(~rows))
                    written.write_table(table, row_group_size=len(table))
        anew.finish()
    finally:
        anew.abandon()
