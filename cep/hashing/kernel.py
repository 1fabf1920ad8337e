"""Texts to hashes and to numbers in one pass over their bytes, in the subset of Python that numba compiles.

Texts lie as Arrow has them: the n-th in `data` from `offsets[n]` up to `offsets[n + 1]`. `strings` calls
these functions compiled (cep.hashing.compiled), and where numba is not at hand does the same by column.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt

from kernels.family import inlined, instruction

Offsets = Annotated[npt.NDArray[np.int32], "read only"]
Data = Annotated[npt.NDArray[np.uint8], "read only"]
Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Marks = npt.NDArray[np.uint32]

BASE = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
NOTHING, ONE, BYTE, WORD, TWO_WORDS = np.uint64(0), np.uint64(1), np.uint64(8), np.uint64(8), np.uint64(16)
THIRTY, TWENTY_SEVEN, THIRTY_ONE = np.uint64(30), np.uint64(27), np.uint64(31)
HALF, HIGH = np.uint64(32), np.uint64(33)
LONG = np.uint64(1 << 63)
NUMBER = 0xFFFFFFFF
AHEAD = 32
"""Texts whose names are known before the table is looked at."""
ROW, COUNT, REACHED = range(3)
"""The row from which on texts have no number yet, and how many numbers are given."""


def add_texts(offsets: Offsets, data: Data, hashes: Words) -> None:
    """Go on from each row's hash with its text, as `cep.hashing.shards` says.

    Of the text that is the sum of (byte + 1) * BASE ** place over its bytes (Karp and Rabin, 1987).
    """
    for row in range(len(hashes)):
        word = NOTHING
        # Horner's rule, from the last byte on.
        for at in range(offsets[row + 1] - 1, offsets[row] - 1, -1):
            word = word * BASE + (np.uint64(data[at]) + ONE)
        word = (word ^ (word >> THIRTY)) * FIRST
        word = (word ^ (word >> TWENTY_SEVEN)) * SECOND
        word = hashes[row] * BASE + (word ^ (word >> THIRTY_ONE))
        word = (word ^ (word >> THIRTY)) * FIRST
        word = (word ^ (word >> TWENTY_SEVEN)) * SECOND
        hashes[row] = word ^ (word >> THIRTY_ONE)


@instruction
def fetch(slots: Ints, slot: np.uint64) -> None:
    """Have a place brought near."""


@inlined
def eight_at(data: Data, at: np.uint64) -> np.uint64:
    """Eight bytes from a place on, all of which there are."""
    eight = NOTHING
    for byte in range(8):
        eight |= np.uint64(data[at + np.uint64(byte)]) << (np.uint64(byte) * BYTE)
    return eight


@inlined
def rest_at(data: Data, at: np.uint64, end: np.uint64) -> np.uint64:
    """Less than eight bytes up to an end, with a bit behind them that says how many."""
    if at + WORD <= np.uint64(len(data)):
        after = ONE << ((end - at) * BYTE)
        return eight_at(data, at) & (after - ONE) | after
    rest = ONE << ((end - at) * BYTE)
    for byte in range(end - at):
        rest |= np.uint64(data[at + np.uint64(byte)]) << (np.uint64(byte) * BYTE)
    return rest


@inlined
def first_name(data: Data, at: np.uint64, end: np.uint64) -> np.uint64:
    """The first word of a text's name: its first bytes, or a hash of a text of 16 bytes and more."""
    length = end - at
    if length < WORD:
        return rest_at(data, at, end)
    if length < TWO_WORDS:
        return eight_at(data, at)
    name = length
    while at + WORD <= end:
        name = (name ^ eight_at(data, at)) * BASE
        name ^= name >> HALF
        at += WORD
    return (name ^ rest_at(data, at, end)) * BASE


@inlined
def second_name(data: Data, at: np.uint64, end: np.uint64) -> np.uint64:
    """The second word: 0, or the bytes behind the first eight, or of a longer text its length and the
    highest bit. Texts of less than 16 bytes are equal where both words are."""
    length = end - at
    if length < WORD:
        return NOTHING
    return rest_at(data, at + WORD, end) if length < TWO_WORDS else length | LONG


@inlined
def are_equal(data: Data, at: np.uint64, end: np.uint64, other: np.uint64) -> bool:
    """True if a text of eight bytes and more is the one that begins at another place, and is as long."""
    last = end - WORD
    while at < last:
        if eight_at(data, at) != eight_at(data, other):
            return False
        at += WORD
        other += WORD
    return bool(eight_at(data, last) == eight_at(data, other - (at - last)))


@inlined
def mixed(first: np.uint64, second: np.uint64) -> np.uint64:
    """The hash of a name."""
    name = first ^ (second ^ second >> THIRTY_ONE) * BASE
    word = (name ^ name >> THIRTY) * FIRST
    return (word ^ word >> TWENTY_SEVEN) * SECOND


def all_differ(offsets: Offsets, data: Data, words: Words, slots: Marks) -> bool:
    """True if all texts differ. False: two may be equal, or have a hash in common, which is seldom.

    `slots` is a hash table with open addressing: all 0, of twice as many places as there are texts or more,
    a power of two. A place has half of the hash of a text's name. `words` is room for AHEAD hashes.
    """
    texts, last = len(offsets) - 1, np.uint64(len(slots) - 1)
    for begin in range(0, texts, AHEAD):
        stop = min(begin + AHEAD, texts)
        for row in range(begin, stop):
            at, end = np.uint64(offsets[row]), np.uint64(offsets[row + 1])
            word = mixed(first_name(data, at, end), second_name(data, at, end))
            words[row - begin] = word
            fetch(slots, (word ^ word >> HALF) & last)  # type: ignore[arg-type]  # of any array
        for row in range(begin, stop):
            word = words[row - begin]
            mark, slot = np.uint32(word >> HALF | ONE), (word ^ word >> HALF) & last
            while slots[slot] != 0:
                if slots[slot] == mark:
                    return False
                slot = (slot + ONE) & last
            slots[slot] = mark
    return True


def place_names(names: Words, count: int, slots: Ints) -> None:
    """Enter the names of so many texts into a larger table: all -1, as `number_texts` says."""
    last = np.uint64(len(slots) - 1)
    for number in range(count):
        word = mixed(names[2 * number], names[2 * number + 1])
        slot = (word ^ word >> HALF) & last
        while slots[slot] >= 0:
            slot = (slot + ONE) & last
        slots[slot] = np.int64(word >> HIGH) << 32 | number


def number_texts(
    offsets: Offsets, data: Data, slots: Ints, names: Words, firsts: Ints, numbers: Ints, reached: Ints
) -> None:
    """Number texts, equal ones equally, densely in order of first occurrence; go on from what is `reached`
    until all have one, or the table becomes too small.

    `firsts` says where each occurs first, `names` has the name of each, two words. `slots` is a hash table
    with open addressing: all -1 at first, a power of two, of twice as many places as numbers or more. A
    place has 31 bits of the hash of a text's name, and its number; long texts of one name are compared. The
    table is looked at when the names of some more texts are known, whose places are brought near meanwhile:
    of a large one each would be waited for.
    """
    count = reached[COUNT]
    last = np.uint64(len(slots) - 1)
    for begin in range(reached[ROW], len(numbers), AHEAD):
        stop = min(begin + AHEAD, len(numbers))
        if 2 * (count + stop - begin) > len(slots):
            break
        # No row has a number above its own: these places of `names` are not taken yet.
        for row in range(begin, stop):
            at, end = np.uint64(offsets[row]), np.uint64(offsets[row + 1])
            names[2 * row], names[2 * row + 1] = first_name(data, at, end), second_name(data, at, end)
            word = mixed(names[2 * row], names[2 * row + 1])
            fetch(slots, (word ^ word >> HALF) & last)
        for row in range(begin, stop):
            one, two = names[2 * row], names[2 * row + 1]
            word = mixed(one, two)
            high, slot = np.int64(word >> HIGH), (word ^ word >> HALF) & last
            number = -1
            while slots[slot] >= 0:
                if slots[slot] >> 32 == high:
                    known = slots[slot] & NUMBER
                    if names[2 * known] == one and names[2 * known + 1] == two:
                        at, end = np.uint64(offsets[row]), np.uint64(offsets[row + 1])
                        if two < LONG or are_equal(data, at, end, np.uint64(offsets[firsts[known]])):
                            number = known
                            break
                slot = (slot + ONE) & last
            if number < 0:
                number = count
                slots[slot] = high << 32 | number
                names[2 * number], names[2 * number + 1] = one, two
                firsts[number] = row
                count += 1
            numbers[row] = number
        reached[ROW], reached[COUNT] = stop, count
