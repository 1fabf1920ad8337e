"""One batch, from its manifest to the outbox: what Spark's foreachBatch calls on the driver.

The manifest is on disk before the batch's one action begins; what the batch came to is in the outbox, in
one transaction, before Spark commits the batch. So whenever the process dies, Spark replays the batch with
the same manifest, and the outbox knows whether it has it already.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from alerts.outbox import BatchRecord, Outbox
from alerts.routing import Route
from cep import deadletters, deploy
from cep.automata.plan import Plan, RuleName, hit_streams
from cep.collector import paused
from cep.formats import BY_NAME
from cep.job import extents, revisions, takeover
from cep.job import manifest as manifests
from cep.job.attempts import Attempts
from cep.job.errors import OutsideError
from cep.job.folder import StateFolder
from cep.job.growth import Growth
from cep.job.manifest import Deployed, Manifest, Result, result_of
from cep.job.mapper import CAREFUL, MANIFEST
from cep.job.outcome import BatchOutcome, put_together
from cep.job.parcels import clear, opened
from cep.job.revisions import Plans
from cep.job.running_time import RunningTime
from cep.job.takeover import Running
from cep.job.wrong_clock import wrong
from cep.standing.compiled import UnreadableError
from cep.standing.shelf import Shelf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from alerts.outbox import Recorded
    from cep.job.extents import Extent
    from rules.typed import Pack


_GRACE = 86_400
"""Seconds for which sets of queries stay that no batch which could run again can ask for."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch that is in the outbox. `seconds` from its manifest to the outbox; `ended` is wall clock in ns.

    `stages` are seconds by stage: `decode`, `classify` and `match` are sums over tasks, `spark` the whole
    action around them, `merge` putting its rows together, `outbox` the transaction.

    `alerts` counts what is new in the outbox by severity, `matches` that and what is withheld by rule's name.

    `replayed`: the outbox had it already, so that nothing of it counts again.
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


class StoppedError(Exception):
    """Ends a query whose job is stopping, before a batch begins."""


class Driver:
    """Runs batches for Spark, one at a time, in a thread of Spark's. Other threads read its attributes.

    `failure` is what ended the query, if it ended by failing; `last` the last batch; `begun` when the batch
    that runs began (monotonic seconds), None between batches, `ended` when the last one did; `running_time`
    has to be ticked while batches go on; `drain` makes the next new batch the last of
    all; `stopping` lets no further batch begin; `sources` are the streams that the query reads. `told` is
    called with sentences for the user. `accepted` are files, as resolved paths, that the first batch may go
    without.
    """

    def __init__(
        self,
        folder: StateFolder,
        outbox: Outbox,
        routes: Sequence[Route],
        running: Running,
        shards: int,
        clock: Callable[[], int],
        environ: Mapping[str, str],
        finished: Callable[[Batch], None],
        deployed: Callable[[bool], None],
        told: Callable[[str], None],
    ) -> None:
        self._folder = folder
        self._outbox = outbox
        self._routes = routes
        self._shards = shards
        self._clock = clock
        self._environ = environ
        self._finished = finished
        self._deployed = deployed
        self._told = told
        self._plans = Plans(folder.packs)
        self._shelf = Shelf(folder.queries)
        self._attempts = Attempts(folder.manifests, told)
        self._before: tuple[int, Result] | None = None
        self._growth = Growth(folder.manifests, self._files_told)
        self.running_time = RunningTime(time.monotonic_ns, clock)
        self.running = running
        self.sources: Collection[str] = ()
        self.failure: BaseException | None = None
        self.last: Batch | None = None
        self.begun: float | None = None
        self.ended = time.monotonic()
        self.drain = False
        self.accepted: frozenset[str] = frozenset()
        self.stopping = threading.Event()

    def __call__(self, frame: DataFrame, number: int) -> None:
        """Runs batch `number`, whose one action collects `frame`."""
        if self.stopping.is_set():
            raise StoppedError
        self.begun = time.monotonic()
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

    def _run(self, frame: DataFrame, number: int) -> Batch:
        begun = time.perf_counter()
        self._attempts.begin(number)
        before = self._result_before(number)
        manifest = self._manifest(number, before)
        plan = self._plans.plan(manifest.revisions)
        # the workers of this batch, and no other's, see it
        context = frame.sparkSession.sparkContext
        context.setLocalProperty(MANIFEST, manifest.text())
        context.setLocalProperty(CAREFUL, "yes" if self._attempts.careful else "")
        rows = frame.collect()
        ran = time.perf_counter()
        parcels = self._folder.parcels
        came = opened(parcels, ((kind, bytes(payload)) for kind, payload in rows))
        own = extents.load(self._folder.manifests, number, manifest.files)
        outcome = self._with_growth(number, own, put_together(came, self._shards))
        clear(parcels)
        result = manifests.result(manifest, plan, outcome.seen, outcome.watermark, outcome.runs)
        merged = time.perf_counter()
        recorded, result = self._record(manifest, result, outcome)
        spent = {"spark": ran - begun, "merge": merged - ran, "outbox": time.perf_counter() - merged}
        self._before = (number, result)
        self._growth.add(own, outcome.dead)
        for one in manifest.deployed:
            self._answer(manifest, one, before, result)
        severities = Counter(alert.severity for alert in recorded.alerts)
        matches = Counter(one.rule for one in (*recorded.alerts, *recorded.withheld))
        seconds = time.perf_counter() - begun
        stages = {**outcome.seconds, **spent}
        ended = self._clock()
        return Batch(
            number, plan, manifest, outcome, severities, matches, recorded.already, seconds, stages, ended
        )

    def _with_growth(self, number: int, own: Iterable[Extent], outcome: BatchOutcome) -> BatchOutcome:
        """The outcome of a batch with letters about files of batches before that have changed since."""
        if self._before is None and self._outbox.batch(number) is not None:
            return outcome  # it is there already, and would not be written with them
        letters = self._growth.look(one.path for one in own)
        for one in letters:
            self._told(f"{one.file}: {one.reason}")
        return outcome.with_letters(letters)

    def _files_told(self, files: Collection[str]) -> set[str]:
        with self._outbox.reading() as connection:
            return deadletters.files_told(connection, files)

    def _record(self, manifest: Manifest, result: Result, outcome: BatchOutcome) -> tuple[Recorded, Result]:
        """Record a batch; return also the result that the next batch builds on.

        Of a batch that was recorded before, that is the recorded result.
        """
        record = BatchRecord(manifest.batch, manifest.digest, result.as_dict())
        recorded = self._outbox.record(
            record,
            outcome.raised,
            self._routes,
            lambda connection: deadletters.write(connection, manifest.batch, outcome.dead, outcome.late),
        )
        if not recorded.already:
            return recorded, result
        left_out = [*extents.letters(manifest.lost), *(one for one in outcome.dead if one.stage == "poison")]
        if left_out:
            with self._outbox.writing() as connection:
                deadletters.write_once(connection, manifest.batch, left_out)
        known = self._result_of(manifest.batch)
        if known is not None and known != result and not left_out:
            self._told(
                f"batch {manifest.batch} was run again and came to something else; its alerts stay the same"
            )
        return recorded, known or result

    def _result_before(self, number: int) -> Result | None:
        if number == 0:
            return None
        if self._before is not None and self._before[0] == number - 1:
            return self._before[1]
        found = self._result_of(number - 1)
        if found is None:
            raise self._folder.damaged(
                f"Spark is at batch {number}, and the outbox has no batch {number - 1}"
            )
        return found

    def _result_of(self, number: int) -> Result | None:
        """The result of a batch, from the outbox; None if the outbox does not have the batch.

        Raises ConfigurationError for a result that cannot be read.
        """
        record = self._outbox.batch(number)
        try:
            return None if record is None else result_of(record.result)
        except ValueError as error:
            raise self._folder.damaged(f"what the outbox has of batch {number} {error}") from error

    def _manifest(self, number: int, before: Result | None) -> Manifest:
        found = manifests.read(self._folder.manifests, number)
        if found is not None:
            self._pin(found)
            return self._again(found)
        if before is not None and before.drained:  # the batch before was one that a crash had cut short
            raise OutsideError("time has ended for this state folder", "name a new [job] state")
        if self._outbox.batch(number) is not None:
            raise self._folder.damaged(f"the manifest of batch {number} is missing, which the outbox has")
        clock = self._now()
        deployed, fresh = self._take_over()
        for pack in self.running.packs.values():
            revisions.store(self._folder.packs, pack)
        self._shelve(self.running.packs.values())
        made = manifests.following(
            number,
            before,
            self._plans.plan(self.running.revisions),
            self.running.revisions,
            self._shards,
            clock,
            stretch=self.running_time.lap(),
            drain=self.drain,
            deployed=deployed,
            fresh=fresh if before is not None else (),
        )
        made = extents.fixed(self._folder, made, extents.accepting(self.accepted))
        manifests.write(self._folder.manifests, made)
        self._tell_lost(made)
        if deployed and (since := manifests.oldest(self._folder.manifests, number)) is not None:
            self._shelf.prune(since - _GRACE)
        return made

    def _now(self) -> int:
        """The wall clock. Raises OutsideError if it cannot be right."""
        if odd := wrong(now := self._clock()):
            raise OutsideError(f"{odd.message} ({odd.code})", odd.help)
        return now

    def _again(self, found: Manifest) -> Manifest:
        """The manifest of a batch that is run again, with what was lost of its files since."""
        accepts = extents.accepting(self.accepted)
        if found.version < manifests.VERSION and not found.files:
            found = extents.fixed(self._folder, found, accepts)
        elif lost := extents.lost_since(self._folder, found, accepts):
            found = replace(found, lost=(*found.lost, *lost))
            manifests.write(self._folder.manifests, found)
        self._tell_lost(found)
        return found

    def _tell_lost(self, manifest: Manifest) -> None:
        """Report the files that the batch goes without; an accepted loss counts for this batch only."""
        batch = manifest.batch
        for one in manifest.lost:
            self._told(f"batch {batch} goes without the file {one.path}, which {one.reason}")
        for path in sorted(self.accepted - {os.path.realpath(one.path) for one in manifest.lost}):
            self._told(f"--accept-loss {path}: batch {batch} does not go without it")
        self.accepted = frozenset()

    def _pin(self, manifest: Manifest) -> None:
        """A replay runs with the packs of its manifest, and so does what follows it."""
        if manifest.revisions != self.running.revisions:
            packs = {name: self._pack(revision) for name, revision in manifest.revisions.items()}
            self.running = replace(self.running, packs=packs)
        self._shelve(self.running.packs.values())

    def _shelve(self, packs: Iterable[Pack]) -> None:
        """Standing queries have to be compiled before the workers look for them."""
        for pack in packs:
            for hits in hit_streams(pack):
                try:
                    self._shelf.put(hits)
                except UnreadableError as error:
                    raise self._folder.damaged(str(error)) from error

    def _take_over(self) -> tuple[list[Deployed], set[RuleName]]:
        """Takes what was handed over into what runs; refusals are answered at once."""
        taken: list[Deployed] = []
        fresh: set[RuleName] = set()
        for request in deploy.waiting(self._folder):
            came = takeover.take(self.running, request, self._environ, self._shelf)
            if isinstance(came, deploy.Answer):
                deploy.answer(self._folder, came)
                self._deployed(False)
                self._told(f"a deploy of pack {came.pack} was refused; revision {came.revision} does not run")
                continue
            after, deployed = came
            name = deployed.pack
            fresh |= takeover.begun(self.running.packs.get(name), after.packs[name])
            self.running = after
            taken.append(deployed)
        return taken, fresh

    def _answer(self, manifest: Manifest, deployed: Deployed, before: Result | None, after: Result) -> None:
        old = self._pack(deployed.previous) if deployed.previous else None
        new = self._pack(deployed.revision)
        unread = sorted(self.unread())
        others = {name: pack for name, pack in self.running.packs.items() if name != deployed.pack}
        before_it = others if old is None else {**others, old.name: old}
        unserved = takeover.unserved(before_it, self.running.packs, self.running.job)
        given = deploy.Answer(
            deployed.request,
            deployed.pack,
            deployed.revision,
            batch=manifest.batch,
            previous=deployed.previous,
            rules=takeover.fates(old, new, before.runs if before else {}, after.runs),
            note=f"the query is started again to read {', '.join(unread)}" if unread else "",
            diagnostics=tuple(d.as_dict() for d in unserved),
        )
        deploy.answer(self._folder, given)
        self._deployed(True)
        self._told(f"batch {manifest.batch} runs pack {deployed.pack} in revision {deployed.revision}")
        for one in unserved:
            self._told(f"warning: {one.message} ({one.code})")

    def again(self, failure: BaseException) -> bool:
        """Whether the batch that failed so is to be run again, by a query that is started anew."""
        formats = {feed.name: feed.format for feed in self.running.job.feeds}
        if not self._attempts.again(failure, lambda stream: formats.get(stream, BY_NAME)):
            return False
        self.failure = None
        return True

    @property
    def drained(self) -> bool:
        """Whether the last batch ended time."""
        return self.last is not None and self.last.manifest.drain

    def unread(self) -> set[str]:
        """Streams that the packs declare and job.toml feeds, and that the query does not read yet."""
        declared = {s.name for pack in self.running.packs.values() for s in pack.fed}
        return (declared & {feed.name for feed in self.running.job.feeds}) - set(self.sources)

    def _pack(self, revision: str) -> Pack:
        for pack in self.running.packs.values():
            if pack.revision == revision:
                return pack
        return revisions.load(self._folder.packs, revision)
