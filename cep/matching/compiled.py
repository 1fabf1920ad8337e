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
_SIGNATURES = {
    "run": numba.int64(
        _INTS, _INTS, _INTS, _INTS, _INTS, _BYTES, _INTS, _BYTES, _INTS,
        _INTS, _INTS, _INTS, _INTS, _INTS, _INTS, _INTS, _INTS, _INTS, _INTS,
    ),
    "collect": numba.void(*[_INTS] * 12),
    "replay": numba.void(*[_INTS] * 5, _BYTES, _INTS, _INTS, numba.float64[::1], _INTS, _INTS),
    "mark": numba.void(_INTS, _INTS, _INTS),
    "lengths": numba.void(_INTS, _INTS, _INTS),
    "unroll": numba.void(*[_INTS] * 6),
}  # fmt: skip


@lru_cache(maxsize=1)
def load() -> Engine:
    """The compiled engine: about ten seconds the first time on a machine, then 0.2 s from the cache."""
    namespace: dict[str, Any] = dict(vars(kernel))
    for name, function in vars(kernel).items():
        if isinstance(function, types.FunctionType) and function.__module__ == kernel.__name__:
            copy = types.FunctionType(function.__code__, namespace, name, function.__defaults__)
            # The copies are known to nobody; their names and places are those of the source.
            copy.__module__ = kernel.__name__
            copy.__qualname__ = function.__qualname__
            signature = _SIGNATURES.get(name)
            compiler = numba.njit(cache=True) if signature is None else numba.njit(signature, cache=True)
            namespace[name] = compiler(copy)
    return Engine(*(namespace[field.name] for field in fields(Engine)))
