"""The manifest of a batch: on disk before its one action begins, and read back when it is run again."""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from dataclasses import replace

from cep.errors import OutsideError
from cep.job.batches.deploys import Deploys
from cep.job.batches.surroundings import Surroundings
from cep.job.clocks.running_time import RunningTime
from cep.job.clocks.wrong_clock import wrong
from cep.job.state_folder import extents, letter_replays, replayed
from cep.job.state_folder import manifest as manifests
from cep.job.state_folder.dead_letters import StoredLetter
from cep.job.state_folder.manifest import Manifest, Result
from cep.plan.plan import Plan
from cep.resources.standing import pins


class Preparation:
    """Makes manifests, one after the other.

    `running_time` has to be ticked while batches go on; `drain` makes the next new batch the last of all.
    `accepted` are places, as resolved paths, that the first batch may go without, and what follows it as long
    as all of them is lost.
    """

    def __init__(self, around: Surroundings, deploys: Deploys, shards: int) -> None:
        self._around = around
        self._deploys = deploys
        self._shards = shards
        self.running_time = RunningTime(time.monotonic_ns, around.clock)
        self.drain = False
        self.accepted: frozenset[str] = frozenset()
        self._told: frozenset[str] = frozenset()
        self._replayable: Collection[str] = ()

    def manifest(self, number: int, before: Result | None) -> Manifest:
        """The manifest of batch `number`, after a batch with the result `before` (None for batch 0).

        Raises ConfigurationError where the folder is damaged, or a file of the batch is not as it was.
        Raises OutsideError where no batch can begin: time has ended, or the clock is wrong.
        """
        folder = self._around.folder
        found = manifests.read(folder.manifests, number)
        if found is not None:
            self._deploys.pin(found)
            return self._again(found)
        if before is not None and before.drained:  # the batch before was one that a crash had cut short
            raise OutsideError("time has ended for this state folder", "name a new [job] state")
        if self._around.patiently(lambda outbox: outbox.batch(number)) is not None:
            raise folder.damaged(f"the manifest of batch {number} is missing, which the outbox has")
        return self._new(number, before)

    def _new(self, number: int, before: Result | None) -> Manifest:
        folder, clock = self._around.folder, self._now()
        deployed, standing = self._deploys.take(number, before)
        running = self._deploys.running.revisions
        plan, stretch = self._deploys.plan(running, standing.generations), self.running_time.lap()
        first = Manifest(
            number, running, self._shards, clock,
            drain=self.drain, deployed=tuple(deployed), resources=pins(plan),
        )  # fmt: skip
        made = manifests.following(first, before, plan, stretch, standing)
        made = extents.fixed(folder, self._deploys.sources(), made, extents.accepting(self.accepted))
        made = self._with_letters(made, plan)
        manifests.write(folder.manifests, made, new=True)
        self._tell_lost(made)
        if deployed and (since := manifests.oldest(folder.manifests, number)) is not None:
            self._deploys.forget(since)
        return made

    def asked(self) -> bool:
        """True if the next batch has something to do besides new events. Raises OutboxError and OSError."""
        return self._deploys.asked or bool(self._letters())

    def _with_letters(self, made: Manifest, plan: Plan) -> Manifest:
        """The manifest with the dead letters that wait to be read again."""
        feeds = {feed.name: feed for feed in self._deploys.running.job.feeds}
        self._replayable = plan.streams.keys() & feeds.keys() & set(self._deploys.reading)
        return replayed.fixed(self._around.folder.manifests, made, self._letters(), feeds)

    def _letters(self) -> list[StoredLetter]:
        """The dead letters that wait and that a batch of the last plan can read again."""
        with self._around.outbox.reading() as connection:
            return letter_replays.waiting(connection, self._replayable)

    def _again(self, found: Manifest) -> Manifest:
        """The manifest of a batch that is run again, with what was lost of its files since."""
        folder, sources = self._around.folder, self._deploys.sources()
        accepts = extents.accepting(self.accepted)
        if found.version < manifests.VERSION and not found.files:
            found = extents.fixed(folder, sources, found, accepts)
        elif lost := extents.lost_since(folder, sources, found, accepts):
            found = replace(found, lost=(*found.lost, *lost))
            manifests.write(folder.manifests, found)
        self._tell_lost(found)
        return found

    def _now(self) -> int:
        """The wall clock. Raises OutsideError if it cannot be right."""
        if odd := wrong(now := self._around.clock()):
            raise OutsideError(f"{odd.message} ({odd.code})", odd.help)
        return now

    def _tell_lost(self, manifest: Manifest) -> None:
        """Report what the batch goes without; what it lost as a whole the next one may lose, too."""
        batch, tell = manifest.batch, self._around.tell
        lost: set[str] = set()
        wholly: set[str] = set()
        for one in manifest.lost:
            source = self._deploys.sources()[one.stream]
            goes = "goes on with what is left of" if one.left else "goes without"
            tell(f"batch {batch} {goes} the {source.noun} {one.path}, which {one.reason}")
            names = {os.path.realpath(name) for name in source.lost_as(one.path)}
            lost |= names
            wholly |= set() if one.left else names
        for path in sorted(self.accepted - lost - self._told):
            tell(f"--accept-loss {path}: batch {batch} does not go without it")
        # a gap in a log may be longer than a batch
        self.accepted &= wholly
        self._told = self.accepted
