"""From the lock to the last batch: what a job does besides its batches."""

from __future__ import annotations

import errno
import socket
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from alerts.dispatch import Dispatcher
from alerts.outbox import Outbox, OutboxError
from alerts.outbox.connect import place_of
from alerts.receivers.console import ConsoleReceiver
from alerts.receivers.webhook import WebhookReceiver
from cep.config import Job, Receiver
from cep.http import application, bind, serving
from cep.job import beforehand, lock, session, stream
from cep.job.accounts import Accounts
from cep.job.cores import usable_cores
from cep.job.driver import Batch, Driver
from cep.job.errors import PORT_TAKEN, ConfigurationError, JobError, OutsideError
from cep.job.failures import explained, keep, worker_late
from cep.job.files import write_json
from cep.job.folder import Layout, StateFolder
from cep.job.health import Standing
from cep.job.inspection import look_over
from cep.job.java import require_java
from cep.job.manifest import result_of
from cep.job.progress import Progress
from cep.job.retries import Retries
from cep.job.running_time import SetBack
from cep.job.shipping.packs import load
from cep.job.stopping import Stage, Stop
from cep.job.takeover import Running
from cep.job.wrong_clock import wrong
from cep.metrics import Metrics
from rules.diagnostics import Diagnostic, DiagnosticsError
from rules.render import render_all
from rules.typed import Pack

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_DELIVER = 60.0
"""Seconds that `--once` waits for its alerts to be delivered; what is not stays in the outbox."""


_OVERDUE = 10.0
"""Seconds beyond the trigger without a batch, as when a feed's disk hangs: from then on no feed is read."""


@dataclass(frozen=True, slots=True)
class Mode:
    """`once`: take what is there and stop; `drain`: then settle everything and close the folder.

    `accepted` are resolved paths of files that the batch which is open may go without.
    """

    once: bool = False
    drain: bool = False
    accepted: frozenset[str] = frozenset()


def run(
    job: Job,
    packs: Callable[[], Sequence[Pack]],
    environ: Mapping[str, str],
    mode: Mode,
    progress: Progress,
    spark: Callable[..., AbstractContextManager[SparkSession]] = session.running,
    *,
    warn: Callable[[Sequence[Diagnostic]], None] | None = None,
    stop: Stop | None = None,
) -> None:
    """Runs the job until it is asked to `stop` or, with `once`, done.

    `packs` gives those for the first start of the state folder; `spark` opens a session, as
    cep.job.session.running does. `warn` is called with warnings about the job file; without it they are drawn
    as progress is. Raises JobError. Raises DiagnosticsError for a job file that cannot be right and packs
    that cannot run together; of these a first start leaves nothing on disk.
    """
    if found := wrong(time.time_ns()):
        raise DiagnosticsError([found])
    folder, packs = StateFolder(job.state), cache(packs)
    warn = warn or (lambda found: progress.tell(render_all(found)) if found else None)
    if not folder.closed:
        warn(beforehand.check(job, folder, environ, packs))
    folder.make()
    asked = stop or Stop(progress.tell)
    try:
        with ExitStack() as stack:
            log = stack.enter_context(lock.held(folder))
            _Life(job, packs, environ, mode, progress, warn, spark, log, stack, asked).run()
    except (ConfigurationError, DiagnosticsError):
        raise
    except Exception as error:
        if not asked.abandoned:
            raise explained(error, folder, time.time()) from error


class _Life:
    """One run of the program."""

    def __init__(
        self,
        job: Job,
        packs: Callable[[], Sequence[Pack]],
        environ: Mapping[str, str],
        mode: Mode,
        progress: Progress,
        warn: Callable[[Sequence[Diagnostic]], None],
        spark: Callable[..., AbstractContextManager[SparkSession]],
        log: int,
        stack: ExitStack,
        stop: Stop,
    ) -> None:
        self._job = job
        self._folder = StateFolder(job.state)
        self._first_packs = packs
        self._environ = environ
        self._mode = mode
        self._progress = progress
        self._warn = warn
        self._spark = spark
        self._log = log
        self._stack = stack
        self._metrics = Metrics()
        self._stop = stop
        self._broken_off = False
        self._retries = Retries()
        self._standing = Standing(job, stop)
        self._set_back = SetBack(time.monotonic_ns, time.time_ns)
        self._accounts = Accounts(self._metrics, progress.tell)

    def run(self) -> None:
        """Everything in order; what was begun is ended in the reverse order by the stack."""
        job, folder = self._job, self._folder
        if folder.closed:
            self._deliver_rest()
            raise self._closed()
        require_java(self._environ)
        before = folder.layout()
        if before is not None and (differing := beforehand.differences(job, before)):
            raise DiagnosticsError(differing)
        serving_port = self._serve()
        if self._stop.is_set():
            return
        outbox = self._open_outbox()
        self._stack.callback(serving_port.close)  # before the outbox closes, which requests ask
        accepted = look_over(folder, before, outbox, job, self._mode.accepted, self._progress.tell)
        feeds = () if before is None else before.feeds
        driver = self._driver = self._standing.driver = self._make_driver(outbox, feeds)
        driver.accepted = accepted
        self._standing.outbox = outbox
        cores = job.cores or usable_cores()
        sources = self._sources(before)
        layout = folder.settle_layout(job.shards, min(cores, job.shards), sources)
        self._metrics.watch_outbox(outbox, [r.name for r in job.receivers], self._progress.tell)
        dispatcher = self._dispatch(outbox)
        if self._stop.is_set():
            return
        self._stop.stage = self._stage
        self._progress.tell("starting Spark; the first batch takes 5 to 20 seconds")
        spark = self._stack.enter_context(
            self._spark(folder, layout.partitions, cores, self._log, self._environ, self._stop.java)
        )
        self._batches(spark, layout, cores)
        if self._mode.drain and not self._stop.is_set() and not driver.drained:
            driver.drain = True
            self._batches(spark, layout, cores)
        if driver.last is not None and driver.drained:
            write_json(folder.closed_file, {"batch": driver.last.number})
        if driver.last is not None and not self._broken_off:
            what = "the folder is closed" if driver.drained else "stopped"
            self._progress.end()
            self._progress.tell(f"{what} after batch {driver.last.number}: {self._progress.counted()}")
        if self._mode.once:
            self._deliver(dispatcher, outbox)
        self._stop.stage = lambda: "ending"

    def _stage(self) -> Stage:
        if self._driver.begun is not None:
            return "within a batch"
        return "starting" if self._driver.last is None else "between batches"

    def _deliver(self, dispatcher: Dispatcher, outbox: Outbox) -> None:
        """Waits for deliveries, and says which are left."""
        self._stop.stage = lambda: "delivering"
        if not dispatcher.drain(_DELIVER, self._stop.is_set):
            for name, status in outbox.status().items():
                if status.pending:
                    self._progress.tell(
                        f"to {name} {status.pending:,} of the alerts are not delivered yet; the next start "
                        "on this folder tries again"
                    )

    def _closed(self) -> ConfigurationError:
        return ConfigurationError(
            f"the state folder {self._folder.root} was closed by --drain: time has ended for it",
            "name a new [job] state",
        )

    def _deliver_rest(self) -> None:
        """A closed folder may still owe alerts to receivers."""
        outbox = Outbox.open(self._job.outbox_url(self._environ), create=False)
        self._stack.callback(outbox.close)
        if outbox.waiting([r.name for r in self._job.receivers]):
            self._progress.tell("delivering what is left in the outbox")
            self._deliver(self._dispatch(outbox), outbox)

    def _batches(self, spark: SparkSession, layout: Layout, cores: int) -> None:
        """Runs the query until it is done or the job is to stop; starts it again for feeds that are new."""
        folder, driver = self._folder, self._driver
        trigger = None if self._mode.once else self._job.trigger / 1e9
        while not self._stop.is_set():
            sources = self._sources(layout)
            layout = folder.settle_layout(layout.shards, layout.partitions, sources)
            feeds = [feed for feed in driver.running.job.feeds if feed.name in sources]
            driver.sources = sources
            try:
                failure = self._watch(stream.start(spark, folder, layout, cores, feeds, driver, trigger))
            except (Py4JError, OSError) as error:  # either, when the JVM is gone
                failure = driver.failure or error
            if failure is not None and driver.drained:
                return  # time has ended: what Spark began after that, or how it ended, does not matter
            if failure is not None:
                if self._stop.is_set() and not isinstance(failure, JobError | OutboxError):
                    # whoever sends a signal to every process stops the JVM, too
                    if not self._stop.abandoned:
                        self._progress.tell(
                            "stopped within a batch, which will be run again at the next start"
                        )
                    self._broken_off = True
                    return
                try:
                    again = self._again(failure) or driver.again(failure)
                except JobError as error:
                    failure, again = error, False
                if again:
                    driver.stopping.clear()
                    continue
                self._standing.failed()
                raise explained(failure, folder, time.time())
            if driver.drained or not (driver.unread() or self._set_back.found):
                return
            driver.stopping.clear()
            why = (
                f"to read {', '.join(sorted(driver.unread()))}"
                if driver.unread()
                else "as the clock was set back"
            )
            self._progress.tell(f"starting the query again {why}")

    def _again(self, failure: BaseException) -> bool:
        """True if the query may be started again: a worker did not come up, not too often in one batch."""
        late, driver = worker_late(failure), self._driver
        if late is None or not self._retries.allow(None if driver.last is None else driver.last.number):
            return False
        where = keep(failure, self._folder, time.time())
        driver.failure = None
        self._progress.tell(f"a Python worker did not come up ({late}); the batch is run again, see {where}")
        return True

    def _watch(self, query: StreamingQuery) -> BaseException | None:
        """Returns when the query has ended: by itself, or because it is to; and why, if it failed.

        Raises Py4JError and OSError when the JVM is gone.
        """
        driver, set_back = self._driver, self._set_back
        set_back.start()
        while query.isActive:
            self._stop.wait(0.2)
            if self._going_on():
                driver.running_time.tick()
            if self._stop.is_set() or driver.drained or driver.unread() or set_back.look():
                driver.stopping.set()
                self._finish_batch(query)
                query.stop()
                break
        return driver.failure or (None if driver.stopping.is_set() else query.exception())

    def _going_on(self) -> bool:
        """True while a batch runs, or the next one may well be on its way."""
        overdue = time.monotonic() - self._driver.ended - self._job.trigger / 1e9
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

    def _sources(self, layout: Layout | None) -> tuple[str, ...]:
        """The streams whose feeds are read: those that the packs declare, and those ever read before."""
        fed = {feed.name for feed in self._driver.running.job.feeds}
        declared = {s.name for pack in self._driver.running.packs.values() for s in pack.fed}
        return tuple(sorted((declared & fed) | (set(layout.feeds) & fed if layout else set())))

    def _serve(self) -> ExitStack:
        """Answers on the job's port, if it has one, until what is returned is closed."""
        port = self._stack.enter_context(ExitStack())
        if self._job.http is not None:
            listening = self._bind(self._job.http.host, self._job.http.port)
            app = application(self._metrics, self._standing.health)
            port.enter_context(serving(app, listening))
        return port

    def _bind(self, host: str, port: int) -> socket.socket:
        try:
            listening = bind(host, port)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                what = f"the port {port} of {host} is taken by another program"
                raise OutsideError(what, "stop that program, or change [http] listen", PORT_TAKEN) from error
            what = f"this job cannot listen on {host}:{port}: {(error.strerror or str(error)).lower()}"
            raise OutsideError(what, "change [http] listen") from error
        self._stack.callback(listening.close)
        return listening

    def _open_outbox(self) -> Outbox:
        begun = (self._folder.checkpoint / "offsets").exists()
        url = self._job.outbox_url(self._environ)
        if begun and url.startswith("sqlite:") and not Path(place_of(url)).exists():
            raise self._folder.damaged(f"its outbox {place_of(url)} is missing")
        outbox = Outbox.open(url, create=not begun)
        self._stack.callback(outbox.close)
        return outbox

    def _make_driver(self, outbox: Outbox, read: Collection[str]) -> Driver:
        job = self._job
        running = Running({pack.name: pack for pack in self._packs(outbox)}, job, read)
        running.plan()
        self._warn(running.findings())
        self._metrics.packs(running.revisions)
        return Driver(
            self._folder, outbox, [r.route for r in job.receivers], running, job.shards, time.time_ns,
            self._environ, self._finished,
            self._metrics.deployed, self._progress.tell,
        )  # fmt: skip

    def _packs(self, outbox: Outbox) -> Sequence[Pack]:
        """Those of the last batch; at the first start those of the packs folder."""
        last = outbox.last_batch()
        if last is None:
            found = self._first_packs()
            self._progress.tell(f"first start on {self._folder.root}: {_named(found)}")
            return found
        try:
            result = result_of(last.result)
        except ValueError as error:
            raise self._folder.damaged("the outbox's last batch cannot be read") from error
        if result.drained:  # it ended right after the drain, before it could say so
            write_json(self._folder.closed_file, {"batch": last.number})
            raise self._closed()
        found = [load(self._folder.packs, revision) for _, revision in sorted(result.revisions.items())]
        self._progress.tell(
            f"going on after batch {last.number}: {_named(found)}; the folder of [job] packs counts "
            "only at the first start"
        )
        return found

    def _dispatch(self, outbox: Outbox) -> Dispatcher:
        for name, status in outbox.unserved([r.name for r in self._job.receivers]).items():
            self._progress.tell(
                f"{name} is no receiver of job.toml any more; deliveries that stay pending: {status.pending}"
            )
        dispatcher = self._dispatcher = Dispatcher(
            outbox,
            [self._receiver(r) for r in self._job.receivers],
            attempted=self._metrics.attempted,
            report=self._progress.tell,
        )
        dispatcher.start()
        self._stack.callback(dispatcher.stop)
        self._stop.heard = dispatcher.cease  # what is not sent yet is sent after the next start
        if self._stop.is_set():
            dispatcher.cease()
        return dispatcher

    def _receiver(self, described: Receiver) -> ConsoleReceiver | WebhookReceiver:
        if described.kind == "console":
            return ConsoleReceiver(described.name, self._progress.above(sys.stdout))
        assert described.url is not None
        secrets = [] if described.secret is None else [described.secret.reveal(self._environ)]
        return WebhookReceiver(described.name, described.url.reveal(self._environ), secrets)

    def _finished(self, batch: Batch) -> None:
        """After every batch, in Spark's thread."""
        self._standing.batch(batch)
        self._dispatcher.wake()
        if not batch.replayed:
            self._accounts.take(batch)
        self._progress.batch(batch)


def _named(packs: Sequence[Pack]) -> str:
    return ", ".join(f"pack {pack.name} {pack.version} in revision {pack.revision}" for pack in packs)
