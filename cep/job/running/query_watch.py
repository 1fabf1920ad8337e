"""The streaming query of a running job: watched while it runs, and started again where it has to be."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from alerts.outbox import OutboxError
from cep.errors import JobError
from cep.job.batches.driver import Driver
from cep.job.clocks.running_time import SetBack
from cep.job.running import machines
from cep.job.running.retries import Retries
from cep.job.running.stopping import Stop
from cep.job.running.taken import Taken
from cep.job.spark import stream
from cep.job.spark.failures import explained, keep, worker_late
from cep.job.state_folder.folder import FolderLayout
from cep.sources.checkpoint import Checkpoint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from cep.sources.source import Feed

_OVERDUE = 10.0
"""Seconds beyond the trigger without a batch, as when a feed's disk hangs: from then on no feed is read."""


class QueryWatch:
    """The query over all feeds. `trigger` is the least number of seconds from one batch to the next.

    `once`: it ends when it has taken what is there. `opening` is called with the feeds that it is about to
    read. `broken_off`: it was stopped within a batch.
    """

    def __init__(
        self,
        spark: SparkSession,
        driver: Driver,
        stop: Stop,
        trigger: float,
        once: bool,
        opening: Callable[[Sequence[Feed]], None],
    ) -> None:
        self._spark = spark
        self._driver = driver
        self._stop = stop
        self._trigger = trigger
        self._once = once
        self._opening = opening
        self._folder = driver.around.folder
        self._tell = driver.around.tell
        self._retries = Retries()
        self._set_back = SetBack(time.monotonic_ns, time.time_ns)
        self.broken_off = False

    def run(self, layout: FolderLayout, cores: int) -> None:
        """Runs until it is done or the job is to stop; starts again for feeds that are new.

        Raises JobError where a batch failed and running it again would not help.
        """
        driver = self._driver
        driver.stopping.clear()  # where a run that took what was there has ended, and time is to end now
        while not self._stop.is_set():
            streams = driver.deploys.reading = driver.deploys.fed(layout.feeds)
            layout = self._folder.settle_layout(layout.shards, layout.partitions, streams)
            failure = self._run_once(layout, cores)
            if failure is not None and driver.drained:
                return  # time has ended: what Spark began after that, or how it ended, does not matter
            if failure is None:
                if driver.drained or not (driver.deploys.unread() or self._set_back.found):
                    return
                self._tell(f"starting the query again {self._reason()}")
            elif not self._again(failure):
                return
            driver.stopping.clear()

    def _run_once(self, layout: FolderLayout, cores: int) -> BaseException | None:
        """Runs the query until it ends; why it failed, if it did."""
        driver = self._driver
        feeds = [feed for feed in driver.running.job.feeds if feed.name in driver.deploys.reading]
        self._opening(feeds)
        counted = self._once and any(feed.source.counted for feed in feeds)
        taken = Taken(feeds, Checkpoint(self._folder.checkpoint)) if counted else None
        trigger = (0.0 if taken else None) if self._once else self._trigger
        try:
            query = stream.start(
                self._spark, self._folder, layout, cores, feeds, driver, trigger,
                shared=machines.shared(driver), environ=machines.variables(driver, feeds),
            )  # fmt: skip
            return self._watch(query, taken)
        except (Py4JError, OSError) as error:  # either, when the JVM is gone
            return driver.failure or error

    def _reason(self) -> str:
        unread = sorted(self._driver.deploys.unread())
        return f"to read {', '.join(unread)}" if unread else "as the clock was set back"

    def _again(self, failure: BaseException) -> bool:
        """True if the query is to be started again after a failure, False if the job was stopped meanwhile.

        Raises JobError where neither is so.
        """
        if self._stop.is_set() and not isinstance(failure, JobError | OutboxError):
            # whoever sends a signal to every process stops the JVM, too
            if not self._stop.abandoned:
                self._tell("stopped within a batch, which will be run again at the next start")
            self.broken_off = True
            return False
        try:
            if self._after_late_worker(failure) or self._driver.again(failure):
                return True
        except JobError as error:
            failure = error
        raise explained(failure, self._folder, time.time())

    def _after_late_worker(self, failure: BaseException) -> bool:
        """True if a worker did not come up, not too often in one batch."""
        late, driver = worker_late(failure), self._driver
        if late is None or not self._retries.allow(None if driver.last is None else driver.last.number):
            return False
        where = keep(failure, self._folder, time.time())
        driver.failure = None
        self._tell(f"a Python worker did not come up ({late}); the batch is run again, see {where}")
        return True

    def _watch(self, query: StreamingQuery, taken: Taken | None) -> BaseException | None:
        """Returns when the query has ended: by itself, or because it is to; and why, if it failed.

        It is to end when all is `taken` that was to be.

        Raises Py4JError and OSError when the JVM is gone.
        """
        driver, set_back = self._driver, self._set_back
        set_back.start()
        while query.isActive:
            self._stop.wait(0.2)
            if self._going_on():
                driver.preparation.running_time.tick()
            over = self._stop.is_set() or driver.drained or (taken is not None and taken.by(driver))
            if over or driver.deploys.unread() or set_back.look():
                driver.stopping.set()
                self._finish_batch(query)
                query.stop()
                break
        return driver.failure or (None if driver.stopping.is_set() else query.exception())

    def _going_on(self) -> bool:
        """True while a batch runs, or the next one may well be on its way."""
        overdue = time.monotonic() - self._driver.ended - self._trigger
        return self._driver.begun is not None or overdue < _OVERDUE

    def _finish_batch(self, query: StreamingQuery) -> None:
        """Waits for the batch that runs, and for Spark's commit of it. Raises as `_watch` does."""
        driver, commits = self._driver, self._folder.checkpoint / "commits"
        while driver.begun is not None and query.isActive:
            time.sleep(0.02)
        deadline = time.monotonic() + 5
        while driver.last is not None and query.isActive and time.monotonic() < deadline:
            if (commits / str(driver.last.number)).exists():
                return
            time.sleep(0.02)
