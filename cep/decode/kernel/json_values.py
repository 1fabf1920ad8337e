"""One value of JSON into its column."""

from __future__ import annotations

from cep.decode.kernel.intrinsics import WIDTH, byte_at, copied_stops, put_byte
from cep.decode.kernel.layout import (
    BASE,
    DECIMAL,
    ISO_TIME,
    KIND,
    NESTED,
    ROOM,
    TEXT,
    Bytes,
    Data,
    Keys,
    Room,
    at_place,
    of,
)
from cep.decode.kernel.skipping import CLOSE, OPEN, OPEN_LIST, behind_nested
from cep.decode.kernel.strings import QUOTE, text_at
from cep.decode.kernel.values import value_at
from cep.decode.kernel.words import NULL, is_word
from kernels.family import inlined
from kernels.instructions import word_at

LETTER_N, NEWLINE = 0x6E, 0x0A
BEFORE = tuple(b'{"v":')


@inlined
def nested_at(data: Data, at: int, text: Bytes, to: int) -> tuple[int, int]:
    """Copy the list or object that begins at a place, as the value of `v` in a line of its own; its end, or
    -1, and that of the copy."""
    if byte_at(data, at) not in (OPEN, OPEN_LIST):
        return -1, to
    end = behind_nested(data, at)
    if end < 0:
        return -1, to
    for byte in BEFORE:
        put_byte(text, to, byte)
        to += 1
    for place in range(at, end, WIDTH):
        copied_stops(data, place, text, to + place - at)
    to += end - at
    put_byte(text, to, CLOSE)
    put_byte(text, to + 1, NEWLINE)
    return end, to + 2


@inlined
def text_value_at(data: Data, at: int, keys: Keys, room: Room, column: int, row: int) -> int:
    """Put the text or nested value that begins at a place into a row of its column; its end, or -1."""
    place, begin = keys.slots[of(column, BASE)] + row, keys.slots[of(column, ROOM)]
    if keys.slots[of(column, KIND)] == TEXT:
        at, to = text_at(data, at, room.text, begin + room.offsets[at_place(place)])
    else:
        at, to = nested_at(data, at, room.text, begin + room.offsets[at_place(place)])
    room.offsets[at_place(place + 1)] = to - begin
    return at


@inlined
def put_value(data: Data, at: int, keys: Keys, room: Room, column: int, row: int) -> tuple[int, int]:
    """Put the value that begins at a place into a row of its column; its end, or -1, and 1, or 0 if it is
    null: then nothing is put."""
    first, kind = byte_at(data, at), keys.slots[of(column, KIND)]
    if first == LETTER_N:
        return (at + 4 if is_word(word_at(data, at), NULL, 4) else -1), 0
    if kind <= NESTED:
        return text_value_at(data, at, keys, room, column, row), 1
    quoted = kind == ISO_TIME or (kind == DECIMAL and first == QUOTE)
    if not quoted:
        return value_at(data, at, keys, room, column, row), 1
    end = value_at(data, at + 1, keys, room, column, row)
    return (end + 1 if first == QUOTE and end >= 0 and byte_at(data, end) == QUOTE else -1), 1
