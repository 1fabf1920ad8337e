"""SHA-256 (FIPS 180-4), a text after the other, on processors that have instructions for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types

from alerts.kernel.intrinsics import CONSTANTS, FIRST, Bytes, Data, Ends, put_big_word
from alerts.kernel.layout import BLOCK, DIGEST, STATE, WORD
from kernels.family import inlined
from kernels.instructions import Code, instruction, long_at, put_long

FEATURE = "sha"
"""A processor's name for them."""
WORDS = 4
"""Words of a register. A state has two, with the words F, E, B, A and H, G, D, C; a block four."""
GROUPS = 16
"""Rounds come four at a time."""
SHORT, LONG = 4, 8
"""Bytes of half the length of a text, which stands at its end in bits, and of the whole."""
MARK = 0x80
LAST = STATE * WORD
"""Where in the room the last one or two blocks of a text lie: behind its state."""
PLACES = np.array([3, 2, 7, 6, 1, 0, 5, 4])
"""Of A, B, C ... in a state."""
BEGIN = FIRST[np.argsort(PLACES)]
"""The state that a digest begins with."""


class _Code(Code):
    """Source: S. Gulley and others, "Intel SHA Extensions", 2013."""

    number = ir.IntType(32)
    register = ir.VectorType(number, WORDS)
    nothing = ir.Constant(ir.IntType(8).as_pointer(), None)

    @classmethod
    def on_registers(cls, builder: Any, name: str, *operands: Any) -> Any:
        name = f"llvm.x86.sha256{name}"
        type_ = ir.FunctionType(cls.register, [cls.register] * len(operands))
        function = builder.module.globals.get(name) or ir.Function(builder.module, type_, name)
        return builder.call(function, operands)

    @classmethod
    def of_two(cls, builder: Any, first: Any, second: Any, *places: int) -> Any:
        """Elements of two vectors, those of the second counted from the end of the first."""
        mask = ir.Constant(ir.VectorType(cls.number, len(places)), list(places))
        return builder.shuffle_vector(first, second, mask)

    @classmethod
    def registers_at(cls, builder: Any, place: Any, count: int) -> list[Any]:
        first = builder.bitcast(place, cls.register.as_pointer())
        return [builder.gep(first, [cls.number(n)]) for n in range(count)]

    @classmethod
    def big_words(cls, builder: Any, place: Any) -> Any:
        read = builder.load(builder.bitcast(place, cls.vector(WORDS * WORD).as_pointer()), align=1)
        order = [WORD * word + WORD - 1 - byte for word in range(WORDS) for byte in range(WORD)]
        return builder.bitcast(cls.of_two(builder, read, read, *order), cls.register)

    @classmethod
    def add_block_at(cls, builder: Any, state: Any, block: Any) -> Any:
        places = cls.registers_at(builder, state, STATE // WORDS)
        before = [builder.load(place, align=1) for place in places]
        words = [cls.big_words(builder, place) for place in cls.registers_at(builder, block, WORDS)]
        one, two = before
        for group in range(GROUPS):
            if group >= WORDS:
                a, b, c, d = words[-WORDS:]
                early = cls.on_registers(builder, "msg1", a, b)
                added = builder.add(early, cls.of_two(builder, c, d, 1, 2, 3, 4))
                words.append(cls.on_registers(builder, "msg2", added, d))
            constants = ir.Constant(cls.register, CONSTANTS[WORDS * group : WORDS * (group + 1)])
            sums = builder.add(words[group], constants)
            two = cls.on_registers(builder, "rnds2", two, one, sums)
            one = cls.on_registers(builder, "rnds2", one, two, cls.of_two(builder, sums, sums, 2, 3, 2, 3))
        for place, old, new in zip(places, before, (one, two), strict=True):
            builder.store(builder.add(old, new), place, align=1)
        return cls.nothing


add_block_at: Callable[[Bytes, int, Data, int], None] = instruction(types.void, "abcd", _Code.add_block_at)
"""Go on from a state with the block at a place."""


@inlined
def put_end(data: Data, at: int, begin: int, end: int, room: Bytes) -> int:
    """Write what is left of a text from `at` on, the mark, zeros and the length: so many bytes of blocks."""
    size = BLOCK if end - at + 1 + LONG <= BLOCK else 2 * BLOCK
    for place in range(0, size, LONG):
        left = end - at - place
        number = 0
        if left >= LONG:
            number = long_at(data, at + place)
        elif left >= 0:
            number = MARK << 8 * left
            for byte in range(left):
                number |= int(data[at + place + byte]) << 8 * byte
        put_long(room, LAST + place, number)
    length = LAST + size - LONG
    put_big_word(room, length, np.uint32((end - begin) >> 29))
    put_big_word(room, length + SHORT, np.uint32((end - begin) << 3))
    return size


def digest_texts(data: Data, ends: Ends, room: Bytes, digests: Bytes) -> None:
    """The digests of texts, the n-th of which lies in `data` from `ends[n]` up to `ends[n + 1]`."""
    state = room.view(np.uint32)
    for text in range(len(ends) - 1):
        for word in range(STATE):
            state[word] = BEGIN[word]
        at, end = ends[text], ends[text + 1]
        while at + BLOCK <= end:
            add_block_at(room, 0, data, at)
            at += BLOCK
        for block in range(0, put_end(data, at, ends[text], end, room), BLOCK):
            add_block_at(room, 0, room, LAST + block)
        for word in range(STATE):
            put_big_word(digests, text * DIGEST + WORD * word, state[PLACES[word]])
