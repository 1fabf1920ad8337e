"""The display of a running job: one line that renews itself on a terminal, else a line now and then.

It counts from the start of this run. A rate is given only over the last ten seconds or more: what the first
batches find was there before, and a rate over them says nothing.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TextIO

from alerts.notation import timestamp
from cep.events import MAX_TIME, MIN_TIME
from cep.job.running.status_line import StatusLine
from cep.web.desk.feeds import lags
from rules.nouns import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from alerts.receivers.console import Stream
    from cep.job.batches.driver import FinishedBatch
    from cep.sources.waiting import Waiting

_EVERY = 10_000_000_000


class Progress:
    """Writes to `out`. May be called from any thread."""

    def __init__(self, out: TextIO) -> None:
        self._line = StatusLine(out)
        self._lock = threading.Lock()
        self._since: int | None = None
        self._events = 0
        self._malformed = 0
        self._late = 0
        self._alerts = 0
        self._counted = 0
        self._rate: float | None = None
        self._waiting: Mapping[str, Waiting] = {}

    def tell(self, sentence: str) -> None:
        """Writes a sentence on a line of its own."""
        self._line.print(sentence)

    def above(self, stream: TextIO) -> Stream:
        """A stream for other lines, which do not run into this one where both go to a terminal."""
        return self._line.above(stream)

    def waiting(self, found: Mapping[str, Waiting]) -> None:
        """Takes in what waits in topics by stream, to be shown with the next batch."""
        self._waiting = found

    def batch(self, batch: FinishedBatch) -> None:
        """Takes in a batch, and shows how things stand when it is time to."""
        with self._lock:
            if not batch.replayed:
                outcome = batch.outcome
                self._events += outcome.events("accepted") + outcome.events("late")
                self._late += outcome.events("late")
                self._malformed += outcome.events("dead") + outcome.poison("match")
                self._alerts += sum(batch.alerts.values())
            first = self._since is None
            passed = batch.ended - (batch.ended if self._since is None else self._since)
            if passed >= _EVERY:
                self._rate = (self._events - self._counted) / passed * 1e9
            if first or passed >= _EVERY:
                self._since, self._counted = batch.ended, self._events
            if self._line.terminal:
                self._line.draw(self._whole(batch), self._short(batch))
            elif first or batch.manifest.drain or passed >= _EVERY:
                self._line.print(self._whole(batch))

    def counted(self) -> str:
        """The numbers of this run so far, for its last words."""
        with self._lock:
            parts = [counted(self._events, "event"), counted(self._alerts, "alert")]
            if self._malformed:
                parts.insert(1, f"{self._malformed:,} malformed (table dead_letters of the outbox)")
            if self._late:
                parts.insert(1, f"{self._late:,} of them late (table late_events)")
            return ", ".join(parts)

    def end(self) -> None:
        """Leaves the last line where it is."""
        self._line.end()

    def _whole(self, batch: FinishedBatch) -> str:
        parts = [*self._counts(), *self._event_time(batch)]
        return f"batch {batch.number} ({batch.seconds:.2f} s); since the start {', '.join(parts)}"

    def _short(self, batch: FinishedBatch) -> str:
        """The line about a batch, short enough for eighty columns."""
        parts = [*self._counts(), *self._event_time(batch)[-1:]]
        return f"batch {batch.number} ({batch.seconds:.2f} s): {', '.join(parts)}"

    def _counts(self) -> list[str]:
        parts = [counted(self._events, "event")]
        if self._rate is not None:
            parts[0] += f" ({self._rate:,.0f}/s)"
        if self._late:
            parts.append(f"{self._late:,} late")
        if self._malformed:
            parts.append(f"{self._malformed:,} malformed")
        parts.append(counted(self._alerts, "alert"))
        if behind := [one for one in self._waiting.values() if one.behind]:
            parts.append(_catching_up(behind))
        return parts

    def _event_time(self, batch: FinishedBatch) -> list[str]:
        """The watermark, then how far it is behind the clock; empty before there is one."""
        moment = instant(batch.outcome.watermark)
        if moment is None:
            return []
        parts = [f"watermark {moment}"]
        found = lags(batch)
        if found and batch.outcome.watermark < MAX_TIME:
            parts.append(f"{span(max(found.values()))} behind the clock")
        return parts


def _catching_up(behind: Sequence[Waiting]) -> str:
    """The backlog of feeds that are more than a batch behind, and the time to read it."""
    text = f"{counted(sum(one.records for one in behind), 'record')} waiting"
    if any(one.pace is not None and one.pace <= 0 for one in behind):
        return f"{text}, not getting fewer"
    seconds = [one.seconds for one in behind if one.seconds is not None]
    return f"{text} (caught up in {span(max(seconds))})" if len(seconds) == len(behind) else text


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
