"""The processor that kernels are compiled for."""

from __future__ import annotations

from numba.core import registry


def has(feature: str) -> bool:
    """True if it has instructions that LLVM knows by a name."""
    _, _, features = registry.cpu_target.target_context.codegen().magic_tuple()
    return f"+{feature}" in features.split(",")
