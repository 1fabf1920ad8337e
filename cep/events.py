"""Events as Arrow tables: one stream's decoded events, with their time, id and place.

Every stage between decoding and matching passes `Events`. Besides the stream's declared fields, in
the order of their declaration, a table has four columns of our own, whose names no field can have:

    @time    int64        event time in nanoseconds since 1970 UTC, never null
    @id      string       the event's id, or its place where the stream declares none, never null
    @file    dictionary   the file (or topic) that it was read from, never null
    @offset  int64        byte offset, row, or log offset in there: rising in order of arrival
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from rules.typed import Stream
from rules.types import ListOf, Record, Scalar, Type

TIME, ID, FILE, OFFSET = "@time", "@id", "@file", "@offset"

MIN_TIME = -(2**63) + 1
"""The watermark before anything was seen."""
MAX_TIME = 2**63 - 1
"""The end of time: the watermark of a drained stream."""
STEPS = (10**9, 10**6, 10**3)
"""Nanoseconds of which events' times may be whole numbers."""

_SCALARS: dict[Scalar, pa.DataType] = {
    Scalar.STRING: pa.string(),
    Scalar.TEXT: pa.string(),
    Scalar.LONG: pa.int64(),
    Scalar.DOUBLE: pa.float64(),
    Scalar.DECIMAL: pa.decimal128(38, 18),
    Scalar.BOOLEAN: pa.bool_(),
    Scalar.TIMESTAMP: pa.timestamp("ns", "UTC"),
    Scalar.DURATION: pa.duration("ns"),
    Scalar.NULL: pa.null(),
}


_BY_ARROW = {arrow: scalar for scalar, arrow in _SCALARS.items() if scalar is not Scalar.TEXT}


def arrow_type(type_: Type) -> pa.DataType:
    """The Arrow type that holds values of a type of the language."""
    match type_:
        case Scalar():
            return _SCALARS[type_]
        case ListOf(element):
            return pa.list_(arrow_type(element))
        case Record(fields):
            return pa.struct([pa.field(name, arrow_type(part)) for name, part in fields])


def language_type(type_: pa.DataType) -> Type:
    """The type of the language whose values an Arrow type of `arrow_type` holds; of text that of strings."""
    if pa.types.is_list(type_):
        return ListOf(language_type(type_.value_type))
    if pa.types.is_struct(type_):
        return Record(tuple((part.name, language_type(part.type)) for part in type_))
    return _BY_ARROW[type_]


def declared_schema(stream: Stream) -> pa.Schema:
    """The stream's own fields, in the order of their declaration."""
    return pa.schema([pa.field(f.name, arrow_type(f.type), f.nullable) for f in stream.fields])


def event_schema(stream: Stream) -> pa.Schema:
    """The schema of `Events.table`: the declared fields, then @time, @id, @file, @offset."""
    own = [
        pa.field(TIME, pa.int64(), nullable=False),
        pa.field(ID, pa.string(), nullable=False),
        pa.field(FILE, pa.dictionary(pa.int32(), pa.string()), nullable=False),
        pa.field(OFFSET, pa.int64(), nullable=False),
    ]
    return pa.schema([*declared_schema(stream), *own])


@dataclass(frozen=True, slots=True)
class Events:
    """Decoded events of one stream, all from one source partition.

    `partition` names the source partition within the stream's feed: the feed's own name for files,
    `topic/number` for a log. `table` has the stream's event_schema, in order of arrival.
    """

    stream: str
    partition: str
    table: pa.Table


def hit_id(document: str, query: str) -> str:
    """The id of a hit: the document's and the query's, with a space between.

    A space or backslash inside the document's has a backslash before it, so that no two hits have one id.
    """
    escaped = document.replace("\\", "\\\\").replace(" ", "\\ ")
    return f"{escaped} {query}"


def document_of(hit: str) -> str:
    """The id of the document that a hit with this id is of."""
    found, signs = "", iter(hit)
    for sign in signs:
        if sign == " ":
            return found
        found += next(signs, "") if sign == "\\" else sign
    return found
