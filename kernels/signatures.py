"""Numba's types of a function from its annotations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numba
import numpy as np

from kernels.family import READ_ONLY

_SCALARS: dict[Any, Any] = {
    int: numba.int64,
    float: numba.float64,
    bool: numba.boolean,
    type(None): numba.void,
}


def signature(function: Callable[..., object]) -> Any:
    """The one signature that a function is compiled for.

    Raises TypeError where an annotation means nothing to the compiler.
    """
    hints = get_type_hints(function, include_extras=True)
    result = numba_type(hints.pop("return"))
    return result(*(numba_type(one) for one in hints.values()))


def numba_type(annotation: Any) -> Any:
    """Numba's type of an annotation: int is int64; arrays have one dimension and lie together in memory.

    A named tuple is one of its fields' types, any other tuple one of its parts'.
    """
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    origin = get_origin(annotation)
    if origin is Annotated:
        array, *marks = get_args(annotation)
        return _array(array, readonly=READ_ONLY in marks)
    if origin is np.ndarray:
        return _array(annotation, readonly=False)
    if origin is tuple:
        return numba.types.Tuple([numba_type(one) for one in get_args(annotation)])
    if isinstance(annotation, type) and issubclass(annotation, np.generic):
        return numba.from_dtype(np.dtype(annotation))
    if isinstance(annotation, type) and hasattr(annotation, "_fields"):
        fields = get_type_hints(annotation, include_extras=True).values()
        return numba.types.BaseTuple.from_types([numba_type(one) for one in fields], annotation)
    raise TypeError(f"{annotation!r} is no type of a kernel")


def _array(annotation: Any, *, readonly: bool) -> Any:
    (dtype,) = get_args(get_args(annotation)[1])
    return numba.types.Array(numba.from_dtype(np.dtype(dtype)), 1, "C", readonly=readonly)
