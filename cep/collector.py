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


@contextmanager
def young_only() -> Iterator[None]:
    """Within the block only what was made last is collected, many objects at a time.

    For making millions of objects that stay: going through all of them again whenever they have grown by a
    quarter is most of the collector's time, and without any collection the rubbish of parsers, which keep
    exceptions with their frames, is five times what stays.
    """
    before = gc.get_threshold()
    gc.set_threshold(_YOUNG, _NEVER, _NEVER)
    try:
        yield
    finally:
        gc.set_threshold(*before)


_YOUNG = 50_000
_NEVER = 1_000_000_000


def settled() -> None:
    """Freeze what has been made until now, but for rubbish: it lives as long as the process. No collection
    looks at it again.

    Spark's workers collect after every task, and many alerts make a full collection due, there and in the
    driver: of the hundred thousand objects of numba alone each takes 40 ms.
    """
    gc.collect()  # rubbish that is frozen would stay for ever
    gc.freeze()
