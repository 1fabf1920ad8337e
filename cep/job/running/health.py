"""The job's standing as /healthz tells it: ready or not, since when, and after which batch."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

from alerts.notation import timestamp
from alerts.outbox import OutboxError
from cep.job.running.progress import instant
from cep.job.running.stopping import Stop
from cep.web.desk.query_counts import QueryCounts
from cep.web.server import Health

if TYPE_CHECKING:
    from alerts.outbox import Outbox
    from cep.config import Job
    from cep.job.batches.driver import Driver, FinishedBatch
    from cep.sources.http.intake import Intake
    from cep.sources.waiting import Waiting

_STUCK = 120.0
"""Seconds: a batch that takes longer, or a longer time without one beyond the trigger, is not well."""

Status = Literal["starting", "running", "waiting", "stuck", "stopping", "failed"]


class Standing:
    """The state of a job, reported by its threads to those that answer requests.

    `driver`, `outbox` and `intakes` are set as soon as there are any, and `wake`, which has deliveries looked
    for; nobody asks any more when the outbox is closed. `waiting` is what waits in topics by stream.
    `now` is the wall clock in ns, `tick` seconds that no one sets back.
    """

    def __init__(
        self,
        job: Job,
        stop: Stop,
        now: Callable[[], int] = time.time_ns,
        tick: Callable[[], float] = time.monotonic,
    ) -> None:
        self.job = job
        self._stop = stop
        self._now = now
        self._tick = tick
        self._begun = now()
        self._first: int | None = None
        self._last: tuple[int, float] | None = None
        self._failed: int | None = None
        self.driver: Driver | None = None
        self.outbox: Outbox | None = None
        self.intakes: Mapping[str, Intake] | None = None
        self.wake: Callable[[], None] = lambda: None
        self.queries = QueryCounts(now)
        self.waiting: Mapping[str, Waiting] = {}

    def batch(self, batch: FinishedBatch) -> None:
        """A batch is in the outbox."""
        if self._first is None:
            self._first = batch.ended
        self._last = batch.ended, self._tick()

    def failed(self) -> None:
        """The job is about to end by a failure."""
        self._failed = self._now()

    def health(self) -> Health:
        """Well while batches go on; `since` is when the job came to be as it is."""
        status, since = self._status()
        batch = self.driver.last if self.driver else None
        told: dict[str, object] = {
            "status": status,
            "since": timestamp(since // 1_000_000 * 1_000_000),
            "job": self.job.name,
            "batch": batch.number if batch else None,
            "watermark": instant(batch.outcome.watermark) if batch else None,
            "seconds_since_batch": round(self._tick() - self._last[1], 1) if self._last else None,
            "packs": self.driver.running.revisions if self.driver else {},
        }
        try:
            pending = self.outbox.status() if self.outbox else {}
            told["outbox_pending"] = {name: one.pending for name, one in pending.items()}
        except OutboxError as error:
            status = told["status"] = "waiting" if error.passing and status != "stopping" else "failed"
            told["outbox"] = error.message
        return Health(status == "running", told)

    def _status(self) -> tuple[Status, int]:
        if self._failed is not None:
            return "failed", self._failed
        if self._stop.since is not None:
            return "stopping", self._stop.since
        if self._first is None or self._last is None:
            return "starting", self._begun
        ended, moment = self._last
        if self._tick() - moment > _STUCK + self.job.trigger / 1e9:
            return "stuck", ended
        return "running", self._first
