"""The kernel compiled by numba, once, and kept in numba's cache on disk.

`kernel` stays plain Python: its functions are compiled as copies that see compiled helpers, in the
order in which the module defines them. The annotations are the signatures, so that each is compiled once:
numba would make another for every constant that is handed over, and in silence one for an array of another
kind. No function makes an array, so none counts who holds one (`_nrt`).
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import fields
from functools import lru_cache
from typing import Any, get_type_hints

import numba

from cep.collector import settled
from cep.matching import kernel
from cep.matching.entry_points import Engine
from cep.routing import compiled as strings

_TYPES: dict[Any, Any] = {
    kernel.Ints: numba.int64[::1],
    kernel.Kept: numba.types.Array(numba.int64, 1, "C", readonly=True),
    kernel.Bytes: numba.uint8[::1],
    kernel.KeptBytes: numba.types.Array(numba.uint8, 1, "C", readonly=True),
    kernel.Floats: numba.float64[::1],
    int: numba.int64,
    float: numba.float64,
    bool: numba.boolean,
    tuple[int, int]: numba.types.UniTuple(numba.int64, 2),  # type: ignore[no-untyped-call]
    type(None): numba.void,
}
"""What an annotation of the kernel means to numba."""

_INLINED = frozenset(
    {
        "show",
        "answer",
        "verdict",
        "follow",
        "arrived",
        "holds",
        "take",
        "crowded",
        "starts",
        "first_of_all",
        "copied",
        "is_open",
        "set_due",
        "assess",
        "strict",
        "new_run",
        "load",
        "way_of",
        "keep_list",
        "keep_way",
        "keep_chain",
        "list_by_key",
        "free_thread",
        "new_thread",
        "alive",
        "kill",
        "is_null",
        "set_null",
        "this_run",
        "end_of_within",
        "later",
        "deadline",
        "too_small",
        "joined",
        "was_absent",
        "keep_to_limit",
        "lives",
    }
)
"""What is called for every event: a call with so many arrays costs more than what it does."""


def _outside(_hook: int, _condition: int, _event: int, _way: int) -> int:
    """Rules that ask outside never run compiled."""
    return -1


def _compiler(**options: bool) -> Any:
    untyped: Any = numba.njit
    return untyped(_nrt=False, **options)


def _signature(function: Callable[..., object]) -> Any:
    types_ = get_type_hints(function, include_extras=True)
    result = _TYPES[types_.pop("return")]
    return result(*(_TYPES[one] for one in types_.values()))


@lru_cache(maxsize=1)
def load() -> Engine:
    """The compiled engine: half a minute of processor the first time on a machine, then 0.2 s.

    Strings are hashed and numbered compiled from then on, too.
    """
    strings.load()
    namespace: dict[str, Any] = {**vars(kernel), "outside": _compiler()(_outside)}
    for name, function in vars(kernel).items():
        own = isinstance(function, types.FunctionType) and function.__module__ == kernel.__name__
        if own and name != "outside":
            copy = types.FunctionType(function.__code__, namespace, name, function.__defaults__)
            # The copies are known to nobody; their names and places are those of the source.
            copy.__module__ = kernel.__name__
            copy.__qualname__ = function.__qualname__
            namespace[name] = _compiler(cache=True, forceinline=name in _INLINED)(copy)
            namespace[name].compile(_signature(function))
            namespace[name].disable_compile()
    settled()
    return Engine(*(namespace[field.name] for field in fields(Engine)))
