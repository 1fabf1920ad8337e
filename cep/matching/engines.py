"""The kernel's entry points, interpreted or compiled. numba is imported only when many events flow."""

from __future__ import annotations

from dataclasses import dataclass

from cep.matching import kernel
from cep.matching.entry_points import Engine as Engine

COMPILE_FROM = 20_000
"""Events in one process from which the compiled kernel has paid for its import: 15 us each interpreted."""


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
