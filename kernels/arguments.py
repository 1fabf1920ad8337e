"""Arguments of entries, which machine code checks as they come from Python.

Numba's dispatcher finds a type for each argument at each call, for a named tuple in half a microsecond. The
machine code behind it takes what it gets, whatever its dtype, dimensions and strides are. So entries are
called past the dispatcher, and what they take is `Checked`: an argument that the signature does not say is a
TypeError; one that it says takes some nanoseconds an array.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.extending import NativeValue, intrinsic, register_model, unbox
from numba.np import numpy_support

CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
"""Flags of an array (NPY_ARRAY_...)."""
MOST_DIMENSIONS = 64
"""Of any array of numpy (NPY_MAXDIMS)."""


class _Array(ctypes.Structure):
    """The head of numpy's PyArrayObject_fields (ndarraytypes.h)."""

    _fields_ = [
        ("head", ctypes.c_byte * object.__basicsize__), ("data", ctypes.c_void_p),
        ("dimensions", ctypes.c_int), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
        ("owner", ctypes.c_void_p), ("dtype", ctypes.c_void_p), ("flags", ctypes.c_int),
    ]  # fmt: skip


class _Dtype(ctypes.Structure):
    """The head of numpy's PyArray_Descr."""

    _fields_ = [
        ("head", ctypes.c_byte * object.__basicsize__), ("scalar", ctypes.c_void_p),
        ("kind", ctypes.c_char), ("letter", ctypes.c_char), ("order", ctypes.c_char),
    ]  # fmt: skip


_BYTE, _INT, _LONG = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_NATIVE_ARRAY = ir.ArrayType(_LONG, 5 + 2 * MOST_DIMENSIONS)
"""Numba's form of an array of any dimensions: five words, its shape, its strides."""


class Checked(types.Type):
    """The tuple of an entry's arguments: ints, bools, arrays and named tuples."""

    def __init__(self, signature: Any, entry: str, names: tuple[str, ...]) -> None:
        self.given = types.Tuple(signature.args)
        self.entry = entry
        self.names = names
        super().__init__(f"Checked({entry}{names}: {self.given})")


@register_model(Checked)
class _CheckedModel(models.ProxyModel):
    def __init__(self, manager: Any, checked: Checked) -> None:
        super().__init__(manager, checked)
        self._proxied_model = manager.lookup(checked.given)


def _given(_context: Any, checked: Any) -> Any:
    """Return what was checked."""
    return checked.given(checked), lambda _context, _builder, _signature, values: values[0]


_as_given: Any = intrinsic(_given)


def door(entry: Any) -> Callable[..., Any]:
    """Return a function of one argument, Checked, to be compiled: it calls the entry with its parts."""

    def call(arguments: Any) -> Any:
        return entry(*_as_given(arguments))

    return call


@unbox(Checked)  # type: ignore[untyped-decorator]
def _unbox(checked: Checked, value: Any, c: Any) -> Any:
    builder = c.builder
    native = cgutils.alloca_once(builder, c.context.get_value_type(checked.given))
    failed = cgutils.alloca_once_value(builder, cgutils.true_bit)
    done = builder.append_basic_block("checked")
    wrong = f"{checked.entry} takes {', '.join(checked.names)}"
    found = _Check(c, done).parts(checked.given, checked.names, value, (f"{checked.entry}: ", wrong))
    builder.store(found, native)
    builder.store(cgutils.false_bit, failed)
    builder.branch(done)
    builder.position_at_end(done)
    return NativeValue(builder.load(native), is_error=builder.load(failed))


class _Check:
    """Writes machine code that goes to the block `failed`, with an error set, at the first bad part."""

    def __init__(self, c: Any, failed: Any) -> None:
        self._c = c
        self._builder = c.builder
        self._failed = failed
        with self._builder.goto_entry_block():
            self._room = self._builder.alloca(_NATIVE_ARRAY)

    def parts(self, type_: Any, names: Sequence[str], value: Any, texts: tuple[str, str]) -> Any:
        """The native form of a tuple; `texts` begin messages about its parts, and tell that it is another."""
        place, wrong = texts
        size = self._c.pyapi.tuple_size(value)
        self._need(self._builder.icmp_signed("==", size, size.type(len(type_))), wrong)
        native = [
            self._native(part, self._c.pyapi.tuple_getitem(value, n), f"{place}{name}")
            for n, (part, name) in enumerate(zip(type_, names, strict=True))
        ]
        return self._c.context.make_tuple(self._builder, type_, native)

    def _native(self, type_: Any, value: Any, place: str) -> Any:
        names = getattr(type_, "fields", ())
        match type_:
            case types.BaseNamedTuple():
                return self.parts(
                    type_, names, value, (f"{place}.", f"{place} is no tuple of {', '.join(names)}")
                )
            case types.Array(ndim=1, layout="C"):
                return self._array(type_, value, place)
            case types.Boolean():
                truth = self._c.pyapi.object_istrue(value)
                self._need(self._builder.icmp_signed(">=", truth, truth.type(0)))
                return self._builder.icmp_signed("!=", truth, truth.type(0))
            case types.Integer() if type_ == types.int64:
                return self._integer(value)
        raise TypeError(f"{place}: an entry takes no {type_}")

    def _array(self, type_: Any, value: Any, place: str) -> Any:
        builder, dtype = self._builder, numpy_support.as_dtype(type_.dtype)
        flags = CONTIGUOUS | ALIGNED | (WRITEABLE if type_.mutable else 0)
        writable = "writable " if type_.mutable else ""
        wrong = f"{place} is no {writable}contiguous array of {dtype.name} in one dimension"
        room = builder.bitcast(self._room, cgutils.voidptr_t)
        status = self._c.pyapi.numba_array_adaptor(value, room)
        self._need(builder.icmp_signed("==", status, status.type(0)), wrong)
        described = self._read(value, _Array.dtype.offset, cgutils.voidptr_t)
        found = builder.load(builder.bitcast(room, self._c.context.get_value_type(type_).as_pointer()))
        native = self._c.context.make_array(type_)(self._c.context, builder, value=found)
        parts = (
            (self._read(value, _Array.dimensions.offset, _INT), 1),
            (builder.and_(self._read(value, _Array.flags.offset, _INT), _INT(flags)), flags),
            (self._read(described, _Dtype.kind.offset, _BYTE), ord(dtype.kind)),
            (self._read(described, _Dtype.order.offset, _BYTE), ord(dtype.byteorder)),
            (native.itemsize, dtype.itemsize),
        )
        right = cgutils.true_bit
        for part, expected in parts:
            right = builder.and_(right, builder.icmp_signed("==", part, part.type(expected)))
        self._need(right, wrong)
        return found

    def _integer(self, value: Any) -> Any:
        """An integer: no number that would lose digits, no text of digits."""
        pyapi, builder = self._c.pyapi, self._builder
        to_index = ir.FunctionType(pyapi.pyobj, [pyapi.pyobj])
        function = cgutils.get_or_insert_function(builder.module, to_index, "PyNumber_Index")
        index = builder.call(function, [value])
        self._need(cgutils.is_not_null(builder, index))
        number = pyapi.long_as_longlong(index)
        pyapi.decref(index)
        self._need(builder.not_(pyapi.c_api_error()))
        return number

    def _read(self, value: Any, offset: int, type_: Any) -> Any:
        place = self._builder.gep(self._builder.bitcast(value, cgutils.voidptr_t), [_INT(offset)])
        return self._builder.load(self._builder.bitcast(place, type_.as_pointer()))

    def _need(self, condition: Any, message: str | None = None) -> None:
        """Without a message Python has set the error."""
        with cgutils.if_unlikely(self._builder, self._builder.not_(condition)):
            if message:
                self._c.pyapi.err_set_string("PyExc_TypeError", message)
            self._builder.branch(self._failed)
