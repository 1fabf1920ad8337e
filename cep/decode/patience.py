"""The compiled kernel, for those who have much to read: numba is imported only then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cep.decode.compiled import Kernel

PATIENCE = 48 << 20
"""Bytes from which the kernel has paid for its import and its loading: they take half a second, and the other
reader some 6 ns more a byte."""
SMALLEST = 4 << 10
"""Bytes of a block from which the kernel is faster: its arrays are made anew for each."""


@dataclass(slots=True)
class _Patience:
    """The bytes that this process still reads without the kernel: it decides how fast, never what is read."""

    octets: int = PATIENCE


_LEFT = _Patience()


def kernel_for(octets: int) -> Kernel | None:
    """The kernel for a block of so many bytes; None where the other reader is to read it."""
    _LEFT.octets -= octets
    if _LEFT.octets > 0 or octets < SMALLEST:
        return None
    from cep.decode.compiled import load

    return load()
