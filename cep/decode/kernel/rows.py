"""Lines of JSON into rows of the columns."""

from __future__ import annotations

from cep.decode.kernel.intrinsics import byte_at
from cep.decode.kernel.json_values import put_value
from cep.decode.kernel.keys import SPACE, behind_blanks, key_at, stands_at
from cep.decode.kernel.layout import (
    COLUMNS,
    FOLLOWER,
    GAP,
    KIND,
    LENGTH,
    REQUIRED,
    SEEN,
    SKIPPED,
    Block,
    Bytes,
    Data,
    Keys,
    Room,
    of,
)
from cep.decode.kernel.skipping import CLOSE, COMMA, OPEN, behind_value
from cep.decode.kernel.values import put_null
from kernels.family import inlined


def fill_up(line: int, row: int, keys: Keys, room: Room) -> int:
    """Give a row nulls where its line had no value; 0 if a required one is missing."""
    for column in range(keys.counts[COLUMNS]):
        if keys.slots[of(column, SEEN)] != line << 1 | 1 and keys.slots[of(column, REQUIRED)]:
            return 0
    for column in range(keys.counts[COLUMNS]):
        if keys.slots[of(column, SEEN)] != line << 1 | 1:
            put_null(keys, room, column, row)
    return 1


@inlined
def read_line(data: Data, at: int, end: int, line: int, row: int, keys: Keys, room: Room) -> int:
    """Read a line into a row; 1, or 0 if it is to be read by others."""
    at = behind_blanks(data, at)
    if byte_at(data, at) != OPEN:
        return 0
    previous, found, byte = len(keys.gaps) // GAP - 1, 0, COMMA
    while byte == COMMA:
        at += 1
        slot = keys.slots[of(previous, FOLLOWER)]
        if stands_at(data, at, slot, keys):
            at += keys.slots[of(slot, LENGTH)]
        else:
            slot, at = key_at(data, at, previous, keys)
            if at < 0:
                return 0
        if byte_at(data, at) <= SPACE:
            at = behind_blanks(data, at)
        if keys.slots[of(slot, KIND)] == SKIPPED:
            at = behind_value(data, at)
        elif keys.slots[of(slot, SEEN)] >> 1 == line:
            return 0
        else:
            at, values = put_value(data, at, keys, room, slot, row)
            keys.slots[of(slot, SEEN)] = line << 1 | values
            found += values
        if at < 0:
            return 0
        byte = byte_at(data, at)
        if byte <= SPACE:
            at = behind_blanks(data, at)
            byte = byte_at(data, at)
        previous = slot
    if byte != CLOSE or behind_blanks(data, at + 1) != end:
        return 0
    return 1 if found == keys.counts[COLUMNS] else fill_up(line, row, keys, room)


def read_lines(block: Block, keys: Keys, room: Room, read: Bytes, row: int) -> int:
    """Read lines into rows from `row` on; how many rows there are then.

    `read` gets a 1 for each line that was read. Behind a line there are SLACK bytes of data.
    """
    for line in range(len(block.starts)):
        taken = read_line(block.data, block.starts[line], block.ends[line], line, row, keys, room)
        read[line] = taken
        row += taken
    return row
