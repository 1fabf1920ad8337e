"""The kernel compiled by numba, once, and kept in numba's cache on disk.

`kernel` stays plain Python: its functions are compiled as copies that see compiled helpers, in the
order in which the module defines them. Signatures of what is called from outside are given, so that no
array of another kind starts a compilation in silence.
"""

from __future__ import annotations

import types
from dataclasses import fields
from functools import lru_cache
from typing import Any

import numba

from cep.matching import kernel
from cep.matching.engines import Engine

_INTS = numba.int64[::1]
_BYTES = numba.uint8[::1]
_INT = numba.int64
_PAIR = numba.types.UniTuple(_INT, 2)  # type: ignore[no-untyped-call]
_READ = (_INTS, _BYTES, _INTS, _BYTES, _INTS, _INTS, numba.float64[::1], _INTS, _INTS, _INTS)
"""Constants, places, columns, nulls, ranks, slots, floats, unknown, cursor, trace."""
_SIGNATURES = {
    "run": _INT(
        _INTS, _INTS, _INTS, _INTS, _INTS, _BYTES, _INTS, _BYTES, _INTS,
        _INTS, _INTS, _INTS, _INTS, _INTS, _INTS, _INTS, _INTS, _INTS, _INTS,
    ),
    "collect": numba.void(*[_INTS] * 13),
    "link": numba.void(*[_INTS] * 6),
    "replay": numba.void(*[_INTS] * 5, _BYTES, *[_INTS] * 4),
    "mark": numba.void(_INTS, _INTS, _INTS),
    "lengths": numba.void(_INTS, _INTS, _INTS),
    "unroll": numba.void(*[_INTS] * 6),
    # What calls itself: numba keeps no calls in its cache that it took for those of another type.
    "offer": _PAIR(_INTS, _INTS, _INTS, *[_INT] * 6, *_READ),
    "ripe": _PAIR(_INTS, _INT, _INT, _INTS),
    "earliest": _INT(_INTS, _INTS, _INT, _INT),
    "gathered": _INT(_INTS, _INTS, _INT, _INTS, _INTS, _INTS, _INT),
}  # fmt: skip

_INLINED = frozenset({"verdict", "follow", "arrived", "holds", "begin", "crowded", "starts"})
"""What is called for every event: a call with so many arrays costs more than what it does."""


def _outside(_hook: int, _condition: int, _event: int, _way: int) -> int:
    """Rules that ask outside never run compiled."""
    return -1


@lru_cache(maxsize=1)
def load() -> Engine:
    """The compiled engine: about ten seconds the first time on a machine, then 0.2 s from the cache."""
    namespace: dict[str, Any] = {**vars(kernel), "outside": numba.njit(_outside)}
    for name, function in vars(kernel).items():
        own = isinstance(function, types.FunctionType) and function.__module__ == kernel.__name__
        if own and name != "outside":
            copy = types.FunctionType(function.__code__, namespace, name, function.__defaults__)
            # The copies are known to nobody; their names and places are those of the source.
            copy.__module__ = kernel.__name__
            copy.__qualname__ = function.__qualname__
            namespace[name] = numba.njit(cache=True, forceinline=name in _INLINED)(copy)
            if name in _SIGNATURES:
                namespace[name].compile(_SIGNATURES[name])
                namespace[name].disable_compile()
    return Engine(*(namespace[field.name] for field in fields(Engine)))
