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

BASE = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
NOTHING, ONE, BYTE, WORD = np.uint64(0), np.uint64(1), np.uint64(8), np.uint64(8)
THIRTY, TWENTY_SEVEN, THIRTY_ONE = np.uint64(30), np.uint64(27), np.uint64(31)
HALF, HIGH = np.uint64(32), np.uint64(33)
LONG = np.uint64(1 << 63)
NUMBER = 0xFFFFFFFF
AHEAD = 32
"""Texts whose names are known before the table is looked at."""


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
def name_of(data: Data, at: np.uint64, end: np.uint64) -> np.uint64:
    """The bytes of a text of less than eight, with a bit behind them that says how many; of a longer one a
    hash, whose highest bit is set."""
    length, size = end - at, np.uint64(len(data))
    name = length
    while True:
        eight = NOTHING
        if at + WORD <= size:
            for byte in range(8):
                eight |= np.uint64(data[at + np.uint64(byte)]) << (np.uint64(byte) * BYTE)
        else:
            for byte in range(end - at):
                eight |= np.uint64(data[at + np.uint64(byte)]) << (np.uint64(byte) * BYTE)
        if at + WORD > end:
            break
        name = (name ^ eight) * BASE
        name ^= name >> HALF
        at += WORD
    after = ONE << ((end - at) * BYTE)
    rest = eight & (after - ONE) | after
    return rest if length < WORD else (name ^ rest) * BASE | LONG


@inlined
def mixed(name: np.uint64) -> np.uint64:
    """The hash of a name."""
    word = (name ^ name >> THIRTY) * FIRST
    return (word ^ word >> TWENTY_SEVEN) * SECOND


def number_texts(offsets: Offsets, data: Data, slots: Ints, names: Words, firsts: Ints, numbers: Ints) -> int:
    """Number texts, equal ones equally, densely in order of first occurrence; how many there are.

    `firsts` says where each occurs first, `names` has the name of each. `slots` is a hash table with open
    addressing: all -1, of twice as many places as there are texts or more, a power of two. A place has 31
    bits of the hash of a text's name, and its number; long texts of one name are compared. The table is
    looked at when the names of some more texts are known, whose places are brought near meanwhile: of a
    large one each would be waited for.
    """
    count = 0
    last = np.uint64(len(slots) - 1)
    for begin in range(0, len(numbers), AHEAD):
        stop = min(begin + AHEAD, len(numbers))
        # No row has a number above its own: these places of `names` are not taken yet.
        for row in range(begin, stop):
            name = name_of(data, np.uint64(offsets[row]), np.uint64(offsets[row + 1]))
            names[row] = name
            word = mixed(name)
            fetch(slots, (word ^ word >> HALF) & last)
        for row in range(begin, stop):
            name = names[row]
            word = mixed(name)
            end = np.uint64(offsets[row + 1])
            length = end - np.uint64(offsets[row])
            high, slot = np.int64(word >> HIGH), (word ^ word >> HALF) & last
            number = -1
            while slots[slot] >= 0:
                if slots[slot] >> 32 == high:
                    known = slots[slot] & NUMBER
                    if names[known] == name:
                        if length < WORD:
                            number = known
                            break
                        other = np.uint64(offsets[firsts[known]])
                        if np.uint64(offsets[firsts[known] + 1]) - other == length:
                            at = end - length
                            while at < end and data[at] == data[other]:
                                at += ONE
                                other += ONE
                            if at == end:
                                number = known
                                break
                slot = (slot + ONE) & last
            if number < 0:
                number = count
                slots[slot] = high << 32 | number
                names[number] = name
                firsts[number] = row
                count += 1
            numbers[row] = number
    return count
