"""Messages of Protobuf into columns, by tables of their fields (`cep.decode.by_schema.protobuf_program`).

Fields come in any order, or not at all. What comes again takes the place of what was there, but for messages,
which would have to be merged: those are handed back, and so are members of a oneof after another one.
"""

from __future__ import annotations

import numpy as np

from cep.decode.by_schema.kernel.layout import (
    COL,
    ENTRY,
    FRAME,
    GOES,
    GROUP,
    HOW,
    KIND,
    LIST,
    MEMBER,
    MESSAGE,
    MISSING,
    NULL,
    P_BOOL,
    P_DOUBLE,
    P_DURATION,
    P_ENUM,
    P_FIXED64,
    P_FLOAT,
    P_INT32,
    P_INT64,
    P_MESSAGE,
    P_SFIXED32,
    P_SFIXED64,
    P_SINT32,
    P_SINT64,
    P_TEXT,
    P_TIMESTAMP,
    P_UINT32,
    P_UINT64,
    PACKED,
    SINGLE,
    SYMBOLS,
    TAG,
    UNDER,
    UNDERS,
    WITHIN,
    WRAPPED,
    ZERO,
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
BILLION = 1_000_000_000
FURTHEST = 9_223_372_035
"""Seconds that, as nanoseconds, are 64 bits."""
SECONDS, NANOS = 0x08, 0x10
"""Tags in a Timestamp and a Duration."""
WHICH, UNTIL, STAMP, EXPECTED, ITEMS_OF = range(5)
"""Numbers of a frame: the message, its end, what marks its fields, the entry that is expected, the level of
the list that it is an item of (-1: none)."""
VARINT, EIGHT, LENGTH, FOUR = 0, 1, 2, 5
"""Wire types."""
NOT_KNOWN, ANOTHER_TYPE = -1, -2


@inlined
def entry_of(program: Program, message: int, tag: int, expected: int) -> int:
    """The entry of a tag; NOT_KNOWN, or ANOTHER_TYPE where the field is written otherwise."""
    entry = program.operations
    first = program.messages[at_place(message * MESSAGE)]
    last = first + program.messages[at_place(message * MESSAGE + 1)]
    for at in (expected, expected + 1):
        if first <= at < last and entry[at_place(at * ENTRY + TAG)] == tag:
            return at
    for at in range(first, last):
        own, packed = entry[at_place(at * ENTRY + TAG)], entry[at_place(at * ENTRY + PACKED)]
        if tag in (own, packed):
            return at
        if tag >> 3 == own >> 3:
            return ANOTHER_TYPE
    return NOT_KNOWN


def behind_unknown(data: Data, at: int, end: int, tag: int) -> int:
    """The end of a field that nobody knows, or -1."""
    wire = tag & 7
    if tag >> 3 == 0 or tag >> 32 != 0:
        return -1
    if wire == VARINT:
        _, at = varint(data, at)
    elif wire == LENGTH:
        length, at = varint(data, at)
        if at < 0 or at > end or length > np.uint64(end - at):
            return -1
        at += int(np.int64(length))
    elif wire == EIGHT:
        at += 8
    elif wire == FOUR:
        at += 4
    else:
        return -1
    return at if at <= end else -1


def of_moment(data: Data, at: int, end: int, how: int) -> tuple[int, int]:
    """The nanoseconds of a Timestamp or a Duration, and its end; -1 if it is to be read by others."""
    seconds, nanos = 0, 0
    while at < end:
        tag = byte_at(data, at)
        value, at = varint(data, at + 1)
        if at < 0:
            return 0, -1
        if tag == SECONDS:
            seconds = int(np.int64(value))
        elif tag == NANOS:
            nanos = int(np.int64(value))
        else:
            return 0, -1
    if at != end or seconds > FURTHEST or seconds < -FURTHEST or nanos >= BILLION or nanos <= -BILLION:
        return 0, -1
    if (nanos < 0) if how == P_TIMESTAMP else (seconds < 0 < nanos or nanos < 0 < seconds):
        return 0, -1
    return seconds * BILLION + nanos, at


def symbol_of(program: Program, entry: int, number: int) -> int:
    """The place of a number among those of an enum; -1 if it is not there."""
    table = program.operations[at_place(entry * ENTRY + SYMBOLS)]
    for place in range(program.listed[at_place(table)]):
        if program.listed[at_place(table + 1 + place)] == number:
            return place
    return -1


@inlined
def whole(program: Program, room: Room, entry: int, how: int, column: int, value: np.uint64) -> int:
    """Put what a varint stands for; 0 if it is to be read by others."""
    number = int(np.int64(value))
    if how == P_INT64:
        pass
    elif how == P_SINT64:
        number = signed(value)
    elif how == P_INT32:
        if number >= HALF or number < -HALF:
            return 0
    elif how == P_SINT32:
        number = signed(value)
        if number >= HALF or number < -HALF:
            return 0
    elif how == P_UINT64:
        if number < 0:
            return 0
    elif how == P_UINT32:
        if number < 0 or number >= HALF << 1:
            return 0
    elif how == P_BOOL:
        if number < 0 or number > 1:
            return 0
    else:
        number = symbol_of(program, entry, number)
        if number < 0:
            return 0
    put_long_value(program.columns, room, column, number)
    return 1


@inlined
def fixed(program: Program, room: Room, how: int, column: int, data: Data, at: int) -> int:
    """Put what a fixed number of bytes stands for; its end, or -1."""
    if how in (P_DOUBLE, P_SFIXED64):
        put_long_value(program.columns, room, column, long_at(data, at))
        return at + 8
    if how == P_FIXED64:
        value = long_at(data, at)
        put_long_value(program.columns, room, column, value)
        return at + 8 if value >= 0 else -1
    if how == P_FLOAT:
        room.halves[0] = np.int32(half_at(data, at))
        put_double(program.columns, room, column, np.float64(room.singles[0]))
        return at + 4
    half = half_at(data, at)
    if how == P_SFIXED32 and half >= HALF:
        half -= HALF << 1
    put_long_value(program.columns, room, column, half)
    return at + 4


@inlined
def read_value(data: Data, at: int, end: int, program: Program, room: Room, entry: int) -> int:
    """Put the value at a place; its end, or -1 if it is to be read by others."""
    how = program.operations[at_place(entry * ENTRY + HOW)]
    column = program.operations[at_place(entry * ENTRY + GOES)]
    if how == P_TEXT:
        length, at = varint(data, at)
        if at < 0 or at > end or length > np.uint64(end - at):
            return -1
        put_text(program.columns, room, column, data, at, int(np.int64(length)))
        return at + int(np.int64(length))
    if how in (P_DOUBLE, P_FLOAT) or P_FIXED64 <= how <= P_SFIXED32:
        at = fixed(program, room, how, column, data, at)
        return at if at <= end else -1
    value, at = varint(data, at)
    if at < 0 or at > end:
        return -1
    if how in (P_TIMESTAMP, P_DURATION):
        if value > np.uint64(end - at):
            return -1
        nanoseconds, at = of_moment(data, at, at + int(np.int64(value)), how)
        put_long_value(program.columns, room, column, nanoseconds)
        return at
    return at if whole(program, room, entry, how, column, value) != 0 else -1


def read_wrapped(data: Data, at: int, end: int, program: Program, room: Room, entry: int) -> int:
    """Put the value in a wrapper; its end, or -1 if it is to be read by others."""
    length, at = varint(data, at)
    if at < 0 or at > end or length > np.uint64(end - at):
        return -1
    end = at + int(np.int64(length))
    if at == end:
        put_nothing(program.columns, room, program.operations[at_place(entry * ENTRY + GOES)], 1)
        return at
    if byte_at(data, at) != program.operations[at_place(entry * ENTRY + WRAPPED)]:
        return -1
    at = read_value(data, at + 1, end, program, room, entry)
    return at if at == end else -1


@inlined
def finish(program: Program, room: Room, message: int, stamp: int) -> int:
    """Give a message what it did not have; 0 if it is to be read by others."""
    first = program.messages[at_place(message * MESSAGE + 2)]
    for number in range(program.messages[at_place(message * MESSAGE + 3)]):
        member = first + number * MEMBER
        column = program.listed[at_place(member + COL)]
        if of(program.columns, column, KIND) == LIST:
            end_list(program.columns, room, column)
        elif room.seen[at_place(column)] != stamp:
            missing = program.listed[at_place(member + MISSING)]
            if missing == ZERO:
                put_nothing(program.columns, room, column, 1)
            elif missing == NULL and put_null(program.columns, room, column) != 0:
                under = program.listed[at_place(member + UNDER)]
                for place in range(under, under + program.listed[at_place(member + UNDERS)]):
                    put_nothing(program.columns, room, program.listed[at_place(place)], 0)
            else:
                return 0
    return 1


@inlined
def read_list(data: Data, at: int, end: int, tag: int, program: Program, room: Room, entry: int) -> int:
    """Put an item of a list that is no message, or many that stand together; their end, or -1."""
    level = program.operations[at_place(entry * ENTRY + GROUP)]
    wrapped = program.operations[at_place(entry * ENTRY + WRAPPED)] != 0
    if tag == program.operations[at_place(entry * ENTRY + TAG)]:
        if wrapped:
            at = read_wrapped(data, at, end, program, room, entry)
        else:
            at = read_value(data, at, end, program, room, entry)
        room.rows[at_place(level)] += 1
        return at
    length, at = varint(data, at)
    if at < 0 or at > end or length > np.uint64(end - at):
        return -1
    end = at + int(np.int64(length))
    while 0 <= at < end:
        at = read_value(data, at, end, program, room, entry)
        room.rows[at_place(level)] += 1
    return at


@inlined
def read_message(block: Block, line: int, program: Program, room: Room, frames: Ints, stamp: int) -> int:
    """Read a message; the last mark that was given, or 0 if it is to be read by others."""
    data, at, frame = block.data, block.starts[line], 0
    frames[WHICH], frames[UNTIL], frames[STAMP] = 0, block.ends[line], stamp
    frames[EXPECTED], frames[ITEMS_OF] = program.messages[0], -1
    while True:
        message, end = frames[at_place(frame + WHICH)], frames[at_place(frame + UNTIL)]
        if at >= end:
            if at > end or finish(program, room, message, frames[at_place(frame + STAMP)]) == 0:
                return 0
            level = frames[at_place(frame + ITEMS_OF)]
            if level >= 0:
                room.rows[at_place(level)] += 1
            frame -= FRAME
            if frame < 0:
                return stamp
            continue
        value, at = varint(data, at)
        tag = int(np.int64(value))
        if at < 0 or at > end or tag < 0:
            return 0
        entry = entry_of(program, message, tag, frames[at_place(frame + EXPECTED)])
        if entry < 0:
            at = behind_unknown(data, at, end, tag) if entry == NOT_KNOWN else -1
            if at < 0:
                return 0
            continue
        frames[at_place(frame + EXPECTED)] = entry
        mine = frames[at_place(frame + STAMP)]
        how = program.operations[at_place(entry * ENTRY + HOW)]
        column = program.operations[at_place(entry * ENTRY + GOES)]
        group = program.operations[at_place(entry * ENTRY + GROUP)]
        single = program.operations[at_place(entry * ENTRY + PACKED)] == SINGLE
        if single and group >= 0:
            if room.groups[at_place(group)] == mine:
                return 0
            room.groups[at_place(group)] = mine
        if (how == P_MESSAGE and column >= 0) or (how == P_MESSAGE and not single):
            length, at = varint(data, at)
            if at < 0 or at > end or length > np.uint64(end - at):
                return 0
            if single:
                if room.seen[at_place(column)] == mine:
                    return 0
                room.seen[at_place(column)] = mine
                mark(program.columns, room, column, 1)
            stamp += 1
            frame += FRAME
            within = program.operations[at_place(entry * ENTRY + WITHIN)]
            frames[at_place(frame + WHICH)] = within
            frames[at_place(frame + UNTIL)] = at + int(np.int64(length))
            frames[at_place(frame + STAMP)] = stamp
            frames[at_place(frame + EXPECTED)] = program.messages[at_place(within * MESSAGE)]
            frames[at_place(frame + ITEMS_OF)] = -1 if single else group
            continue
        if not single:
            at = read_list(data, at, end, tag, program, room, entry)
        elif column < 0:
            at = -1 if how == P_ENUM else behind_unknown(data, at, end, tag)
        else:
            again = room.seen[at_place(column)] == mine
            room.seen[at_place(column)] = mine
            if program.operations[at_place(entry * ENTRY + WRAPPED)] != 0:
                at = -1 if again else read_wrapped(data, at, end, program, room, entry)
            elif again and how >= P_TIMESTAMP:
                at = -1
            else:
                at = read_value(data, at, end, program, room, entry)
        if at < 0 or at > end:
            return 0


def read_protobuf(block: Block, program: Program, room: Room, frames: Ints, read: Bytes) -> int:
    """Read messages into rows; how many rows there are.

    `read` gets a 1 for each message that was read. `frames` has room for messages in one another.
    """
    stamp = 0
    for line in range(len(block.starts)):
        keep_rows(room)
        found = read_message(block, line, program, room, frames, stamp + 1)
        read[line] = 1 if found > 0 else 0
        if found > 0:
            room.rows[0] += 1
            stamp = found
        else:
            take_back(room)
            stamp += 1 + block.ends[line] - block.starts[line]  # a message in it has two bytes and more
    return int(room.rows[0])
