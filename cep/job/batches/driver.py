"""One batch, from its manifest to the outbox: what Spark's foreachBatch calls on the driver.

The manifest is on disk before the batch's one action begins (cep.job.batches.preparation); what the batch
came to is in the outbox, in one transaction, before Spark commits the batch (cep.job.batches.results). So
whenever the process dies, Spark replays the batch with the same manifest, and the outbox knows whether it has
it already.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING

from alerts.raised_columns import RaisedColumns
from cep.collector import paused
from cep.job.batches.attempts import Attempts
from cep.job.batches.deployed_packs import Running
from cep.job.batches.deploys import Deploys
from cep.job.batches.heartbeat import Heartbeat
from cep.job.batches.outage import StoppedError
from cep.job.batches.preparation import Preparation
from cep.job.batches.results import BatchResults
from cep.job.batches.surroundings import Surroundings
from cep.job.clocks.idle import delivering, next_change
from cep.job.shipping import task
from cep.job.shipping.blobs import clear, opened
from cep.job.state_folder import extents
from cep.job.state_folder import manifest as manifests
from cep.job.state_folder.manifest import Manifest
from cep.job.workers.outcome import BatchOutcome, put_together
from cep.plan.plan import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row


@dataclass(frozen=True, slots=True)
class FinishedBatch:
    """A batch that is in the outbox. `seconds` from its manifest to the outbox; `ended` is wall clock in ns.

    `stages` are seconds by stage: `decode`, `classify` and `match` are sums over tasks, `spark` the whole
    action around them, `merge` putting its rows together, `outbox` the transaction.

    `alerts` counts what is new in the outbox by severity, `matches` that and what is withheld by rule's name.

    `replayed`: the outbox had it already, so that nothing of it counts again. `read` are the streams of which
    it read something.
    """

    number: int
    plan: Plan
    manifest: Manifest
    outcome: BatchOutcome
    alerts: Mapping[str, int]
    matches: Mapping[str, int]
    replayed: bool
    seconds: float
    stages: Mapping[str, float]
    ended: int
    read: frozenset[str] = frozenset()


class Driver:
    """Runs batches for Spark, one at a time, in a thread of Spark's. Other threads read its attributes.

    `failure` is what ended the query, if it ended by failing; `last` the last batch; `begun` when the batch
    that runs began (monotonic seconds), None between batches, `ended` when the last one did; `stopping` lets
    no further batch begin. `finished` is called with every batch that is in the outbox. With a `heartbeat` an
    idle job has few batches.
    """

    def __init__(
        self,
        around: Surroundings,
        running: Running,
        shards: int,
        finished: Callable[[FinishedBatch], None],
        deployed: Callable[[bool], None],
    ) -> None:
        self.around = around
        self.deploys = Deploys(around, running, deployed)
        self.preparation = Preparation(around, self.deploys, shards)
        self._results = BatchResults(around, self.deploys)
        self._shards = shards
        self._finished = finished
        self._attempts = Attempts(around.folder.manifests, around.tell)
        self.failure: BaseException | None = None
        self.last: FinishedBatch | None = None
        self.begun: float | None = None
        self.ended = time.monotonic()
        self.stopping = threading.Event()
        self.heartbeat: Heartbeat | None = None

    @property
    def running(self) -> Running:
        """The packs that run, and the job."""
        return self.deploys.running

    def __call__(self, frame: DataFrame, number: int) -> None:
        """Runs batch `number`, whose one action collects `frame`."""
        if self.stopping.is_set():
            raise StoppedError
        self.begun = begun = time.monotonic()
        try:
            # Looking through tens of thousands of alerts costs four times what making them does.
            with paused():
                batch = self._run(frame, number)
        except BaseException as error:
            self.failure = error
            raise
        finally:
            self.begun, self.ended = None, time.monotonic()
        self.last = batch
        self._finished(batch)
        if self.heartbeat is not None and not batch.manifest.drain:
            self.heartbeat.rest(batch.read, begun + self._still(batch), self.stopping)
            self.ended = time.monotonic()

    def _still(self, batch: FinishedBatch) -> float:
        """In how many seconds after its begin the clock alone changes something."""
        of, plan = batch.manifest, batch.plan
        seen = delivering(of.last_active, batch.outcome.seen.greatest, of.elapsed)
        timeouts = {name: stream.idle for name, stream in plan.streams.items()}
        due = batch.outcome.due
        return next_change(seen, plan.read, timeouts, of.elapsed, of.all_idle, due) / 1e9

    def _run(self, frame: DataFrame, number: int) -> FinishedBatch:
        begun = time.perf_counter()
        self._attempts.begin(number)
        before = self._results.before(number)
        self.around.patiently(lambda _: self.around.assure())
        manifest = self.preparation.manifest(number, before)
        plan = self.deploys.plan(manifest.revisions, manifest.generations)
        task.send(frame.sparkSession.sparkContext, manifest, self._attempts.careful)
        rows = frame.collect()
        ran = time.perf_counter()
        own = extents.load(self.around.folder.manifests, self.deploys.sources(), number, manifest.files)
        outcome = self._results.with_growth(number, own, self._outcome(rows))
        result = manifests.result(manifest, plan, outcome.seen, outcome.watermark, outcome.runs, outcome.kept)
        merged = time.perf_counter()
        recorded, result = self._results.record(manifest, result, outcome, own)
        spent = {"spark": ran - begun, "merge": merged - ran, "outbox": time.perf_counter() - merged}
        self.deploys.answer(manifest, before, result)
        return FinishedBatch(
            number,
            plan,
            manifest,
            # Its alerts are in the outbox: until the next batch has ended they would take as much room again.
            replace(outcome, raised=RaisedColumns.of(())),
            alerts=recorded.alerts.counted(attrgetter("severity")),
            matches=recorded.alerts.counted(attrgetter("rule"))
            + recorded.withheld.counted(attrgetter("rule")),
            replayed=recorded.already,
            seconds=time.perf_counter() - begun,
            stages={**outcome.seconds, **spent},
            ended=self.around.clock(),
            read=frozenset(one.stream for one in own),
        )

    def _outcome(self, rows: Iterable[Row]) -> BatchOutcome:
        blobs = self.around.folder.blobs
        came = opened(blobs, ((kind, bytes(payload)) for kind, payload in rows))
        outcome = put_together(came, self._shards)
        clear(blobs)
        return outcome

    def again(self, failure: BaseException) -> bool:
        """True if the batch that failed so is to be run again, by a query that is started anew."""
        feeds = {feed.name: feed for feed in self.running.job.feeds}
        if not self._attempts.again(failure, feeds):
            return False
        self.failure = None
        return True

    @property
    def drained(self) -> bool:
        """True if the last batch ended time."""
        return self.last is not None and self.last.manifest.drain
