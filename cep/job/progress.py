"""What a user sees of a running job: one line that renews itself on a terminal, else a line now and then.

It counts from the start of this run. A rate is given only over the last ten seconds or more: what the first
batches find was there before, and a rate over them says nothing.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, TextIO

from alerts.notation import timestamp
from cep.events import MAX_TIME, MIN_TIME

if TYPE_CHECKING:
    from cep.job.driver import Batch

_EVERY = 10_000_000_000


class Progress:
    """Writes to `out`. May be called from any thread."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._terminal = out.isatty()
        self._lock = threading.Lock()
        self._since: int | None = None
        self._shown = False
        self._events = 0
        self._malformed = 0
        self._alerts = 0
        self._counted = 0
        self._rate: float | None = None

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
                self._malformed += batch.outcome.of("events", "dead")
                self._alerts += sum(batch.alerts.values())
            first = self._since is None
            passed = batch.ended - (batch.ended if self._since is None else self._since)
            if passed >= _EVERY:
                self._rate = (self._events - self._counted) / passed * 1e9
            if first or passed >= _EVERY:
                self._since, self._counted = batch.ended, self._events
            if not (self._terminal or first or batch.manifest.drain or passed >= _EVERY):
                return
            line = self._line(batch)
            if self._terminal:
                self._clear()
                self._write(line)
                self._shown = True
            else:
                self._write(line + "\n")

    def counted(self) -> str:
        """What this run came to so far, for its last words."""
        with self._lock:
            parts = [_counted(self._events, "event"), _counted(self._alerts, "alert")]
            if self._malformed:
                parts.insert(1, f"{self._malformed:,} malformed (table dead_letters of the outbox)")
            return ", ".join(parts)

    def end(self) -> None:
        """Leaves the last line where it is."""
        with self._lock:
            if self._shown:
                self._write("\n")
                self._shown = False

    def _line(self, batch: Batch) -> str:
        parts = [_counted(self._events, "event")]
        if self._rate is not None:
            parts[0] += f" ({self._rate:,.0f}/s)"
        if self._malformed:
            parts.append(f"{self._malformed:,} malformed")
        parts.append(_counted(self._alerts, "alert"))
        moment = instant(batch.outcome.watermark)
        if moment is not None:
            parts.append(f"watermark {moment}")
            found = lags(batch)
            if found and batch.outcome.watermark < MAX_TIME:
                parts[-1] += f", {span(max(found.values()))} behind the clock"
        return f"batch {batch.number} ({batch.seconds:.2f} s); since the start {', '.join(parts)}"

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


def span(seconds: float) -> str:
    """A length of time in one unit that suits it: `1.5 s`, `12 min`, `7 h`, `319 days`."""
    for unit, length, least in (("days", 86_400, 172_800), ("h", 3_600, 7_200), ("min", 60, 120)):
        if seconds >= least:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.1f} s"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


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
