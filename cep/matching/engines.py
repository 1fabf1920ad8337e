"""The kernel's entry points, interpreted or compiled. numba is imported only when many events flow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cep.matching import kernel

COMPILE_FROM = 20_000
"""Events in one process from which the compiled kernel has paid for its import: 15 us each interpreted."""


@dataclass(frozen=True, slots=True)
class Engine:
    """The functions of `cep.matching.kernel` that are called from outside."""

    count_hits: Callable[..., None]
    list_hits: Callable[..., None]
    run_rules: Callable[..., int]
    drop_nodes: Callable[..., None]
    replay: Callable[..., None]


INTERPRETED = Engine(
    kernel.count_hits, kernel.list_hits, kernel.run_rules, kernel.drop_nodes, kernel.replay,
)  # fmt: skip


@dataclass(slots=True)
class _Flow:
    """How many events this process has seen: it decides how fast, never what is found."""

    events: int = 0


_FLOW = _Flow()


def engine(events: int, compiled: bool | None = None) -> Engine:
    """The engine for so many more events; `compiled` decides where it is given.

    A process begins interpreted and goes over to the compiled kernel once enough events have come.
    """
    if compiled is None:
        _FLOW.events += events
        compiled = _FLOW.events >= COMPILE_FROM
    if not compiled:
        return INTERPRETED
    from cep.matching.compiled import load

    return load()
