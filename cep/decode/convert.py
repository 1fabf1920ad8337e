"""Source columns -> a stream's declared columns, and the checks that make an event of a row.

What a column is read as depends on the format; from there every format goes through `declared`, so
that required fields, NaN and timestamps have one meaning. All by column; one bad value refuses all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from cep.decode.decimals import parse_decimals
from cep.decode.durations import parse_durations
from cep.decode.formats import FeedFormat
from cep.decode.malformed import Malformed
from cep.decode.timestamps import is_utc, parse_timestamps
from cep.events import arrow_type, declared_schema
from rules.typed import Path, Stream
from rules.types import ListOf, Record, Scalar, Type


def json_type(type_: Type, feed: FeedFormat) -> pa.DataType:
    """The Arrow type that JSON values of a field are read as."""
    match type_:
        case Scalar.TIMESTAMP:
            if feed.timestamps == "iso" and is_utc(feed.zone):
                return arrow_type(type_)
            return text_type(type_, feed)
        case Scalar.DECIMAL:
            return arrow_type(type_)
        case ListOf(element):
            return pa.list_(json_type(element, feed))
        case Record(fields):
            return pa.struct([pa.field(name, json_type(part, feed)) for name, part in fields])
        case _:
            return text_type(type_, feed)


def text_type(type_: Type, feed: FeedFormat) -> pa.DataType:
    """The Arrow type that text of a field (a CSV cell) is read as."""
    match type_:
        case Scalar.TIMESTAMP:
            numbers = {"epoch_s": pa.float64(), "epoch_ms": pa.float64()}
            numbers |= {"epoch_us": pa.int64(), "epoch_ns": pa.int64()}
            return numbers.get(feed.timestamps, pa.string())
        case Scalar.DURATION | Scalar.DECIMAL:
            return pa.string()
        case _:
            return arrow_type(type_)


def declared(
    columns: Mapping[str, pa.Array],
    constants: Mapping[str, pa.Scalar],
    rows: int,
    stream: Stream,
    feed: FeedFormat,
) -> pa.Table:
    """A table of the stream's declared schema from source columns by stream field.

    A field with neither a column nor a constant is null in every row. Raises Malformed, naming the
    first field in order of declaration that refuses a value.
    """
    required = required_fields(stream)
    arrays = []
    for field in stream.fields:
        if field.name in constants:
            array = pa.repeat(constants[field.name], rows)
        elif field.name in columns:
            array = _converted(columns[field.name], field.type, feed, field.name)
        else:
            array = pa.nulls(rows, arrow_type(field.type))
        if array.null_count and field.name in required:
            raise Malformed(lacks(field.name))
        _check_inside(array, field.type, field.name)
        arrays.append(array)
    table = pa.Table.from_arrays(arrays, schema=declared_schema(stream))
    for path in (stream.time, stream.id):
        if path is not None and len(path) > 1 and column(table, path).null_count:
            raise Malformed(lacks(".".join(path)))
    return table


def required_fields(stream: Stream) -> frozenset[str]:
    """The fields that every event has: those not nullable, and those that hold its time and its id."""
    required = {f.name for f in stream.fields if not f.nullable} | {stream.time[0]}
    return frozenset(required | ({stream.id[0]} if stream.id else set()))


@dataclass(frozen=True, slots=True)
class Wanted:
    """A field that is read from the source, under the source's name for it."""

    name: str
    type: Type
    source: str
    required: bool


def wanted_fields(stream: Stream, feed: FeedFormat, constants: Collection[str]) -> tuple[Wanted, ...]:
    """The fields that are read, in order of declaration; constants are not."""
    required = required_fields(stream)
    return tuple(
        Wanted(f.name, f.type, feed.source(f.name), f.name in required)
        for f in stream.fields
        if f.name not in constants
    )


def column(table: pa.Table, path: Path) -> pa.ChunkedArray:
    """The column of a field, or of a field nested in it."""
    found = table.column(path[0])
    for name in path[1:]:
        found = pc.struct_field(found, name)
    return found


def lacks(field: str) -> str:
    """The reason of an event without a required field."""
    return f"lacks the required field `{field}`"


def constant(value: object, type_: Type, feed: FeedFormat) -> pa.Scalar:
    """A constant of job.toml in its field's type. Raises Malformed."""
    written = FeedFormat(zone=feed.zone)
    schema = pa.schema([("constant", json_type(type_, written))])
    line = json.dumps({"constant": value}).encode()
    try:
        table = pj.read_json(pa.BufferReader(line), parse_options=pj.ParseOptions(explicit_schema=schema))
    except pa.ArrowInvalid:
        raise Malformed(f"{json.dumps(value)} is not a {type_}") from None
    return _converted(table.column(0).chunk(0), type_, written, "constant")[0]


def _converted(array: pa.Array, type_: Type, feed: FeedFormat, name: str) -> pa.Array:
    match type_:
        case Scalar.TIMESTAMP:
            return parse_timestamps(array, feed, name)
        case Scalar.DURATION:
            return parse_durations(array, name)
        case Scalar.DECIMAL if pa.types.is_string(array.type):
            return parse_decimals(array, name)
        case Scalar.DOUBLE:
            if not pc.all(pc.is_finite(array), min_count=0).as_py():
                raise Malformed(f"`{name}` is not a finite number")
            return array
        case ListOf(element) if not _plain(element):
            items = of_items(array, name, lambda items, place: _converted(items, element, feed, place))
            starts = array.offsets
            offsets = pc.subtract(starts, starts[0])  # flatten() drops what a slice leaves out
            return pa.ListArray.from_arrays(offsets, items, arrow_type(type_), mask=array.is_null())
        case Record(fields) if not _plain(type_):
            parts = [
                _converted(pc.struct_field(array, [i]), part, feed, f"{name}.{part_name}")
                for i, (part_name, part) in enumerate(fields)
            ]
            return pa.StructArray.from_arrays(parts, type=arrow_type(type_), mask=array.is_null())
        case _:
            return array


def _check_inside(array: pa.Array, type_: Type, name: str) -> None:
    """Every record has its required fields, and no list holds a null. Raises Malformed."""
    match type_:
        case Record(fields, nullable):
            for part_name, part in fields:
                inner = pc.struct_field(array, [part_name])
                full_name = f"{name}.{part_name}"
                if part_name not in nullable and inner.null_count > array.null_count:
                    raise Malformed(lacks(full_name))
                _check_inside(inner, part, full_name)
        case ListOf(element):
            of_items(array, name, lambda items, place: _check_items(items, element, place))
        case Scalar.DECIMAL:
            try:
                array.validate(full=True)  # Arrow reads some numbers of 39 digits
            except pa.ArrowInvalid:
                raise Malformed(f"`{name}` has more than 20 digits before the point") from None
        case _:
            pass


def _check_items(items: pa.Array, element: Type, name: str) -> None:
    if items.null_count:
        raise Malformed(f"`{name}` is null")
    _check_inside(items, element, name)


Read = TypeVar("Read")


def of_items(array: pa.Array, name: str, read: Callable[[pa.Array, str], Read]) -> Read:
    """Values of `read` for all items of lists. Raises Malformed, for a single list with the item's place."""
    items = array.flatten()
    try:
        return read(items, f"{name}[]")
    except Malformed:
        if len(array) == 1:
            for place in range(len(items)):
                read(items.slice(place, 1), f"{name}[{place}]")
        raise


def _plain(type_: Type) -> bool:
    """True if values of the type are read as they are declared, with nothing left to check."""
    match type_:
        case ListOf(element):
            return _plain(element)
        case Record(fields):
            return all(_plain(part) for _, part in fields)
        case _:
            return type_ not in (Scalar.TIMESTAMP, Scalar.DURATION, Scalar.DOUBLE)
