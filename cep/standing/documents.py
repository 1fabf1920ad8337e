"""Events of a stream as the percolator's documents: its fields by kind, and the metadata that filters see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pyarrow as pa

from alerts.notation import json_value, plain
from cep.expressions.held import lists_of, python
from percolator.schema import Kind, Schema
from percolator.values import Document
from rules.text_schema import document_schema, leaves
from rules.typed import Path, Stream
from rules.types import ListOf, Record, Scalar, Type

Reader = Callable[[Path], pa.Array]
"""Reads a column of a table by the path of its field, values as cep.expressions.held says."""


def schema_of(documents: Stream) -> Schema:
    """The fields that queries can ask for."""
    return document_schema((f.name, f.type, f.analyser) for f in documents.fields)


def metadata_of(documents: Stream) -> dict[str, Type]:
    """The keys of filters with their types: all fields but texts, those of records by path."""
    found = {name: of for f in documents.fields for name, of in leaves(f.name, f.type)}
    return {
        name: of
        for name, of in found.items()
        if of is not None and of is not Scalar.TEXT and not isinstance(of, Record | ListOf)
    }


def field_columns(schema: Schema, asked: Iterable[str], read: Reader) -> dict[str, pa.Array]:
    """The columns of the fields asked for, as `Matcher.match_batch` takes them."""
    return {name: _field(read(_path(name)), schema.fields[name].kind) for name in sorted(asked)}


def metadata_columns(types: Mapping[str, Type], asked: Iterable[str], read: Reader) -> dict[str, pa.Array]:
    """The columns of the keys asked for, each value as its text."""
    return {key: _texts(read(_path(key)), types[key]) for key in sorted(asked) if key in types}


def document_at(columns: Mapping[str, pa.Array], row: int) -> Document:
    """One row of columns as a document."""
    return {name: column[row].as_py() for name, column in columns.items()}


def _path(name: str) -> Path:
    return tuple(name.split("."))


def _field(column: pa.Array, kind: Kind) -> pa.Array:
    return _mapped(column, _times) if kind is Kind.DATE else column


def _times(nanoseconds: pa.Array) -> pa.Array:
    """Times in microseconds, as fields of the percolator have them."""
    values = nanoseconds.fill_null(0).to_numpy(zero_copy_only=False) // 1000
    mask = np.asarray(nanoseconds.is_null().to_numpy(zero_copy_only=False))
    return pa.array(values, mask=mask).view(pa.timestamp("us", "UTC"))


def _texts(column: pa.Array, type_: Type) -> pa.Array:
    """Strings as they are; all else as an alert's summary shows it."""

    def written(values: pa.Array) -> pa.Array:
        if type_ is Scalar.STRING:
            return values
        if type_ in (Scalar.LONG, Scalar.BOOLEAN):
            return values.cast(pa.string())
        shown = (None if v is None else plain(json_value(v, type_)) for v in python(values))
        return pa.array(shown, pa.string())

    return _mapped(column, written)


def _mapped(column: pa.Array, function: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """The function of every value, also of those in lists."""
    if not pa.types.is_list(column.type):
        return function(column)
    lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    return lists_of(function(column.flatten()), lengths, column)
