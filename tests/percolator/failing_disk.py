"""Disks for tests: one that does not wait; one that fails at a step, and loses what was not synced."""

from __future__ import annotations

import random
from pathlib import Path
from typing import BinaryIO

from percolator.disk import Data, Disk


class UnsyncedDisk(Disk):
    """Does not wait for the hardware: for tests in which nothing crashes."""

    def sync(self, _: BinaryIO) -> None:
        """Nothing."""

    def sync_folder(self, _: Path) -> None:
        """Nothing."""


class PowerCut(BaseException):
    """The process is no more."""


class FailingDisk(Disk):
    """Fails at operation `at`, counted from 0.

    With `cut` the power goes: nothing works from then on, and `lose` takes what was not synced. Without, that
    one operation raises OSError, as on a disk that is full. A write that fails has written some of its data.
    """

    def __init__(self, at: int, seed: int, cut: bool = True) -> None:
        self.at = at
        self.done = 0
        self.failed = False
        self._cut = cut
        self._random = random.Random(seed)
        self._paths: dict[BinaryIO, Path] = {}
        self._synced: dict[Path, int] = {}
        self._undo: list[tuple[Path, Path | None, bytes | None]] = []

    def _step(self) -> None:
        if self.failed and self._cut:
            raise PowerCut
        self.done += 1
        if self.done > self.at and not self.failed:
            self.failed = True
            raise PowerCut if self._cut else OSError(28, "no space left on device")

    def open(self, path: Path, mode: str) -> BinaryIO:
        self._step()
        file = super().open(path, mode)
        self._paths[file] = path
        self._synced[path] = 0 if mode == "wb" else path.stat().st_size
        return file

    def write(self, file: BinaryIO, data: Data) -> None:
        try:
            self._step()
        except (PowerCut, OSError):
            if not file.closed and self.done == self.at + 1:
                view = memoryview(data).cast("B")
                super().write(file, view[: self._random.randint(0, len(view))])
            raise
        super().write(file, data)

    def truncate(self, file: BinaryIO, size: int) -> None:
        self._step()
        super().truncate(file, size)

    def sync(self, file: BinaryIO) -> None:
        self._step()
        self._synced[self._paths[file]] = self._paths[file].stat().st_size

    def replace(self, old: Path, new: Path) -> None:
        self._step()
        self._undo.append((new, old, new.read_bytes() if new.exists() else None))
        super().replace(old, new)
        self._synced[new] = self._synced.pop(old)

    def remove(self, path: Path) -> None:
        self._step()
        if path.exists():
            self._undo.append((path, None, path.read_bytes()))
            self._synced.pop(path, None)
        super().remove(path)

    def sync_folder(self, _: Path) -> None:
        self._step()
        self._undo = []

    def lose(self) -> None:
        """Do to files what a power cut does to data and names that were not synced: some of them are gone."""
        for path, synced in self._synced.items():
            if path.exists() and path.stat().st_size > synced:
                with path.open("r+b") as file:
                    file.truncate(self._random.randint(synced, path.stat().st_size))
        for path, old, contents in reversed(self._undo):
            if self._random.random() < 0.5 or (old is not None and not path.exists()):
                continue
            if old is not None:
                path.replace(old)
            if contents is not None:
                path.write_bytes(contents)
