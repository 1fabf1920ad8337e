"""Numbers of bytes. Behind a record more bytes can be read than a number has: who calls looks at its end."""

from __future__ import annotations

import numpy as np

from cep.decode.kernel.intrinsics import byte_at
from cep.decode.kernel.layout import Data
from kernels.family import inlined
from kernels.instructions import word_at

SEVEN = np.uint64(7)
LOW = np.uint64(0x7F)
ONE = np.uint64(1)
NOTHING = np.uint64(0)


def long_varint(data: Data, at: int) -> tuple[np.uint64, int]:
    """The number that begins at a place and has more than a byte, and its end; -1 if it has over 64 bits."""
    value, shift = NOTHING, NOTHING
    for count in range(10):
        byte = byte_at(data, at)
        at += 1
        if count == 9 and byte > 1:
            return NOTHING, -1
        value |= (np.uint64(byte) & LOW) << shift
        if byte < 0x80:
            return value, at
        shift += SEVEN
    return NOTHING, -1


@inlined
def varint(data: Data, at: int) -> tuple[np.uint64, int]:
    """The number that begins at a place, and its end; -1 if it has over 64 bits."""
    byte = byte_at(data, at)
    if byte < 0x80:
        return np.uint64(byte), at + 1
    return long_varint(data, at)


@inlined
def signed(value: np.uint64) -> int:
    """A number whose sign is its lowest bit."""
    return int(np.int64(value >> ONE) ^ -np.int64(value & ONE))


@inlined
def half_at(data: Data, at: int) -> int:
    """The four bytes from a place on, the first the lowest, as a number without a sign."""
    return int(np.int64(word_at(data, at) & np.uint64(0xFFFFFFFF)))
