"""The lines of a block: found, and put together."""

from __future__ import annotations

from cep.decode.kernel.intrinsics import WIDTH, byte_at, newlines_at, ones, put_byte, quotes_and_newlines_at
from cep.decode.kernel.keys import SPACE, TAB
from cep.decode.kernel.layout import Bytes, Data, Ints
from kernels.family import inlined
from kernels.instructions import trailing_zeros

RETURN, NEWLINE, QUOTE = 0x0D, 0x0A, 0x22


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


def find_lines(data: Data, starts: Ints, ends: Ints) -> int:
    """Find the lines of data, but those that are empty or of blanks only; how many there are.

    A carriage return before a line end is part of that.
    """
    count, begin = 0, 0
    whole = len(data) - len(data) % WIDTH
    for at in range(0, whole, WIDTH):
        found = newlines_at(data, at)
        while found != 0:
            stop = at + trailing_zeros(found)
            found &= found - 1
            count = add_line(data, begin, stop, True, starts, ends, count)
            begin = stop + 1
    for stop in range(whole, len(data)):
        if byte_at(data, stop) == NEWLINE:
            count = add_line(data, begin, stop, True, starts, ends, count)
            begin = stop + 1
    return add_line(data, begin, len(data), True, starts, ends, count)


@inlined
def is_well_placed(data: Data, at: int, opens: bool, delimiter: int) -> bool:
    """True if the quote at a place opens a cell, or closes one, or is doubled inside of one."""
    if opens:
        return at == 0 or byte_at(data, at - 1) in (delimiter, NEWLINE, QUOTE)
    return at == len(data) - 1 or byte_at(data, at + 1) in (delimiter, NEWLINE, RETURN, QUOTE)


def find_records(data: Data, delimiter: int, starts: Ints, ends: Ints, quotes: Ints) -> int:
    """Find the records of CSV, but empty ones; how many there are, or -1: a quote is not where one should be.

    They end at line ends outside of quotes. The first of `quotes` gets their number.
    """
    count, begin, seen, at = 0, 0, 0, 0
    whole = len(data) - len(data) % WIDTH
    while at < len(data):
        found = quotes_and_newlines_at(data, at) if at < whole else byte_at(data, at) in (QUOTE, NEWLINE)
        while found != 0:
            stop = at + trailing_zeros(found)
            found &= found - 1
            if byte_at(data, stop) == QUOTE:
                if not is_well_placed(data, stop, seen & 1 == 0, delimiter):
                    return -1
                seen += 1
            elif seen & 1 == 0:
                count = add_line(data, begin, stop, False, starts, ends, count)
                begin = stop + 1
        at += WIDTH if at < whole else 1
    quotes[0] = seen
    return add_line(data, begin, len(data), False, starts, ends, count) if seen & 1 == 0 else -1


def join_lines(data: Data, starts: Ints, ends: Ints, text: Bytes) -> None:
    """Copy lines one after another, each with a line end."""
    to = 0
    for line in range(len(starts)):
        for at in range(starts[line], ends[line]):
            put_byte(text, to, byte_at(data, at))
            to += 1
        put_byte(text, to, NEWLINE)
        to += 1
