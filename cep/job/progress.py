"""What a user sees of a running job: one line that renews itself on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from alerts.notation import timestamp
from cep.events import MAX_TIME, MIN_TIME

if TYPE_CHECKING:
    from cep.job.driver import Batch

_EVERY = 10_000_000_000


class Progress:
    """Writes to `out`; `clock` is the wall clock in nanoseconds. May be called from any thread."""

    def __init__(self, out: TextIO, clock: Callable[[], int]) -> None:
        self._out = out
        self._clock = clock
        self._terminal = out.isatty()
        self._lock = threading.Lock()
        self._since = clock()
        self._shown = False
        self._events = 0
        self._alerts = 0

    def tell(self, sentence: str) -> None:
        """Writes a sentence on a line of its own."""
        with self._lock:
            self._clear()
            self._write(f"{sentence}\n")

    def batch(self, batch: Batch) -> None:
        """Takes in a batch, and shows how things stand when it is time to."""
        with self._lock:
            if not batch.replayed:
                self._events += batch.outcome.of("events", "accepted") + batch.outcome.of("events", "late")
                self._alerts += sum(batch.alerts.values())
            passed = batch.ended - self._since
            first = batch.number == 0
            if not (self._terminal or first or batch.manifest.drain or passed >= _EVERY):
                return
            line = self._line(batch, passed)
            if self._terminal:
                self._clear()
                self._write(line)
                self._shown = True
            else:
                self._write(line + "\n")
            if passed >= _EVERY or not self._terminal:
                self._since, self._events = batch.ended, 0

    def end(self) -> None:
        """Leaves the last line where it is."""
        with self._lock:
            if self._shown:
                self._write("\n")
                self._shown = False

    def _line(self, batch: Batch, passed: int) -> str:
        rate = self._events / max(passed, batch.seconds * 1e9, 1) * 1e9
        found = lags(batch)
        moment = instant(batch.outcome.watermark) or "-"
        lag = f", {max(found.values()):,.1f} s behind the clock" if found else ""
        return (
            f"batch {batch.number}: {rate:,.0f} events/s, watermark {moment}{lag}, "
            f"{self._alerts:,} alerts, {batch.seconds:.2f} s"
        )

    def _clear(self) -> None:
        if self._shown:
            self._write("\r\x1b[2K")
            self._shown = False

    def _write(self, text: str) -> None:
        try:
            self._out.write(text)
            self._out.flush()
        except (BrokenPipeError, ValueError):
            # nobody reads any more; the job does not end for that
            self._out = sys.__stderr__ if self._out is not sys.__stderr__ and sys.__stderr__ else self._out


def instant(watermark: int) -> str | None:
    """A watermark as text; None before the first event, `end of time` after a drain."""
    if watermark <= MIN_TIME:
        return None
    return "end of time" if watermark >= MAX_TIME else timestamp(watermark)


def lags(batch: Batch) -> dict[str, float]:
    """By stream, seconds from its watermark (greatest event time less lateness) to the clock, at least 0."""
    found: dict[str, float] = {}
    greatest = {**batch.manifest.greatest, **batch.outcome.greatest}
    for (stream, _), time in greatest.items():
        declared = batch.plan.streams.get(stream)
        if declared is None:
            continue
        lag = max(0.0, (batch.ended - max(batch.outcome.watermark, time - declared.lateness)) / 1e9)
        found[stream] = max(lag, found.get(stream, 0.0))
    return found
