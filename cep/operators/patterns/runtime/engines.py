"""The kernel's entry points, interpreted or compiled. numba is imported only when there is much to do."""

from __future__ import annotations

from dataclasses import dataclass

from cep.operators.patterns.kernel.atom_events import count_hits, list_hits
from cep.operators.patterns.kernel.batch import run_rules
from cep.operators.patterns.kernel.layout import (
    C_EFFORT,
    END_OF_TIME,
    LATER,
    Batch,
    Ints,
    Output,
    Pools,
    ReadOnlyInts,
    Scratch,
    StoredRuns,
)
from cep.operators.patterns.kernel.restore import replay
from cep.operators.patterns.kernel.store import drop_nodes
from cep.operators.patterns.kernel.strict import run_strict
from cep.operators.patterns.kernel.strict_conditions import fit_events
from cep.operators.patterns.kernel.strict_layout import (
    StrictEvents,
    StrictOutput,
    StrictRoom,
    StrictRules,
)
from cep.operators.patterns.runtime.entry_points import Engine as Engine

PATIENCE = 20_000
"""Steps in one process from which the compiled kernel has paid for its import: 15 us each interpreted. An
event is one, and each time that a run is shown an event or a time (C_EFFORT)."""


INTERPRETED = Engine(count_hits, list_hits, run_rules, drop_nodes, replay, fit_events, run_strict)


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
    from cep.operators.patterns.runtime.compiled import load

    return load()


def _run_rules(batch: Batch, stored: StoredRuns, scratch: Scratch, pools: Pools, output: Output) -> int:
    """Run rules interpreted until the process has lost patience; then the compiled kernel goes on in the same
    arrays, between two events."""
    cursor = pools.alternatives.cursor
    if _LEFT.steps > 0:
        cursor[C_EFFORT] = _LEFT.steps
        outcome = run_rules(batch, stored, scratch, pools, output)
        _LEFT.steps = int(cursor[C_EFFORT])
        if outcome != LATER:
            return outcome
    cursor[C_EFFORT] = END_OF_TIME
    return _compiled().run_rules(batch, stored, scratch, pools, output)


def _run_strict(
    rules: StrictRules, came: StrictEvents, stored: ReadOnlyInts, room: StrictRoom, output: StrictOutput,
    bound: int,
) -> int:  # fmt: skip
    """Run strict sequences likewise."""
    if _LEFT.steps > 0:
        room.cursor[C_EFFORT] = _LEFT.steps
        outcome = run_strict(rules, came, stored, room, output, bound)
        _LEFT.steps = int(room.cursor[C_EFFORT])
        if outcome != LATER:
            return outcome
    room.cursor[C_EFFORT] = END_OF_TIME
    return _compiled().run_strict(rules, came, stored, room, output, bound)


def _drop_nodes(pools: Pools, marks: Ints) -> None:
    """Drop nodes likewise: there are many where there was much to do."""
    (INTERPRETED if _LEFT.steps > 0 else _compiled()).drop_nodes(pools, marks)


_BEGINNING = Engine(count_hits, list_hits, _run_rules, _drop_nodes, replay, fit_events, _run_strict)
