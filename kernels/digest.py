"""The name of machine code: a digest of everything that it is made of."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import config, registry

from kernels.family import BEGAN, Family

LENGTH = 32
LOADER = (
    "kernels.family", "kernels.signatures", "kernels.arguments", "kernels.linking", "kernels.instructions",
    "kernels.processor", "kernels.digest", "kernels.kept", "kernels.loader",
)  # fmt: skip
"""Modules that decide, besides a family's own, what is compiled and how."""
_SETTINGS = (
    "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LLVM_REFPRUNE_PASS",
    "LLVM_REFPRUNE_FLAGS", "FULL_TRACEBACKS", "DISABLE_JIT",
)  # fmt: skip
"""Parts of numba's configuration (NUMBA_...) that may change machine code."""


def digest(family: Family) -> str:
    """Hexadecimal digits, the same only where the same machine code comes of a family.

    They stand for the bytes of its modules and of the loader's, its options, the versions of numba, llvmlite,
    numpy and Python, the processor that numba compiles for, and numba's settings.
    """
    hashed = hashlib.sha256()
    for part in _parts(family):
        hashed.update(len(part).to_bytes(8, "little") + part)
    return hashed.hexdigest()[:LENGTH]


def is_older_than_process(family: Family) -> bool:
    """Return True if no file of a family was written since this process imported its first kernel.

    Otherwise what was imported may not be what the files say now, and must not be kept under their digest.
    """
    files = (Path(str(spec.origin)) for spec in _specs(family))
    return all(file.stat().st_mtime_ns < BEGAN for file in files if file.exists())


def _specs(family: Family) -> Iterator[ModuleSpec]:
    for spec in (*(module.__spec__ for module in family.modules), *map(find_spec, LOADER)):
        assert spec is not None
        yield spec


def _parts(family: Family) -> Iterator[bytes]:
    for spec in _specs(family):
        loader: Any = spec.loader
        yield spec.name.encode()
        yield loader.get_data(spec.origin)
    options = (family.name, family.entries)
    versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.implementation.cache_tag)
    processor = registry.cpu_target.target_context.codegen().magic_tuple()
    settings = [(name, str(getattr(config, name))) for name in _SETTINGS]
    yield repr((options, versions, processor, settings)).encode()
