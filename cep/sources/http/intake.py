"""Events on their way into the log, in groups: all that waits is brought to disk, or to a store, at once.

A thread writes. Whoever has given it lines is told when these are there for good, and not before: a crash
leaves what was told, and at most what was not, whole lines of it or of a file the beginning of one.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cep.sources.http.appending import Log, ObjectLog, log_of
from cep.sources.http.segments import Position, bytes_between, number_of

if TYPE_CHECKING:
    from cep.files import AnyPath

_GROUP = 32 << 20
"""Bytes that are written at once, about."""


class FullError(Exception):
    """The log has more that was not read yet than it may have: `waiting` bytes."""

    def __init__(self, waiting: int) -> None:
        super().__init__(f"{waiting:,} bytes wait to be read")
        self.waiting = waiting


@dataclass(frozen=True, slots=True)
class _Given:
    lines: bytes
    done: Future[None]


_open: dict[str, Intake] = {}
"""Those of this process by folder: a source, which is a plain value, finds its own here."""


def intake_of(folder: AnyPath) -> Intake | None:
    """The intake that appends to a log in this process."""
    return _open.get(str(folder))


def written(path: AnyPath, first: int, until: int) -> str | None:
    """The digest of a stretch that this process has written as one object; None where it does not know."""
    intake, segment = intake_of(path.parent), number_of(path)
    if intake is None or not isinstance(intake.log, ObjectLog) or segment is None:
        return None
    return intake.log.digest(segment, first, until)


@dataclass(slots=True)
class Intake:
    """Appends to the log of a folder or bucket. `most` are the bytes that may wait to be read.

    `assure` raises an exception where this process may run the job no longer, or does not know. `end` is the
    place behind what somebody was told of, `read` that up to where batches have read, of which this process
    has seen `batch` as the newest. Safe to use from any thread; one process at a time has one for a folder.
    """

    folder: AnyPath
    most: int
    tell: Callable[[str], None] = lambda _: None
    assure: Callable[[], None] = lambda: None
    end: Position = field(default=Position(), init=False)
    read: Position = field(default=Position(), init=False)
    batch: int | None = field(default=None, init=False)
    log: Log = field(init=False)
    groups: int = field(default=0, init=False)
    _waiting: int = field(default=0, init=False)
    _coming: queue.SimpleQueue[_Given | None] = field(default_factory=queue.SimpleQueue, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _thread: threading.Thread | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.log = log_of(self.folder, self.tell)

    def start(self, read: Position) -> None:
        """Appends from now on; batches have read up to a place. Raises OSError."""
        self.log.open()
        self.end, self.read = self.log.end, read
        self._waiting = bytes_between(self.folder, read, self.end)
        name = f"intake-{self.folder.name}"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()
        _open[str(self.folder)] = self

    def take(self, lines: bytes) -> Future[None]:
        """Appends whole lines; the result comes when they are there for good.

        Raises FullError where too much waits already. The result raises OSError where the disk or the store
        does: then nothing of the lines is in a log of files; in a bucket they may turn up.
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

    def was_read(self, batch: int, until: Position, octets: int) -> None:
        """A batch, the newest, reads up to a place, so many bytes more than the one before."""
        with self._lock:
            self.batch, self.read, self._waiting = batch, until, self._waiting - octets

    def stop(self) -> None:
        """Writes what was given, and appends nothing more."""
        _open.pop(str(self.folder), None)
        if self._thread is not None:
            self._coming.put(None)
            self._thread.join()
        self.log.close()

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
            grown = self.log.append(data)
        except OSError as error:
            self._grow(-len(data))
            _refuse(group, error)
            return
        self._grow(grown - len(data))
        self.groups += 1
        try:
            self.assure()
        except Exception as error:
            # whoever took over may have read these lines already: they stay, and the next come behind them
            self.log.set_apart()
            _refuse(group, error)
            return
        self.end = self.log.end
        for one in group:
            one.done.set_result(None)

    def _grow(self, octets: int) -> None:
        with self._lock:
            self._waiting += octets


def _refuse(group: list[_Given], error: Exception) -> None:
    for one in group:
        one.done.set_exception(error)
