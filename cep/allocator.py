"""The C library's allocator, for processes that allocate much again and again.

By default it gives memory back to the system whenever the end of its heap is free, and takes it again for the
next array: the system clears each page, which costs more than what the array is for.
"""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
"""Parameters of glibc's mallopt."""
KEPT = 48 << 20
"""Bytes at the end of the heap that may be free without being given back."""
TAKEN = 16 << 20
"""Bytes that are taken at once beyond what is needed."""
APART = 32 << 20
"""Bytes from which an allocation is apart from the heap, and given back when it is freed: the most that glibc
takes for this."""


def keep_freed() -> None:
    """Has this process, and those that it forks, keep some of what is freed; nothing where the C library is
    not glibc."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for parameter, value in ((_TRIM_THRESHOLD, KEPT), (_TOP_PAD, TAKEN), (_MMAP_THRESHOLD, APART)):
            mallopt(parameter, value)
