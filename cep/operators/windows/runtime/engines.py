"""The kernel's entry points, interpreted or compiled. numba is imported only when there is much to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np

from cep.operators.windows.kernel.compact import measure_compact, put_compact, take_compact
from cep.operators.windows.kernel.distincts import count_distinct
from cep.operators.windows.kernel.extremes import find_greatest
from cep.operators.windows.kernel.moving import (
    copy_parts,
    join_bits,
    join_both,
    join_keys,
    join_places,
    join_words,
    put_bits,
    put_words,
)
from cep.operators.windows.kernel.percentiles import find_percentiles, find_percentiles_of_many
from cep.operators.windows.kernel.places import find_after, find_sessions, find_windows
from cep.operators.windows.kernel.sums import pack_ranges, sum_ranges
from cep.operators.windows.runtime.entry_points import Engine

PATIENCE = 2_000
"""Events in one process from which the compiled kernel has paid for its import."""


def _wrapping(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with words of 64 bits that wrap around, as compiled ones do."""

    @wraps(function)
    def call(*arguments: Any) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):
            return function(*arguments)

    return call


INTERPRETED = Engine(
    join_keys,
    join_places,
    join_both,
    copy_parts,
    join_words,
    join_bits,
    put_words,
    put_bits,
    find_after,
    find_sessions,
    find_windows,
    _wrapping(sum_ranges),
    _wrapping(pack_ranges),
    find_greatest,
    count_distinct,
    _wrapping(find_percentiles),
    _wrapping(find_percentiles_of_many),
    _wrapping(put_compact),
    _wrapping(measure_compact),
    _wrapping(take_compact),
)


@dataclass(slots=True)
class _Patience:
    """The events that this process still does interpreted: it decides how fast, never what is found."""

    events: int = PATIENCE


_LEFT = _Patience()


def engine(events: int, compiled: bool | None = None) -> Engine:
    """The engine for so many more events; `compiled` decides where it is given."""
    if compiled is None:
        _LEFT.events -= events
        compiled = _LEFT.events <= 0
    if not compiled:
        return INTERPRETED
    from cep.operators.windows.runtime.compiled import load

    return load()
