"""One job per state folder: a lock that lasts as long as any process that could still write there.

The lock is on an open file, which the JVM inherits as its standard error (cep.job.spark.session): after a
kill of the Python process alone, the folder stays locked until the JVM has noticed and is gone, too.

Where a lease says which process runs the job (cep.job.running.leadership), the lock only tells others that
one does: several share it, and none waits for one that is paused.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cep.errors import ConfigurationError
from cep.job.state_folder.folder import StateFolder

_LEAVING = 5.0  # seconds for what a killed process started to be gone, before another goes on with its lease
_REMAINS = 30.0  # seconds for a JVM to notice that its Python process is gone, on a slow machine


@contextmanager
def held(folder: StateFolder) -> Iterator[int]:
    """Holds the state folder for this process; gives the locked file's descriptor, open for appending.

    Raises ConfigurationError if another job runs on the folder.
    """
    with opened(folder) as descriptor:
        _take(descriptor, folder)
        os.ftruncate(descriptor, 0)
        with _named(folder):
            yield descriptor


@contextmanager
def opened(folder: StateFolder) -> Iterator[int]:
    """The descriptor of the file that is locked, before it is, open for appending."""
    descriptor = os.open(folder.logs / "spark.log", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def shared(folder: StateFolder, descriptor: int) -> Iterator[None]:
    """Says, within the block, that the job of the state folder runs in this process, which has its lease.

    What a process that was killed on this machine has started is waited for, for some seconds.
    """
    deadline = time.monotonic() + _LEAVING
    while not _free(descriptor) and _recorded(folder.lock_file) is None and time.monotonic() < deadline:
        time.sleep(0.05)
    _take(descriptor, folder, fcntl.LOCK_SH)
    with _named(folder):
        yield


def _free(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _named(folder: StateFolder) -> Iterator[None]:
    """The lock file names this process, until another has written its own name there."""
    own = f"{os.getpid()}\n"
    folder.lock_file.write_text(own)
    try:
        yield
    finally:
        with suppress(FileNotFoundError):
            if folder.lock_file.read_text() == own:
                folder.lock_file.unlink()


def owner(folder: StateFolder) -> int | None:
    """The process that runs the job of this folder, None if none does."""
    try:
        with (folder.logs / "spark.log").open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return _recorded(folder.lock_file)
    except FileNotFoundError:
        return None
    return None


def _take(descriptor: int, folder: StateFolder, how: int = fcntl.LOCK_EX) -> None:
    deadline = time.monotonic() + _REMAINS
    while True:
        try:
            fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            process = _recorded(folder.lock_file)
            if process is not None or time.monotonic() > deadline:
                who = f"process {process}" if process is not None else "another process"
                raise ConfigurationError(
                    f"{who} runs a job on the state folder {folder}",
                    "stop it first, or give this job a state folder of its own",
                ) from None
            time.sleep(0.1)
        else:
            return


def _recorded(path: Path) -> int | None:
    """The process that the lock file names, if it lives."""
    with suppress(OSError, ValueError):
        process = int(path.read_text())
        os.kill(process, 0)
        return process
    return None
