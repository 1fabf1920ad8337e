"""The file operations of a library: each a method, so that a test can end the world between any two.

A file appears under its name complete and on disk, or not at all; only the log grows in place.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

Data = bytes | memoryview


class Disk:
    """The operating system's files."""

    def open(self, path: Path, mode: str) -> BinaryIO:
        """A file for writing: `wb` anew, `r+b` to be changed; nothing is buffered."""
        return path.open(mode, buffering=0)  # type: ignore[return-value]

    def write(self, file: BinaryIO, data: Data) -> None:
        """Writes all of it at the file's position."""
        rest = memoryview(data).cast("B")
        while len(rest):
            rest = rest[file.write(rest) :]

    def truncate(self, file: BinaryIO, size: int) -> None:
        """Cuts the file and goes to its end."""
        file.truncate(size)
        file.seek(size)

    def sync(self, file: BinaryIO) -> None:
        """Waits until the file's contents are on disk."""
        os.fsync(file.fileno())

    def replace(self, old: Path, new: Path) -> None:
        """Gives a file another name, in one step."""
        old.replace(new)

    def remove(self, path: Path) -> None:
        """Removes a file, where there is one."""
        path.unlink(missing_ok=True)

    def sync_folder(self, folder: Path) -> None:
        """Waits until the folder's names are on disk."""
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)

    def write_whole(self, path: Path, parts: Iterable[Data]) -> None:
        """A new file of these parts, which appears in one step."""
        new = path.with_name(path.name + ".new")
        file = self.open(new, "wb")
        try:
            for part in parts:
                self.write(file, part)
            self.sync(file)
        finally:
            file.close()
        self.replace(new, path)
        self.sync_folder(path.parent)
