"""The C library's allocator, for processes that allocate much again and again.

By default it gives memory back to the system whenever the end of its heap is free, and takes it again for the
next array: the system clears each page, which costs more than what the array is for. And it has a heap for
every thread, of which each keeps what is free in it from the others.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -2, -3, -8
"""Parameters of glibc's mallopt."""
KEPT = 160 << 20
"""Bytes at the end of the heap that may be free without being given back."""
TAKEN = 16 << 20
"""Bytes that are taken at once beyond what is needed."""
APART = 32 << 20
"""Bytes from which an allocation is apart from the heap, and given back when it is freed: the most that glibc
takes for this."""


def keep_freed() -> None:
    """Has this process, and those that it forks, keep some of what is freed; nothing where the C library is
    not glibc."""
    _set({_TRIM_THRESHOLD: KEPT, _TOP_PAD: TAKEN, _MMAP_THRESHOLD: APART})


def share_freed() -> None:
    """Has the threads that this process is going to have share one heap, and Arrow use it if it is not loaded
    yet; nothing where the C library is not glibc. For a process whose threads take turns, as Python's do."""
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    _set({_ARENA_MAX: 1})


def _set(parameters: Mapping[int, int]) -> None:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for parameter, value in parameters.items():
            mallopt(parameter, value)
