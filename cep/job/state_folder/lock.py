"""One job per state folder: a lock that lasts as long as any process that could still write there.

The lock is on an open file, which the JVM inherits as its standard error (cep.job.spark.session): after a
kill of the Python process alone, the folder stays locked until the JVM has noticed and is gone, too.
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

_REMAINS = 30.0  # seconds for a JVM to notice that its Python process is gone, on a slow machine


@contextmanager
def held(folder: StateFolder) -> Iterator[int]:
    """Holds the state folder for this process; gives the locked file's descriptor, open for appending.

    Raises ConfigurationError if another job runs on the folder.
    """
    log = folder.logs / "spark.log"
    descriptor = os.open(log, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        _take(descriptor, folder)
        os.ftruncate(descriptor, 0)
        folder.lock_file.write_text(f"{os.getpid()}\n")
        try:
            yield descriptor
        finally:
            folder.lock_file.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def owner(folder: StateFolder) -> int | None:
    """The process that runs the job of this folder, None if none does."""
    try:
        with (folder.logs / "spark.log").open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return _recorded(folder.lock_file)
    except FileNotFoundError:
        return None
    return None


def _take(descriptor: int, folder: StateFolder) -> None:
    deadline = time.monotonic() + _REMAINS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            process = _recorded(folder.lock_file)
            if process is not None or time.monotonic() > deadline:
                who = f"process {process}" if process is not None else "another process"
                raise ConfigurationError(
                    f"{who} runs a job on the state folder {folder.root}",
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
