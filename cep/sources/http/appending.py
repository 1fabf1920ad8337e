"""Groups of lines to the end of a log: appended to files, or each an object of a bucket.

Each start begins a segment: what a process that was paused, while another took the job over, still appends
to its own is told to nobody, and stands before or behind what the other writes, never between its lines.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

from cep.buckets import store_errors
from cep.files import content, write_whole
from cep.sources.http.segments import Position, digesting, end_of_lines, end_of_log, numbers, path_of

if TYPE_CHECKING:
    from upath import UPath

    from cep.files import AnyPath

SEGMENT = 64 << 20
"""Bytes after which the next file begins."""
_REMEMBERED = 10_000
"""Objects of which a process remembers what it wrote; a batch that has more of them reads them once more."""

Tell = Callable[[str], None]


class Log(Protocol):
    """The end of a log. One thread uses it."""

    @property
    def end(self) -> Position:
        """The place behind all that is there for good."""
        ...

    def open(self) -> None:
        """Makes what has to be there, and finds the end. Raises OSError."""
        ...

    @property
    def sizes(self) -> Mapping[int, int]:
        """The bytes of objects that this process wrote some time ago, by number."""
        ...

    def append(self, data: bytes) -> int:
        """Brings whole lines to disk, or to the store; the bytes by which the log has grown.

        Those are more than the data where another process has written meanwhile. Raises OSError; then a file
        is what it was, and an object may come to be there nevertheless.
        """
        ...

    def set_apart(self) -> None:
        """Has what comes next stand in another segment than what came last, which was told to nobody."""
        ...

    def close(self) -> None:
        """Lets go of the log."""
        ...


def log_of(folder: AnyPath, tell: Tell) -> Log:
    """The end of the log of a folder or bucket, to be opened. `tell` is called with what was put right."""
    return FileLog(folder, tell) if isinstance(folder, Path) else ObjectLog(folder)


@dataclass(slots=True)
class FileLog:
    """A log of files, the last of which grows."""

    folder: Path
    tell: Tell
    end: Position = field(default=Position(), init=False)
    _file: BinaryIO | None = field(default=None, init=False)
    _apart: bool = field(default=False, init=False)

    @property
    def sizes(self) -> Mapping[int, int]:
        """Nothing: a file tells its size."""
        return {}

    def open(self) -> None:
        """Makes the folder, and cuts off what a crash left unfinished. Raises OSError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        found = numbers(self.folder)
        segment = found[-1] if found else 1
        path = self._path(segment)
        self._file = path.open("ab", buffering=0)
        whole = end_of_lines(path)
        if (rest := path.stat().st_size - whole) > 0:
            self._file.truncate(whole)
            self.tell(f"{path}: {rest:,} bytes of a line that nobody was told of are cut off")
        os.fsync(self._file.fileno())
        self.end = Position(segment, whole)
        if whole:
            self._begin()
        _sync_folder(self.folder)

    def append(self, data: bytes) -> int:
        """Raises OSError: then the log is what it was."""
        if self.end.byte >= SEGMENT or self._apart:
            self._begin()
            self._apart = False
        assert self._file is not None
        try:
            left = memoryview(data)
            while left:
                left = left[self._file.write(left) or 0 :]
            os.fsync(self._file.fileno())
        except OSError:
            with suppress(OSError):
                self._file.truncate(self.end.byte)
            raise
        self.end = Position(self.end.segment, self.end.byte + len(data))
        return len(data)

    def set_apart(self) -> None:
        """The next file begins."""
        self._apart = True

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()

    def _begin(self) -> None:
        segment = self.end.segment + 1
        file = self._path(segment).open("ab", buffering=0)
        self.close()
        self._file = file
        file.truncate(0)
        _sync_folder(self.folder)
        self.end = Position(segment)

    def _path(self, segment: int) -> Path:
        path = path_of(self.folder, segment)
        assert isinstance(path, Path)
        return path


def _sync_folder(folder: Path) -> None:
    """Brings the names of a folder's files to disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


@dataclass(slots=True)
class ObjectLog:
    """A log of objects, one for each group of lines; each is made on condition that there is none."""

    folder: UPath
    end: Position = field(default=Position(), init=False)
    sizes: dict[int, int] = field(default_factory=dict, init=False)
    _digests: dict[int, str] = field(default_factory=dict, init=False)
    _grown: int = field(default=0, init=False)

    def open(self) -> None:
        """Asks the store what there is. Raises OSError."""
        self.end = end_of_log(self.folder)

    def append(self, data: bytes) -> int:
        """Raises OSError where the store gives no answer or a refusal, or a request for it is lost."""
        while True:
            segment = self.end.segment + 1
            path = path_of(self.folder, segment)
            with store_errors(path):
                try:
                    write_whole(path, data, new=True)
                    found = data
                except FileExistsError:
                    # what a process that lost the job, or a request that came to nothing here, brought to the
                    # store after all
                    found = content(path)
            self.end = Position(segment, len(found))
            self._grown += len(found)
            if found == data:
                self._remember(segment, data)
                grown, self._grown = self._grown, 0
                return grown

    def digest(self, segment: int, first: int, until: int) -> str | None:
        """The digest of an object that this process wrote some time ago; None where it does not know."""
        return self._digests.get(segment) if (first, until) == (0, self.sizes.get(segment)) else None

    def set_apart(self) -> None:
        """Nothing: each group has an object of its own."""

    def close(self) -> None:
        """Nothing: no object is ever open."""

    def _remember(self, segment: int, data: bytes) -> None:
        if len(self.sizes) >= _REMEMBERED:
            oldest = next(iter(self.sizes))
            del self.sizes[oldest], self._digests[oldest]
        self._digests[segment] = digesting(data).hexdigest()
        self.sizes[segment] = len(data)
