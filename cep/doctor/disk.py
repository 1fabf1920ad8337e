"""Room on the disks that a job writes to, and how long a file takes to be safe there."""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from cep.doctor.finding import Finding
from cep.sources.files.checks import there

LEAST, LITTLE = 256 << 20, 2 << 30
"""Free bytes below which a job will soon stop, and below which one should look after it."""
_SLOW = 0.05
"""Seconds for an fsync from which it is told: each batch waits for several."""
_TRIES = 5


def check_disk(folder: Path, name: str) -> Iterator[Finding]:
    """The disk of a folder, or of what is there above it: free room, and the time that an fsync takes."""
    near = there(folder)
    try:
        free, safe = shutil.disk_usage(near).free, fsync_time(near)
    except OSError as error:
        said = f"nothing can be written in {near}: {error.strerror}"
        yield Finding(name, "error", said, "let this user write it, or name another folder")
        return
    said = f"{near} has {free >> 20:,} MiB free; a file is safe after {safe * 1000:.1f} ms"
    if free < LEAST:
        yield Finding(name, "error", said, f"make room: a job needs at least {LEAST >> 20} MiB")
    elif free < LITTLE:
        yield Finding(
            name,
            "warning",
            said,
            "make room: state, outbox and logs grow; with less than 1 GiB events are not recorded",
        )
    elif safe > _SLOW:
        yield Finding(name, "warning", said, "use a local disk: each batch waits for several such files")
    else:
        yield Finding(name, "ok", said)


def fsync_time(folder: Path) -> float:
    """Seconds for a page to be safe on the disk of a folder, the median of some. Raises OSError."""
    found = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(_TRIES):
            file.write(bytes(4096))
            file.flush()
            begun = time.perf_counter()
            os.fsync(file.fileno())
            found.append(time.perf_counter() - begun)
    return statistics.median(found)
