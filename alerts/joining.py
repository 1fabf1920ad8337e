"""Columns of texts end to end, row by row or chosen, at once or later, and their digests: by the kernel where
it is at hand (`alerts.patience`)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from alerts.kernel import layout
from alerts.patience import at_hand

if TYPE_CHECKING:
    from alerts.compiled import Kernel

Ints = npt.NDArray[np.int64]
Array = Any
"""An Arrow array of strings or bytes."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """A column of which each row has one of `texts`: that whose place is in `of`. The texts are few, in Arrow
    or such a column."""

    texts: tuple[str | bytes, ...] | Array | OneOf
    of: Ints


Part = Array | OneOf | str | bytes


@dataclass(frozen=True, eq=False)
class Unjoined:
    """So many rows whose parts are put end to end when they are chosen."""

    given: Sequence[Part]
    size: int
    kernel: Kernel

    def __len__(self) -> int:
        return self.size

    @property
    def parts(self) -> Ints:
        """The parts as the kernel takes them."""
        return self._numbers[0]

    @cached_property
    def _numbers(self) -> tuple[Ints, Sequence[object]]:
        return _numbers_of(_fewer(self.given, self.kernel))

    @cached_property
    def ends(self) -> Ints:
        """Where each row would end behind the one before it, behind a 0."""
        ends = np.empty(self.size + 1, np.int64)
        self.kernel.find_ends(self.parts, ends)
        return ends


FEWEST = 20
"""Rows from which the kernel is faster: what it gets takes some microseconds a part."""
_STRING = pa.string()
_NOTHING = {_STRING: pa.scalar("", _STRING), pa.binary(): pa.scalar(b"", pa.binary())}
MOST = 2**31 - 1
"""Bytes of an array whose offsets have four bytes."""


def kernel_for(rows: int) -> Kernel | None:
    """The kernel, if it is at hand and faster for so many rows."""
    return at_hand() if rows >= FEWEST else None


def one_of(texts: Sequence[str | bytes], of: Ints) -> str | bytes | OneOf:
    """The text of each row, as a part; one text where all are equal."""
    return texts[0] if len(set(texts)) == 1 else OneOf(tuple(texts), of)


def of_rows(parts: Sequence[Part], row: Ints | None) -> Sequence[Part]:
    """The parts that have a column's `row[n]` in the row n; None: they are as they are."""
    return parts if row is None else [part if _is_same(part) else OneOf(part, row) for part in parts]


def joined(parts: Sequence[Part], type_: pa.DataType = _STRING) -> Array:
    """The parts of each row end to end; a text is the same for all. Null where one is null."""
    kernel, size = _kernel_for_rows_of(parts)
    found = None if kernel is None else _joined_by(kernel, parts, size, type_)
    if found is not None:
        return found
    return pc.binary_join_element_wise(*(_part(part, type_) for part in parts), _NOTHING[type_])


def _joined_by(kernel: Kernel, parts: Sequence[Part], size: int, type_: pa.DataType) -> Array | None:
    """So many rows of parts by the kernel; None if they are too long for one array."""
    found = _end_to_end(kernel, parts, size, MOST)
    if found is None:
        return None
    data, ends = found
    buffers = [None, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(data)]
    return pa.Array.from_buffers(type_, size, buffers)


def _end_to_end(
    kernel: Kernel, parts: Sequence[Part], size: int, most: int | None = None
) -> tuple[npt.NDArray[np.uint8], Ints] | None:
    """The bytes of so many rows of parts by the kernel, and where each ends, behind a 0; None if they are
    more than `most`."""
    numbers, _held = _numbers_of(_fewer(parts, kernel))
    ends = np.empty(size + 1, np.int64)
    kernel.find_ends(numbers, ends)
    if most is not None and ends[-1] > most:
        return None
    data = np.empty(int(ends[-1]) + layout.SLACK, np.uint8)
    kernel.join_parts(numbers, size, data)
    return data[: ends[-1]], ends


def joined_rows(parts: Sequence[Part], size: int) -> Array:
    """As `joined`, of so many rows also where every part is the same for all."""
    if not all(map(_is_same, parts)):
        return joined(parts)
    return pa.repeat(pa.scalar("".join(map(str, parts))), size)


def unjoined(parts: Sequence[Part], size: int) -> Unjoined | Array:
    """So many rows of parts for `Columns`, of which none is null; without the kernel, joined."""
    same = [_octets(part) for part in parts if _is_same(part)]
    all_same = len(same) == len(parts)
    kernel = kernel_for(size) if all_same else _kernel_for_rows_of(parts)[0]
    if kernel is None and all_same:
        return pa.repeat(pa.scalar(b"".join(same), pa.large_binary()), size)
    if kernel is None:
        of_bytes = any(isinstance(part, bytes) for part in parts)
        return joined(parts, pa.binary() if of_bytes else _STRING).cast(pa.large_binary())
    return Unjoined(parts, size, kernel)


@dataclass(frozen=True)
class Columns:
    """Columns that rows are chosen from: of pa.large_binary without nulls, or not joined yet."""

    columns: tuple[Array | Unjoined, ...]

    def chosen(self, column: Ints, row: Ints, end: str = "") -> Array:
        """Rows behind one another: the n-th is `row[n]` of `columns[column[n]]`, with `end` (a byte at most)
        behind it."""
        made_with = (one.kernel for one in self.columns if isinstance(one, Unjoined))
        kernel = next(made_with, kernel_for(len(row)))
        if kernel is None:
            begins = np.cumsum([0, *map(len, self.columns)])
            found = self._whole.take(pa.array(begins[column] + row))
            behind = (pa.scalar(part, pa.large_binary()) for part in (end.encode(), b""))
            return pc.binary_join_element_wise(found, *behind) if end else found
        parts, forms = self._forms
        column, row = np.ascontiguousarray(column), np.ascontiguousarray(row)
        ends = np.empty(len(row) + 1, np.int64)
        kernel.find_chosen_ends(forms, column, row, len(end), ends)
        bytes_ = np.empty(int(ends[-1]) + layout.SLACK, np.uint8)
        kernel.join_chosen(parts, forms, column, row, ord(end) if end else -1, ends, bytes_)
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(bytes_[: ends[-1]])]
        return pa.Array.from_buffers(pa.large_binary(), len(row), buffers)

    @cached_property
    def _whole(self) -> Array:
        return pa.concat_arrays(self.columns) if len(self.columns) > 1 else self.columns[0]

    @cached_property
    def _forms(self) -> tuple[Ints, Ints]:
        """As the kernel takes them: the parts of all, and the form of each."""
        forms, parts = np.zeros((len(self.columns), layout.FORM), np.int64), []
        ends = 0
        for one, form in zip(self.columns, forms, strict=True):
            if isinstance(one, Unjoined):
                parts.append(one.parts)
                form[layout.ENDS] = one.ends.ctypes.data
            else:
                part = np.zeros(layout.PART, np.int64)
                _, offsets, data = one.buffers()
                if offsets is not None:
                    form[layout.ENDS] = part[layout.OFFSETS] = (
                        offsets.address + layout.LONG_OFFSET * one.offset
                    )
                part[layout.LONG] = 1
                if data is not None:
                    part[layout.BYTES], part[layout.LIMIT] = data.address, data.address + data.size
                parts.append(part)
            form[layout.BEGIN] = ends
            ends += len(parts[-1])
            form[layout.END] = ends
        return np.concatenate(parts), forms.reshape(-1)


def digests(parts: Sequence[Part], size: int) -> npt.NDArray[np.uint8]:
    """The SHA-256 of the parts of so many rows, end to end: a row of 32 bytes for each."""
    kernel = None if all(map(_is_same, parts)) else _kernel_for_rows_of(parts)[0]
    if kernel is not None and (found := _end_to_end(kernel, parts, size)) is not None:
        rows = np.empty((size, layout.DIGEST), np.uint8)
        kernel.digest_texts(*found, np.empty(layout.ROOM, np.uint8), rows.reshape(-1))
        return rows
    sha256 = hashlib.sha256
    digested = [sha256(text).digest() for text in pieces(joined_rows(parts, size))]
    return np.frombuffer(b"".join(digested), np.uint8).reshape(-1, layout.DIGEST)


def bytes_of(texts: Array) -> tuple[memoryview, npt.NDArray[np.int64]]:
    """The bytes of all elements, and where in them each begins, and the last ends."""
    wide = pa.types.is_large_binary(texts.type) or pa.types.is_large_string(texts.type)
    _, offsets, data = texts.buffers()
    if offsets is None or not len(texts):
        return memoryview(b""), np.zeros(1, np.int64)
    ends = np.frombuffer(offsets, np.int64 if wide else np.int32)[texts.offset :][: len(texts) + 1]
    return memoryview(data if data is not None else b"").cast("B"), ends.astype(np.int64)


def pieces(column: Array) -> list[bytes]:
    """The elements of a column of bytes."""
    whole, ends = _whole(column)
    return [whole[begin:end] for begin, end in pairwise(ends)]


def texts(column: Array) -> list[str]:
    """The elements of a column of UTF-8."""
    whole, ends = _whole(column)
    if whole.isascii():
        text = whole.decode("ascii")
        return [text[begin:end] for begin, end in pairwise(ends)]
    return [whole[begin:end].decode() for begin, end in pairwise(ends)]


def _whole(column: Array) -> tuple[bytes, list[int]]:
    """The bytes of all elements, and where in them each begins, and the last ends."""
    data, ends = bytes_of(column)
    first = int(ends[0])
    return bytes(data[first : int(ends[-1])]), (ends - first).tolist()


def _kernel_for_rows_of(parts: Sequence[Part]) -> tuple[Kernel | None, int]:
    """The kernel, if it is at hand and faster for the rows of parts; and how many they are."""
    columns = [part for part in parts if not _is_same(part)]
    sizes = {len(column.of if isinstance(column, OneOf) else column) for column in columns}
    size = min(sizes, default=0)
    plain = len(sizes) == 1 and all(map(_is_plain, columns))
    return (kernel_for(size) if plain else None), size


def _numbers_of(parts: Sequence[Part]) -> tuple[Ints, Sequence[object]]:
    """Parts as the kernel takes them, and what they lie in."""
    numbers = np.zeros(len(parts) * layout.PART, np.int64)
    held: list[object] = []
    for part, at in zip(parts, range(0, len(numbers), layout.PART), strict=True):
        if _is_same(part):
            data, length = _constant(part)
            numbers[at + layout.LENGTH] = length
        else:
            texts: Any = part
            if isinstance(part, OneOf):
                texts, of = _flat(part)
                of = np.ascontiguousarray(of, np.int64)
                held.append(of)
                numbers[at + layout.TEXTS] = of.ctypes.data
            if isinstance(texts, tuple):
                texts = _constants(texts)
            _, offsets, data = texts.buffers()
            held.append(offsets)
            numbers[at + layout.OFFSETS] = offsets.address + layout.OFFSET * texts.offset
        if data is not None:
            held.append(data)
            numbers[at + layout.BYTES], numbers[at + layout.LIMIT] = data.address, data.address + data.size
    return numbers, held


def _fewer(parts: Sequence[Part], kernel: Kernel) -> list[Part]:
    """The parts; those that follow one another and have the text of one place in each row are put together,
    once for each place, where rows are at least twice as many."""
    return [part for run in _of_one_place(parts) for part in _put_together(run, kernel)]


def _of_one_place(parts: Sequence[Part]) -> Iterator[Sequence[Part]]:
    """Parts that follow one another and have the text of one place in each row, or the same in all."""
    run: list[Part] = []
    place: tuple[int, int] | None = None
    for part in parts:
        if not _is_same(part):
            its = (id(part.of), _places(part)) if isinstance(part, OneOf) else (id(part), 0)
            if place is not None and its != place:
                yield run
                run = []
            place = its
        run.append(part)
    yield run


def _put_together(run: Sequence[Part], kernel: Kernel) -> Sequence[Part]:
    """A run of parts of one place as one part, if that pays."""
    first = next((part for part in run if isinstance(part, OneOf)), None)
    if first is None or len(run) == 1 or len(first.of) < 2 * _places(first):
        return run
    of_places = [part.texts if isinstance(part, OneOf) else part for part in run]
    whole = _joined_by(kernel, of_places, _places(first), pa.binary())
    return run if whole is None else [OneOf(whole, first.of)]


def _places(part: OneOf) -> int:
    return len(part.texts.of) if isinstance(part.texts, OneOf) else len(part.texts)


def _flat(part: OneOf) -> tuple[tuple[str | bytes, ...] | Array, Ints]:
    """The texts of a column, and of which each row has one."""
    if isinstance(part.texts, OneOf):
        return _flat(OneOf(part.texts.texts, part.texts.of[part.of]))
    return part.texts, part.of


def _is_same(part: Part) -> TypeGuard[str | bytes]:
    """True of a text that all rows have."""
    return isinstance(part, str | bytes)


def _is_plain(column: Array | OneOf) -> bool:
    texts = column.texts if isinstance(column, OneOf) else column
    if isinstance(texts, OneOf):
        return _is_plain(texts)
    return isinstance(texts, tuple) or (
        isinstance(texts, pa.StringArray | pa.BinaryArray) and not texts.null_count
    )


@lru_cache(maxsize=4096)
def _constant(part: str | bytes) -> tuple[pa.Buffer, int]:
    """Bytes that the kernel may read more of, and their number."""
    octets = _octets(part)
    return pa.py_buffer(octets + bytes(layout.SLACK)), len(octets)


@lru_cache(maxsize=512)
def _constants(texts: tuple[str | bytes, ...]) -> Array:
    """Texts behind which the kernel may read more."""
    octets = list(map(_octets, texts))
    ends = np.cumsum([0, *map(len, octets)]).astype(np.int32)
    data = pa.py_buffer(b"".join(octets) + bytes(layout.SLACK))
    return pa.Array.from_buffers(pa.binary(), len(texts), [None, pa.py_buffer(ends), data])


def _octets(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


@lru_cache(maxsize=4096)
def _scalar(part: str | bytes) -> pa.Scalar:
    return pa.scalar(part, _STRING if isinstance(part, str) else pa.binary())


def _part(part: Part, type_: pa.DataType) -> Any:
    if isinstance(part, OneOf):
        texts = pa.array(part.texts, type_) if isinstance(part.texts, tuple) else _part(part.texts, type_)
        return texts.take(pa.array(part.of))
    return _scalar(part) if _is_same(part) else part
