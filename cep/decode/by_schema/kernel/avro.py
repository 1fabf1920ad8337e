"""Records of Avro into columns, by a program (`cep.decode.by_schema.avro_program`)."""

from __future__ import annotations

import numpy as np

from cep.decode.by_schema.kernel.layout import (
    ABSENT,
    BEGIN,
    DOUBLE,
    FRAME,
    INNER,
    JUMP,
    KIND,
    NEXT,
    OPERATION,
    PRESENT,
    PUT_NULL,
    READ,
    SIZE,
    STOP,
    TEXT,
    TO,
    UNION,
    W_BOOLEAN,
    W_BYTES,
    W_DOUBLE,
    W_ENUM,
    W_FIXED,
    W_FLOAT,
    W_INT,
    W_LONG,
    W_NULL,
    WHAT,
    WRITTEN,
    Program,
    Room,
)
from cep.decode.by_schema.kernel.numbers import half_at, signed, varint
from cep.decode.by_schema.kernel.puts import (
    at_place,
    end_list,
    keep_rows,
    mark,
    of,
    put_decimal,
    put_double,
    put_long_value,
    put_nothing,
    put_null,
    put_text,
    take_back,
)
from cep.decode.kernel.intrinsics import byte_at
from cep.decode.kernel.layout import Block, Bytes, Data, Ints
from kernels.family import inlined
from kernels.instructions import long_at

HALF = 1 << 31
WIDTH_OF_DOUBLE, WIDTH_OF_FLOAT = 8, 4
A_LIST, LEFT, UNTIL, COLUMN_OF = range(4)
"""Numbers of a frame: the operation that begins the list, items that are left of its block, where that ends
(-1: it does not say), the column."""


@inlined
def some_bytes(program: Program, room: Room, column: int, data: Data, at: int, length: int) -> int:
    """Put bytes as a text or a decimal; 0 if they are to be read by others."""
    if of(program.columns, column, KIND) == TEXT:
        put_text(program.columns, room, column, data, at, length)
        return 1
    return put_decimal(program.columns, room, column, data, at, length)


@inlined
def number(program: Program, room: Room, column: int, value: int) -> None:
    """Put a whole number, as a double where that is what is read."""
    if of(program.columns, column, KIND) == DOUBLE:
        put_double(program.columns, room, column, np.float64(value))
    else:
        put_long_value(program.columns, room, column, value)


@inlined
def read_value(data: Data, at: int, end: int, program: Program, room: Room, operation: int) -> int:
    """Read the value at a place; its end, or -1 if it is to be read by others."""
    written = program.operations[at_place(operation + WRITTEN)]
    column = program.operations[at_place(operation + TO)]
    if written == W_BYTES:
        length, at = varint(data, at)
        size = signed(length)
        if at < 0 or size < 0 or size > end - at:
            return -1
        if column >= 0 and some_bytes(program, room, column, data, at, size) == 0:
            return -1
        return at + size
    if written in (W_LONG, W_INT):
        value, at = varint(data, at)
        if at < 0 or at > end:
            return -1
        whole = signed(value)
        if written == W_INT and (whole >= HALF or whole < -HALF):
            return -1
        if column >= 0:
            number(program, room, column, whole)
        return at
    if written == W_DOUBLE:
        if end - at < WIDTH_OF_DOUBLE:
            return -1
        if column >= 0:
            put_long_value(program.columns, room, column, long_at(data, at))
        return at + WIDTH_OF_DOUBLE
    if written == W_BOOLEAN:
        byte = byte_at(data, at)
        if at >= end or byte > 1:
            return -1
        if column >= 0:
            put_long_value(program.columns, room, column, byte)
        return at + 1
    if written == W_ENUM:
        value, at = varint(data, at)
        symbol = signed(value)
        if at < 0 or at > end or symbol < 0 or symbol >= program.operations[at_place(operation + SIZE)]:
            return -1
        if column >= 0:
            put_long_value(program.columns, room, column, symbol)
        return at
    if written == W_FLOAT:
        if end - at < WIDTH_OF_FLOAT:
            return -1
        if column >= 0:
            room.halves[0] = np.int32(half_at(data, at))
            put_double(program.columns, room, column, np.float64(room.singles[0]))
        return at + WIDTH_OF_FLOAT
    if written == W_FIXED:
        size = int(program.operations[at_place(operation + SIZE)])
        if size > end - at:
            return -1
        if column >= 0 and some_bytes(program, room, column, data, at, size) == 0:
            return -1
        return at + size
    if written == W_NULL:
        return at if column < 0 or put_null(program.columns, room, column) != 0 else -1
    return -1


def next_block(data: Data, at: int, end: int, frames: Ints, frame: int) -> int:
    """Begin the next block of a list; its first item, or -1 if it is to be read by others."""
    value, at = varint(data, at)
    if at < 0 or at > end:
        return -1
    count, until = signed(value), -1
    if count < 0:
        value, at = varint(data, at)
        size = signed(value)
        if at < 0 or at > end or size < 0 or size > end - at:
            return -1
        until = at + size
        count = -count
    if count < 0 or count > end - at:
        return -1
    frames[at_place(frame + LEFT)], frames[at_place(frame + UNTIL)] = count, until
    return at


@inlined
def read_record(block: Block, line: int, program: Program, room: Room, frames: Ints) -> int:
    """Read a record; 1, or 0 if it is to be read by others."""
    data, at, end = block.data, block.starts[line], block.ends[line]
    operation, frame, items = 0, -FRAME, 0
    most = end - at
    while True:
        what = program.operations[at_place(operation + WHAT)]
        if what == READ:
            absent = program.operations[at_place(operation + ABSENT)]
            if absent != 0:
                branch = byte_at(data, at)
                if at >= end or branch not in (0, 2):
                    return 0
                at += 1
                if branch == (absent - 1) << 1:
                    column = program.operations[at_place(operation + TO)]
                    if column >= 0 and put_null(program.columns, room, column) == 0:
                        return 0
                    operation += OPERATION
                    continue
            at = read_value(data, at, end, program, room, operation)
            if at < 0:
                return 0
        elif what == STOP:
            return 1 if at == end else 0
        elif what == UNION:
            value, at = varint(data, at)
            branch = signed(value)
            size = program.operations[at_place(operation + SIZE)]
            if at < 0 or at > end or branch < 0 or branch >= size:
                return 0
            operation = program.listed[at_place(program.operations[at_place(operation + NEXT)] + branch)]
            if operation < 0:
                return 0
            continue
        elif what == JUMP:
            operation = program.operations[at_place(operation + NEXT)]
            continue
        elif what == PUT_NULL:
            column = program.operations[at_place(operation + TO)]
            if program.operations[at_place(operation + SIZE)] != 0:
                put_nothing(program.columns, room, column, 0)
            elif put_null(program.columns, room, column) == 0:
                return 0
        elif what == PRESENT:
            mark(program.columns, room, program.operations[at_place(operation + TO)], 1)
        else:
            if what == BEGIN:
                frame += FRAME
                frames[at_place(frame + A_LIST)] = operation
                frames[at_place(frame + COLUMN_OF)] = program.operations[at_place(operation + TO)]
                at = next_block(data, at, end, frames, frame)
            else:  # AGAIN
                column = frames[at_place(frame + COLUMN_OF)]
                if column >= 0:
                    room.rows[at_place(of(program.columns, column, INNER))] += 1
                frames[at_place(frame + LEFT)] -= 1
                if frames[at_place(frame + LEFT)] == 0:
                    until = frames[at_place(frame + UNTIL)]
                    if until >= 0 and until != at:
                        return 0
                    at = next_block(data, at, end, frames, frame)
            if at < 0:
                return 0
            if what == BEGIN or frames[at_place(frame + LEFT)] > 0:
                items += 1
                if items > most:
                    return 0
            begin = frames[at_place(frame + A_LIST)]
            if frames[at_place(frame + LEFT)] > 0:
                operation = begin + OPERATION
                continue
            column = frames[at_place(frame + COLUMN_OF)]
            if column >= 0:
                end_list(program.columns, room, column)
            operation = program.operations[at_place(begin + NEXT)]
            frame -= FRAME
            continue
        operation += OPERATION


def read_avro(block: Block, program: Program, room: Room, frames: Ints, read: Bytes) -> int:
    """Read records into rows; how many rows there are.

    `read` gets a 1 for each record that was read. `frames` has room for lists in one another.
    """
    for line in range(len(block.starts)):
        keep_rows(room)
        taken = read_record(block, line, program, room, frames)
        read[line] = taken
        if taken:
            room.rows[0] += 1
        else:
            take_back(room)
    return int(room.rows[0])
