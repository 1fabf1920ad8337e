"""The kernel of patterns, compiled."""

from __future__ import annotations

from functools import lru_cache

from cep.collector import settled
from cep.matching import kernel
from cep.matching.entry_points import Engine
from cep.routing import compiled as strings
from kernels import loader
from kernels.family import Family

PATTERNS = Family("patterns", (kernel,), tuple(Engine.__dataclass_fields__))


@lru_cache(maxsize=1)
def load() -> Engine:
    """The compiled engine: half a minute of processor the first time on a machine, then 0.2 s.

    Strings are hashed and numbered compiled from then on, too.
    """
    strings.load()
    engine = Engine(**loader.load(PATTERNS))
    settled()
    return engine
