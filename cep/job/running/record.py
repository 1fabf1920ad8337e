"""The thread that removes old days of a running job's record, which no batch waits for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from cep.record.keeping import expired, remove
from cep.record.layout import day_of

if TYPE_CHECKING:
    from cep.files import AnyPath


class RecordKeeper:
    """Keeps the record as long as `keep` says, in nanoseconds; 0: nothing of it stays.

    `clock` is the wall clock in ns; `tell` is called with a sentence where something cannot be removed.
    """

    def __init__(
        self, record: AnyPath, keep: int, clock: Callable[[], int], tell: Callable[[str], None]
    ) -> None:
        self._record = record
        self._keep = keep
        self._clock = clock
        self._tell = tell
        self._looked = ""
        self._told = ""
        self._waiting = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="record", daemon=True)

    def start(self, stack: ExitStack) -> None:
        """Begin to remove, until `stack` ends it."""
        self._waiting.set()
        self._thread.start()
        stack.callback(self._stop)

    def wake(self) -> None:
        """Say that time has passed. Returns at once."""
        if day_of(self._clock()) != self._looked:
            self._waiting.set()

    def look(self) -> None:
        """Remove what is older than what is kept."""
        now = self._clock()
        self._looked = day_of(now)
        try:
            for day in expired(self._record, now, self._keep):
                remove(day, lambda: not self._stopping)
        except OSError as error:
            said = f"old days of the record cannot be removed: {error.strerror} ({error.filename})"
            if said != self._told:
                self._told = said
                self._tell(said)

    def _stop(self) -> None:
        self._stopping = True
        self._waiting.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            self._waiting.wait()
            self._waiting.clear()
            if self._stopping:
                return
            self.look()
