"""The compiled kernel, for those who write many alerts: numba is imported only then."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from alerts.compiled import Kernel

PATIENCE = 250_000
"""Alerts of one process from which the kernel has paid for the import of numba and its own loading: 0.35 s of
processor, and without it an alert takes 1.5 us more."""
LOADED = 16
"""So many times an alert counts where numba was imported for another kernel: then it takes 0.02 s."""


@dataclass(slots=True)
class _Patience:
    """The alerts that this process still writes without the kernel, and the kernel once none is left: it
    decides how fast, never what is written."""

    alerts: int = PATIENCE
    kernel: Kernel | None = None


_LEFT = _Patience()


def count_alerts(alerts: int) -> None:
    """Loads the kernel once so many more have paid for it."""
    if _LEFT.kernel is None:
        _LEFT.alerts -= alerts * (LOADED if "numba" in sys.modules else 1)
        if _LEFT.alerts <= 0:
            load()


def load() -> None:
    """Has alerts written with the kernel from now on."""
    from alerts.compiled import load as compiled

    _LEFT.kernel = compiled()


def at_hand() -> Kernel | None:
    """The compiled functions, if the process has loaded them."""
    return _LEFT.kernel
