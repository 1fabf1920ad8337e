"""What comes is appended to the log, in groups: all that waits is written and brought to disk at once.

A thread writes. Whoever has given it lines is told when these are on disk, and not before: a crash leaves
what was told, and at most the beginning of a line that was not. Each start begins a segment: what a process
that was paused, while another took the job over, still appends to its own is told to nobody.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from cep.sources.http.segments import Position, bytes_between, end_of_lines, numbers, path_of

SEGMENT = 64 << 20
"""Bytes after which the next segment begins."""
_GROUP = 32 << 20
"""Bytes that are brought to disk at once, about."""


class FullError(Exception):
    """The log has more that was not read yet than it may have: `waiting` bytes."""

    def __init__(self, waiting: int) -> None:
        super().__init__(f"{waiting:,} bytes wait to be read")
        self.waiting = waiting


@dataclass(frozen=True, slots=True)
class _Given:
    lines: bytes
    done: Future[None]


_open: dict[Path, Intake] = {}
"""Those of this process by folder: a source, which is a plain value, finds its own here."""


def intake_of(folder: Path) -> Intake | None:
    """The intake that appends to a log in this process."""
    return _open.get(folder)


@dataclass(slots=True)
class Intake:
    """Appends to the log of a folder. `most` are the bytes that may wait to be read.

    `assure` raises an exception where this process may run the job no longer, or does not know. `end` is the
    place behind what is on disk, `read` that up to where batches have read. Safe to use from any thread; one
    process at a time has one for a folder.
    """

    folder: Path
    most: int
    tell: Callable[[str], None] = lambda _: None
    assure: Callable[[], None] = lambda: None
    end: Position = field(default=Position(), init=False)
    read: Position = field(default=Position(), init=False)
    syncs: int = field(default=0, init=False)
    _waiting: int = field(default=0, init=False)
    _coming: queue.SimpleQueue[_Given | None] = field(default_factory=queue.SimpleQueue, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _file: BinaryIO | None = field(default=None, init=False)
    _thread: threading.Thread | None = field(default=None, init=False)
    _anew: bool = field(default=False, init=False)

    def start(self, read: Position) -> None:
        """Makes the folder, cuts off what a crash left unfinished, and appends from now on.

        Raises OSError.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        found = numbers(self.folder)
        segment = found[-1] if found else 1
        path = path_of(self.folder, segment)
        self._file = path.open("ab", buffering=0)
        whole = end_of_lines(path)
        if (rest := path.stat().st_size - whole) > 0:
            self._file.truncate(whole)
            self.tell(f"{path}: {rest:,} bytes of a line that nobody was told of are cut off")
        os.fsync(self._file.fileno())
        if whole:
            self._begin(segment + 1)
            segment, whole = segment + 1, 0
        _sync_folder(self.folder)
        self.end, self.read = Position(segment, whole), read
        self._waiting = bytes_between(self.folder, read, self.end)
        self._thread = threading.Thread(target=self._run, name=f"intake-{self.folder.name}", daemon=True)
        self._thread.start()
        _open[self.folder] = self

    def take(self, lines: bytes) -> Future[None]:
        """Appends whole lines; the result comes when they are on disk.

        Raises FullError where too much waits already. The result raises OSError where the disk does, and then
        nothing of the lines is in the log.
        """
        with self._lock:
            if self._waiting + len(lines) > self.most:
                raise FullError(self._waiting)
            self._waiting += len(lines)
        done: Future[None] = Future()
        self._coming.put(_Given(lines, done))
        return done

    @property
    def waiting(self) -> int:
        """Bytes that no batch has read yet."""
        with self._lock:
            return self._waiting

    def was_read(self, until: Position, octets: int) -> None:
        """A batch reads up to a place, so many bytes more than the one before."""
        with self._lock:
            self.read, self._waiting = until, self._waiting - octets

    def stop(self) -> None:
        """Writes what was given, and appends nothing more."""
        _open.pop(self.folder, None)
        if self._thread is not None:
            self._coming.put(None)
            self._thread.join()
        if self._file is not None:
            self._file.close()

    def _run(self) -> None:
        going_on = True
        while going_on:
            group, going_on = self._group()
            if group:
                self._write(group)

    def _group(self) -> tuple[list[_Given], bool]:
        """All that waits, and whether more may come."""
        group, size, one = [], 0, self._coming.get()
        while one is not None:
            group.append(one)
            size += len(one.lines)
            if size >= _GROUP or self._coming.empty():
                return group, True
            one = self._coming.get()
        return group, False

    def _write(self, group: list[_Given]) -> None:
        data = b"".join(one.lines for one in group)
        try:
            end = self._append(data)
        except OSError as error:
            self._refuse(group, error)
            return
        try:
            self.assure()
        except Exception as error:
            # whoever took over may have read these lines already: they stay, and the next come behind them
            self._anew = True
            self._refuse(group, error)
            return
        self.end = end
        for one in group:
            one.done.set_result(None)

    def _refuse(self, group: list[_Given], error: Exception) -> None:
        with self._lock:
            self._waiting -= sum(len(one.lines) for one in group)
        for one in group:
            one.done.set_exception(error)

    def _append(self, data: bytes) -> Position:
        """The place behind the data, which is on disk. Raises OSError: then the log is what it was."""
        segment, byte = self.end.segment, self.end.byte
        if byte >= SEGMENT or self._anew:
            self._begin(segment + 1)
            segment, byte, self._anew = segment + 1, 0, False
            self.end = Position(segment, byte)
        assert self._file is not None
        try:
            left = memoryview(data)
            while left:
                left = left[self._file.write(left) or 0 :]
            os.fsync(self._file.fileno())
        except OSError:
            with suppress(OSError):
                self._file.truncate(byte)
            raise
        self.syncs += 1
        return Position(segment, byte + len(data))

    def _begin(self, segment: int) -> None:
        file = path_of(self.folder, segment).open("ab", buffering=0)
        if self._file is not None:
            self._file.close()
        self._file = file
        file.truncate(0)
        _sync_folder(self.folder)


def _sync_folder(folder: Path) -> None:
    """Brings the names of a folder's files to disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
