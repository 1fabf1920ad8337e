"""Instructions that numba has no name for, as LLVM writes them: on bytes of an array, many at a time.

Arguments are arrays of bytes, each with a place in it that is counted from 0, and numbers. There is no check
of bounds: who calls sees to it that as many bytes can be read from there on, or written. Words are
little-endian. Bit n of a mask is that of byte n.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import Parameter, Signature
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

Bytes = npt.NDArray[np.uint8]

BLOCK = 64
"""Bytes that have one mask."""


def instruction(result: Any, arguments: str, code: Callable[..., Any]) -> Any:
    """An instruction for numba: `code` gets the builder, and an operand for each place or number."""

    def typed(_: Any, *given: Any) -> Any:
        def written(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            operands, left = [], list(zip(signature.args, values, strict=True))
            while left:
                type_, value = left.pop(0)
                if isinstance(type_, types.Array):
                    array = context.make_array(type_)(context, builder, value)
                    value = builder.gep(array.data, [left.pop(0)[1]])
                operands.append(value)
            return code(builder, *operands)

        return result(*given), written

    of_any = partial(Parameter, kind=Parameter.POSITIONAL_ONLY)
    typed.__signature__ = Signature([of_any(name) for name in ("_", *arguments)])  # type: ignore[attr-defined]
    return intrinsic(typed)


class Code:
    """Pieces that instructions are written of; a place in an array is a pointer."""

    byte, word = ir.IntType(8), ir.IntType(64)
    no = ir.Constant(ir.IntType(1), 0)

    @staticmethod
    def vector(width: int) -> Any:
        return ir.VectorType(Code.byte, width)

    @staticmethod
    def load(builder: Any, place: Any, type_: Any) -> Any:
        return builder.load(builder.bitcast(place, type_.as_pointer()), align=1)

    @staticmethod
    def store(builder: Any, place: Any, value: Any) -> Any:
        return builder.store(value, builder.bitcast(place, value.type.as_pointer()), align=1)

    @staticmethod
    def all_of(found: Any, byte: str) -> Any:
        """A byte as often as a vector has bytes."""
        return ir.Constant(found.type, [ord(byte)] * found.type.count)

    @staticmethod
    def compare(builder: Any, how: str, found: Any, byte: str) -> Any:
        return builder.icmp_unsigned(how, found, Code.all_of(found, byte))

    @staticmethod
    def as_mask(builder: Any, compared: Any) -> Any:
        mask = builder.bitcast(compared, ir.IntType(compared.type.count))
        return mask if compared.type.count == Code.word.width else builder.zext(mask, Code.word)

    @staticmethod
    def byte_at(builder: Any, place: Any) -> Any:
        return builder.zext(Code.load(builder, place, Code.byte), Code.word)

    @staticmethod
    def word_at(builder: Any, place: Any) -> Any:
        return Code.load(builder, place, Code.word)

    @staticmethod
    def put_word(builder: Any, place: Any, word: Any) -> Any:
        Code.store(builder, place, word)
        return word

    @staticmethod
    def trailing_zeros(builder: Any, value: Any) -> Any:
        return builder.cttz(value, Code.no)

    @staticmethod
    def fetch(builder: Any, place: Any) -> Any:
        number, to_read, kept, data = ir.IntType(32), 0, 3, 1
        nothing = ir.VoidType()
        type_ = ir.FunctionType(nothing, [place.type, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [place.type], type_)
        builder.call(function, [place, *(number(value) for value in (to_read, kept, data))])
        return ir.Constant(Code.byte.as_pointer(), None)

    @staticmethod
    def letters_at(builder: Any, place: Any) -> Any:
        found = Code.load(builder, place, Code.vector(BLOCK))
        lowered = builder.or_(found, Code.all_of(found, " "))
        letters = Code.compare(builder, "<", builder.sub(lowered, Code.all_of(found, "a")), chr(26))
        digits = Code.compare(builder, "<", builder.sub(found, Code.all_of(found, "0")), chr(10))
        line = Code.compare(builder, "==", found, "_")
        return Code.as_mask(builder, builder.or_(builder.or_(letters, digits), line))

    @staticmethod
    def joiners_at(builder: Any, place: Any) -> Any:
        found = Code.load(builder, place, Code.vector(BLOCK))
        ends = [Code.compare(builder, "==", found, sign) for sign in ".'"]
        return Code.as_mask(builder, builder.or_(*ends))

    @staticmethod
    def others_at(builder: Any, place: Any) -> Any:
        found = Code.load(builder, place, Code.vector(BLOCK))
        return Code.as_mask(builder, Code.compare(builder, ">=", found, "\x80"))


word_at: Callable[[Bytes, int], np.uint64] = instruction(types.uint64, "ab", Code.word_at)
"""The eight bytes from a place on, the first the lowest."""
long_at: Callable[[Bytes, int], int] = instruction(types.int64, "ab", Code.word_at)
"""The same as a number with a sign."""
put_long: Callable[[Bytes, int, int], int] = instruction(types.int64, "abc", Code.put_word)
"""Write such a number to the eight bytes from a place on; the number."""
trailing_zeros: Callable[[int | np.uint64], int] = instruction(types.int64, "a", Code.trailing_zeros)
"""The number of zero bits below the lowest that is set; 64 of 0."""
fetch: Callable[[npt.NDArray[Any], int | np.uint64], None] = instruction(types.void, "ab", Code.fetch)
"""Have a place of an array brought near, so that who reads it later need not wait for the memory."""
letters_at: Callable[[Bytes, int], np.uint64] = instruction(types.uint64, "ab", Code.letters_at)
"""The mask of ASCII letters, digits and `_` among BLOCK bytes from a place on."""
joiners_at: Callable[[Bytes, int], np.uint64] = instruction(types.uint64, "ab", Code.joiners_at)
"""The mask of `.` and `'` among them."""
others_at: Callable[[Bytes, int], np.uint64] = instruction(types.uint64, "ab", Code.others_at)
"""The mask of bytes that are not ASCII among them."""
