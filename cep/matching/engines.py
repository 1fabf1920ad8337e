"""The kernel's entry points, interpreted or compiled. numba is imported only when there is much to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cep.matching import kernel
from cep.matching.entry_points import Engine as Engine

PATIENCE = 20_000
"""Steps in one process from which the compiled kernel has paid for its import: 15 us each interpreted. An
event is one, and each time that a run is asked about an event or a time (kernel.C_EFFORT)."""


INTERPRETED = Engine(
    kernel.count_hits, kernel.list_hits, kernel.run_rules, kernel.drop_nodes, kernel.replay,
)  # fmt: skip


@dataclass(slots=True)
class _Patience:
    """The steps that this process still does interpreted: it decides how fast, never what is found."""

    steps: int = PATIENCE


_LEFT = _Patience()


def engine(events: int, compiled: bool | None = None) -> Engine:
    """The engine for so many more events; `compiled` decides where it is given.

    A process begins interpreted and goes over to the compiled kernel once there was much to do, also amid
    the events of one key.
    """
    if compiled is None:
        _LEFT.steps -= events
        compiled = _LEFT.steps <= 0
        if not compiled:
            return _BEGINNING
    return _compiled() if compiled else INTERPRETED


def _compiled() -> Engine:
    from cep.matching.compiled import load

    return load()


def _run_rules(*arrays: Any) -> int:
    """kernel.run_rules, interpreted until the process has lost patience; then the compiled one goes on in the
    same arrays, between two events."""
    cursor = arrays[-2]
    if _LEFT.steps > 0:
        cursor[kernel.C_EFFORT] = _LEFT.steps
        outcome = kernel.run_rules(*arrays)
        _LEFT.steps = int(cursor[kernel.C_EFFORT])
        if outcome != kernel.LATER:
            return outcome
    cursor[kernel.C_EFFORT] = kernel.END_OF_TIME
    return _compiled().run_rules(*arrays)


def _drop_nodes(*arrays: Any) -> None:
    """kernel.drop_nodes, likewise: there are many nodes where there was much to do."""
    (INTERPRETED if _LEFT.steps > 0 else _compiled()).drop_nodes(*arrays)


_BEGINNING = Engine(
    kernel.count_hits, kernel.list_hits, _run_rules, _drop_nodes, kernel.replay,
)  # fmt: skip
