"""Results of batches: into the outbox, in one transaction each, and what the next batch builds on."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from alerts.outbox import BatchRecord
from cep.job.batches.deploys import Deploys
from cep.job.batches.growth import Growth
from cep.job.batches.surroundings import Surroundings
from cep.job.state_folder import dead_letters, extents, letter_replays, replayed
from cep.job.state_folder.manifest import Manifest, Result, result_of
from cep.job.workers.outcome import BatchOutcome
from cep.sources.source import Extent

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from alerts.outbox import Outbox, Recorded
    from cep.decode.letters import DeadLetter


class BatchResults:
    """The results of a job's batches. Alerts go to the receivers that the job has when it starts."""

    def __init__(self, around: Surroundings, deploys: Deploys) -> None:
        self._around = around
        self._sources = deploys.sources
        self._routes = deploys.running.job.routes
        self._last: tuple[int, Result] | None = None
        self._growth = Growth(around.folder.manifests, deploys.sources, self._files_told)

    def before(self, number: int) -> Result | None:
        """The result of the batch before; None for batch 0. Raises ConfigurationError where there is none."""
        if number == 0:
            return None
        if self._last is not None and self._last[0] == number - 1:
            return self._last[1]
        found = self._recorded(number - 1)
        if found is None:
            raise self._around.folder.damaged(
                f"Spark is at batch {number}, and the outbox has no batch {number - 1}"
            )
        return found

    def with_growth(self, number: int, own: Iterable[Extent], outcome: BatchOutcome) -> BatchOutcome:
        """The outcome of a batch with letters about files of batches before that have changed since.

        `own` are the files of the batch itself.
        """
        there = self._last is None and self._around.patiently(lambda outbox: outbox.batch(number)) is not None
        if there:
            return outcome  # it is there already, and would not be written with them
        letters = self._growth.look(one.path for one in own)
        for one in letters:
            self._around.tell(f"{one.file}: {one.reason}")
        return outcome.with_letters(letters)

    def record(
        self, manifest: Manifest, result: Result, outcome: BatchOutcome, own: Iterable[Extent]
    ) -> tuple[Recorded, Result]:
        """Record a batch; return also the result that the next batch builds on.

        Of a batch that was recorded before, that is the recorded result. Raises OutboxError.
        """
        again = replayed.load(self._around.folder.manifests, manifest)
        came: dict[letter_replays.ReplayState, int] = {}

        def write(connection: Connection) -> None:
            came.clear()
            dead_letters.write(connection, manifest.batch, outcome.dead, outcome.late)
            if again:
                read = {one.number: one.place for one in again}
                came.update(
                    letter_replays.settle(connection, manifest.batch, read, outcome.dead, outcome.late)
                )

        batch = BatchRecord(manifest.batch, manifest.digest, result.as_dict())
        recorded = self._around.patiently(
            lambda outbox: outbox.record(batch, outcome.raised, self._routes, write)
        )
        if recorded.already:
            result = self._run_again(manifest, result, outcome)
        elif came:
            self._around.tell(letter_replays.told(manifest.batch, came))
        self._last = (manifest.batch, result)
        self._growth.add(own, outcome.dead)
        return recorded, result

    def _run_again(self, manifest: Manifest, result: Result, outcome: BatchOutcome) -> Result:
        """The recorded result of a batch that was run again; what it now goes without is written down."""
        lost = extents.letters(self._sources(), manifest.lost)
        left_out = [*lost, *(one for one in outcome.dead if one.stage == "poison")]
        if left_out:
            self._around.patiently(lambda outbox: _write_once(outbox, manifest.batch, left_out))
        known = self._recorded(manifest.batch)
        if known is not None and known != result and not left_out:
            self._around.tell(
                f"batch {manifest.batch} was run again and came to something else; its alerts stay the same"
            )
        return known or result

    def _recorded(self, number: int) -> Result | None:
        """The result of a batch, from the outbox; None if the outbox does not have the batch.

        Raises ConfigurationError for a result that cannot be read.
        """
        record = self._around.patiently(lambda outbox: outbox.batch(number))
        try:
            return None if record is None else result_of(record.result)
        except ValueError as error:
            raise self._around.folder.damaged(f"what the outbox has of batch {number} {error}") from error

    def _files_told(self, files: Collection[str]) -> set[str]:
        return self._around.patiently(lambda outbox: _files_told(outbox, files))


def _write_once(outbox: Outbox, batch: int, letters: Collection[DeadLetter]) -> None:
    with outbox.writing() as connection:
        dead_letters.write_once(connection, batch, letters)


def _files_told(outbox: Outbox, files: Collection[str]) -> set[str]:
    with outbox.reading() as connection:
        return dead_letters.files_told(connection, files)
