"""The lines of a block, and each of them into a row of the columns."""

from __future__ import annotations

from cep.decode.kernel.intrinsics import WIDTH, byte_at, newlines_at, ones, put_byte, trailing_zeros, word_at
from cep.decode.kernel.keys import SPACE, TAB, behind_blanks, key_at, stands_at
from cep.decode.kernel.layout import SKIPPED, TEXT, Block, Bytes, Columns, Data, Ints, Keys
from cep.decode.kernel.skipping import behind_value
from cep.decode.kernel.strings import text_at
from cep.decode.kernel.values import value_at
from cep.decode.kernel.words import NULL, is_word
from kernels.family import inlined

OPEN, CLOSE, COMMA, LETTER_N, RETURN, NEWLINE = 0x7B, 0x7D, 0x2C, 0x6E, 0x0D, 0x0A


def fill_up(line: int, row: int, columns: Columns) -> int:
    """Give a row nulls where its line had no value; 0 if a required one is missing."""
    for column in range(len(columns.required)):
        if columns.seen[column] != line << 1 | 1 and columns.required[column]:
            return 0
    for column in range(len(columns.required)):
        if columns.seen[column] != line << 1 | 1:
            place = columns.bases[column] + row
            if columns.kinds[column] == TEXT:
                columns.offsets[place + 1] = columns.offsets[place]
            else:
                columns.longs[place] = 0
            columns.present[columns.flags[column] + row] = 0
    return 1


@inlined
def read_line(data: Data, at: int, end: int, line: int, row: int, keys: Keys, columns: Columns) -> int:
    """Read a line into a row; 1, or 0 if it is to be read by others."""
    at = behind_blanks(data, at)
    if byte_at(data, at) != OPEN:
        return 0
    previous, found, byte = len(keys.lengths), 0, COMMA
    while byte == COMMA:
        at += 1
        slot = keys.followers[previous]
        if stands_at(data, at, slot, keys):
            at += keys.lengths[slot]
        else:
            slot, at = key_at(data, at, previous, keys)
            if at < 0:
                return 0
        byte = byte_at(data, at)
        if byte <= SPACE:
            at = behind_blanks(data, at)
            byte = byte_at(data, at)
        kind = columns.kinds[slot]
        if kind == SKIPPED:
            at = behind_value(data, at)
        else:
            if columns.seen[slot] >> 1 == line:
                return 0
            columns.seen[slot] = line << 1
            if byte == LETTER_N:
                at = at + 4 if is_word(word_at(data, at), NULL, 4) else -1
            else:
                columns.seen[slot] |= 1
                found += 1
                if kind == TEXT:
                    place = columns.bases[slot] + row
                    room = columns.rooms[slot]
                    at, to = text_at(data, at, columns.text, room + columns.offsets[place])
                    columns.offsets[place + 1] = to - room
                else:
                    at = value_at(data, at, columns, slot, row)
        if at < 0:
            return 0
        byte = byte_at(data, at)
        if byte <= SPACE:
            at = behind_blanks(data, at)
            byte = byte_at(data, at)
        previous = slot
    if byte != CLOSE or behind_blanks(data, at + 1) != end:
        return 0
    if found < len(columns.required):
        return fill_up(line, row, columns)
    return 1


def read_lines(
    block: Block, first: int, last: int, keys: Keys, columns: Columns, read: Bytes, row: int
) -> int:
    """Read lines from `first` up to `last`, into rows from `row` on; how many rows there are then.

    `read` gets a 1 for each line that was read. Behind a line there are SLACK bytes of data.
    """
    for line in range(first, last):
        at, end = block.starts[line], block.ends[line]
        taken = read_line(block.data, at, end, line, row, keys, columns)
        read[line] = taken
        row += taken
    return row


def is_blank(data: Data, at: int, end: int) -> bool:
    """True if nothing but blanks and returns stand from a place up to an end."""
    while at < end and (
        byte_at(data, at) == SPACE or byte_at(data, at) == TAB or byte_at(data, at) == RETURN
    ):
        at += 1
    return at == end


def count_lines(data: Data) -> int:
    """The number of line ends."""
    count, whole = 0, len(data) - len(data) % WIDTH
    for at in range(0, whole, WIDTH):
        count += ones(newlines_at(data, at))
    for at in range(whole, len(data)):
        count += byte_at(data, at) == NEWLINE
    return count


@inlined
def add_line(data: Data, begin: int, end: int, starts: Ints, ends: Ints, count: int) -> int:
    """Add a line unless it is blank; how many there are then."""
    if end > begin and byte_at(data, end - 1) == RETURN:
        end -= 1
    if end == begin or (byte_at(data, begin) <= SPACE and is_blank(data, begin, end)):
        return count
    starts[count], ends[count] = begin, end
    return count + 1


def find_lines(data: Data, starts: Ints, ends: Ints) -> int:
    """Find the lines of data, but blank ones; how many there are. `\\r` before a line end is part of that."""
    count, begin = 0, 0
    whole = len(data) - len(data) % WIDTH
    for at in range(0, whole, WIDTH):
        found = newlines_at(data, at)
        while found != 0:
            stop = at + trailing_zeros(found)
            found &= found - 1
            count = add_line(data, begin, stop, starts, ends, count)
            begin = stop + 1
    for stop in range(whole, len(data)):
        if byte_at(data, stop) == NEWLINE:
            count = add_line(data, begin, stop, starts, ends, count)
            begin = stop + 1
    return add_line(data, begin, len(data), starts, ends, count)


def join_lines(data: Data, starts: Ints, ends: Ints, text: Bytes) -> None:
    """Copy lines one after another, each with a line end."""
    to = 0
    for line in range(len(starts)):
        for at in range(starts[line], ends[line]):
            put_byte(text, to, byte_at(data, at))
            to += 1
        put_byte(text, to, NEWLINE)
        to += 1
