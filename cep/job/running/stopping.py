"""Requests to stop a job, made from one thread and heeded by the job's own.

Asked once, the job finishes the batch that runs; while Spark starts there is nothing to finish, and Java is
ended at once. Asked again, it ends Java in the middle of whatever it does; as after any crash, the next start
runs that batch again.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, assert_never

Stage = Literal["starting", "within a batch", "between batches", "delivering", "ending"]
"""The stage of a job: `starting` until its first batch begins, `delivering` when only deliveries are left."""


class Stop:
    """Both requests, and what they find running. `told` is called with a sentence for the user.

    `stage` is set by the job, and so is `on_request`, which is called when the job was asked. `since` is when
    that was, wall clock in ns; None before. `abandoned` says that Java is ended or will be, so that whatever
    fails then fails for that. `why` is the error with which the job ended itself, None where it did not.
    """

    def __init__(
        self, told: Callable[[str], None] = lambda _: None, clock: Callable[[], int] = time.time_ns
    ) -> None:
        self._told = told
        self._clock = clock
        self._asked = threading.Event()
        self._lock = threading.Lock()
        self._java: list[subprocess.Popen[bytes]] = []
        self.stage: Callable[[], Stage] = lambda: "starting"
        self.on_request: Callable[[], None] = lambda: None
        self.since: int | None = None
        self.abandoned = False
        self.why: Exception | None = None

    def java(self, process: subprocess.Popen[bytes]) -> None:
        """Says that this is a process of Java, which leads a process group of its own."""
        with self._lock:
            self._java.append(process)
        if self.abandoned:
            self._abandon()

    def ask(self) -> None:
        """The first request."""
        stage = self.stage()
        self.since = self._clock()
        self._asked.set()
        self.on_request()
        if stage == "starting":
            self._abandon()
        self._told(f"{_first(stage)}; again to stop now")

    def now(self) -> str:
        """The second request: ends Java; returns the last sentence for the user. The process has to end."""
        stage = self.stage()
        self._abandon()
        return _second(stage)

    def end(self, why: Exception) -> None:
        """Ends Java at once, whatever it does: this process may not go on, and says why."""
        self.why = why
        self.since = self._clock()
        self._asked.set()
        self._abandon()
        self.on_request()

    def is_set(self) -> bool:
        """True if the job was asked to stop."""
        return self._asked.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for a request, at most so long; True if the job was asked to stop."""
        return self._asked.wait(seconds)

    def _abandon(self) -> None:
        self.abandoned = True
        with self._lock:
            for process in self._java:
                if process.poll() is None:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)


def _first(stage: Stage) -> str:
    match stage:
        case "starting":
            return "stopping before the first batch"
        case "within a batch":
            return "stopping after this batch"
        case "delivering":
            return "stopping without waiting for deliveries"
        case "between batches" | "ending":
            return "stopping"
        case _:
            assert_never(stage)


def _second(stage: Stage) -> str:
    match stage:
        case "starting":
            return "stopped before the first batch"
        case "within a batch":
            return "stopped within a batch, which will be run again at the next start"
        case "delivering":
            return "stopped; what is not delivered will be at the next start"
        case "between batches" | "ending":
            return "stopped"
        case _:
            assert_never(stage)
