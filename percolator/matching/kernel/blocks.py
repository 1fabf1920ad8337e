"""Bytes of a text, many at a time. Compiled, each function is an instruction without a check of bounds."""

from __future__ import annotations

import numpy as np

from kernels.family import inlined, instruction
from percolator.matching.kernel.arrays import KeptBytes

BLOCK = 64
"""Bytes of a block: one bit of a mask each, the first the lowest."""

_BYTES = np.arange(256)
_IS_LETTER = np.isin(_BYTES, list(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"))
_IS_JOINER = np.isin(_BYTES, list(b".'"))
_IS_OTHER = _BYTES >= 128
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE, _BYTE = np.uint64(1), np.uint64(8)
_LETTER = np.uint64(0x4040404040404040)


@instruction
def word_at(data: KeptBytes, at: int) -> np.uint64:
    """Eight bytes from a place on, the first the lowest."""
    return np.uint64(int.from_bytes(data[at : at + 8].tobytes(), "little"))


@instruction
def trailing_zeros(mask: np.uint64) -> int:
    """The number of zero bits below the lowest that is set; 64 of 0."""
    value = int(mask)
    return (value & -value).bit_length() - 1 if value else 64


@instruction
def letters_at(data: KeptBytes, at: int) -> np.uint64:
    """The mask of the ASCII letters, digits and `_` of a block."""
    bits = np.packbits(_IS_LETTER[data[at : at + BLOCK]], bitorder="little")
    return np.uint64(bits.view(np.uint64)[0])


@instruction
def joiners_at(data: KeptBytes, at: int) -> np.uint64:
    """The mask of the ASCII joiners of a block."""
    bits = np.packbits(_IS_JOINER[data[at : at + BLOCK]], bitorder="little")
    return np.uint64(bits.view(np.uint64)[0])


@instruction
def others_at(data: KeptBytes, at: int) -> np.uint64:
    """The mask of the bytes of a block that are not ASCII."""
    bits = np.packbits(_IS_OTHER[data[at : at + BLOCK]], bitorder="little")
    return np.uint64(bits.view(np.uint64)[0])


@inlined
def below(bit: int) -> np.uint64:
    """The mask of the bits below one; of all from 64 on."""
    return _ALL if bit >= 64 else (_ONE << np.uint64(bit)) - _ONE


@inlined
def first_bytes(word: np.uint64, count: int) -> np.uint64:
    """The first bytes of eight: none of them for a count below 1, all from 8 on. There is no branch."""
    half = np.uint64(4 * min(max(count, 0), 8))
    return word & ((_ONE << half << half) - _ONE)


@inlined
def bytes_from(key: np.uint64, second: np.uint64, place: int) -> np.uint64:
    """Eight of sixteen bytes, from one of the first nine on."""
    if place == 0:
        return key
    if place >= 8:
        return second >> (_BYTE * np.uint64(place - 8))
    return key >> (_BYTE * np.uint64(place)) | second << (_BYTE * np.uint64(8 - place))


@inlined
def small(word: np.uint64) -> np.uint64:
    """Eight bytes with small letters for capitals, for hashes: other signs may change, too."""
    return word | (word & _LETTER) >> _ONE
