"""LLVM's pages leave a process's memory, but for those that were written to, and come back when needed."""

from __future__ import annotations

import mmap
import subprocess
import sys
from pathlib import Path

import pytest

from cep.job.workers import compiler_pages
from cep.job.workers.compiler_pages import unmap_compiler

SIZE = 16 * mmap.PAGESIZE
LATER = """
from alerts.compiled import ALERTS
from cep.hashing.compiled import FAMILY
from cep.job.workers.compiler_pages import unmap_compiler
from kernels.loader import load

load(FAMILY)
first = unmap_compiler()
again = unmap_compiler()
load(ALERTS)
print(first, again, unmap_compiler())
"""


def mapped(folder: Path, access: int) -> mmap.mmap:
    """A file with the name of LLVM's library, mapped and read."""
    path = folder / "libllvmlite.so"
    path.write_bytes(bytes(range(256)) * (SIZE // 256))
    with path.open("r+b") as file:
        found = mmap.mmap(file.fileno(), SIZE, access=access)
    assert found[:] == path.read_bytes()
    return found


def test_unchanged_pages_leave_and_come_back(tmp_path: Path) -> None:
    """The content of a mapping is as before."""
    unmap_compiler()
    with mapped(tmp_path, mmap.ACCESS_READ) as pages:
        assert unmap_compiler() >= SIZE
        assert unmap_compiler() < SIZE
        assert pages[:256] == bytes(range(256))


def test_a_mapping_that_was_written_to_stays(tmp_path: Path) -> None:
    """What was written into it would be lost otherwise: a library's addresses."""
    unmap_compiler()
    with mapped(tmp_path, mmap.ACCESS_COPY) as pages:
        pages[5:8] = b"own"
        assert unmap_compiler() < SIZE
        assert pages[:10] == b"\0\1\2\3\4own\x08\x09"


def test_kernels_are_loaded_afterwards() -> None:
    """A process that let LLVM's pages go loads further machine code; only what that touches is there then."""
    done = subprocess.run([sys.executable, "-c", LATER], capture_output=True, text=True, check=True)
    first, again, later = map(int, done.stdout.split())
    assert first > 30 << 20
    assert again < 2 << 20
    assert 1 << 20 < later < first


def test_without_mappings_nothing_is_done(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As on a system that does not tell of them."""
    with mapped(tmp_path, mmap.ACCESS_READ) as pages:
        monkeypatch.setattr(compiler_pages, "_MAPPINGS", tmp_path / "none")
        assert unmap_compiler() == 0
        assert pages[:256] == bytes(range(256))
