"""Alerts in a file, a line of JSON each, which is put aside when it is large or its day is over."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from alerts.due import Made
from alerts.envelope import group_data
from alerts.receivers.receiver import Outcome

_DAY = 86_400_000_000_000


class FileReceiver:
    """Appends to `path`. A line that would make it longer than `longest` bytes, or that is the first of a
    day (UTC, of the clock), begins a new file; the old one is then called `NAME.DAY.NUMBER` with its ending.

    With `durable` a line is on the disk before it counts as delivered; without, the operating system has it,
    so that a loss of power can cost lines, and the end of this process cannot.
    """

    in_flight = 1
    apart = False

    def __init__(self, name: str, path: Path, *, longest: int = 100_000_000, durable: bool = True) -> None:
        self.name = name
        self._path = path
        self._longest = longest
        self._durable = durable
        self._file: int | None = None
        self._day = 0
        self._length = 0

    def send(self, id_: str, body: str, now: int) -> Outcome:  # noqa: ARG002
        """Appends the line. A disk that is full or a folder that is missing counts as unreachable."""
        return self._write(body, now)

    def send_group(self, group: Made, now: int) -> Outcome:
        """Appends one line for the alerts of a notification."""
        return self._write(group_data(group.id, group.bodies, group.count), now)

    def _write(self, text: str, now: int) -> Outcome:
        line = text.encode() + b"\n"
        try:
            if self._file is None or self._replaced():
                self._open()
            if self._length and (self._day != now // _DAY or self._length + len(line) > self._longest):
                self._put_aside()
                self._open()
            if not self._length:
                self._day = now // _DAY
            self._append(line)
        except OSError as error:
            self.close()
            return Outcome("unreachable", f"cannot write {self._path}: {error.strerror}")
        return Outcome("delivered", "written to disk" if self._durable else "written")

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            with suppress(OSError):
                os.close(self._file)
            self._file = None

    def _replaced(self) -> bool:
        """True if the path is another file by now, such as after somebody moved ours away."""
        assert self._file is not None
        try:
            there, ours = self._path.stat(), os.fstat(self._file)
        except FileNotFoundError:
            return True
        return (there.st_dev, there.st_ino) != (ours.st_dev, ours.st_ino)

    def _open(self) -> None:
        self.close()
        self._file = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o640)
        found = os.fstat(self._file)
        self._length, self._day = found.st_size, found.st_mtime_ns // _DAY
        if self._durable:
            self._sync_folder()
        if self._length and os.pread(self._file, 1, self._length - 1) != b"\n":
            self._append(b"\n")  # behind a line that a crash tore: it was never delivered

    def _append(self, line: bytes) -> None:
        assert self._file is not None
        try:
            left = line
            while left:
                left = left[os.write(self._file, left) :]
            if self._durable:
                os.fsync(self._file)
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file, self._length)  # a full disk took a part of it
            raise
        self._length += len(line)

    def _put_aside(self) -> None:
        """Raises OSError. No file that is there is overwritten."""
        day = datetime.fromtimestamp(self._day * 86_400, UTC).strftime("%Y-%m-%d")
        names = (f"{self._path.stem}.{day}.{n}{self._path.suffix}" for n in count(1))
        free = next(path for path in map(self._path.with_name, names) if not os.path.lexists(path))
        self._path.rename(free)
        if self._durable:
            self._sync_folder()

    def _sync_folder(self) -> None:
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
