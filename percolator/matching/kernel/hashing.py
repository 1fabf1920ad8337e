"""Hashes of 64 bits, which wrap around (FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/)."""

from __future__ import annotations

import numpy as np

from kernels.family import inlined
from percolator.matching.kernel.arrays import KeptBytes, Words

ZERO = np.uint64(0)
SEED = np.uint64(0xCBF29CE484222325)
PRIME = np.uint64(0x100000001B3)
MIX = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
_SOME = np.uint64(29)
_ONE, _BIT, _SIX, _TWELVE = np.uint64(1), np.uint64(63), np.uint64(6), np.uint64(12)


def whole(value: np.uint64) -> int:
    """The value as a number with a sign: one without beside an int would make a float."""
    return np.int64(value)  # type: ignore[return-value]


def mixed(value: np.uint64) -> np.uint64:
    """All bits of a hash depend on all bits of the value."""
    value = (value ^ (value >> HALF)) * MIX
    return (value ^ (value >> _SOME)) * PRIME


@inlined
def folded(value: np.uint64) -> np.uint64:
    """The same with a multiplication less, for keys of which only chosen bits are asked."""
    value = (value ^ (value >> HALF)) * MIX
    return value ^ (value >> _SOME)


def hashed(value: np.uint64, letters: KeptBytes, start: int, end: int) -> np.uint64:
    """The hash that goes on from a value over bytes."""
    for i in range(start, end):
        value = (value ^ np.uint64(letters[i])) * PRIME
    return value


@inlined
def bits_of(value: np.uint64) -> np.uint64:
    """Three bits of a word of a Bloom filter in blocks, by a hash whose upper half chooses the word."""
    return _ONE << (value & _BIT) | _ONE << (value >> _SIX & _BIT) | _ONE << (value >> _TWELVE & _BIT)


@inlined
def has_bits(filter_: Words, value: np.uint64) -> bool:
    """False if no such hash was added to a filter, whose size is a power of two."""
    bits = bits_of(value)
    return bool(filter_[whole(value >> HALF) & (filter_.size - 1)] & bits == bits)


def add_bits(filter_: Words, value: np.uint64) -> None:
    """Adds a hash to a filter."""
    filter_[whole(value >> HALF) & (filter_.size - 1)] |= bits_of(value)


@inlined
def absorbed(
    key: np.uint64, second: np.uint64, rest: np.uint64, byte: int, place: int
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """The first eight bytes of a word, the next eight, and the hash of the others, with one byte more."""
    if place < 8:
        return key | np.uint64(byte) << np.uint64(8 * place), second, rest
    if place < 16:
        return key, second | np.uint64(byte) << np.uint64(8 * place - 64), rest
    return key, second, (rest ^ np.uint64(byte)) * PRIME
