"""SHA-256 (FIPS 180-4) on processors that have instructions for it, two texts side by side: an instruction
waits for the one before it of its text."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, product
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types

from alerts.kernel.intrinsics import CONSTANTS, FIRST, Bytes, Data, Ends, address_of, put_big_word
from alerts.kernel.layout import BLOCK, DIGEST, STATE, WORD
from kernels.family import inlined
from kernels.instructions import Code, instruction, put_long

FEATURE = "sha"
"""A processor's name for them."""
WORDS = 4
"""Words of a register. A state has two, with the words F, E, B, A and H, G, D, C; a block four."""
GROUPS = 16
"""Rounds come four at a time."""
SHORT, LONG = 4, 8
"""Bytes of half the length of a text, which stands at its end in bits, and of the whole."""
MARK = 0x80
SIDES = 2
PREPARED = DIGEST + 2 * BLOCK
"""Bytes of the room that a text takes: its state, and its last one or two blocks."""
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
    def add_blocks(cls, builder: Any, *places: Any) -> Any:
        """To states, as many as there are blocks behind them, at addresses."""
        sides = len(places) // 2
        states = [cls.registers_at(builder, place, STATE // WORDS) for place in places[:sides]]
        blocks = [builder.inttoptr(address, cls.byte.as_pointer()) for address in places[sides:]]
        before = [[builder.load(place, align=1) for place in state] for state in states]
        now = [list(state) for state in before]
        words = [
            [cls.big_words(builder, place) for place in cls.registers_at(builder, block, WORDS)]
            for block in blocks
        ]
        for group, side in product(range(GROUPS), range(sides)):
            now[side] = cls.rounds(builder, group, now[side], words[side])
        for place, old, new in zip(*map(chain.from_iterable, (states, before, now)), strict=True):
            builder.store(builder.add(old, new), place, align=1)
        return cls.nothing

    @classmethod
    def rounds(cls, builder: Any, group: int, state: list[Any], words: list[Any]) -> list[Any]:
        """Four rounds: the state behind them. `words` gets four more."""
        one, two = state
        if group >= WORDS:
            a, b, c, d = words[-WORDS:]
            early = cls.on_registers(builder, "msg1", a, b)
            added = builder.add(early, cls.of_two(builder, c, d, 1, 2, 3, 4))
            words.append(cls.on_registers(builder, "msg2", added, d))
        constants = ir.Constant(cls.register, CONSTANTS[WORDS * group : WORDS * (group + 1)])
        sums = builder.add(words[group], constants)
        two = cls.on_registers(builder, "rnds2", two, one, sums)
        one = cls.on_registers(builder, "rnds2", one, two, cls.of_two(builder, sums, sums, 2, 3, 2, 3))
        return [one, two]

    @classmethod
    def begin_digest(cls, builder: Any, state: Any) -> Any:
        for place, first in zip(cls.registers_at(builder, state, STATE // WORDS), (0, WORDS), strict=True):
            words = [int(word) for word in BEGIN[first : first + WORDS]]
            builder.store(ir.Constant(cls.register, words), place, align=1)
        return cls.nothing

    @classmethod
    def put_digest(cls, builder: Any, digest: Any, state: Any) -> Any:
        found = [builder.load(place, align=1) for place in cls.registers_at(builder, state, STATE // WORDS)]
        order = [WORD * word + WORD - 1 - byte for word in PLACES.tolist() for byte in range(WORD)]
        sides = [builder.bitcast(register, cls.vector(WORDS * WORD)) for register in found]
        cls.store(builder, digest, cls.of_two(builder, *sides, *order))
        return cls.nothing

    @classmethod
    def put_last(cls, builder: Any, to: Any, data: Any, left: Any) -> Any:
        read = cls.load(builder, data, cls.vector(BLOCK))
        counted = ir.Constant(read.type, list(range(BLOCK)))
        one = builder.insert_element(
            ir.Constant(read.type, None), builder.trunc(left, cls.byte), cls.number(0)
        )
        ends = builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(cls.number, BLOCK), None))
        mark, zeros = (ir.Constant(read.type, [value] * BLOCK) for value in (MARK, 0))
        behind = builder.select(builder.icmp_unsigned("==", counted, ends), mark, zeros)
        cls.store(builder, to, builder.select(builder.icmp_unsigned("<", counted, ends), read, behind))
        return cls.nothing


add_block: Callable[[Bytes, int, int], None] = instruction(types.void, "abc", _Code.add_blocks)
"""Go on from a state with the block at an address."""
add_two: Callable[[Bytes, int, Bytes, int, int, int], None] = instruction(
    types.void, "abcdef", _Code.add_blocks
)
"""The same of two states, with a block each."""


begin_digest: Callable[[Bytes, int], None] = instruction(types.void, "ab", _Code.begin_digest)
"""Write the state that a digest begins with."""
put_digest: Callable[[Bytes, int, Bytes, int], None] = instruction(types.void, "abcd", _Code.put_digest)
"""Write a digest from its state."""
put_last: Callable[[Bytes, int, Data, int, int], None] = instruction(types.void, "abcde", _Code.put_last)
"""Write a block of so many bytes from a place on, fewer than it has, the mark and zeros. All its bytes are
read."""


@inlined
def blocks(length: int) -> int:
    """The blocks of a text: with it come the mark and its length."""
    return (length + 1 + LONG + BLOCK - 1) // BLOCK


@inlined
def prepare(data: Data, begin: int, end: int, room: Bytes, at: int) -> None:
    """Write the first state of a text, and the blocks behind its whole ones, with the mark and its length."""
    begin_digest(room, at)
    at += DIGEST
    whole = (end - begin) // BLOCK * BLOCK
    left = end - begin - whole
    if begin + whole + BLOCK <= len(data):
        put_last(room, at, data, begin + whole, left)
    else:
        for place in range(BLOCK):
            room[at + place] = data[begin + whole + place] if place < left else 0
        room[at + left] = MARK
    if left + LONG >= BLOCK:
        at += BLOCK
        for place in range(0, BLOCK, LONG):
            put_long(room, at + place, 0)
    put_big_word(room, at + BLOCK - LONG, np.uint32((end - begin) >> 29))
    put_big_word(room, at + BLOCK - SHORT, np.uint32((end - begin) << 3))


@inlined
def block_of(data: Data, begin: int, end: int, room: Bytes, at: int, number: int) -> int:
    """The address of a text's block; its place in the room is given."""
    whole = (end - begin) // BLOCK
    if number < whole:
        return address_of(data, begin + number * BLOCK)
    return address_of(room, at + DIGEST + (number - whole) * BLOCK)


def digest_texts(data: Data, ends: Ends, room: Bytes, digests: Bytes) -> None:
    """The digests of texts, the n-th of which lies in `data` from `ends[n]` up to `ends[n + 1]`."""
    texts = len(ends) - 1
    for left in range(-SIDES, texts, SIDES):
        # Two are prepared while those before them are digested.
        for text in range(left + SIDES, min(left + 2 * SIDES, texts)):
            prepare(data, ends[text], ends[text + 1], room, text % (2 * SIDES) * PREPARED)
        if left < 0:
            continue
        right = left + 1
        one, other = left % (2 * SIDES) * PREPARED, right % (2 * SIDES) * PREPARED
        left_blocks = blocks(ends[right] - ends[left])
        right_blocks = blocks(ends[right + 1] - ends[right]) if right < texts else 0
        both = min(left_blocks, right_blocks)
        for block in range(both):
            add_two(
                room, one, room, other,
                block_of(data, ends[left], ends[right], room, one, block),
                block_of(data, ends[right], ends[right + 1], room, other, block),
            )  # fmt: skip
        for block in range(both, left_blocks):
            add_block(room, one, block_of(data, ends[left], ends[right], room, one, block))
        for block in range(both, right_blocks):
            add_block(room, other, block_of(data, ends[right], ends[right + 1], room, other, block))
        put_digest(digests, left * DIGEST, room, one)
        if right < texts:
            put_digest(digests, right * DIGEST, room, other)
