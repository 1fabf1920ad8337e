"""Records of CSV into rows of the columns.

A cell is plain, or in quotes without one inside and without a line end. Anything else hands the record back.
"""

from __future__ import annotations

from cep.decode.kernel.intrinsics import WIDTH, byte_at, cell_stops_at, copied_cell_stops
from cep.decode.kernel.layout import (
    BASE,
    BOOLEAN,
    COLUMNS,
    KIND,
    NESTED,
    ROOM,
    SEEN,
    Block,
    Bytes,
    Data,
    Keys,
    Places,
    Room,
    at_place,
    of,
)
from cep.decode.kernel.rows import fill_up
from cep.decode.kernel.strings import QUOTE
from cep.decode.kernel.values import value_at
from kernels.family import inlined
from kernels.instructions import trailing_zeros

ZERO, ONE = 0x30, 0x31


@inlined
def text_cell_at(data: Data, at: int, delimiter: int, text: Bytes, to: int) -> tuple[int, int]:
    """Copy the cell that begins at a place; its end, or -1, and that of the copy."""
    quoted = byte_at(data, at) == QUOTE
    at += quoted
    while True:
        found = copied_cell_stops(data, at, text, to, delimiter)
        length = trailing_zeros(found) if found != 0 else WIDTH
        at += length
        to += length
        if found == 0:
            continue
        if not quoted:
            return at, to
        byte = byte_at(data, at)
        if byte != delimiter:
            return (at + 1 if byte == QUOTE else -1), to
        at += 1
        to += 1


@inlined
def behind_cell(data: Data, at: int, delimiter: int) -> int:
    """The end of the cell that begins at a place, or -1."""
    quoted = byte_at(data, at) == QUOTE
    at += quoted
    while True:
        found = cell_stops_at(data, at, delimiter)
        if found == 0:
            at += WIDTH
            continue
        at += trailing_zeros(found)
        if not quoted:
            return at
        byte = byte_at(data, at)
        if byte != delimiter:
            return at + 1 if byte == QUOTE else -1
        at += 1


@inlined
def put_cell(
    data: Data, at: int, delimiter: int, keys: Keys, room: Room, column: int, row: int
) -> tuple[int, int]:
    """Put the cell that begins at a place, and is not empty, into a row of its column; its end, or -1, and 1,
    or 0 if nothing is in its quotes."""
    kind, place = keys.slots[of(column, KIND)], keys.slots[of(column, BASE)] + row
    if kind <= NESTED:
        begin = keys.slots[of(column, ROOM)]
        before = begin + room.offsets[at_place(place)]
        at, to = text_cell_at(data, at, delimiter, room.text, before)
        room.offsets[at_place(place + 1)] = to - begin
        return at, (1 if to > before else 0)
    if kind == BOOLEAN and byte_at(data, at) in (ZERO, ONE):
        room.longs[at_place(place)] = byte_at(data, at) - ZERO
        return at + 1, 1
    return value_at(data, at, keys, room, column, row), 1


@inlined
def read_record(
    block: Block, cells: Places, delimiter: int, keys: Keys, room: Room, line: int, row: int
) -> int:
    """Read a record into a row; 1, or 0 if it is to be read by others."""
    at, end, found = block.starts[line], block.ends[line], 0
    for cell in range(len(cells)):
        if cell > 0:
            if byte_at(block.data, at) != delimiter or at >= end:
                return 0
            at += 1
        column = cells[cell]
        if at == end or byte_at(block.data, at) == delimiter:
            continue
        if column < 0:
            at = behind_cell(block.data, at, delimiter)
        else:
            at, values = put_cell(block.data, at, delimiter, keys, room, column, row)
            keys.slots[of(column, SEEN)] = line << 1 | values
            found += values
        if at < 0:
            return 0
    if at != end:
        return 0
    return 1 if found == keys.counts[COLUMNS] else fill_up(line, row, keys, room)


def read_records(
    block: Block, cells: Places, delimiter: int, keys: Keys, room: Room, read: Bytes, row: int
) -> int:
    """Read records into rows from `row` on; how many rows there are then.

    `cells` has the column of each cell, or -1. `read` gets a 1 for each record that was read. Behind a record
    there are SLACK bytes of data.
    """
    for line in range(len(block.starts)):
        taken = read_record(block, cells, delimiter, keys, room, line, row)
        read[line] = taken
        row += taken
    return row
