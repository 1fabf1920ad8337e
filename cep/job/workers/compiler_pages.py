"""The pages of LLVM in a process that has loaded what it needs of machine code."""

from __future__ import annotations

import ctypes
import mmap
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) ")
"""The line that a mapping begins with (proc_pid_smaps(5))."""
_MAPPINGS = Path("/proc/self/smaps")


def unmap_compiler() -> int:
    """The number of bytes of LLVM that were in this process's memory and are not any more.

    Loading machine code touches some 65 MB of LLVM's file. What is not changed of them comes back from the
    file, or the system's cache of it, when a kernel is loaded or compiled. 0 where the system is not Linux.
    """
    madvise = getattr(ctypes.CDLL(None), "madvise", None)
    if madvise is None:
        return 0
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    gone = 0
    for begin, end, resident in _unchanged():
        if madvise(begin, end - begin, mmap.MADV_DONTNEED) == 0:
            gone += resident
    return gone


def _unchanged() -> Iterator[tuple[int, int, int]]:
    """Where mappings of LLVM begin and end that have no page of the process's own, and their bytes in memory.

    A page that was written to, be it once to put addresses into it, is anonymous: it would be lost.
    """
    begin = end = resident = 0
    is_compiler = False
    for line in _mappings():
        if found := _MAPPING.match(line):
            begin, end = (int(place, 16) for place in found.groups())
            is_compiler = "/libllvmlite." in line
        elif is_compiler and line.startswith("Rss:"):
            resident = int(line.split()[1]) * 1024
        elif is_compiler and line.startswith("Anonymous:") and line.split()[1] == "0":
            yield begin, end, resident


def _mappings() -> list[str]:
    with suppress(OSError):
        return _MAPPINGS.read_text("utf-8", "replace").splitlines()
    return []
