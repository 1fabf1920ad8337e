"""The lines of a block: found, and put together."""

from __future__ import annotations

from cep.decode.kernel.intrinsics import (
    WIDTH,
    beyond_ascii_at,
    byte_at,
    newlines_at,
    ones,
    put_byte,
    quotes_and_newlines_at,
)
from cep.decode.kernel.keys import SPACE, TAB
from cep.decode.kernel.layout import MISPLACED, NO_ROOM, Bytes, Data, Ints
from kernels.family import inlined
from kernels.instructions import trailing_zeros

RETURN, NEWLINE, QUOTE = 0x0D, 0x0A, 0x22
ASCII = 0x7F


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
def add_line(data: Data, begin: int, end: int, blanks: bool, starts: Ints, ends: Ints, count: int) -> int:
    """Add a line unless it is empty, or has `blanks` only where that is said; how many there are then."""
    if end > begin and byte_at(data, end - 1) == RETURN:
        end -= 1
    if end == begin or (blanks and byte_at(data, begin) <= SPACE and is_blank(data, begin, end)):
        return count
    starts[count], ends[count] = begin, end
    return count + 1


def find_lines(data: Data, starts: Ints, ends: Ints, beyond: Ints) -> int:
    """Find the lines of data, but those that are empty or of blanks only; how many there are, or NO_ROOM.

    A carriage return before a line end is part of that. The first of `beyond` gets 0 if all bytes are ASCII.
    """
    count, begin, other = 0, 0, 0
    whole = len(data) - len(data) % WIDTH
    for at in range(0, whole, WIDTH):
        other |= beyond_ascii_at(data, at)
        found = newlines_at(data, at)
        while found != 0:
            if count == len(starts):
                return NO_ROOM
            stop = at + trailing_zeros(found)
            found &= found - 1
            count = add_line(data, begin, stop, True, starts, ends, count)
            begin = stop + 1
    for stop in range(whole, len(data)):
        other |= byte_at(data, stop) > ASCII
        if byte_at(data, stop) == NEWLINE:
            if count == len(starts):
                return NO_ROOM
            count = add_line(data, begin, stop, True, starts, ends, count)
            begin = stop + 1
    beyond[0] = other
    if count == len(starts):
        return NO_ROOM
    return add_line(data, begin, len(data), True, starts, ends, count)


@inlined
def is_well_placed(data: Data, at: int, opens: bool, delimiter: int) -> bool:
    """True if the quote at a place opens a cell, or closes one, or is doubled inside of one."""
    if opens:
        return at == 0 or byte_at(data, at - 1) in (delimiter, NEWLINE, QUOTE)
    return at == len(data) - 1 or byte_at(data, at + 1) in (delimiter, NEWLINE, RETURN, QUOTE)


def find_records(data: Data, delimiter: int, starts: Ints, ends: Ints, beyond: Ints, quotes: Ints) -> int:
    """Find the records of CSV, but empty ones; how many there are, or MISPLACED, or NO_ROOM.

    They end at line ends outside of quotes. The first of `quotes` gets their number, that of `beyond` 0 if
    all bytes are ASCII.
    """
    count, begin, seen, other, at = 0, 0, 0, 0, 0
    whole = len(data) - len(data) % WIDTH
    while at < len(data):
        if at < whole:
            found = quotes_and_newlines_at(data, at)
            other |= beyond_ascii_at(data, at)
        else:
            found = byte_at(data, at) in (QUOTE, NEWLINE)
            other |= byte_at(data, at) > ASCII
        while found != 0:
            stop = at + trailing_zeros(found)
            found &= found - 1
            if byte_at(data, stop) == QUOTE:
                if not is_well_placed(data, stop, seen & 1 == 0, delimiter):
                    return MISPLACED
                seen += 1
            elif seen & 1 == 0:
                if count == len(starts):
                    return NO_ROOM
                count = add_line(data, begin, stop, False, starts, ends, count)
                begin = stop + 1
        at += WIDTH if at < whole else 1
    quotes[0], beyond[0] = seen, other
    if count == len(starts):
        return NO_ROOM
    return add_line(data, begin, len(data), False, starts, ends, count) if seen & 1 == 0 else MISPLACED


def join_lines(data: Data, starts: Ints, ends: Ints, text: Bytes) -> None:
    """Copy lines one after another, each with a line end."""
    to = 0
    for line in range(len(starts)):
        for at in range(starts[line], ends[line]):
            put_byte(text, to, byte_at(data, at))
            to += 1
        put_byte(text, to, NEWLINE)
        to += 1
