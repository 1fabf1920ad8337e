"""The columns that the kernel fills, and Arrow's arrays of them.

A tree has a node for each value of a schema that is read; what stands under a list has rows of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cep.decode.by_schema.kernel import layout
from cep.decode.salvage import Indices

_APART = 16
"""Columns begin at multiples of so many values, as Arrow likes them."""
_DECIMAL_DIGITS = 18
"""Digits of a decimal that the kernel reads, at most."""


class UnusualError(Exception):
    """A schema that the kernel does not read."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the kernel; `inner` is the level of a list's items."""

    kind: int
    level: int
    nullable: bool
    required: bool
    most: int = 0
    inner: int = 0


@dataclass(frozen=True, slots=True)
class Single:
    """A value without parts, with the symbols of an enum."""

    column: int
    type: pa.DataType
    symbols: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listed:
    """A list."""

    column: int
    element: Tree


@dataclass(frozen=True, slots=True)
class Grouped:
    """A record; column -1: it is never null."""

    column: int
    fields: tuple[tuple[str, Tree], ...]
    level: int


@dataclass(frozen=True, slots=True)
class Always:
    """The same value in every row."""

    value: Any
    type: pa.DataType


Tree = Single | Listed | Grouped | Always


@dataclass(slots=True)
class Columns:
    """The columns of a program that is being written."""

    made: list[Column] = field(default_factory=list)
    levels: int = 1

    def single(self, type_: pa.DataType, level: int, *, nullable: bool, required: bool) -> int:
        """A new column of values of a type. Raises UnusualError."""
        kind, most = _kind(type_)
        return self._add(Column(kind, level, nullable, required, most))

    def listed(self, level: int, *, nullable: bool, required: bool) -> tuple[int, int]:
        """A new column of lists, and the level of their items."""
        self.levels += 1
        inner = self.levels - 1
        return self._add(Column(layout.LIST, level, nullable, required, inner=inner)), inner

    def grouped(self, level: int, *, nullable: bool, required: bool) -> int:
        """A new column that says whether records are there; -1 if they always are."""
        return self._add(Column(layout.STRUCT, level, nullable, required)) if nullable else -1

    def _add(self, column: Column) -> int:
        self.made.append(column)
        return len(self.made) - 1


def within(tree: Tree) -> list[int]:
    """The columns of a tree that are null where it is, itself first."""
    match tree:
        case Single(column) | Listed(column):
            return [column] if column >= 0 else []
        case Grouped(column, fields):
            own = [column] if column >= 0 else []
            return own + [one for _, inner in fields for one in within(inner)]
        case Always():
            return []


def _kind(type_: pa.DataType) -> tuple[int, int]:
    """The kernel's kind of a column, and the largest number of a decimal. Raises UnusualError."""
    if pa.types.is_string(type_) or pa.types.is_binary(type_):
        return layout.TEXT, 0
    if pa.types.is_floating(type_):
        return layout.DOUBLE, 0
    if pa.types.is_boolean(type_):
        return layout.BOOLEAN, 0
    if pa.types.is_decimal128(type_):
        return layout.DECIMAL, 10 ** min(type_.precision, _DECIMAL_DIGITS) - 1
    if pa.types.is_dictionary(type_):
        return layout.CHOICE, 0
    if pa.types.is_integer(type_) or pa.types.is_temporal(type_):
        return layout.LONG, 0
    raise UnusualError


@dataclass(frozen=True, slots=True)
class Filled:
    """The arrays that the kernel filled: `numbers` has those of each column, `rows` those of each level."""

    columns: Sequence[Column]
    numbers: Indices
    room: layout.Room

    def arrays(self, trees: Mapping[str, Tree]) -> dict[str, pa.Array]:
        """Arrays by name."""
        return {name: self._array(tree, int(self.room.rows[0])) for name, tree in trees.items()}

    def _array(self, tree: Tree, rows: int) -> pa.Array:
        match tree:
            case Always(value, type_):
                return pa.repeat(pa.scalar(value, type_), rows)
            case Single(column, type_, symbols):
                return self._single(column, type_, symbols, rows)
            case Listed(column, element):
                inner = self._array(element, int(self.room.rows[self.columns[column].inner]))
                offsets = pa.py_buffer(self._offsets(column, rows))
                buffers = [self._valid(column, rows), offsets]
                return pa.Array.from_buffers(pa.list_(inner.type), rows, buffers, children=[inner])
            case Grouped(column, fields):
                parts = [self._array(inner, rows) for _, inner in fields]
                type_ = pa.struct([(name, one.type) for (name, _), one in zip(fields, parts, strict=True)])
                valid = self._valid(column, rows) if column >= 0 else None
                return pa.Array.from_buffers(type_, rows, [valid], children=parts)

    def _single(self, column: int, type_: pa.DataType, symbols: tuple[str, ...], rows: int) -> pa.Array:
        valid, made = self._valid(column, rows), self.columns[column]
        if made.kind == layout.TEXT:
            offsets = self._offsets(column, rows)
            begin = self._of(column, layout.ROOM)
            text = self.room.text[begin : begin + int(offsets[rows])]
            return pa.Array.from_buffers(type_, rows, [valid, pa.py_buffer(offsets), pa.py_buffer(text)])
        width = 2 if made.kind == layout.DECIMAL else 1
        values = self.room.longs[self._of(column, layout.BASE) :][: width * rows]
        if made.kind == layout.CHOICE:
            indices = pa.Array.from_buffers(pa.int32(), rows, [valid, pa.py_buffer(values.astype(np.int32))])
            return pa.DictionaryArray.from_arrays(indices, pa.array(symbols, pa.string()))
        if made.kind == layout.BOOLEAN:
            return pa.Array.from_buffers(type_, rows, [valid, _bits(values)])
        narrow = pa.types.is_date32(type_) or pa.types.is_time32(type_)
        return pa.Array.from_buffers(
            type_, rows, [valid, pa.py_buffer(values.astype(np.int32) if narrow else values)]
        )

    def _of(self, column: int, number: int) -> int:
        return int(self.numbers[column * layout.COLUMN + number])

    def _offsets(self, column: int, rows: int) -> NDArray[np.int32]:
        return self.room.offsets[self._of(column, layout.BASE) :][: rows + 1]

    def _valid(self, column: int, rows: int) -> pa.Buffer | None:
        if self._of(column, layout.FLAGS) < 0:
            return None
        present = self.room.present[self._of(column, layout.FLAGS) :][:rows]
        return None if present.all() else _bits(present)


def room_for(columns: Sequence[Column], levels: int, groups: int, records: int, octets: int) -> Filled:
    """Room for so many records, which have so many bytes together."""
    capacity = [records, *[octets] * (levels - 1)]
    numbers = np.zeros((len(columns), layout.COLUMN), np.int64)
    longs = offsets = text = present = 0
    begun: list[int] = []
    for number, one in enumerate(columns):
        each = -(-(capacity[one.level] + 1) // _APART) * _APART
        own = numbers[number]
        own[layout.KIND], own[layout.LEVEL], own[layout.MOST] = one.kind, one.level, one.most
        own[layout.REQUIRED], own[layout.INNER], own[layout.FLAGS] = one.required, one.inner, -1
        if one.nullable:
            own[layout.FLAGS], present = present, present + each
        if one.kind in (layout.TEXT, layout.LIST):
            own[layout.BASE], offsets = offsets, offsets + each
            begun.append(int(own[layout.BASE]))
            if one.kind == layout.TEXT:
                own[layout.ROOM], text = text, text + octets + layout.SLACK
        elif one.kind != layout.STRUCT:
            own[layout.BASE], longs = longs, longs + each * (2 if one.kind == layout.DECIMAL else 1)
    values, halves = np.empty(longs + 1, np.int64), np.zeros(2, np.int32)
    places = np.empty(offsets + 1, np.int32)
    places[begun] = 0
    room = layout.Room(
        longs=values,
        doubles=values.view(np.float64),
        offsets=places,
        text=np.empty(text + layout.SLACK, np.uint8),
        present=np.empty(present + 1, np.uint8),
        rows=np.zeros(levels, np.int64),
        kept=np.zeros(levels, np.int64),
        halves=halves,
        singles=halves.view(np.float32),
        seen=np.full(len(columns) + 1, -1, np.int64),
        groups=np.full(groups + 1, -1, np.int64),
    )
    return Filled(columns, numbers.reshape(-1), room)


def _bits(truths: NDArray[Any]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(truths.astype(np.bool_), bitorder="little"))
