"""A wall clock that a test sets, for the processes of a job: a library loaded before the C library."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

_SOURCE = Path(__file__).with_name("wall_clock.c")


class WallClock:
    """Set ahead of that of the machine by whole seconds. Without a C compiler the test is skipped."""

    def __init__(self, folder: Path) -> None:
        compiler = shutil.which("cc")
        if compiler is None:
            pytest.skip("a C compiler is needed to set a process's clock")
        self._library = folder / "wall_clock.so"
        self._offset = folder / "wall_clock.offset"
        self._offset.write_bytes(struct.pack("q", 0))
        subprocess.run(
            [compiler, "-shared", "-fPIC", "-O1", "-o", self._library, _SOURCE, "-ldl"],
            check=True, capture_output=True,
        )  # fmt: skip

    def set(self, ahead: int) -> None:
        """Sets the clock of all processes of `environ`."""
        with self._offset.open("r+b") as file:
            file.write(struct.pack("q", ahead))

    @property
    def environ(self) -> dict[str, str]:
        """The environment that gives a process this clock."""
        preload = " ".join(filter(None, (str(self._library), os.environ.get("LD_PRELOAD"))))
        return {"LD_PRELOAD": preload, "CLOCK_OFFSET": str(self._offset)}
