"""Values of fields that nobody reads: they must be JSON, and are passed over."""

from __future__ import annotations

from cep.decode.kernel.doubles import MINUS, parts_at
from cep.decode.kernel.intrinsics import WIDTH, byte_at, stops_at
from cep.decode.kernel.keys import COLON, behind_blanks
from cep.decode.kernel.layout import Data
from cep.decode.kernel.strings import BACKSLASH, LETTER_U, QUOTE, code_point_at, meaning
from cep.decode.kernel.words import FALSE, NULL, TRUE, is_word
from kernels.family import inlined
from kernels.instructions import trailing_zeros, word_at

OPEN, CLOSE, OPEN_LIST, CLOSE_LIST, COMMA = 0x7B, 0x7D, 0x5B, 0x5D, 0x2C
LARGEST = 200
"""A power of ten above which a number might be too large."""
DEEPEST = 60
"""Lists and objects in one another that are passed over: a bit of a word tells which is which."""


@inlined
def behind_escape(data: Data, at: int) -> int:
    """The end of what a backslash begins; -1: it is no escape, or half a surrogate pair."""
    if byte_at(data, at + 1) != LETTER_U:
        return at + 2 if meaning(byte_at(data, at + 1)) >= 0 else -1
    code, end = code_point_at(data, at)
    return end if code >= 0 else -1


@inlined
def stop_behind(data: Data, at: int) -> int:
    """The first quote, backslash or control character from a place on."""
    found = stops_at(data, at)
    while found == 0:
        at += WIDTH
        found = stops_at(data, at)
    return at + trailing_zeros(found)


def behind_escapes(data: Data, at: int) -> int:
    """The end of a string from its first backslash on; -1: it is none, or a control character stands here."""
    while byte_at(data, at) == BACKSLASH:
        at = behind_escape(data, at)
        if at < 0:
            return -1
        at = stop_behind(data, at)
    return at + 1 if byte_at(data, at) == QUOTE else -1


@inlined
def behind_string(data: Data, at: int) -> int:
    """The end of a string behind its first quote; -1: it is none."""
    at = stop_behind(data, at)
    return at + 1 if byte_at(data, at) == QUOTE else behind_escapes(data, at)


@inlined
def behind_scalar(data: Data, at: int) -> int:
    """The end of the string, number or word that begins at a place; -1: it is none, or is read by others."""
    first = byte_at(data, at)
    if first == QUOTE:
        return behind_string(data, at + 1)
    if first == MINUS or 0x30 <= first <= 0x39:
        _, power, end = parts_at(data, at + (first == MINUS))
        return -1 if power > LARGEST else end
    word = word_at(data, at)
    if is_word(word, TRUE, 4) or is_word(word, NULL, 4):
        return at + 4
    return at + 5 if is_word(word, FALSE, 5) else -1


def behind_key(data: Data, at: int) -> int:
    """The place behind a key and its colon, and blanks; -1: there is none."""
    if byte_at(data, at) != QUOTE:
        return -1
    at = behind_string(data, at + 1)
    if at < 0:
        return -1
    at = behind_blanks(data, at)
    return behind_blanks(data, at + 1) if byte_at(data, at) == COLON else -1


def behind_nested(data: Data, at: int) -> int:
    """The end of the list or object that begins at a place; -1: it is none, or is read by others.

    The lowest bit of `objects` tells of the innermost one, 1 for an object.
    """
    depth, objects = 0, 0
    while True:
        first = byte_at(data, at)
        if first in (OPEN, OPEN_LIST):
            if depth == DEEPEST:
                return -1
            depth, objects = depth + 1, objects << 1 | (first == OPEN)
            at = behind_blanks(data, at + 1)
            if byte_at(data, at) != (CLOSE if first == OPEN else CLOSE_LIST):
                at = behind_key(data, at) if first == OPEN else at
                if at < 0:
                    return -1
                continue
        else:
            at = behind_scalar(data, at)
            if at < 0:
                return -1
            at = behind_blanks(data, at)
        while byte_at(data, at) == (CLOSE if objects & 1 else CLOSE_LIST):
            depth, objects = depth - 1, objects >> 1
            if depth == 0:
                return at + 1
            at = behind_blanks(data, at + 1)
        if byte_at(data, at) != COMMA:
            return -1
        at = behind_blanks(data, at + 1)
        at = behind_key(data, at) if objects & 1 else at
        if at < 0:
            return -1


@inlined
def behind_value(data: Data, at: int) -> int:
    """The end of the value that begins at a place; -1: it is none, or is read by others."""
    return behind_nested(data, at) if byte_at(data, at) in (OPEN, OPEN_LIST) else behind_scalar(data, at)
