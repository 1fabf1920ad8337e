"""The kernel in its two forms: as it is, and compiled by numba (kept in numba's cache on disk).

`kernel` stays plain Python: its functions are compiled as copies that see compiled helpers, in the
order in which the module defines them. Signatures of what is called from outside are given, so that no
array of another kind starts a compilation in silence.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np

from percolator.matching import kernel


@dataclass(frozen=True, slots=True)
class Engine:
    """What is called from outside of the kernel, under the kernel's names."""

    scan: Callable[..., None]
    rehash: Callable[..., None]
    hashes: Callable[..., None]
    enter: Callable[..., None]
    learn_all: Callable[..., int]
    match: Callable[..., None]
    code_point_edges: Callable[..., None]
    shown: Callable[..., Any]


@lru_cache(maxsize=1)
def interpreted() -> Engine:
    """The kernel as Python: the same answers, some hundred times slower, nothing to wait for."""
    return Engine(*(_wrapping(getattr(kernel, field.name)) for field in fields(Engine)))


def _wrapping(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        # Hashes wrap around, which numpy tells of and compiled code does not.
        with np.errstate(over="ignore"):
            return function(*arguments)

    return call


def at_hand() -> Engine:
    """The compiled engine if the process has loaded it, else the interpreted one."""
    return load() if load.cache_info().currsize else interpreted()


@lru_cache(maxsize=1)
def load() -> Engine:
    """The compiled engine: some twenty seconds the first time on a machine, then half a second."""
    import numba

    def array(kind: Any, *, constant: bool = False) -> Any:
        return numba.types.Array(kind, 1, "C", readonly=constant)

    ints, longs, words = array(numba.int32), array(numba.int64), array(numba.uint64)
    data = array(numba.uint8)
    several: Any = numba.types.Tuple
    segment = [array(kind, constant=True) for kind in (numba.int64, numba.int32, numba.uint8)]
    given = array(numba.uint8, constant=True)
    signatures = {
        "scan": numba.void(
            given, longs, ints, data, words, ints, data, ints, ints, longs, longs, numba.boolean
        ),
        "rehash": numba.void(words, words),
        "hashes": numba.void(ints, data, numba.int64, words),
        "enter": numba.void(ints, ints, given, numba.int64),
        "learn_all": numba.int64(
            *segment, ints, ints, ints, data, ints, ints, data, longs, ints, ints, ints
        ),
        "match": numba.void(
            *segment, ints, ints, ints, data, ints, data, ints, data, ints, ints, longs, longs, ints, ints,
            longs, ints, longs, longs, longs, longs, numba.int64,
        ),
        "shown": several((longs, ints, ints, longs))(
            *segment[:2], ints, ints, ints, data, ints, ints, ints, longs, longs, ints, ints, given, longs
        ),
        "code_point_edges": numba.void(given, longs, longs, ints, longs),
    }  # fmt: skip
    namespace: dict[str, Any] = dict(vars(kernel))
    for name, function in vars(kernel).items():
        if isinstance(function, types.FunctionType) and function.__module__ == kernel.__name__:
            copy = types.FunctionType(function.__code__, namespace, name, function.__defaults__)
            # The copies are known to nobody; their names and places are those of the source.
            copy.__module__ = kernel.__name__
            copy.__qualname__ = function.__qualname__
            signature = signatures.get(name)
            compiler = numba.njit(cache=True) if signature is None else numba.njit(signature, cache=True)
            namespace[name] = compiler(copy)
    return Engine(*(namespace[field.name] for field in fields(Engine)))
