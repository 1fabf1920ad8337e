"""One field of very many alerts in Arrow: the texts of its values, as `alerts.columns` has them in lists.

Arrow writes whole numbers, and doubles whose notation has no exponent, with the digits that Python writes.
Other doubles, and strings that JSON escapes, are written by Python, those alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from json.encoder import encode_basestring
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from alerts.columns import Column
from alerts.joining import OneOf, bytes_of, joined
from alerts.notation import number
from alerts.notation_columns import doubles, moments
from alerts.rank_columns import double_ranks, whole_ranks
from alerts.ranks import value_rank

Ints = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Array = Any
"""An Arrow array of strings or bytes without nulls, an element for each alert."""

_STRING = pa.string()
_ESCAPED = '["\\\\\\x00-\\x1f]'
_LEAST, _MOST = 1e-4, 1e9
"""Arrow and Python agree on doubles from the one up to the other: they have no exponent."""
_TRIED = 100
_UNITS = ((1, "ns"), (1_000, "us"), (1_000_000, "ms"), (1_000_000_000, "s"))


class Texts(Protocol):
    """The texts of a field's values, as `Column` says; `shown` are those that it calls plain, as a string of
    JSON has them."""

    @property
    def json(self) -> Array: ...
    @property
    def canonical(self) -> Array: ...
    @property
    def shown(self) -> Array: ...
    @property
    def ranked(self) -> Array: ...


@dataclass(frozen=True, slots=True)
class ListedTexts:
    """The texts of values that Arrow has no type for. Each raises UnicodeEncodeError for a lone surrogate."""

    column: Column

    @property
    def json(self) -> Array:
        return pa.array(self.column.json, pa.string())

    @property
    def canonical(self) -> Array:
        return pa.array(self.column.canonical, pa.string())

    @property
    def shown(self) -> Array:
        return pa.array([encode_basestring(text)[1:-1] for text in self.column.plain], pa.string())

    @property
    def ranked(self) -> Array:
        return pa.array(self.column.ranked, pa.binary())


@dataclass(frozen=True)
class StringTexts:
    """The texts of strings; some may be null."""

    values: pa.Array

    @cached_property
    def json(self) -> Array:
        return _filled(quoted(self.values), "null")

    @property
    def canonical(self) -> Array:
        return self.json

    @cached_property
    def shown(self) -> Array:
        if _has(self.values, _to_be_escaped):
            return _filled(pc.utf8_slice_codeunits(quoted(self.values), 1, -1), "null")
        return _filled(self.values, "null")

    @cached_property
    def ranked(self) -> Array:
        if _has(self.values, lambda data: data == 0):
            return pa.array(list(map(value_rank, self.values.to_pylist())), pa.binary())
        return _filled(joined([b"\5", self.values.cast(pa.binary()), b"\0\0"], pa.binary()), b"\1")


@dataclass(frozen=True)
class PlainTexts:
    """The texts of whole numbers (int64) or booleans; some may be null."""

    values: pa.Array

    @cached_property
    def json(self) -> Array:
        return _filled(self.values.cast(pa.string()), "null")

    @property
    def canonical(self) -> Array:
        return self.json

    @property
    def shown(self) -> Array:
        return self.json

    @cached_property
    def ranked(self) -> Array:
        if self.values.null_count or not pa.types.is_int64(self.values.type):
            return pa.array(list(map(value_rank, self.values.to_pylist())), pa.binary())
        return fixed(whole_ranks(self.values.to_numpy()))


@dataclass(frozen=True)
class DoubleTexts:
    """The texts of doubles; some may be null. Raises ValueError for NaN and infinity."""

    values: pa.Array

    @cached_property
    def json(self) -> Array:
        return self._written(True, float.__repr__)

    @cached_property
    def canonical(self) -> Array:
        return self._written(False, number)

    @property
    def shown(self) -> Array:
        return self.canonical

    @cached_property
    def ranked(self) -> Array:
        if self.values.null_count:
            return pa.array(list(map(value_rank, self.values.to_pylist())), pa.binary())
        return fixed(double_ranks(self.values.to_numpy()))

    @cached_property
    def _by_arrow(self) -> Array:
        return _text(self.values)

    @cached_property
    def _are_short(self) -> bool:
        """True if the kernel writes most of them, going by the first: what it leaves it has tried in vain."""
        numbers, other = self._by_python
        found = doubles(numbers[:_TRIED], pointed=False)
        return found is not None and bool(2 * np.sum(found[1] & ~other[:_TRIED]) <= len(found[1]))

    @cached_property
    def _by_python(self) -> tuple[Doubles, Bools]:
        """The numbers, 1 for null, and which of them Python has to write."""
        numbers = _filled(self.values, 1.0).to_numpy(zero_copy_only=False)
        size = np.abs(numbers)
        if not np.isfinite(size).all():
            raise ValueError("NaN and infinity are not JSON compliant")
        other = (size < _LEAST) | (size >= _MOST)
        return numbers, other & ((size != 0) | np.signbit(numbers))

    def _written(self, pointed: bool, write: Callable[[float], str]) -> Array:
        """The texts, whole ones with `.0` where they are `pointed`; `write` writes what Python has to."""
        numbers, other = self._by_python
        found = doubles(numbers, pointed) if self._are_short else None
        if found is None:
            texts, whole = self._by_arrow, numbers == np.floor(numbers)
            if pointed and whole.any():
                mask = pa.array(whole)
                texts = pc.replace_with_mask(texts, mask, joined([texts.filter(mask), ".0"]))
        else:
            texts, left = found
            left &= ~other
            if left.any():  # of which none is whole
                texts = pc.replace_with_mask(texts, pa.array(left), _text(pa.array(numbers[left])))
        if other.any():
            texts = _instead(texts, other, list(map(write, numbers[other].tolist())))
        return pc.if_else(self.values.is_null(), "null", texts) if self.values.null_count else texts


@dataclass(frozen=True, slots=True)
class ChosenTexts:
    """The texts of values of which each row has one: that whose place is in `of`."""

    texts: Texts
    of: Ints

    @property
    def json(self) -> OneOf:
        return OneOf(self.texts.json, self.of)

    @property
    def canonical(self) -> OneOf:
        return OneOf(self.texts.canonical, self.of)

    @property
    def shown(self) -> OneOf:
        return OneOf(self.texts.shown, self.of)

    @property
    def ranked(self) -> OneOf:
        return OneOf(self.texts.ranked, self.of)


def _text(numbers: Array) -> Array:
    """As Arrow writes them: without an exponent in the shortest form, whole ones without a point."""
    return numbers.cast(pa.string())


def texts_of(values: pa.Array) -> Texts:
    """The texts of strings, whole numbers (int64), doubles or booleans."""
    if pa.types.is_string(values.type):
        return StringTexts(values)
    return DoubleTexts(values) if pa.types.is_float64(values.type) else PlainTexts(values)


def quoted(texts: pa.Array) -> Array:
    """Strings as JSON; null stays null."""
    found = joined(['"', texts, '"'])
    if _has(texts, _to_be_escaped):
        escaped = pc.fill_null(pc.match_substring_regex(texts, _ESCAPED), False)
        others = list(map(encode_basestring, texts.filter(escaped).to_pylist()))
        return _instead(found, escaped.to_numpy(zero_copy_only=False), others)
    return found


def _to_be_escaped(data: npt.NDArray[np.uint8]) -> Bools:
    escaped: Bools = (data < 0x20) | (data == 0x22) | (data == 0x5C)
    return escaped


def timestamps(times: Ints) -> Array:
    """Each as `alerts.notation.timestamp` writes it; `times` in ns since 1970 UTC."""
    if (written := moments(times)) is not None:
        return written
    divides = [times % size == 0 for size, _ in _UNITS]
    finest = next(place for place in range(3, -1, -1) if divides[place].all())
    texts = _moments(times, finest)
    for place in range(finest + 1, 4):
        if divides[place].any():
            coarser = _moments(times[divides[place]], place)
            texts = pc.replace_with_mask(texts, pa.array(divides[place]), coarser)
    return joined([texts, "Z"])


def _moments(times: Ints, place: int) -> Array:
    size, unit = _UNITS[place]
    texts = pa.array(times // size).cast(pa.timestamp(unit)).cast(pa.string())
    return pc.binary_replace_slice(texts, 10, 11, "T")


def fixed(rows: npt.NDArray[np.uint8]) -> Array:
    """Bytes, a row of the matrix each."""
    count, width = rows.shape
    offsets = np.arange(count + 1, dtype=np.int32) * np.int32(width)
    data = np.ascontiguousarray(rows)
    return pa.BinaryArray.from_buffers(
        pa.binary(), count, [None, pa.py_buffer(offsets), pa.py_buffer(data.reshape(-1))]
    )


def _has(texts: pa.Array, test: Callable[[npt.NDArray[np.uint8]], npt.NDArray[np.bool_]]) -> bool:
    data, ends = bytes_of(texts)
    return bool(test(np.frombuffer(data, np.uint8)[ends[0] : ends[-1]]).any()) if len(data) else False


def _filled(array: pa.Array, value: Any) -> pa.Array:
    """The array with a value for null: each call of Arrow takes some microseconds."""
    return pc.fill_null(array, value) if array.null_count else array


def _instead(texts: Array, mask: npt.NDArray[np.bool_], others: list[str]) -> Array:
    return pc.replace_with_mask(texts, pa.array(mask), pa.array(others, texts.type))
