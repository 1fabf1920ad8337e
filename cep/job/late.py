"""Events that came too late, as they are kept: one row each, the event as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pyarrow as pa

from alerts.notation import json_value
from cep.events import FILE, ID, OFFSET, TIME, Events
from rules.typed import Stream

LateRow = tuple[str, str, int, str, int, str]
"""Stream, file, offset, id, time, JSON: as cep.deadletters.LateEvent, which would load a database library."""


def late_rows(stream: Stream, events: Events) -> list[LateRow]:
    """The events of one stream, in order, in the notation of alerts."""
    table = events.table
    columns = [
        table.column(f.name).cast(_plain(table.schema.field(f.name).type)).to_pylist() for f in stream.fields
    ]
    own = [table.column(name).to_pylist() for name in (FILE, OFFSET, ID, TIME)]
    return [
        (stream.name, file, offset, id_, time, _json(stream, values))
        for file, offset, id_, time, *values in zip(*own, *columns, strict=True)
    ]


def _json(stream: Stream, values: Iterable[object]) -> str:
    event = {f.name: json_value(value, f.type) for f, value in zip(stream.fields, values, strict=True)}
    return json.dumps(event, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _plain(type_: pa.DataType) -> pa.DataType:
    """The type with nanoseconds as numbers, at any depth."""
    if pa.types.is_timestamp(type_) or pa.types.is_duration(type_):
        return pa.int64()
    if pa.types.is_list(type_):
        return pa.list_(_plain(type_.value_type))
    if pa.types.is_struct(type_):
        return pa.struct([pa.field(part.name, _plain(part.type), part.nullable) for part in type_])
    return type_
