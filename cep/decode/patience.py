"""The compiled kernel, for those who have much to read: numba is imported only then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cep.hashing.compiled import at_hand

if TYPE_CHECKING:
    from cep.decode.compiled import Kernel

PATIENCE = 80 << 20
"""Bytes in one process from which the kernel has paid for the import of numba and its own loading: 0.35 s of
processor, and the other reader takes 4 ns more a byte."""
LOADED = 12
"""So many times a byte counts where other kernels have been loaded: then it takes 0.025 s."""
SMALLEST = 4 << 10
"""Bytes of a block from which the kernel is faster: its arrays are made anew for each."""


@dataclass(slots=True)
class _Patience:
    """The bytes that this process still reads without the kernel: it decides how fast, never what is read."""

    octets: int = PATIENCE


_LEFT = _Patience()


def kernel_for(octets: int) -> Kernel | None:
    """The kernel for a block of so many bytes; None where the other reader is to read it."""
    _LEFT.octets -= octets if at_hand() is None else LOADED * octets
    return None if octets < SMALLEST else used()


def used() -> Kernel | None:
    """The kernel, if this process reads blocks by it already."""
    if _LEFT.octets > 0:
        return None
    from cep.decode.compiled import load as compiled

    return compiled()


def load() -> None:
    """Has blocks read by the kernel from now on."""
    from cep.decode.compiled import load as compiled

    compiled()
    _LEFT.octets = 0
