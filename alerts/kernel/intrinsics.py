"""Instructions that numba has no name for: bytes at an address, and SHA-256 of eight blocks at a time.

There is no check of bounds: who calls sees to it that as many bytes can be read from there on, or written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types

from alerts.kernel.layout import LANES, SCHEDULED, STATE, WIDTH
from kernels.instructions import Code, instruction

Bytes = npt.NDArray[np.uint8]
Data = Annotated[npt.NDArray[np.uint8], "read only"]
Words = npt.NDArray[np.uint32]
Ends = Annotated[npt.NDArray[np.int64], "read only"]

ROUNDS = 64


class _Code(Code):
    """The instructions as LLVM writes them; a place in an array is a pointer, an address is a number."""

    number = ir.IntType(32)
    lanes = ir.VectorType(number, LANES)
    bytes = Code.vector(WIDTH)
    nothing = ir.Constant(ir.IntType(8).as_pointer(), None)

    @staticmethod
    def roots(power: int, count: int) -> list[int]:
        """The first 32 bits behind the point of square or cube roots of the first primes (FIPS 180-4)."""
        primes = [n for n in range(2, 312) if all(n % d for d in range(2, n))][:count]
        found = []
        for prime in primes:
            scaled, low, high = prime << 32 * power, 0, 1 << 40
            while high - low > 1:  # the whole root of the scaled prime
                middle = (low + high) // 2
                low, high = (middle, high) if middle**power <= scaled else (low, middle)
            found.append(low & 0xFFFFFFFF)
        return found

    @classmethod
    def at_address(cls, builder: Any, address: Any) -> Any:
        return builder.inttoptr(address, cls.byte.as_pointer())

    @classmethod
    def address_of(cls, builder: Any, place: Any) -> Any:
        return builder.ptrtoint(place, cls.word)

    @classmethod
    def offset_at(cls, builder: Any, address: Any) -> Any:
        return builder.zext(cls.load(builder, cls.at_address(builder, address), cls.number), cls.word)

    @classmethod
    def long_offset_at(cls, builder: Any, address: Any) -> Any:
        return cls.load(builder, cls.at_address(builder, address), cls.word)

    @classmethod
    def fetch_from(cls, builder: Any, address: Any) -> Any:
        return cls.fetch(builder, cls.at_address(builder, address))

    @classmethod
    def copy_wide(cls, builder: Any, address: Any, to: Any) -> Any:
        cls.store(builder, to, cls.load(builder, cls.at_address(builder, address), cls.bytes))
        return cls.nothing

    @classmethod
    def copy_byte(cls, builder: Any, address: Any, to: Any) -> Any:
        cls.store(builder, to, cls.load(builder, cls.at_address(builder, address), cls.byte))
        return cls.nothing

    @classmethod
    def big_word_at(cls, builder: Any, place: Any) -> Any:
        return builder.bswap(cls.load(builder, place, cls.number))

    @classmethod
    def put_big_word(cls, builder: Any, place: Any, value: Any) -> Any:
        cls.store(builder, place, builder.bswap(value))
        return cls.nothing

    @classmethod
    def constant(cls, value: int) -> Any:
        return ir.Constant(cls.lanes, [value] * LANES)

    @classmethod
    def turned(cls, builder: Any, value: Any, bits: int) -> Any:
        right = builder.lshr(value, cls.constant(bits))
        return builder.or_(right, builder.shl(value, cls.constant(32 - bits)))

    @classmethod
    def mixed(cls, builder: Any, value: Any, turns: tuple[int, int, int], shifted: bool = False) -> Any:
        """Three turned forms of a word, of which the last may be shifted instead."""
        one, two = (cls.turned(builder, value, bits) for bits in turns[:2])
        last = (
            builder.lshr(value, cls.constant(turns[2])) if shifted else cls.turned(builder, value, turns[2])
        )
        return builder.xor(builder.xor(one, two), last)

    @classmethod
    def add_block(cls, builder: Any, state: Any, block: Any) -> Any:
        """FIPS 180-4, 6.2.2, on vectors."""
        add, xor, and_ = builder.add, builder.xor, builder.and_
        places = [
            builder.gep(builder.bitcast(of, cls.lanes.as_pointer()), [cls.number(n)])
            for of, count in ((state, STATE), (block, SCHEDULED))
            for n in range(count)
        ]
        read = [builder.load(place, align=4) for place in places]
        before, words = read[:STATE], read[STATE:]
        a, b, c, d, e, f, g, h = before
        for round_ in range(ROUNDS):
            at = round_ % SCHEDULED
            if round_ >= SCHEDULED:
                early = cls.mixed(builder, words[(at + 1) % SCHEDULED], (7, 18, 3), shifted=True)
                late = cls.mixed(builder, words[(at + 14) % SCHEDULED], (17, 19, 10), shifted=True)
                words[at] = add(add(words[at], early), add(words[(at + 9) % SCHEDULED], late))
            chosen = xor(g, and_(e, xor(f, g)))
            one = add(add(h, cls.mixed(builder, e, (6, 11, 25))), add(chosen, words[at]))
            one = add(one, cls.constant(CONSTANTS[round_]))
            most = xor(and_(a, b), and_(c, xor(a, b)))
            two = add(cls.mixed(builder, a, (2, 13, 22)), most)
            a, b, c, d, e, f, g, h = add(one, two), a, b, c, add(d, one), e, f, g
        for place, old, new in zip(places, before, (a, b, c, d, e, f, g, h), strict=False):
            builder.store(add(old, new), place, align=4)
        return cls.nothing


CONSTANTS = _Code.roots(3, ROUNDS)
"""The words that the rounds of a digest add."""
FIRST = np.array(_Code.roots(2, STATE), np.uint32)
"""The words that a digest begins with."""

address_of: Callable[[Data, int], int] = instruction(types.int64, "ab", _Code.address_of)
"""The address of a place."""
offset_at: Callable[[int], int] = instruction(types.int64, "a", _Code.offset_at)
"""The number of four bytes at an address, without a sign."""
long_offset_at: Callable[[int], int] = instruction(types.int64, "a", _Code.long_offset_at)
"""The number of eight bytes at an address."""
fetch_from: Callable[[int], None] = instruction(types.void, "a", _Code.fetch_from)
"""Have what is at an address brought near, so that who reads it later need not wait for the memory."""
copy_wide: Callable[[int, Bytes, int], None] = instruction(types.void, "abc", _Code.copy_wide)
"""Copy the 32 bytes from an address on to a place."""
copy_byte: Callable[[int, Bytes, int], None] = instruction(types.void, "abc", _Code.copy_byte)
"""Copy the byte at an address to a place."""
big_word_at: Callable[[Data, int], np.uint32] = instruction(types.uint32, "ab", _Code.big_word_at)
"""The four bytes from a place on, the first the highest."""
put_big_word: Callable[[Bytes, int, np.uint32], None] = instruction(types.void, "abc", _Code.put_big_word)
"""Write a word to four bytes, its highest first."""
add_block: Callable[[Words, int, Words, int], None] = instruction(types.void, "abcd", _Code.add_block)
"""Go on from the states of eight digests with a block of each. Words that are at one place in their states,
or blocks, lie side by side: eight of the first, eight of the second ..."""
