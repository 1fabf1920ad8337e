"""Instructions that numba has no name for: on bytes of an array without a check of bounds, 32 at a time.

Arguments are arrays of bytes, each with a place in it that is counted from 0, and numbers. Who calls sees
to it that as many bytes can be read from there on, or written. Words are little-endian. Bit n of a mask of
32 bytes is that of byte n.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types

from cep.decode.kernel.layout import Bytes, Data
from kernels.instructions import Code, instruction

WIDTH = 32
"""Bytes that are looked at together: one register of most processors."""


class _Code(Code):
    """The instructions as LLVM writes them; a place in an array is a pointer."""

    wide, place = ir.IntType(128), ir.IntType(32)
    bytes = Code.vector(WIDTH)

    @classmethod
    def put_byte(cls, builder: Any, place: Any, value: Any) -> Any:
        cls.store(builder, place, builder.trunc(value, cls.byte))
        return ir.Constant(ir.IntType(8).as_pointer(), None)

    @classmethod
    def stops(cls, builder: Any, found: Any) -> Any:
        ends = builder.or_(cls.compare(builder, "==", found, '"'), cls.compare(builder, "==", found, "\\"))
        return cls.as_mask(builder, builder.or_(ends, cls.compare(builder, "<", found, " ")))

    @classmethod
    def stops_at(cls, builder: Any, place: Any) -> Any:
        return cls.stops(builder, cls.load(builder, place, cls.bytes))

    @classmethod
    def copied_stops(cls, builder: Any, place: Any, to: Any) -> Any:
        found = cls.load(builder, place, cls.bytes)
        cls.store(builder, to, found)
        return cls.stops(builder, found)

    @classmethod
    def cell_stops(cls, builder: Any, found: Any, delimiter: Any) -> Any:
        alone = builder.insert_element(
            ir.Constant(cls.bytes, ir.Undefined),
            builder.trunc(delimiter, cls.byte),
            ir.Constant(cls.place, 0),
        )
        zeros = ir.Constant(ir.VectorType(cls.place, WIDTH), [0] * WIDTH)
        ends = builder.icmp_unsigned("==", found, builder.shuffle_vector(alone, alone, zeros))
        for byte in '"\r\n':
            ends = builder.or_(ends, cls.compare(builder, "==", found, byte))
        return cls.as_mask(builder, ends)

    @classmethod
    def cell_stops_at(cls, builder: Any, place: Any, delimiter: Any) -> Any:
        return cls.cell_stops(builder, cls.load(builder, place, cls.bytes), delimiter)

    @classmethod
    def copied_cell_stops(cls, builder: Any, place: Any, to: Any, delimiter: Any) -> Any:
        found = cls.load(builder, place, cls.bytes)
        cls.store(builder, to, found)
        return cls.cell_stops(builder, found, delimiter)

    @classmethod
    def newlines_at(cls, builder: Any, place: Any) -> Any:
        found = cls.load(builder, place, cls.bytes)
        return cls.as_mask(builder, cls.compare(builder, "==", found, "\n"))

    @classmethod
    def beyond_ascii_at(cls, builder: Any, place: Any) -> Any:
        found = cls.load(builder, place, cls.bytes)
        return cls.as_mask(builder, builder.icmp_signed("<", found, ir.Constant(cls.bytes, [0] * WIDTH)))

    @classmethod
    def quotes_and_newlines_at(cls, builder: Any, place: Any) -> Any:
        found = cls.load(builder, place, cls.bytes)
        ends = builder.or_(cls.compare(builder, "==", found, '"'), cls.compare(builder, "==", found, "\n"))
        return cls.as_mask(builder, ends)

    @classmethod
    def differences(cls, builder: Any, place: Any, other: Any) -> Any:
        one, two = cls.load(builder, place, cls.bytes), cls.load(builder, other, cls.bytes)
        return cls.as_mask(builder, builder.icmp_unsigned("!=", one, two))

    @classmethod
    def leading_zeros(cls, builder: Any, value: Any) -> Any:
        return builder.ctlz(value, cls.no)

    @classmethod
    def ones(cls, builder: Any, value: Any) -> Any:
        return builder.ctpop(value)

    @classmethod
    def upper_product(cls, builder: Any, one: Any, two: Any) -> Any:
        product = builder.mul(builder.zext(one, cls.wide), builder.zext(two, cls.wide))
        return builder.trunc(builder.lshr(product, ir.Constant(cls.wide, 64)), cls.word)


byte_at: Callable[[Data, int], int] = instruction(types.int64, "ab", _Code.byte_at)
"""The byte at a place."""
put_byte: Callable[[Bytes, int, int], None] = instruction(types.void, "abc", _Code.put_byte)
"""Write the lowest byte of a number to a place."""
stops_at: Callable[[Data, int], int] = instruction(types.int64, "ab", _Code.stops_at)
"""The mask of quotes, backslashes and control characters among the 32 bytes from a place on."""
copied_stops: Callable[[Data, int, Bytes, int], int] = instruction(types.int64, "abcd", _Code.copied_stops)
"""The same; the 32 bytes are copied to the second place."""
cell_stops_at: Callable[[Data, int, int], int] = instruction(types.int64, "abc", _Code.cell_stops_at)
"""The mask of delimiters (the number given), quotes and ends of lines among the 32 bytes from a place on."""
copied_cell_stops: Callable[[Data, int, Bytes, int, int], int] = instruction(
    types.int64, "abcde", _Code.copied_cell_stops
)
"""The same; the 32 bytes are copied to the second place."""
newlines_at: Callable[[Data, int], int] = instruction(types.int64, "ab", _Code.newlines_at)
"""The mask of line ends among the 32 bytes from a place on."""
beyond_ascii_at: Callable[[Data, int], int] = instruction(types.int64, "ab", _Code.beyond_ascii_at)
"""The mask of bytes that are not ASCII among the 32 bytes from a place on."""
quotes_and_newlines_at: Callable[[Data, int], int] = instruction(
    types.int64, "ab", _Code.quotes_and_newlines_at
)
"""The mask of quotes and line ends among the 32 bytes from a place on."""
differences: Callable[[Data, int, Bytes, int], int] = instruction(types.int64, "abcd", _Code.differences)
"""The mask of those of 32 bytes that are not the same at two places."""
leading_zeros: Callable[[int | np.uint64], int] = instruction(types.int64, "a", _Code.leading_zeros)
"""The number of zero bits above the highest that is set; 64 of 0."""
ones: Callable[[int], int] = instruction(types.int64, "a", _Code.ones)
"""The number of bits that are set."""
upper_product: Callable[[np.uint64, np.uint64], np.uint64] = instruction(
    types.uint64, "ab", _Code.upper_product
)
"""The upper 64 bits of the product of two unsigned words."""
