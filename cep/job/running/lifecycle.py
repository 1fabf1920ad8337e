"""From the lock to the last batch: what a job does besides its batches, in the order in which it does it.

leadership   the lease of the job, where several machines reach its outbox
origin       the outbox and the packs with which a start goes on
port         metrics and health answer from here on
inspection   the state folder is looked over before Java starts
delivery     alerts go out, also those that an earlier run left
letters_out  dead letters and late events go to topics
episodes     alerts of one rule and key that follow one another are put together
record       old days of accepted events are removed
backlog      what waits in topics is counted, and consumer groups are told how far the job is
retention    what was kept long enough is removed from the outbox
query_watch  batches, until the job is done or is to stop; started again where it has to be
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from alerts.outbox import Outbox
from cep.buckets import UNFIT
from cep.collector import settled
from cep.config import Job, SecretError
from cep.errors import NO_STANDBY, ConfigurationError
from cep.files import write_json
from cep.job.batches.deployed_packs import Running
from cep.job.batches.driver import Driver, FinishedBatch
from cep.job.batches.heartbeat import Heartbeat
from cep.job.batches.outage import Outage
from cep.job.batches.surroundings import Surroundings
from cep.job.clocks.wrong_clock import wrong
from cep.job.running.backlog import BacklogWatch
from cep.job.running.delivery import Deliverer
from cep.job.running.episodes import EpisodeKeeper
from cep.job.running.health import Standing
from cep.job.running.intakes import Intakes
from cep.job.running.leadership import Leadership
from cep.job.running.letters_out import LettersOut
from cep.job.running.machines import join
from cep.job.running.port import answering
from cep.job.running.progress import Progress
from cep.job.running.record import RecordKeeper
from cep.job.running.reporting import MetricsReporter
from cep.job.running.retention import RetentionKeeper
from cep.job.running.stopping import Stage, Stop
from cep.job.spark import session
from cep.job.spark.cores import usable_cores
from cep.job.spark.failures import explained
from cep.job.spark.jars.fetched import KAFKA, S3, jars
from cep.job.spark.java import require_java
from cep.job.start import beforehand, origin
from cep.job.start.inspection import look_over
from cep.job.state_folder import lock
from cep.job.state_folder.folder import SHARDS_A_CORE, FolderLayout, StateFolder
from cep.sources.checkpoint import Checkpoint
from cep.sources.waiting import Waiting
from cep.web.metrics import Metrics
from rules.diagnostics import Diagnostic, DiagnosticsError
from rules.render import render_all
from rules.typed import Pack

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NEEDS_SERVER = 'keep it on PostgreSQL: [outbox] url = "postgresql://..."'
Spark = Callable[..., "AbstractContextManager[SparkSession]"]
"""Opens a session, as cep.job.spark.session.running does."""
Warn = Callable[[Sequence[Diagnostic]], None]


@dataclass(frozen=True, slots=True)
class Mode:
    """`once`: take what is there and stop; `drain`: then settle everything and close the folder.

    `standby`: wait for the end of another process that runs the job. `accepted` are resolved paths of files
    that the batch which is open may go without.
    """

    once: bool = False
    drain: bool = False
    standby: bool = False
    accepted: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Launch:
    """A job that is to run, and how. `packs` gives those for the first start of the state folder."""

    job: Job
    packs: Callable[[], Sequence[Pack]]
    environ: Mapping[str, str]
    mode: Mode


def run(
    launch: Launch,
    progress: Progress,
    spark: Spark = session.running,
    *,
    warn: Warn | None = None,
    stop: Stop | None = None,
) -> None:
    """Runs the job until it is asked to `stop` or, with `once`, done.

    `warn` is called with warnings about the job file; without it they are drawn as progress is. Raises
    JobError. Raises DiagnosticsError for a job file that cannot be right and packs that cannot run together;
    of these a first start leaves nothing on disk.
    """
    if found := wrong(time.time_ns()):
        raise DiagnosticsError([found])
    launch = replace(launch, packs=cache(launch.packs))
    folder = state_folder(launch)
    if launch.mode.standby and not folder.own:
        raise ConfigurationError(
            "--standby needs an outbox that other processes reach", NEEDS_SERVER, NO_STANDBY
        )
    if folder.bucket is not None and not folder.own:
        raise ConfigurationError(f"the state {folder} needs an outbox with a lease", NEEDS_SERVER, UNFIT)
    warn = warn or (lambda found: progress.tell(render_all(found)) if found else None)
    if not folder.closed:
        warn(beforehand.check(launch.job, folder, launch.environ, launch.packs))
    if folder.bucket is not None:
        folder = replace(folder, bucket=folder.bucket.patient)
    launch = replace(launch, job=launch.job.within(folder.durable))
    folder.make()
    asked = stop or Stop(progress.tell)
    try:
        with ExitStack() as stack:
            hold = lock.opened if folder.own else lock.held
            log = stack.enter_context(hold(folder))
            _Lifecycle(launch, progress, warn, asked, stack, folder).run(spark, log)
    except (ConfigurationError, DiagnosticsError):
        if asked.why is None:
            raise
    except Exception as error:
        if not asked.abandoned:
            raise explained(error, folder, time.time()) from error
    if asked.why is not None:
        raise asked.why


def state_folder(launch: Launch) -> StateFolder:
    """The state folder of a job; where others may use it at once, with a name for this process there."""
    job = launch.job
    try:
        shared = not job.outbox_url(launch.environ).startswith("sqlite")
    except SecretError:  # it is told of with the rest of job.toml
        shared = False
    own = f"{socket.gethostname()}-{os.getpid()}" if shared else ""
    return StateFolder.of(job, launch.environ, own)


class _Lifecycle:
    """One run of the program. What it begins ends with `stack`, in the reverse order."""

    def __init__(
        self,
        launch: Launch,
        progress: Progress,
        warn: Warn,
        stop: Stop,
        stack: ExitStack,
        folder: StateFolder,
    ) -> None:
        self._launch = launch
        self._folder = folder
        self._progress = progress
        self._warn = warn
        self._stop = stop
        self._stack = stack
        self._metrics = Metrics()
        self._standing = Standing(launch.job, stop)
        self._reporter = MetricsReporter(self._metrics, progress.tell)
        self._delivery = Deliverer(
            launch.job.receivers, launch.environ, self._metrics, progress, stop, launch.job.settings,
            launch.job.state,
        )  # fmt: skip
        self._letters = LettersOut(launch.job.letters, launch.environ, progress.tell)
        self._leadership: Leadership | None = None
        self._intakes: Intakes | None = None
        self._episodes: EpisodeKeeper | None = None
        self._retention = RetentionKeeper(launch.job.retention, time.time_ns, progress.tell)
        self._record = RecordKeeper(self._folder.record, launch.job.keep, time.time_ns, progress.tell)
        checkpoint = Checkpoint(self._folder.checkpoint)
        self._backlog = BacklogWatch(
            launch.job.feeds, checkpoint, self._show_waiting, progress.tell, time.monotonic
        )

    def run(self, spark: Spark, log: int) -> None:
        """Everything in order. `log` is the file of what Spark says."""
        job, folder, environ = self._launch.job, self._folder, self._launch.environ
        if folder.closed:
            self._deliver_rest()
            raise origin.closed(folder)
        require_java(environ)
        if any(feed.source.connected for feed in job.feeds):
            jars(KAFKA)
        if job.bucket is not None:
            jars(S3)
        cores = job.machines.cores or usable_cores()
        before = folder.layout()
        if before is not None and (differing := beforehand.differences(job, before)):
            raise DiagnosticsError(differing)
        warm = None if before is None or not self._launch.mode.standby else before.partitions
        session = None if warm is None else self._session(spark, warm, cores, log)
        outbox = self._led(log) if folder.own else None
        if self._stop.is_set():
            return
        before = folder.layout()
        port = self._stack.enter_context(ExitStack())
        port.enter_context(answering(job, environ, self._metrics, self._standing))
        if self._stop.is_set():
            return
        outbox = outbox or self._opened()
        self._stack.callback(port.close)  # before the outbox closes, which requests ask
        shards = before.shards if before else job.shards or SHARDS_A_CORE * cores
        driver = self._go_on(outbox, before, shards)
        self._take_events()
        streams = driver.deploys.fed(before.feeds if before else ())
        layout = folder.settle_layout(shards, min(cores, shards), streams)
        self._metrics.watch_outbox(outbox, self._delivery.names, self._progress.tell)
        self._delivery.start(outbox, self._stack)
        self._letters.start(outbox, self._stack)
        self._standing.wake = self._delivery.wake
        self._keep_episodes(outbox, lambda: driver.running.packs)
        self._retention.start(outbox, self._stack)
        self._record.start(self._stack)
        self._backlog.start(self._stack)
        if self._stop.is_set():
            return
        self._stop.stage = lambda: _stage(driver)
        session = session or self._session(spark, layout.partitions, cores, log)
        settled()
        self._batches(session, driver, layout, cores)
        if self._launch.mode.once:
            self._delivery.finish()
            self._letters.finish(self._stop.is_set)
        self._stop.stage = lambda: "ending"

    def _session(self, spark: Spark, partitions: int, cores: int, log: int) -> SparkSession:
        self._progress.tell("starting Spark; the first batch takes 5 to 20 seconds")
        environ, java, machines = self._launch.environ, self._stop.java, self._launch.job.machines
        return self._stack.enter_context(spark(self._folder, partitions, cores, log, environ, java, machines))

    def _opened(self) -> Outbox:
        outbox = origin.open_outbox(self._launch.job, self._folder, self._launch.environ)
        self._stack.callback(outbox.close)
        return outbox

    def _led(self, log: int) -> Outbox:
        """The outbox, once this process has the lease of the job, or is to stop."""
        outbox = self._opened()
        self._leadership = Leadership(outbox, self._stop, self._progress.tell)
        if self._leadership.take(self._launch.mode.standby):
            self._leadership.keep(self._stack)
            self._stack.enter_context(lock.shared(self._folder, log))
            if self._folder.closed:
                raise origin.closed(self._folder)
        return outbox

    def _go_on(self, outbox: Outbox, before: FolderLayout | None, shards: int) -> Driver:
        """The driver of the batches to come, with what the folder and the outbox have of those before."""
        job, folder, tell = self._launch.job, self._folder, self._progress.tell
        accepted = look_over(folder, before, outbox, job, self._launch.mode.accepted, tell)
        packs = origin.packs(folder, outbox, self._launch.packs, tell)
        running = Running({pack.name: pack for pack in packs}, job, before.feeds if before else ())
        running.plan()
        self._warn(running.findings())
        self._metrics.packs(running.revisions)
        outage = Outage(self._stop.wait)
        assure = self._leadership.assure if self._leadership else lambda: None
        around = Surroundings(folder, outbox, self._launch.environ, time.time_ns, tell, outage, assure)
        driver = Driver(around, running, shards, self._finished, self._metrics.deployed)
        driver.preparation.accepted = accepted
        if not self._launch.mode.once:
            checkpoint, asked = Checkpoint(folder.checkpoint), driver.preparation.asked
            driver.heartbeat = Heartbeat(driver.deploys.read, checkpoint, asked, job.trigger / 1e9)
        self._standing.driver, self._standing.outbox = driver, outbox
        return driver

    def _take_events(self) -> None:
        """Events come by HTTP from here on; but none where time is to end with what is there."""
        if not self._launch.mode.drain:
            assure = (lambda: None) if self._leadership is None else self._leadership.assure
            stack = self._stack.enter_context(ExitStack())
            self._intakes = Intakes(self._folder, self._progress.tell, assure, stack)
            self._intakes.open(self._launch.job.feeds)
            self._standing.intakes = self._intakes.by_stream
            self._metrics.watch_intakes(self._intakes.waiting)
            self._stack.callback(setattr, self._standing, "intakes", None)  # before they end

    def _keep_episodes(self, outbox: Outbox, packs: Callable[[], Mapping[str, Pack]]) -> None:
        self._episodes = EpisodeKeeper(self._launch.job.desk, packs, self._progress.tell, self._delivery.wake)
        self._episodes.start(outbox, self._stack)

    def _deliver_rest(self) -> None:
        """A closed folder may still owe alerts to receivers, and letters to topics."""
        outbox = Outbox.open(self._launch.job.outbox_url(self._launch.environ), create=False)
        self._stack.callback(outbox.close)
        if outbox.waiting(self._delivery.names):
            self._progress.tell("delivering what is left in the outbox")
            self._delivery.start(outbox, self._stack)
            packs = origin.packs_of_drained(self._folder, outbox)
            self._keep_episodes(outbox, lambda: {pack.name: pack for pack in packs})
            self._delivery.finish()
        if self._launch.job.letters is not None:
            self._letters.start(outbox, self._stack)
            self._letters.finish(self._stop.is_set)

    def _batches(self, spark: SparkSession, driver: Driver, layout: FolderLayout, cores: int) -> None:
        """Runs the query until it is done or the job is to stop; with `drain` once more, to end time."""
        from cep.job.running.query_watch import QueryWatch  # it imports pyspark: Java is started before

        mode = self._launch.mode
        opening = (lambda _: None) if self._intakes is None else self._intakes.open
        query = QueryWatch(spark, driver, self._stop, self._launch.job.trigger / 1e9, mode.once, opening)
        try:
            if not join(spark, driver, cores, self._stop):
                return
            query.run(layout, cores)
            if mode.drain and not self._stop.is_set() and not driver.drained:
                driver.preparation.drain = True
                query.run(layout, cores)
        except Exception:
            self._standing.failed()
            raise
        if driver.last is None:
            return
        if driver.drained:
            write_json(self._folder.closed_file, {"batch": driver.last.number})
        if not query.broken_off:
            what = "the folder is closed" if driver.drained else "stopped"
            self._progress.end()
            self._progress.tell(f"{what} after batch {driver.last.number}: {self._progress.counted()}")

    def _finished(self, batch: FinishedBatch) -> None:
        """After every batch, in Spark's thread."""
        self._standing.batch(batch)
        self._delivery.wake()
        self._letters.wake()
        if self._episodes is not None:
            self._episodes.wake(batch.outcome.watermark)
        self._record.wake()
        self._retention.wake()
        self._backlog.wake(batch.number)
        if not batch.replayed:
            self._reporter.take(batch)
            self._standing.queries.take(batch.outcome.counts)
        self._progress.batch(batch)

    def _show_waiting(self, found: Mapping[str, Waiting]) -> None:
        self._standing.waiting = found
        self._progress.waiting(found)
        self._metrics.waiting({stream: one.records for stream, one in found.items()})


def _stage(driver: Driver) -> Stage:
    if driver.begun is not None:
        return "within a batch"
    return "starting" if driver.last is None else "between batches"
