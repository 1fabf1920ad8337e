"""The kernel of windows, compiled."""

from __future__ import annotations

from functools import lru_cache

from cep.collector import settled
from cep.exact.kernel import MODULES
from cep.hashing import compiled as strings
from cep.operators.windows.kernel import (
    compact,
    distincts,
    extremes,
    layout,
    moving,
    percentiles,
    places,
    sums,
)
from cep.operators.windows.runtime.entry_points import Engine
from kernels import loader
from kernels.family import Family

WINDOWS = Family(
    "windows",
    (*MODULES, layout, moving, places, sums, extremes, distincts, percentiles, compact),
    tuple(Engine.__dataclass_fields__),
)


@lru_cache(maxsize=1)
def load() -> Engine:
    """The compiled engine: some seconds of processor the first time on a machine, then a tenth of one.

    Strings are hashed and numbered compiled from then on, too.
    """
    strings.load()
    engine = Engine(**loader.load(WINDOWS))
    settled()
    return engine
