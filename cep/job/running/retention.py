"""The thread that removes from a running job's outbox what was kept long enough; no batch waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from alerts.outbox import retention
from alerts.outbox.small_steps import FIRST, REST, next_number, timed
from cep.job.state_folder import old_letters

if TYPE_CHECKING:
    from sqlalchemy import Table

    from alerts.outbox import Outbox
    from cep.config.job import Retention

EVERY = 3_600_000_000_000
"""Nanoseconds between two looks."""


class RetentionKeeper:
    """Removes what is older than `kept` says. `clock` is the wall clock in ns.

    `tell` is called with a sentence where the outbox cannot be read or written: the next look tries again.
    """

    def __init__(self, kept: Retention, clock: Callable[[], int], tell: Callable[[str], None]) -> None:
        self._kept = kept
        self._clock = clock
        self._tell = tell
        self._looked: int | None = None
        self._waiting = threading.Event()
        self._stopping = threading.Event()
        self._outbox: Outbox
        self._thread = threading.Thread(target=self._run, name="retention", daemon=True)

    def start(self, outbox: Outbox, stack: ExitStack) -> None:
        """Begin to remove, until `stack` ends it."""
        self._outbox = outbox
        self._waiting.set()
        self._thread.start()
        stack.callback(self._stop)

    def wake(self) -> None:
        """Say that time has passed. Returns at once."""
        if self._looked is None or self._clock() - self._looked >= EVERY:
            self._waiting.set()

    def _stop(self) -> None:
        self._stopping.set()
        self._waiting.set()
        self._thread.join()

    def _run(self) -> None:
        from alerts.outbox import OutboxError

        while True:
            self._waiting.wait()
            self._waiting.clear()
            if self._stopping.is_set():
                return
            self._looked = self._clock()
            try:
                for seconds in removals(self._outbox, self._kept, self._looked):
                    if self._stopping.wait(REST * seconds):
                        return
            except OutboxError as error:
                self._tell(f"what is old stays in the outbox: {error}")


def removals(outbox: Outbox, kept: Retention, now: int) -> Iterator[float]:
    """Remove what is too old at a moment of the wall clock in ns; after each transaction its seconds.

    Raises OutboxError.
    """
    yield timed(outbox, partial(old_letters.mark, now=now))
    for table, length in ((old_letters.LETTERS, kept.dead_letters), (old_letters.LATE, kept.late)):
        yield from _letters(outbox, table, now - length)
    yield from _deliveries(outbox, now - kept.deliveries)
    yield from _notifications(outbox, now - kept.deliveries)
    yield from _alerts(outbox, now - kept.alerts)


def _letters(outbox: Outbox, table: Table, before: int) -> Iterator[float]:
    while True:
        with outbox.reading() as connection:
            numbers = old_letters.old(connection, table, before)
        if not numbers:
            return
        yield timed(outbox, partial(old_letters.remove, table=table, numbers=numbers))


def _deliveries(outbox: Outbox, before: int) -> Iterator[float]:
    with outbox.reading() as connection:
        receivers = retention.receivers(connection)
    for receiver in receivers:
        after, most = 0, FIRST
        while True:
            with outbox.reading() as connection:
                old = retention.old_deliveries(connection, receiver, before, after, most)
            if not old.numbers:
                break
            after = old.numbers[-1]
            yield (seconds := timed(outbox, partial(retention.remove_deliveries, old=old)))
            most = next_number(most, seconds)


def _notifications(outbox: Outbox, before: int) -> Iterator[float]:
    while True:
        with outbox.reading() as connection:
            numbers = retention.old_notifications(connection, before)
        if not numbers:
            return
        yield timed(outbox, partial(retention.remove_notifications, numbers=numbers))


def _alerts(outbox: Outbox, before: int) -> Iterator[float]:
    after, most = 0, FIRST
    while True:
        with outbox.reading() as connection:
            old = retention.old_alerts(connection, before, after, most)
        if not old.numbers:
            return
        after = old.numbers[-1]
        yield (seconds := timed(outbox, partial(retention.remove_alerts, old=old)))
        most = next_number(most, seconds)
