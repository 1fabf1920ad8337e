"""Strings of JSON, copied into a column while their end is looked for."""

from __future__ import annotations

from cep.decode.kernel.intrinsics import WIDTH, byte_at, copied_stops, put_byte
from cep.decode.kernel.layout import Bytes, Data
from kernels.family import inlined
from kernels.instructions import trailing_zeros

QUOTE, BACKSLASH, SLASH, LETTER_U = 0x22, 0x5C, 0x2F, 0x75


@inlined
def meaning(letter: int) -> int:
    """The character that a letter behind a backslash means; -1 if none."""
    if letter in (QUOTE, BACKSLASH, SLASH):
        return letter
    if letter == 0x6E:
        return 0x0A
    if letter == 0x74:
        return 0x09
    if letter == 0x72:
        return 0x0D
    if letter == 0x62:
        return 0x08
    if letter == 0x66:
        return 0x0C
    return -1


@inlined
def unit_at(data: Data, at: int) -> int:
    """The number that four hexadecimal digits are; -1 if they are none."""
    value = 0
    for place in range(at, at + 4):
        byte = byte_at(data, place)
        letter = byte | 0x20
        if 0x30 <= byte <= 0x39:
            value = value << 4 | byte - 0x30
        elif 0x61 <= letter <= 0x66:
            value = value << 4 | letter - 0x57
        else:
            return -1
    return value


@inlined
def code_point_at(data: Data, at: int) -> tuple[int, int]:
    """The character of one `\\uXXXX`, or of two that are a surrogate pair, and its end; -1 if it is none."""
    unit = unit_at(data, at + 2)
    at += 6
    if unit < 0xD800 or unit > 0xDFFF:
        return unit, at
    if unit > 0xDBFF or byte_at(data, at) != BACKSLASH or byte_at(data, at + 1) != LETTER_U:
        return -1, at
    other = unit_at(data, at + 2)
    if other < 0xDC00 or other > 0xDFFF:
        return -1, at
    return 0x10000 + ((unit - 0xD800) << 10) + other - 0xDC00, at + 6


@inlined
def put_code_point(code: int, text: Bytes, to: int) -> int:
    """Write a character in UTF-8; the end of it."""
    if code < 0x80:
        put_byte(text, to, code)
        return to + 1
    if code < 0x800:
        put_byte(text, to, 0xC0 | code >> 6)
        put_byte(text, to + 1, 0x80 | code & 0x3F)
        return to + 2
    if code < 0x10000:
        put_byte(text, to, 0xE0 | code >> 12)
        put_byte(text, to + 1, 0x80 | code >> 6 & 0x3F)
        put_byte(text, to + 2, 0x80 | code & 0x3F)
        return to + 3
    put_byte(text, to, 0xF0 | code >> 18)
    put_byte(text, to + 1, 0x80 | code >> 12 & 0x3F)
    put_byte(text, to + 2, 0x80 | code >> 6 & 0x3F)
    put_byte(text, to + 3, 0x80 | code & 0x3F)
    return to + 4


def escaped_at(data: Data, at: int, text: Bytes, to: int) -> tuple[int, int]:
    """Go on with a string at its first backslash, or control character, which no string has."""
    while byte_at(data, at) == BACKSLASH:
        if byte_at(data, at + 1) == LETTER_U:
            code, at = code_point_at(data, at)
            if code < 0:
                return -1, to
            to = put_code_point(code, text, to)
        else:
            meant = meaning(byte_at(data, at + 1))
            if meant < 0:
                return -1, to
            put_byte(text, to, meant)
            at += 2
            to += 1
        found = copied_stops(data, at, text, to)
        while found == 0:
            at += WIDTH
            to += WIDTH
            found = copied_stops(data, at, text, to)
        length = trailing_zeros(found)
        at += length
        to += length
    return (at + 1 if byte_at(data, at) == QUOTE else -1), to


@inlined
def text_at(data: Data, at: int, text: Bytes, to: int) -> tuple[int, int]:
    """Copy the string whose quote is at a place; the end behind its last quote, or -1, and the copy's end."""
    if byte_at(data, at) != QUOTE:
        return -1, to
    at += 1
    found = copied_stops(data, at, text, to)
    while found == 0:
        at += WIDTH
        to += WIDTH
        found = copied_stops(data, at, text, to)
    length = trailing_zeros(found)
    at += length
    to += length
    if byte_at(data, at) == QUOTE:
        return at + 1, to
    return escaped_at(data, at, text, to)
