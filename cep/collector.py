"""Sparing the cyclic collector objects that it would look through in vain."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """No collection within the block; what lives on is looked at afterwards, as before."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def settled() -> None:
    """What has been made until now lives as long as the process: no collection looks at it again.

    Spark's workers collect after every task, and many alerts make a full collection due: of the hundred
    thousand objects of numba alone each takes 40 ms.
    """
    gc.freeze()
