"""Heads, words and numbers as bytes: of each word only those in which it differs from a usual one.

A word is `first + step * rest`, first and step by its code, and the rest in so many bytes. Two codes of half
a byte stand before the rests of two words; those of a key begin anew. A key's words are:

    the number of its heads less one
    the fields of each head, but for the key
    the words behind its heads, head by head
    the numbers behind its heads, less the least of all
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from cep.exact.kernel.layout import Ints, ReadOnlyInts, at_place
from kernels.family import READ_ONLY, inlined, instruction

Bytes = npt.NDArray[np.uint8]
ReadOnlyBytes = Annotated[Bytes, READ_ONLY]

HEAD, KEY, FIELDS, WORDS, NUMBERS, JUDGED = 8, 0, 1, 3, 4, 6
"""Columns of a head as cep.operators.windows.runtime.window_rows has them; FIELDS: from here on they are
written."""
SHORT = (0, 1, 2, 3, 4)
"""Codes of words that are so many bytes, without a sign."""
LONG, WHOLE, TIMES, NAMED, COUNTED, UPPER, LATEST, BELOW = 5, 6, (7, 8, 9), 10, (11, 12), 13, 14, 15
"""Codes of: words of six bytes; of eight; whole steps after an instant, in two to four; a bit for an event
that is named and seven others; an item's number of events, which are all named, by the length of its packed
sums; doubles of few digits; the end of time; negative numbers of four bytes."""
CODES = 16
ROOM = 8
"""Bytes that may be read behind the last."""
MOST = 9
"""Bytes that a word takes at most, with its code."""


class Codes(NamedTuple):
    """For each code the bytes of its rests, and their mask; the step, and what the rest 0 stands for."""

    lengths: ReadOnlyInts
    masks: ReadOnlyInts
    steps: ReadOnlyInts
    firsts: ReadOnlyInts
    bases: ReadOnlyInts
    """What is taken from `judged` of each head, and from each number."""


class Parts(NamedTuple):
    """Heads behind one another, with what stands behind them."""

    heads: Ints
    words: Ints
    numbers: Ints


@instruction
def long_at(data: ReadOnlyBytes, at: int) -> int:
    """Eight bytes from a place on, the first the lowest, as a number with a sign."""
    return int.from_bytes(data[at : at + 8].tobytes(), "little", signed=True)


@instruction
def put_long(data: Bytes, at: int, word: int) -> int:
    """Write such a number to eight bytes."""
    data[at : at + 8] = np.frombuffer(int(word).to_bytes(8, "little", signed=True), np.uint8)
    return int(word)


@inlined
def of_bytes(rest: int) -> int:
    """The number of bytes, up to four, of a number that is not negative."""
    return int(rest > 0) + int(rest > 0xFF) + int(rest > 0xFFFF) + int(rest > 0xFFFFFF)


@inlined
def shortened(word: int, codes: Codes) -> tuple[int, int]:
    """The code of a word, and its rest."""
    if 0 <= word <= 0xFFFFFFFF:
        return of_bytes(word), word
    if 0x3FA0 <= (word >> 48) & 0x7FFF <= 0x41FF and word & 0xFFFFFF00 != 0:
        # A double of about the size of prices and of many digits, as most words are that are none of these.
        return WHOLE, word
    named = word - codes.firsts[at_place(NAMED)]
    if 0 <= named <= 0xFF:
        return NAMED, named
    first, step = codes.firsts[at_place(TIMES[0])], codes.steps[at_place(TIMES[0])]
    since = word - first
    if 0 <= since < step << 32:
        rest = since // step
        if rest * step == since:
            return TIMES[0] - 2 + max(of_bytes(rest), 2), rest
    low = word & 0xFF
    for code in COUNTED:
        if low * codes.steps[at_place(code)] + codes.firsts[at_place(code)] == word:
            return code, low
    if word & 0xFFFFFFFFFF == 0:
        return UPPER, (word >> 40) & 0xFFFFFF
    if word == codes.firsts[at_place(LATEST)]:
        return LATEST, 0
    if -0xFFFFFFFF <= word < 0:
        return BELOW, word - codes.firsts[at_place(BELOW)]
    return (LONG if 0 <= word <= 0xFFFFFFFFFFFF else WHOLE), word


@inlined
def put_word(data: Bytes, at: int, half: int, word: int, codes: Codes) -> tuple[int, int]:
    """Write a word at a place; where the next one begins, and where the code of the one before waits for its
    other half (-1: nowhere)."""
    code, rest = shortened(word, codes)
    if half < 0:
        half = at
        data[at_place(at)] = code
        at += 1
    else:
        data[at_place(half)] |= np.uint8(code << 4)
        half = -1
    put_long(data, at, rest)
    return at + int(codes.lengths[at_place(code)]), half


@inlined
def take_word(data: ReadOnlyBytes, at: int, code: int, codes: Codes) -> tuple[int, int, int]:
    """The word at a place, where the next one begins, and the code of that with a bit above it (0: it is not
    read yet)."""
    if code <= 1:
        code = (long_at(data, at) & 0xFF) | 0x100
        at += 1
    mine = code & 0xF
    rest = long_at(data, at) & codes.masks[at_place(mine)]
    word = rest * codes.steps[at_place(mine)] + codes.firsts[at_place(mine)]
    return int(word), at + int(codes.lengths[at_place(mine)]), code >> 4


def put_compact(parts: Parts, of_key: ReadOnlyInts, codes: Codes, data: Bytes, places: Ints) -> int:
    """Write keys, whose heads go from one place of `of_key` up to the next; where each begins goes to
    `places`. Where they end."""
    at, word, number = 0, 0, 0
    for key in range(len(of_key) - 1):
        first, end = int(of_key[at_place(key)]), int(of_key[at_place(key + 1)])
        places[at_place(key)] = at
        if first == end:
            continue
        at, half = put_word(data, at, -1, end - first - 1, codes)
        words, numbers = 0, 0
        for head in range(HEAD * first, HEAD * end, HEAD):
            for field in range(FIELDS, HEAD):
                value = parts.heads[at_place(head + field)]
                if field == JUDGED:
                    value -= codes.bases[at_place(0)]
                at, half = put_word(data, at, half, value, codes)
            words += int(parts.heads[at_place(head + WORDS)])
            numbers += int(parts.heads[at_place(head + NUMBERS)])
        for one in range(word, word + words):
            at, half = put_word(data, at, half, parts.words[at_place(one)], codes)
        for one in range(number, number + numbers):
            value = parts.numbers[at_place(one)] - codes.bases[at_place(1)]
            at, half = put_word(data, at, half, value, codes)
        word += words
        number += numbers
    return at


def measure_compact(
    data: ReadOnlyBytes, firsts: ReadOnlyInts, ends: ReadOnlyInts, codes: Codes, counts: Ints
) -> None:
    """Count the heads, words and numbers of the keys whose bytes go from a first one to an end."""
    for key in range(len(firsts)):
        at = int(firsts[at_place(key)])
        if at == ends[at_place(key)]:
            continue
        more, at, code = take_word(data, at, 0, codes)
        counts[at_place(0)] += more + 1
        for _ in range(more + 1):
            for field in range(FIELDS, HEAD):
                value, at, code = take_word(data, at, code, codes)
                if field == WORDS:
                    counts[at_place(1)] += value
                elif field == NUMBERS:
                    counts[at_place(2)] += value


def take_compact(
    data: ReadOnlyBytes,
    firsts: ReadOnlyInts,
    ends: ReadOnlyInts,
    keys: ReadOnlyInts,
    codes: Codes,
    parts: Parts,
) -> None:
    """Read keys, whose bytes go from a first one to an end, under other numbers; there is room for them."""
    head, word, number = 0, 0, 0
    for key in range(len(firsts)):
        at = int(firsts[at_place(key)])
        if at == ends[at_place(key)]:
            continue
        more, at, code = take_word(data, at, 0, codes)
        words, numbers = 0, 0
        for _ in range(more + 1):
            parts.heads[at_place(head + KEY)] = keys[at_place(key)]
            for field in range(FIELDS, HEAD):
                value, at, code = take_word(data, at, code, codes)
                if field == JUDGED:
                    value += codes.bases[at_place(0)]
                parts.heads[at_place(head + field)] = value
            words += int(parts.heads[at_place(head + WORDS)])
            numbers += int(parts.heads[at_place(head + NUMBERS)])
            head += HEAD
        for one in range(word, word + words):
            value, at, code = take_word(data, at, code, codes)
            parts.words[at_place(one)] = value
        for one in range(number, number + numbers):
            value, at, code = take_word(data, at, code, codes)
            parts.numbers[at_place(one)] = value + codes.bases[at_place(1)]
        word += words
        number += numbers
