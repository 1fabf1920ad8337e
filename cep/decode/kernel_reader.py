"""Lines of JSON and CSV by the compiled kernel: its arrays, and Arrow's of what it read.

The kernel takes the lines in which all is usual, with the values that `json_lines` and `csv_records` give
them; the others stay for those readers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cep.decode.arrow_json import read_objects
from cep.decode.convert import Wanted, json_type
from cep.decode.decimals import holds_decimals
from cep.decode.formats import EPOCHS, FeedFormat
from cep.decode.kernel import layout
from cep.decode.kernel.layout import Keys, Room
from cep.decode.lines import Lines, is_utf8
from cep.decode.malformed import Malformed
from cep.decode.salvage import Indices, in_one
from cep.decode.timestamps import INSTANT
from cep.events import MAX_TIME, arrow_type
from rules.types import ListOf, Record, Scalar

if TYPE_CHECKING:
    from cep.decode.compiled import Kernel

Number = TypeVar("Number", bound=np.generic)

POOL = 256 << 20
"""Bytes of address space for texts. Each of their columns has room for a whole part; most is not touched."""
_APART = 16
"""Columns begin at multiples of so many values, as Arrow likes them."""


@dataclass(frozen=True, slots=True)
class Column:
    """A key of the lines that is read, the kernel's kind of its values, and the Arrow type of those."""

    source: str
    kind: int
    type: pa.DataType
    required: bool
    unit: int = 1


@dataclass(frozen=True, slots=True)
class Taken:
    """Lines of a block that the kernel took: their numbers, rising, and their values.

    `columns` has the first numbers of each column's slot: they say where its values are.
    """

    lines: Indices
    columns: Indices
    room: Room


def kernel_columns(wanted: Sequence[Wanted], feed: FeedFormat) -> tuple[Column, ...] | None:
    """The columns in which the kernel reads the fields; None if it cannot read some field."""
    required = {field.source for field in wanted if field.required}
    found = {field.source: _column(field, feed, field.source in required) for field in wanted}
    columns = tuple(column for column in found.values() if column is not None)
    return columns if columns and len(columns) == len(found) else None


def _column(field: Wanted, feed: FeedFormat, required: bool) -> Column | None:
    def of(kind: int, type_: pa.DataType, unit: int = 1) -> Column:
        return Column(field.source, kind, type_, required, unit)

    match field.type:
        case Scalar.LONG:
            return of(layout.LONG, pa.int64())
        case Scalar.DOUBLE:
            return of(layout.DOUBLE, pa.float64())
        case Scalar.BOOLEAN:
            return of(layout.BOOLEAN, pa.bool_())
        case Scalar.TIMESTAMP if feed.timestamps in ("epoch_s", "epoch_ms"):
            return of(layout.EPOCH_PART, INSTANT, EPOCHS[feed.timestamps] // 1000)
        case Scalar.TIMESTAMP if feed.timestamps in EPOCHS:
            return of(layout.EPOCH_WHOLE, INSTANT, EPOCHS[feed.timestamps])
        case Scalar.TIMESTAMP if json_type(field.type, feed) == INSTANT:
            return of(layout.ISO_TIME, INSTANT)
        case Scalar.DECIMAL:
            return of(layout.DECIMAL, arrow_type(field.type))
        case ListOf() | Record():
            # Arrow is given no decimals that were not looked through (`cep.decode.decimals`).
            nested = json_type(field.type, feed)
            return None if holds_decimals(field.type) else of(layout.NESTED, nested)
        case _:
            return of(layout.TEXT, pa.string())


class KernelReader:
    """Reads what the kernel takes of one block's lines."""

    def __init__(
        self, columns: tuple[Column, ...], lines: Lines, cells: Sequence[str] = (), delimiter: str = ""
    ) -> None:
        """Of CSV, `cells` has the key of each cell, whether a column is called so or not."""
        assert lines.kernel is not None
        self._kernel, self._columns, self._lines = lines.kernel, columns, lines
        self._keys = _keys(lines.kernel, columns)
        numbers = {column.source: number for number, column in enumerate(columns)}
        self._cells = _read_only(np.array([numbers.get(cell, -1) for cell in cells], np.int64))
        self._delimiter = delimiter

    def tables(
        self, chosen: Indices, declared: Callable[[Mapping[str, pa.Array], int], pa.Table]
    ) -> Iterator[tuple[pa.Table, Indices]]:
        """Those chosen lines (rising) that are taken, in parts that follow one another: the tables that
        `declared` makes of columns by key and of the number of rows, and their lines."""
        for taken in self._read(chosen) if len(chosen) else ():
            try:
                yield declared(self._arrays(taken), len(taken.lines)), taken.lines
            except Malformed:
                # Inside a nested value, or a text that is no duration, no local time: `read` finds it.
                continue

    def _read(self, chosen: Indices) -> Iterator[Taken]:
        lines = self._lines
        begun, ended = int(lines.starts[chosen[0]]), int(lines.ends[chosen[-1]])
        if not (lines.is_ascii or is_utf8(pa.py_buffer(lines.data[begun:ended]))):
            chosen = np.setdiff1d(chosen, _beyond_ascii(lines), assume_unique=True)
        texts = sum(column.kind <= layout.NESTED for column in self._columns)
        most = POOL // max(texts, 1)
        starts, ends = lines.starts[in_one(chosen)], lines.ends[in_one(chosen)]
        first = 0
        while first < len(chosen):
            last = max(first + 1, int(np.searchsorted(ends, starts[first] + most, "right")))
            yield self._part(chosen[first:last])
            first = last

    def _arrays(self, taken: Taken) -> dict[str, pa.Array]:
        """The columns of some lines by their keys. Raises Malformed if Arrow refuses a nested value."""
        longest = self._lines.longest + layout.AROUND
        found = {}
        for column, fields in zip(self._columns, taken.columns, strict=True):
            if column.kind == layout.NESTED:
                text, schema = _texts(taken, fields)[1], pa.schema([("v", column.type)])
                found[column.source] = read_objects(text, schema, longest).column(0).combine_chunks()
            else:
                found[column.source] = _array(column.type, taken, fields)
        return found

    def _part(self, chosen: Indices) -> Taken:
        lines = self._lines
        starts, ends = lines.starts[in_one(chosen)], lines.ends[in_one(chosen)]
        fields, room = _room(self._columns, len(chosen), int(ends[-1] - starts[0]))
        self._keys.slots.reshape(-1, layout.FIELDS)[: len(fields), : layout.SEEN] = fields
        read = np.zeros(len(chosen), np.uint8)
        inside = int(np.searchsorted(ends, len(lines.octets) - layout.SLACK, "right"))
        rows = self._run(_block(lines.octets, starts[:inside], ends[:inside]), room, read[:inside], 0)
        if inside < len(chosen):
            begun = starts[inside]
            tail = bytes(lines.data[begun : ends[-1]]) + b"\n" + bytes(layout.SLACK)
            octets = np.frombuffer(tail, np.uint8)
            rest = _block(octets, starts[inside:] - begun, ends[inside:] - begun)
            self._run(rest, room, read[inside:], rows)
        return Taken(chosen if read.all() else chosen[read.view(np.bool_)], fields, room)

    def _run(self, block: layout.Block, room: Room, read: NDArray[np.uint8], rows: int) -> int:
        """Reads lines into rows from `rows` on; how many there are then."""
        self._keys.slots[layout.SEEN :: layout.FIELDS] = -1
        if not self._delimiter:
            return self._kernel.read_lines(block, self._keys, room, read, rows)
        mark = ord(self._delimiter)
        return self._kernel.read_records(block, self._cells, mark, self._keys, room, read, rows)


def _block(octets: NDArray[np.uint8], starts: Indices, ends: Indices) -> layout.Block:
    return layout.Block(_read_only(octets), _read_only(starts), _read_only(ends))


def _beyond_ascii(lines: Lines) -> Indices:
    """The lines that have a byte that is not ASCII."""
    places = np.flatnonzero(lines.octets & 0x80)
    return np.unique(np.searchsorted(lines.starts, places, "right") - 1)


def _keys(kernel: Kernel, columns: Sequence[Column]) -> Keys:
    """The keys before the first line: those of columns."""
    names = [column.source.encode() for column in columns]
    slots = len(columns) + layout.MORE_KEYS + 2
    keys = layout.Keys(
        slots=np.zeros(slots * layout.FIELDS, np.int64),
        gaps=np.zeros(slots * layout.GAP, np.uint8),
        names=np.zeros(sum(map(len, names)) + layout.NAMES, np.uint8),
        table=np.full(1 << (2 * slots).bit_length(), -1),
        counts=np.array([len(columns), 0, 0]),
    )
    keys.gaps[:: layout.GAP] = layout.NEVER
    keys.slots[layout.LENGTH :: layout.FIELDS] = 1
    keys.slots[layout.MONTH :: layout.FIELDS] = -1  # bytes that no date has, nor any text
    for name in names:
        kernel.slot_of(np.frombuffer(name, np.uint8), 0, len(name), keys)
    return keys


def _room(columns: Sequence[Column], rows: int, octets: int) -> tuple[Indices, Room]:
    """The first numbers of the columns' slots, and room for so many rows, whose texts have at most so many
    bytes."""
    kinds = np.array([column.kind for column in columns])
    texts = kinds <= layout.NESTED
    widths = np.where(texts, 0, np.where(kinds == layout.DECIMAL, 2, 1))
    required = np.array([column.required for column in columns])
    each = -(-(rows + 1) // _APART) * _APART
    around = layout.AROUND * each if layout.NESTED in kinds else 0
    text = -(-(octets + around + layout.SLACK) // _APART) * _APART
    before = np.where(texts, np.cumsum(texts) - texts, np.cumsum(widths) - widths)
    fields = np.zeros((len(columns), layout.SEEN), np.int64)
    fields[:, layout.KIND], fields[:, layout.REQUIRED] = kinds, required
    fields[:, layout.BASE], fields[:, layout.ROOM] = before * each, before * text
    fields[:, layout.FLAGS] = (np.cumsum(~required) - ~required) * each
    fields[:, layout.UNIT] = [column.unit for column in columns]
    fields[:, layout.MOST_UNITS] = MAX_TIME // fields[:, layout.UNIT]
    longs = np.empty(each * int(widths.sum()), np.int64)
    offsets = np.empty(each * int(np.count_nonzero(texts)), np.int32)
    offsets[::each] = 0
    return fields, layout.Room(
        longs=longs,
        doubles=longs.view(np.float64),
        offsets=offsets,
        text=np.empty(text * int(np.count_nonzero(texts)), np.uint8),
        present=np.ones(each * int(np.count_nonzero(~required)), np.uint8),
    )


def _array(type_: pa.DataType, taken: Taken, fields: Indices) -> pa.Array:
    """A column as an array of Arrow."""
    room, rows = taken.room, len(taken.lines)
    valid = None
    if not fields[layout.REQUIRED]:
        present = room.present[fields[layout.FLAGS] :][:rows]
        valid = None if present.all() else _bits(present)
    if pa.types.is_string(type_):
        offsets, text = _texts(taken, fields)
        return pa.StringArray.from_buffers(rows, offsets, text, valid)
    width = 2 if fields[layout.KIND] == layout.DECIMAL else 1
    values = room.longs[fields[layout.BASE] :][: width * rows]
    buffer = _bits(values) if pa.types.is_boolean(type_) else pa.py_buffer(values)
    return pa.Array.from_buffers(type_, rows, [valid, buffer])


def _texts(taken: Taken, fields: Indices) -> tuple[pa.Buffer, pa.Buffer]:
    """Where the texts of a column begin and end, and their bytes."""
    offsets = taken.room.offsets[fields[layout.BASE] :][: len(taken.lines) + 1]
    text = taken.room.text[fields[layout.ROOM] :][: offsets[-1]]
    return pa.py_buffer(offsets), pa.py_buffer(text)


def _bits(truths: NDArray[Any]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(truths.astype(np.bool_), bitorder="little"))


def _read_only(array: NDArray[Number]) -> NDArray[Number]:
    """The array for those who only read it: the kernel takes no other."""
    found = np.ascontiguousarray(array)[:]
    found.flags.writeable = False
    return found
