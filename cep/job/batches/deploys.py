"""The packs that run, and the deploys that change them between two batches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from cep.job.batches import deployed_packs
from cep.job.batches.deployed_packs import Running
from cep.job.batches.surroundings import Surroundings
from cep.job.shipping import packs as stored_packs
from cep.job.shipping.packs import Plans
from cep.job.state_folder import deploy_requests
from cep.job.state_folder.extents import Sources
from cep.job.state_folder.manifest import Deployed, Manifest, Result
from cep.packs.succession import NOTHING_RAN, Standing, succession
from cep.plan.generations import Generations
from cep.plan.plan import Plan, hit_streams
from cep.standing.compiled import UnreadableError

if TYPE_CHECKING:
    from rules.typed import Pack

_GRACE = 86_400
"""Seconds for which sets of queries stay that no batch which could run again can ask for."""


class Deploys:
    """The packs that run, as `running`, and their plans; `reading` are the streams that the query reads.

    `deployed` is called with True for a deploy that runs, with False for one that was refused.
    """

    def __init__(self, around: Surroundings, running: Running, deployed: Callable[[bool], None]) -> None:
        self._around = around
        self._deployed = deployed
        self._plans = Plans(around.folder.packs)
        self._queries = around.folder.query_store
        self._stored: set[str] = set()
        self.running = running
        self.reading: Collection[str] = ()

    def plan(self, revisions: Mapping[str, str], generations: Generations) -> Plan:
        """The plan of packs in these revisions, and of the rules that are closing."""
        return self._plans.plan(revisions, generations)

    def fed(self, before: Collection[str]) -> tuple[str, ...]:
        """The streams whose feeds are read, sorted: those that packs declare, and those read `before`."""
        feeds = {feed.name for feed in self.running.job.feeds}
        return tuple(sorted((self._declared() | set(before)) & feeds))

    def sources(self) -> Sources:
        """The sources of the job's feeds; a deploy can bring more."""
        return {feed.name: feed.source for feed in self.running.job.feeds}

    def read(self) -> Sources:
        """Those of the feeds that the query reads."""
        return {name: source for name, source in self.sources().items() if name in self.reading}

    def unread(self) -> set[str]:
        """Streams that the packs declare and job.toml feeds, and that the query does not read yet."""
        return set(self.fed(())) - set(self.reading)

    def _declared(self) -> set[str]:
        return {stream.name for pack in self.running.packs.values() for stream in pack.fed}

    @property
    def asked(self) -> bool:
        """True if a request waits. Raises OSError."""
        return deploy_requests.any_waits(self._around.folder)

    def pin(self, manifest: Manifest) -> None:
        """A batch that is run again runs with the packs of its manifest, and so does what follows it."""
        if manifest.revisions != self.running.revisions:
            packs = {name: self._pack(revision) for name, revision in manifest.revisions.items()}
            self.running = replace(self.running, packs=packs)
        self._store_queries(self.running.packs.values())

    def take(self, batch: int, before: Result | None) -> tuple[list[Deployed], Standing]:
        """Take what was handed over into what runs; the deploys, and the rules from the batch on.

        Refusals are answered at once. The packs are on disk before a manifest names them.
        """
        taken: list[Deployed] = []
        ran = self.running.packs
        folder, environ = self._around.folder, self._around.environ
        for request in deploy_requests.waiting(folder):
            came = deployed_packs.with_deploy(self.running, request, environ, self._queries, folder.durable)
            if isinstance(came, deploy_requests.Answer):
                self._refuse(came)
                continue
            after, deployed = came
            self.running = after
            taken.append(deployed)
        for pack in self.running.packs.values():
            if pack.revision not in self._stored:
                stored_packs.store(self._around.folder.packs, pack)
                self._stored.add(pack.revision)
        self._store_queries(self.running.packs.values())
        return taken, self._standing(ran, batch, before)

    def _standing(self, ran: Mapping[str, Pack], batch: int, before: Result | None) -> Standing:
        if before is None:  # nothing has run yet
            return NOTHING_RAN
        if ran is self.running.packs:
            return before.standing
        closing = [self._pack(revision) for revision in before.generations.revisions]
        return succession(before.standing, ran, self.running.packs, closing, batch, before.watermark)

    def _refuse(self, refusal: deploy_requests.Answer) -> None:
        deploy_requests.answer(self._around.folder, refusal)
        self._deployed(False)
        self._around.tell(
            f"a deploy of pack {refusal.pack} was refused; revision {refusal.revision} does not run"
        )

    def forget(self, since: float) -> None:
        """Remove the sets of queries that no batch from that time on (seconds since 1970 UTC) can ask for."""
        self._queries.prune(since - _GRACE)

    def answer(self, manifest: Manifest, before: Result | None, after: Result) -> None:
        """Answer the deploys of a batch that is in the outbox, from the results before it and after it."""
        for deployed in manifest.deployed:
            self._answer(manifest, deployed, before, after)

    def _answer(self, manifest: Manifest, deployed: Deployed, before: Result | None, after: Result) -> None:
        batch = manifest.batch
        old = self._pack(deployed.previous) if deployed.previous else None
        new = self._pack(deployed.revision)
        unread = sorted(self.unread())
        others = {name: pack for name, pack in self.running.packs.items() if name != deployed.pack}
        before_it = others if old is None else {**others, old.name: old}
        unserved = deployed_packs.unserved(before_it, self.running.packs, self.running.job)
        given = deploy_requests.Answer(
            deployed.request,
            deployed.pack,
            deployed.revision,
            batch=batch,
            previous=deployed.previous,
            rules=deployed_packs.fates(
                old, new, before.runs if before else {}, after.runs, manifest.generations.closing
            ),
            note=f"the query is started again to read {', '.join(unread)}" if unread else "",
            diagnostics=tuple(d.as_dict() for d in unserved),
        )
        deploy_requests.answer(self._around.folder, given)
        self._deployed(True)
        self._around.tell(f"batch {batch} runs pack {deployed.pack} in revision {deployed.revision}")
        for one in unserved:
            self._around.tell(f"warning: {one.message} ({one.code})")

    def _store_queries(self, packs: Iterable[Pack]) -> None:
        """Standing queries have to be compiled before the workers look for them."""
        for pack in packs:
            for hits in hit_streams(pack):
                try:
                    self._queries.put(hits)
                except UnreadableError as error:
                    raise self._around.folder.damaged(str(error)) from error

    def _pack(self, revision: str) -> Pack:
        for pack in self.running.packs.values():
            if pack.revision == revision:
                return pack
        return stored_packs.load(self._around.folder.packs, revision)
