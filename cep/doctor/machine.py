"""Python, the packages, the kernels, memory and the clock of this machine."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from cep.doctor.finding import Finding
from cep.job.clocks.wrong_clock import wrong

PROJECT = "standing-rules"
_PINNED = re.compile(r"([\w.-]+)(?:\[[^]]*\])?==([\w.]+)$")

NEEDED = 1_500 << 20
"""Bytes that a small job takes at its peak, with some room (benchmarks/README.md)."""
_MEMORY = Path("/proc/meminfo")
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Where a container's limit stands, by the version of control groups."""


def check_python() -> Iterator[Finding]:
    """The version that runs this, and where it is."""
    yield Finding("Python", "ok", f"{sys.version.split()[0]}, {sys.executable}")


def check_packages() -> Iterator[Finding]:
    """The packages that this release was tested with: those that are missing, and other versions."""
    pinned = [found for one in metadata.requires(PROJECT) or () if (found := _PINNED.match(one))]
    other = []
    for name, version in (found.groups() for found in pinned):
        install = f"{sys.executable} -m pip install {name}=={version}"
        try:
            there = metadata.version(name)
        except metadata.PackageNotFoundError:
            yield Finding("packages", "error", f"{name} is not installed", install)
            other.append(name)
            continue
        if there != version:
            said = f"{name} is {there}, and this release was tested with {version}"
            yield Finding("packages", "warning", said, install)
            other.append(name)
    if not other:
        yield Finding(
            "packages", "ok", f"all {len(pinned)} have the versions that this release was tested with"
        )


def check_kernels() -> Iterator[Finding]:
    """The compiled kernels: those that are not on disk are compiled by the first process that needs them."""
    from cep.decode.by_schema.compiled import BY_SCHEMA
    from cep.decode.compiled import DECODING
    from cep.operators.patterns.runtime.compiled import PATTERNS
    from cep.operators.windows.runtime.compiled import WINDOWS
    from kernels.kept import folder_with
    from percolator.matching.compiled import PERCOLATOR

    families = (PATTERNS, WINDOWS, DECODING, BY_SCHEMA, PERCOLATOR)
    missing = [family.name for family in families if folder_with(family) is None]
    if missing:
        said = (
            f"not compiled yet for this processor: {', '.join(missing)}; the first use takes up to a minute"
        )
        yield Finding(
            "kernels", "warning", said, "let them be compiled now: make setup, or the first `cep eval`"
        )
    else:
        yield Finding("kernels", "ok", f"compiled for this processor: {', '.join(f.name for f in families)}")


def check_memory() -> Iterator[Finding]:
    """Memory that is available; nothing on systems that do not tell it as Linux does."""
    free = available_memory()
    if free is None:
        return
    said = f"{free >> 20:,} MiB are available"
    if free < NEEDED:
        help_ = "stop other programs, or give this machine or container more"
        yield Finding("memory", "warning", f"{said}; a small job takes up to {NEEDED >> 20:,}", help_)
    else:
        yield Finding("memory", "ok", said)


def available_memory() -> int | None:
    """Bytes that programs may still take here, at most what a container's limit is; None where unknown."""
    found = []
    with suppress(OSError):
        if line := re.search(r"MemAvailable:\s+(\d+) kB", _MEMORY.read_text("utf-8")):
            found.append(int(line[1]) << 10)
    for path in _LIMITS:
        with suppress(OSError, ValueError):
            found.append(int(path.read_text("utf-8")))
    return min(found, default=None)


def check_clock() -> Iterator[Finding]:
    """The wall clock."""
    now = time.time_ns()
    if error := wrong(now):
        yield Finding("clock", "error", error.message, error.help or "", error.code)
    else:
        yield Finding("clock", "ok", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now // 10**9)))
