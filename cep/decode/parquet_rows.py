"""Parquet: rows that have types already, brought to the stream's types where that loses nothing.

Integers may become doubles or decimals, narrower numbers wider ones, and any timestamp one in
nanoseconds; numbers never become strings nor strings numbers, but for decimals, which may be written as
texts. Text and numbers in a timestamp field are read as `timestamps` of the feed says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cep.decode.arrays import numbers
from cep.decode.beginning import Beginning
from cep.decode.convert import declared, lacks, of_items, required_fields
from cep.decode.formats import EPOCHS, FeedFormat
from cep.decode.malformed import Malformed
from cep.decode.salvage import Indices
from cep.events import arrow_type
from rules.typed import Stream
from rules.types import ListOf, Record, Scalar, Type

if TYPE_CHECKING:
    from pyarrow import parquet


_LISTS = (pa.ListArray, pa.LargeListArray, pa.FixedSizeListArray, pa.ListViewArray, pa.LargeListViewArray)


class TableReader:
    """Reads the rows of one table."""

    def __init__(
        self, table: pa.Table, stream: Stream, feed: FeedFormat, constants: dict[str, pa.Scalar]
    ) -> None:
        self._table, self._stream, self._feed, self._constants = table, stream, feed, constants
        present = set(table.column_names)
        self._sources = {
            f.name: feed.source(f.name)
            for f in stream.fields
            if f.name not in constants and feed.source(f.name) in present
        }
        self._refusal = self._why_none()

    def read(self, chosen: Indices) -> pa.Table:
        """The chosen rows in the declared schema. Raises Malformed."""
        if self._refusal:
            raise Malformed(self._refusal)
        first, last = int(chosen[0]), int(chosen[-1])
        rows = self._table.slice(first, last - first + 1)
        if rows.num_rows != len(chosen):
            kept = np.zeros(rows.num_rows, np.uint8)
            kept[chosen - first] = 1
            packed = pa.py_buffer(np.packbits(kept, bitorder="little"))
            rows = rows.filter(pa.Array.from_buffers(pa.bool_(), len(kept), [None, packed]))
        columns = {}
        for field in self._stream.fields:
            if field.name in self._sources:
                array = rows.column(self._sources[field.name]).combine_chunks()
                columns[field.name] = fitted(array, field.type, self._feed, field.name)
        return declared(columns, self._constants, len(chosen), self._stream, self._feed)

    def usual(self, _: Indices) -> Iterator[tuple[pa.Table, Indices]]:
        """None: `read` is to read all."""
        return iter(())

    def explain(self, record: int) -> str | None:
        """Why the row is certainly refused, or None."""
        if self._refusal:
            return self._refusal
        return next((lacks(name) for name, absent in self._absent.items() if absent[record]), None)

    def longer_than(self, most: int) -> Indices:  # noqa: ARG002
        """None: a row is there already when it is looked at."""
        return np.empty(0, np.int64)

    def octets(self, record: int) -> bytes:
        """A row as JSON."""
        columns = zip(self._table.column_names, self._table.columns, strict=True)
        return as_json({name: column[record] for name, column in columns})

    @cached_property
    def _absent(self) -> dict[str, NDArray[np.bool_]]:
        """For each required field with nulls, which rows have none."""
        found = {}
        for name in required_fields(self._stream) & self._sources.keys():
            column = self._table.column(self._sources[name])
            if column.null_count:
                bits = column.is_null().combine_chunks().buffers()[1]
                unpacked = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")
                found[name] = unpacked[: len(column)].astype(np.bool_)
        return found

    def _why_none(self) -> str | None:
        """Why no row of such a table can be an event, if so."""
        required = required_fields(self._stream)
        nothing = self._table.schema.empty_table()
        for field in self._stream.fields:
            source = self._feed.source(field.name)
            if field.name in self._constants:
                continue
            if source not in nothing.column_names:
                if field.name in required:
                    return f"{lacks(field.name)}: the file has no column `{source}`"
                continue
            if nothing.column_names.count(source) > 1:
                return f"two columns are called `{source}`"
            try:
                fitted(nothing.column(source).combine_chunks(), field.type, self._feed, field.name)
            except Malformed as error:
                return error.reason
        return None


def as_json(row: Mapping[str, pa.Scalar]) -> bytes:
    """A row as JSON, in which bytes of texts that are not UTF-8 stand as they are."""
    values = {name: _shown(value) for name, value in row.items()}
    return json.dumps(values, default=str, ensure_ascii=False).encode("utf-8", "surrogateescape")


def _shown(value: pa.Scalar) -> object:
    try:
        return value.as_py()
    except (OverflowError, ValueError):  # a time that Python's datetime does not reach, or no UTF-8
        return _shown_apart(value)


def _shown_apart(value: pa.Scalar) -> object:
    """A value that `as_py` refuses, by its parts."""
    found = value.type
    if pa.types.is_dictionary(found):
        return _shown(value.value)
    if pa.types.is_struct(found):
        return {field.name: _shown(part) for field, part in zip(found, value.values(), strict=True)}
    if isinstance(value, pa.ListScalar):
        return [_shown(item) for item in value.values]
    if pa.types.is_temporal(found):
        narrow = pa.types.is_date32(found) or pa.types.is_time32(found)
        return value.cast(pa.int32() if narrow else pa.int64()).as_py()
    return value.as_buffer().to_pybytes().decode("utf-8", "surrogateescape")


def opened(source: str | pa.NativeFile, length: int | None = None) -> parquet.ParquetFile:
    """A Parquet file whose pages are compared with their checksums, where it has some, to be closed.

    `length`: the file is the first so many bytes of `source`. Raises OSError and pyarrow.ArrowException.
    """
    from pyarrow import parquet

    if length is not None:
        source = pa.PythonFile(Beginning(str(source), length), mode="r")
    return parquet.ParquetFile(source, page_checksum_verification=True)


def parquet_table(data: bytes | memoryview) -> pa.Table:
    """All rows of a Parquet file. Raises pyarrow.ArrowInvalid if the bytes are none."""
    return opened(pa.BufferReader(data)).read(use_threads=False)


def _check_utf8(array: pa.Array, name: str) -> None:
    """Raises Malformed where a text is not UTF-8: Arrow takes it over from a file as it is."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        raise Malformed(f"`{name}` is not valid UTF-8") from None


def _decoded(array: pa.Array, name: str) -> pa.Array:
    """The values of a dictionary's array. Raises Malformed for an index that has none."""
    try:
        return array.dictionary_decode()
    except (pa.ArrowInvalid, IndexError):
        raise Malformed(f"`{name}` has a value that its dictionary has not") from None


def fitted(
    array: pa.Array, type_: Type, feed: FeedFormat, name: str, holder: str = "the file's column is"
) -> pa.Array:
    """The array in a type that convert.declared goes on from. Raises Malformed.

    `holder` begins what is said of an array of a type that does not fit.
    """
    if pa.types.is_dictionary(array.type):
        array = _decoded(array, name)
    found = array.type
    if pa.types.is_null(found):
        return array.cast(arrow_type(type_))
    wrong = Malformed(f"wrong type: `{name}` is a {type_}, {holder} {found}")
    match type_:
        case ListOf(element):
            if type(array) not in _LISTS:  # a map is a list of its own kind
                raise wrong
            items = of_items(array, name, lambda items, place: fitted(items, element, feed, place, holder))
            # flatten() drops what a null holds: each of a fixed size holds some
            lengths = pc.list_value_length(array).fill_null(0).to_numpy(zero_copy_only=False)
            offsets = numbers(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])).cast(pa.int32())
            return pa.ListArray.from_arrays(offsets, items, mask=array.is_null())
        case Record(fields):
            if not pa.types.is_struct(found):
                raise wrong
            parts = [
                fitted(pc.struct_field(array, part), part_type, feed, f"{name}.{part}", holder)
                if found.get_field_index(part) >= 0
                else pa.nulls(len(array), arrow_type(part_type))
                for part, part_type in fields
            ]
            return pa.StructArray.from_arrays(parts, names=[part for part, _ in fields], mask=array.is_null())
        case Scalar():
            target = _target(found, type_, feed)
            if target is None:
                raise wrong
            if pa.types.is_string(target):
                _check_utf8(array, name)
            try:
                return array.cast(target, safe=type_ != Scalar.DOUBLE)
            except pa.ArrowInvalid as error:
                raise Malformed(f"`{name}`: {error}") from None


def _target(found: pa.DataType, type_: Scalar, feed: FeedFormat) -> pa.DataType | None:
    """The type to which a column of the type found is cast for a field, or None if it does not fit."""
    whole = pa.types.is_integer(found)
    number = whole or pa.types.is_floating(found)
    text = pa.types.is_string(found) or pa.types.is_large_string(found) or pa.types.is_string_view(found)
    match type_:
        case Scalar.STRING | Scalar.TEXT:
            fits = text
        case Scalar.LONG:
            fits = whole
        case Scalar.DOUBLE:
            fits = number
        case Scalar.DECIMAL:
            if text:
                return pa.string()
            fits = whole or pa.types.is_decimal(found)
        case Scalar.BOOLEAN:
            fits = pa.types.is_boolean(found)
        case Scalar.DURATION:
            if text:
                return pa.string()
            fits = pa.types.is_duration(found)
        case Scalar.TIMESTAMP:
            if pa.types.is_timestamp(found) or pa.types.is_date(found):
                return found
            if feed.timestamps in EPOCHS:
                coarse = feed.timestamps in ("epoch_s", "epoch_ms")
                fitting = number if coarse else whole
                return (pa.float64() if coarse else pa.int64()) if fitting else None
            return pa.string() if text else None
        case _:
            fits = False
    return arrow_type(type_) if fits else None
