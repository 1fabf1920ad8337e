"""The inspection before Java starts: checkpoint, manifests and outbox must be whole and in step.

Everything that Spark will read is compared with its checksum. Harmless damage is repaired, and reported; any
other stops the start with one sentence that names the file, and with a repair that is safe. Spark deletes
nothing that it may still need: so a gap is damage, and so is a batch that one of the three has and another
lacks.
"""

from __future__ import annotations

import json
import os
import uuid
import zipfile
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from alerts.outbox import BatchRecord, Outbox
from cep.config import Job
from cep.errors import RESTORE, ConfigurationError
from cep.job.shipping.packs import load
from cep.job.state_folder import extents, manifest
from cep.job.state_folder.extents import Accepts, Sources
from cep.job.state_folder.folder import FolderLayout, StateFolder
from cep.job.state_folder.manifest import result_of
from cep.sources.checkpoint import Checkpoint, DamagedError, intact, text
from rules.suggest import did_you_mean

if TYPE_CHECKING:
    from cep.files import AnyPath


def look_over(
    folder: StateFolder,
    layout: FolderLayout | None,
    outbox: Outbox,
    job: Job,
    accepted: Collection[str],
    tell: Callable[[str], None],
) -> frozenset[str]:
    """Sees to it that a job goes on with what it had. Raises ConfigurationError where it cannot.

    `accepted` are resolved paths of files that may be lost; those of them that the open batch has are
    returned. `tell` is called with what was put right, and with paths that are none of these.
    """
    outbox.check()
    sources = {feed.name: feed.source for feed in job.feeds}
    checkpoint, last = Checkpoint(folder.checkpoint), outbox.last_batch()
    inspection = _Inspection(folder, checkpoint, outbox, sources, last, tell)
    batch = inspection.run(layout, extents.accepting(accepted))
    planned = [] if batch is None else extents.planned(folder, sources, batch)
    files = [os.path.realpath(name) for one in planned for name in sources[one.stream].lost_as(one.path)]
    for path in sorted(set(accepted) - set(files)):
        if batch is None:
            tell(f"--accept-loss {path}: no batch is open, so none has to go without a file")
        else:
            hint = did_you_mean(path, files)
            tell(f"--accept-loss {path}: batch {batch} has no such file{hint and f'; {hint}'}")
    return frozenset(accepted) & frozenset(files)


@dataclass(slots=True)
class _Inspection:
    folder: StateFolder
    checkpoint: Checkpoint
    outbox: Outbox
    sources: Sources
    last: BatchRecord | None
    tell: Callable[[str], None]

    @property
    def recorded(self) -> int:
        """The last batch that the outbox has; -1 for none."""
        return -1 if self.last is None else self.last.number

    def run(self, layout: FolderLayout | None, accepts: Accepts) -> int | None:
        """The number of the batch that is open: begun and not over. None if there is none."""
        begun = self.checkpoint.batches("offsets")
        if not begun:
            if self.recorded >= 0 or self.checkpoint.batches("commits"):
                raise self._missing(self.checkpoint.root / "offsets" / str(max(self.recorded, 0)))
            return None
        latest = begun[-1]
        self._in_step(latest)
        self._offsets(latest)
        committed = self._commits(latest)
        self._feeds(latest)
        if layout is not None:
            self._state(latest + 1 if committed else latest, layout.partitions)
        self._metadata()
        self._recorded(latest, committed=committed)
        if committed:
            return None
        self._open(latest, accepts)
        return latest

    def _in_step(self, latest: int) -> None:
        """Spark writes the offsets of a batch, we its manifest; the outbox gets it, Spark commits it."""
        offsets = self.checkpoint.root / "offsets"
        committed = max(self.checkpoint.batches("commits"), default=-1)
        if max(self.recorded, committed) > latest:
            raise self._missing(offsets / str(max(self.recorded, committed)))
        begun = max(_numbers(self.folder.manifests, ".json"), default=-1)
        if begun > latest:
            raise self._damaged(DamagedError(offsets / str(begun), "is missing"), self._anew(begun))
        if latest > 0 and latest - 1 not in self.checkpoint.batches("offsets"):
            raise self._missing(offsets / str(latest - 1))
        ended = max(committed, latest - 1)
        if self.recorded < ended:
            has = "no batch" if self.recorded < 0 else f"no batch after {self.recorded}"
            raise self.folder.damaged(
                f"Spark has ended batch {ended}, and the outbox {self.outbox.place} has {has}"
            )

    def _offsets(self, latest: int) -> None:
        for batch in range(latest, max(latest - 2, -1), -1):
            try:
                self.checkpoint.offsets(batch)
            except DamagedError as error:
                raise self._damaged(error, self._anew(batch)) from error

    def _commits(self, latest: int) -> bool:
        """Tells whether the latest batch is over. A commit that was half written is as good as none."""
        commits = self.checkpoint.batches("commits")
        while commits and commits[-1] >= latest - 1:
            batch = commits.pop()
            try:
                self.checkpoint.commit(batch)
            except DamagedError as error:
                _remove(error.path)
                _remove(self.checkpoint.root / "commits" / str(batch))
                self.tell(f"{error}: removed, so that batch {latest} is run again")
            else:
                return batch == latest
        return False

    def _feeds(self, latest: int) -> None:
        """Inspects what Spark's sources wrote down of what they read: by that they know what is new."""
        for stream in self.checkpoint.offsets(latest):
            try:
                self.sources[stream].check_log(self.checkpoint, stream, latest)
            except DamagedError as error:
                of_batch = error.path == self.checkpoint.offsets_file(latest)
                raise self._damaged(error, self._anew(latest) if of_batch else error.repair) from error

    def _state(self, version: int, partitions: int) -> None:
        """The state that the next batch begins with."""
        state = self.checkpoint.root / "state" / "0"
        for partition in range(partitions):
            self._partition(state / str(partition), version)
        metadata = state / "_metadata" / "v2"
        described = _numbers(metadata, "") or [0]
        if version or (metadata / "0").exists():
            self._described(state, metadata / str(described[0]), len(described) > 1)

    def _described(self, state: AnyPath, latest: AnyPath, earlier: bool) -> None:
        """Check the record of a batch that describes the state, always the same, and the schemas it names.

        Raises ConfigurationError.
        """
        try:
            for store in json.loads(text(latest).partition("\n")[2])["stateStoreInfo"]:
                for path in map(Path, store["stateSchemaFilePaths"]):
                    intact(state / "_stateSchema" / path.parent.name / path.name)
        except DamagedError as error:
            same = f"remove {latest}: the one before says the same"
            raise self._damaged(error, same if earlier and error.path == latest else "") from error
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged(DamagedError(latest, "does not describe the state")) from error

    def _partition(self, folder: AnyPath, version: int) -> None:
        """A snapshot, and all that changed since; an older snapshot and more changes give the same."""
        if version == 0:
            return
        snapshots = [number for number in _numbers(folder, ".zip") if number <= version]
        wrong = None if snapshots else DamagedError(folder, "has no snapshot of the state")
        for snapshot in snapshots:
            try:
                for path in _needed(folder, snapshot, version):
                    intact(path)
                _large(folder, snapshot)
            except DamagedError as error:
                wrong = wrong or error
                continue
            if wrong is None:
                return
            newer = " and ".join(str(folder / f"{number}.zip") for number in snapshots if number > snapshot)
            raise self._damaged(wrong, f"remove {newer}: what lies beside comes to the same state")
        if wrong is not None:
            raise self._damaged(wrong)

    def _metadata(self) -> None:
        """Check the query's id, and write a new one if it cannot be read: nothing depends on it."""
        path = self.checkpoint.root / "metadata"
        try:
            uuid.UUID(json.loads(text(path))["id"])
        except (DamagedError, ValueError, KeyError, TypeError) as error:
            why = str(error) if isinstance(error, DamagedError) else f"{path} is no name of a query"
            _remove(path)
            path.write_text(json.dumps({"id": str(uuid.uuid4())}))
            self.tell(f"{why}: written anew, since it only names the query")

    def _recorded(self, latest: int, *, committed: bool) -> None:
        """Check that the outbox's results can be read, and that its last batch has the manifest found here.

        Raises ConfigurationError.
        """
        if self.last is None:
            return
        number = self.last.number
        before = None if committed or latest == 0 else self.outbox.batch(latest - 1)
        for record in (self.last, before):
            if record is None:
                continue
            try:
                result_of(record.result)
            except ValueError as error:
                what = f"what the outbox {self.outbox.place} has of batch {record.number} {error}"
                raise self.folder.damaged(what) from error
        path = self.folder.manifests / f"{number}.json"
        found = manifest.read(self.folder.manifests, number)
        if found is None:
            if number == latest and not committed:
                raise self._missing(path)
        elif found.digest != self.last.digest:
            other = f"{path} is not the manifest with which batch {number} is in the outbox"
            raise self.folder.damaged(other)
        elif found.version == manifest.VERSION:
            extents.agreed(self.folder, self.sources, found)

    def _open(self, batch: int, accepts: Accepts) -> None:
        """Check the batch that was begun and runs next: its manifest, its packs and its files.

        Raises ConfigurationError.
        """
        try:
            found = manifest.read(self.folder.manifests, batch)
            if found is not None:
                extents.load(self.folder.manifests, self.sources, batch, found.files)
        except ConfigurationError as error:
            anew = self._anew(batch, offsets=False)
            raise ConfigurationError(
                error.message, f"{anew}; or {RESTORE}" if anew else error.help
            ) from error
        named = () if found is None else (*found.revisions.values(), *found.generations.revisions)
        for revision in named:
            load(self.folder.packs, revision)
        if found is None or (found.version < manifest.VERSION and not found.files):
            before = {} if self.last is None else result_of(self.last.result).identities
            extents.look(self.folder, self.sources, batch, accepts, before)
        else:
            extents.lost_since(self.folder, self.sources, found, accepts)

    def _anew(self, batch: int, *, offsets: bool = True) -> str:
        """Help that tells how to begin a batch anew; empty if the outbox has the batch already."""
        if self.recorded >= batch:
            return ""
        paths = [self.folder.manifests / f"{batch}.json", self.folder.manifests / f"{batch}.files"]
        if offsets:
            paths.insert(0, self.checkpoint.root / "offsets" / str(batch))
        names = " and ".join(str(path) for path in paths if path.exists())
        return f"the outbox has nothing of batch {batch}: remove {names}, and it begins anew"

    def _missing(self, path: AnyPath) -> ConfigurationError:
        return self._damaged(DamagedError(path, "is missing"))

    def _damaged(self, error: DamagedError, safe: str = "") -> ConfigurationError:
        damaged = self.folder.damaged(str(error))
        if error.path.suffix == ".crc":
            safe = f"remove {error.path}, which is but the checksum of the file beside it"
        return ConfigurationError(damaged.message, f"{safe}; or {RESTORE}") if safe else damaged


def _remove(path: AnyPath) -> None:
    """Removes a file of Spark's and its checksum."""
    for one in (path, path.with_name(f".{path.name}.crc")):
        one.unlink(missing_ok=True)


def _numbers(folder: AnyPath, suffix: str) -> list[int]:
    """The numbers that files of a folder are named by, the greatest first."""
    paths = [path for path in folder.glob(f"*{suffix}") if path.suffix == suffix and path.stem.isdecimal()]
    return sorted((int(path.stem) for path in paths), reverse=True)


def _needed(folder: AnyPath, snapshot: int, version: int) -> list[AnyPath]:
    changes = [folder / f"{number}.changelog" for number in range(snapshot + 1, version + 1)]
    return [folder / f"{snapshot}.zip", *changes]


def _large(folder: AnyPath, snapshot: int) -> None:
    """Looks at the large files of a snapshot. Raises DamagedError."""
    path = folder / f"{snapshot}.zip"
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            described = json.loads(archive.read("metadata").partition(b"\n")[2])
        files = [(str(one["dfsSstFileName"]), int(one["sizeBytes"])) for one in described["sstFiles"]]
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError) as error:
        raise DamagedError(path, "is no snapshot") from error
    for name, size in files:
        if len(intact(folder / "SSTs" / name)) != size:
            raise DamagedError(folder / "SSTs" / name, f"does not have the {size:,} bytes that it had")
