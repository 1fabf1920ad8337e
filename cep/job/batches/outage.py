"""An outbox whose database went away: the batch that needs it waits until it is back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from alerts.codes import LOCKED
from alerts.outbox import OutboxError

Answer = TypeVar("Answer")
FIRST, LONGEST = 0.1, 5.0
"""Seconds from one attempt to the next: each pause is twice the one before."""


class StoppedError(Exception):
    """Ends a query whose job is stopping, before a batch begins or while it waits for the outbox."""


class Outage:
    """Waits by `wait`, which gets seconds and returns True where the job is to stop (never). `tick` is
    seconds that no one sets back. `since` is when the database was missed, by `tick`; None: it answers."""

    def __init__(
        self,
        wait: Callable[[float], bool] | None = None,
        tick: Callable[[], float] = time.monotonic,
    ) -> None:
        self._wait = wait or threading.Event().wait
        self._tick = tick
        self.since: float | None = None

    def patiently(self, ask: Callable[[], Answer], tell: Callable[[str], None]) -> Answer:
        """The answer, asked for until the database is there; `tell` is called when it is missed and when it
        is back. Raises as `ask` does, and StoppedError where the job is to stop meanwhile."""
        pause = FIRST
        while True:
            try:
                answer = ask()
            except OutboxError as error:
                # what the server does not know to be over holds its locks until it does
                if not error.passing and not (self.since is not None and error.code == LOCKED):
                    raise
                if self.since is None:
                    self.since = self._tick()
                    tell(f"the job waits: {error} ({error.code})")
                if self._wait(pause):
                    raise StoppedError from error
                pause = min(2 * pause, LONGEST)
                continue
            if self.since is not None:
                tell(f"the outbox answers again, after {self._tick() - self.since:,.0f} seconds")
                self.since = None
            return answer
