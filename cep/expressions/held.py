"""The forms of the language's values: in Arrow columns that are computed with, and as Python values.

Times and durations are int64 nanoseconds, in lists and records too. As Python values (rules.types) lists are
tuples, records mappings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cep.events import arrow_type
from rules.typed import Path
from rules.types import Type


def held(type_: Type) -> pa.DataType:
    """The Arrow type in which values of a type are computed."""
    return _plain(arrow_type(type_))


def as_held(array: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The array with nanoseconds as numbers, at any depth."""
    plain = _plain(array.type)
    return array if plain == array.type else array.cast(plain)


def inside(array: pa.Array, path: Path) -> pa.Array:
    """The fields that a path leads to in records; of a list of records, in each of them.

    Null inside a null record.
    """
    for place, name in enumerate(path):
        if _is_list(array.type):
            items = inside(array.flatten(), path[place:])
            lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
            return lists_of(items, lengths, array)
        array = pc.struct_field(array, [name])
    return array


def value_at(value: object, path: Path) -> object:
    """As `inside`, of one value."""
    for place, name in enumerate(path):
        if isinstance(value, list | tuple):
            return tuple(value_at(item, path[place:]) for item in value)
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def lists_of(items: pa.Array, lengths: npt.NDArray[np.integer[Any]], like: pa.Array) -> pa.Array:
    """Lists of these items, end to end; null where `like` is."""
    ends = np.cumsum(np.concatenate(([0], lengths)), dtype=np.int32)
    offsets = pa.Array.from_buffers(pa.int32(), len(ends), [None, pa.py_buffer(ends)])
    mask = like.is_null() if like.null_count else None
    return pa.ListArray.from_arrays(offsets, items, mask=mask)


def python(array: pa.Array | pa.ChunkedArray) -> list[object]:
    """The values of an array that is held, as rules.types says."""
    values: list[object] = array.to_pylist()
    return [_immutable(value) for value in values] if pa.types.is_nested(array.type) else values


def _immutable(value: object) -> object:
    match value:
        case list():
            return tuple(map(_immutable, value))
        case dict():
            return {name: _immutable(part) for name, part in value.items()}
        case _:
            return value


def _plain(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(type_) or pa.types.is_duration(type_):
        return pa.int64()
    if _is_list(type_):
        return pa.list_(_plain(type_.value_type))
    if pa.types.is_struct(type_):
        return pa.struct([pa.field(part.name, _plain(part.type), part.nullable) for part in type_])
    return type_


def _is_list(type_: pa.DataType) -> bool:
    return bool(pa.types.is_list(type_))
