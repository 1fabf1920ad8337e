"""The functions of the kernel that are called from outside, interpreted or compiled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cep.operators.patterns.kernel.layout import Batch, Ints, Output, Pools, ReadOnlyInts, Scratch, StoredRuns
from cep.operators.patterns.kernel.strict_layout import (
    StrictEvents,
    StrictOutput,
    StrictRoom,
    StrictRules,
)


@dataclass(frozen=True, slots=True)
class Engine:
    """The functions of `cep.operators.patterns.kernel` that are called from outside."""

    count_hits: Callable[..., None]
    list_hits: Callable[..., None]
    run_rules: Callable[[Batch, StoredRuns, Scratch, Pools, Output], int]
    drop_nodes: Callable[[Pools, Ints], None]
    replay: Callable[..., None]
    fit_events: Callable[..., None]
    run_strict: Callable[[StrictRules, StrictEvents, ReadOnlyInts, StrictRoom, StrictOutput, int], int]
