"""The thread that assigns a running job's alerts to episodes, after their batch, which does not wait."""

from __future__ import annotations

import threading
from collections.abc import Callable

from alerts.episodes.assigning import Lengths
from alerts.outbox import Outbox, OutboxError
from alerts.outbox.episodes import assign_some, close_quiet


class Assigner:
    """Assigns what is recorded, until it is stopped.

    `lengths` tells how long episodes of a rule are now, `clock` is the wall clock in ns; with `closes`,
    episodes that are quiet are closed. `report` is called with a sentence where the outbox cannot be read or
    written: what is left is tried again with the next batch. `done` is called when all that was recorded is
    assigned.
    """

    def __init__(
        self,
        outbox: Outbox,
        lengths: Lengths,
        *,
        closes: bool,
        clock: Callable[[], int],
        report: Callable[[str], None],
        done: Callable[[], None] = lambda: None,
    ) -> None:
        self._outbox = outbox
        self._lengths = lengths
        self._closes = closes
        self._clock = clock
        self._report = report
        self._done = done
        self._now: int | None = None
        self._waiting = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="episodes", daemon=True)

    def start(self) -> None:
        """Begin to assign; what an earlier run left comes first."""
        self._waiting.set()
        self._thread.start()

    def wake(self, now: int) -> None:
        """Say that there may be new alerts, and that the next will not be before event time `now`. Returns at
        once."""
        self._now = now
        self._waiting.set()

    def stop(self) -> None:
        """Assign what is recorded, then end."""
        self._stopping = True
        self._waiting.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        while True:
            self._waiting.wait()
            self._waiting.clear()
            last = self._stopping
            try:
                self._assign(self._now)
            except OutboxError as error:
                self._report(f"alerts are not assigned to episodes yet: {error}")
            if last:
                return

    def _assign(self, now: int | None) -> None:
        more = True
        while more:
            with self._outbox.writing() as connection:
                more = assign_some(connection, self._lengths)
        if self._closes and now is not None:
            with self._outbox.writing() as connection:
                close_quiet(connection, now, self._clock())
        self._done()
