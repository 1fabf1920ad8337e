"""The functions of `cep.routing.kernel` compiled by numba, and kept in numba's cache on disk."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from cep.routing import kernel


class Kernel(NamedTuple):
    """What is called, under the kernel's names."""

    add_texts: Callable[..., None]
    number_texts: Callable[..., int]


def at_hand() -> Kernel | None:
    """The compiled functions, if the process has loaded them."""
    return load() if load.cache_info().currsize else None


@lru_cache(maxsize=1)
def load() -> Kernel:
    """The compiled functions: two seconds of processor the first time on a machine, then a few hundredths."""
    import numba

    offsets, data = (numba.types.Array(kind, 1, "C", readonly=True) for kind in (numba.int32, numba.uint8))
    words, ints = numba.uint64[::1], numba.int64[::1]
    untyped: Any = numba.njit
    return Kernel(
        untyped(numba.void(offsets, data, words), cache=True, _nrt=False)(kernel.add_texts),
        untyped(numba.int64(offsets, data, ints, words, ints, ints), cache=True, _nrt=False)(
            kernel.number_texts
        ),
    )
