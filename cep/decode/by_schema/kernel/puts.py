"""A value into the row of its column."""

from __future__ import annotations

import numpy as np

from cep.decode.by_schema.kernel.layout import (
    BASE,
    COLUMN,
    DECIMAL,
    FLAGS,
    INNER,
    KIND,
    LEVEL,
    LIST,
    LONG,
    MOST,
    REQUIRED,
    ROOM,
    STRUCT,
    TEXT,
    Room,
)
from cep.decode.kernel.intrinsics import byte_at
from cep.decode.kernel.layout import Data, Places
from kernels.family import inlined
from kernels.instructions import long_at, put_long

WORD = 8


@inlined
def at_place(place: int) -> np.uint64:
    """A place of an array that is not counted from its end: for others code is made that asks."""
    return np.uint64(place)


@inlined
def of(columns: Places, column: int, field: int) -> int:
    """A number of a column."""
    return int(columns[at_place(column * COLUMN + field)])


@inlined
def mark(columns: Places, room: Room, column: int, value: int) -> int:
    """Say whether a column has a value in the row that is made; the row."""
    row = int(room.rows[at_place(of(columns, column, LEVEL))])
    flags = of(columns, column, FLAGS)
    if flags >= 0:
        room.present[at_place(flags + row)] = value
    return row


@inlined
def put_long_value(columns: Places, room: Room, column: int, value: int) -> None:
    """Put a number of eight bytes."""
    row = mark(columns, room, column, 1)
    room.longs[at_place(of(columns, column, BASE) + row)] = value


@inlined
def put_double(columns: Places, room: Room, column: int, value: float) -> None:
    """Put a double."""
    row = mark(columns, room, column, 1)
    room.doubles[at_place(of(columns, column, BASE) + row)] = value


@inlined
def put_text(columns: Places, room: Room, column: int, data: Data, at: int, length: int) -> None:
    """Put the bytes from a place on."""
    row = mark(columns, room, column, 1)
    place = of(columns, column, BASE) + row
    begin = room.offsets[at_place(place)]
    to = of(columns, column, ROOM) + begin
    for more in range(0, length, WORD):
        put_long(room.text, to + more, long_at(data, at + more))
    room.offsets[at_place(place + 1)] = begin + length


def put_decimal(columns: Places, room: Room, column: int, data: Data, at: int, length: int) -> int:
    """Put the number that some bytes are, the highest first; 0 if it is to be read by others."""
    if length < 1 or length > WORD:
        return 0
    value = 0
    for place in range(at, at + length):
        value = (value << 8) | byte_at(data, place)
    shift = 64 - 8 * length
    value = (value << shift) >> shift
    most = of(columns, column, MOST)
    if value > most or value < -most:
        return 0
    row = mark(columns, room, column, 1)
    place = of(columns, column, BASE) + 2 * row
    room.longs[at_place(place)] = value
    room.longs[at_place(place + 1)] = value >> 63
    return 1


def put_nothing(columns: Places, room: Room, column: int, present: int) -> None:
    """Put a null, or with `present` zero, "", or an empty list."""
    row = mark(columns, room, column, present)
    kind, place = of(columns, column, KIND), of(columns, column, BASE)
    if kind == TEXT:
        room.offsets[at_place(place + row + 1)] = room.offsets[at_place(place + row)]
    elif kind == LIST:
        room.offsets[at_place(place + row + 1)] = room.rows[at_place(of(columns, column, INNER))]
    elif kind == DECIMAL:
        room.longs[at_place(place + 2 * row)] = 0
        room.longs[at_place(place + 2 * row + 1)] = 0
    elif kind >= LONG and kind != STRUCT:
        room.longs[at_place(place + row)] = 0


def put_null(columns: Places, room: Room, column: int) -> int:
    """Put a null; 0 if a value has to be there."""
    if of(columns, column, REQUIRED) != 0:
        return 0
    put_nothing(columns, room, column, 0)
    return 1


@inlined
def end_list(columns: Places, room: Room, column: int) -> None:
    """Say where the items of a list end that is there."""
    row = mark(columns, room, column, 1)
    place = of(columns, column, BASE) + row + 1
    room.offsets[at_place(place)] = room.rows[at_place(of(columns, column, INNER))]


def keep_rows(room: Room) -> None:
    """Remember how many rows there are, before a record."""
    for level in range(len(room.rows)):
        room.kept[level] = room.rows[level]


def take_back(room: Room) -> None:
    """Forget the rows of a record."""
    for level in range(len(room.rows)):
        room.rows[level] = room.kept[level]
