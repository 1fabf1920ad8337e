"""A shard's dictionary: what has no 64 bits of its own, as text, and texts as numbers for the kernel.

Strings are themselves. A decimal is its digits without the point, negative ones as ten's complements, all of
one width, so that texts sort as decimals do. Lists and records are JSON; only their equality is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cep.expressions.held import python
from rules.decimals import DIGITS, EXACT, SCALE
from rules.types import ListOf, Record, Scalar, Type

Numbers = npt.NDArray[np.int64]


@dataclass(slots=True)
class Texts:
    """Values by number, without repetition; it only grows."""

    values: pa.StringArray

    @classmethod
    def empty(cls) -> Texts:
        """A dictionary without entries."""
        return cls(pa.array([], pa.string()))

    def numbers(self, column: pa.Array) -> Numbers:
        """The number of each value, new ones added; 0 where null."""
        encoded = _as_texts(column).dictionary_encode()
        known = pc.index_in(encoded.dictionary, value_set=self.values)
        of_entry = known.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        new = of_entry < 0
        if new.any():
            of_entry[new] = len(self.values) + np.arange(int(np.count_nonzero(new)))
            self.values = pa.concat_arrays([self.values, encoded.dictionary.filter(pa.array(new))])
        indices = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)
        return of_entry[indices] if len(of_entry) else np.zeros(len(column), np.int64)

    def ranks(self) -> Numbers:
        """Each entry's place in the order by code point."""
        order = pc.array_sort_indices(self.values).to_numpy(zero_copy_only=False)
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order))
        return ranks


def _as_texts(column: pa.Array) -> pa.Array:
    if pa.types.is_string(column.type):
        return column
    if pa.types.is_decimal(column.type):
        distinct = column.dictionary_encode()
        return _each_as_text(distinct.dictionary).take(distinct.indices)
    return _each_as_text(column)


def _each_as_text(column: pa.Array) -> pa.Array:
    return pa.array([None if value is None else as_text(value) for value in python(column)], pa.string())


def as_text(value: object) -> str:
    """A value as the text that stands for it: equal for equal values, and for decimals sorting as they do."""
    match value:
        case str():
            return value
        case Decimal():
            return f"{int(EXACT.scaleb(value, SCALE)) + 10**DIGITS:0{DIGITS + 1}d}"
        case _:
            return json.dumps(_normal(value), ensure_ascii=False, separators=(",", ":"))


def _normal(value: object) -> object:
    match value:
        case Decimal():
            return as_text(value)
        case float():
            return value + 0.0  # one zero
        case tuple():
            return [_normal(item) for item in value]
        case Mapping():
            return {name: _normal(part) for name, part in value.items()}
        case _:
            return value


def from_text(text: str, type_: Type) -> object:
    """The value that `as_text` wrote."""
    match type_:
        case Scalar.DECIMAL:
            return EXACT.scaleb(Decimal(int(text) - 10**DIGITS), -SCALE)
        case ListOf() | Record():
            return _restored(json.loads(text), type_)
        case Scalar():
            return text


def _restored(value: object, type_: Type) -> object:
    match type_, value:
        case Scalar.DECIMAL, str():
            return from_text(value, type_)
        case ListOf(element), list():
            return tuple(_restored(item, element) for item in value)
        case Record(fields), dict():
            return {name: _restored(value[name], part) for name, part in fields}
        case _:
            return value
