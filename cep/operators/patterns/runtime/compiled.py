"""The kernel of patterns, compiled."""

from __future__ import annotations

from functools import lru_cache

from cep.collector import settled
from cep.hashing import compiled as strings
from cep.operators.patterns.kernel import (
    advance,
    alternatives,
    arrive,
    atom_events,
    batch,
    bytecode,
    capacity,
    chains,
    decide,
    guards,
    layout,
    loop,
    merge,
    restore,
    runs,
    selected_events,
    store,
    strict,
    strict_conditions,
    strict_layout,
    tables,
    timers,
    trace,
    wait_index,
)  # fmt: skip
from cep.operators.patterns.runtime.entry_points import Engine
from kernels import loader
from kernels.family import Family

PATTERNS = Family(
    "patterns",
    (
        layout, tables, bytecode, trace, alternatives, timers, chains, arrive, guards, advance, merge,
        wait_index, runs, decide, capacity, loop, atom_events, selected_events, restore, store, batch,
        strict_layout, strict_conditions, strict,
    ),
    tuple(Engine.__dataclass_fields__),
)  # fmt: skip


@lru_cache(maxsize=1)
def load() -> Engine:
    """The compiled engine: half a minute of processor the first time on a machine, then 0.2 s.

    Strings are hashed and numbered compiled from then on, too.
    """
    strings.load()
    engine = Engine(**loader.load(PATTERNS))
    settled()
    return engine
