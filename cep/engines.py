"""The kernel's entry points, interpreted or compiled. numba is imported only when something asks for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cep import kernel

COMPILE_FROM = 20_000
"""Events in one call from which the compiled kernel pays for its import."""


@dataclass(frozen=True, slots=True)
class Engine:
    """The functions of `cep.kernel` that are called from outside."""

    run: Callable[..., int]
    collect: Callable[..., None]
    replay: Callable[..., None]
    lengths: Callable[..., None]
    unroll: Callable[..., None]


INTERPRETED = Engine(kernel.run, kernel.collect, kernel.replay, kernel.lengths, kernel.unroll)


def engine(events: int, compiled: bool | None = None) -> Engine:
    """The engine for so many events; `compiled` decides where it is given."""
    if compiled is None:
        compiled = events >= COMPILE_FROM
    if not compiled:
        return INTERPRETED
    from cep.compiled import load

    return load()
