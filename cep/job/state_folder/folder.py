"""The state folder: where everything is that a job must find again, and what is fixed in it for ever.

layout.json      format version, shards, shuffle partitions, the feeds that were ever read
lock             the number of the process that runs the job
closed           there after `--drain`: nothing can come after the end of time
checkpoint/      Spark's: offsets, commits, state
manifests/       what each batch runs with: N.json; N.files: what its files were before it ran; N.letters: the
                 dead letters that it reads again
packs/           packs by revision, as texts
queries/         the standing queries of packs, compiled, and their files as they were deployed
deploy/          requests of `cep deploy` and their answers
record/          accepted events, by stream and day: nothing goes on from them (cep.record)
logs/            what Spark says; the traceback of the last failure
scratch/         Spark's temporary files, emptied at every start
"""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from cep.errors import ConfigurationError
from cep.files import DamagedFileError, read_json, write_json

NAMES = (
    "layout.json", "lock", "closed", "checkpoint", "manifests", "packs", "queries", "deploy", "logs",
    "scratch", "received",
)  # fmt: skip
"""What there may be in a state folder that a job cannot do without."""
FORMAT = 4
"""Files of a folder of format 3 carry no checksums; it becomes one of format 4 when it is next used."""
_READ = (3, FORMAT)


def ended(process: int) -> bool:
    """True if this machine has no process of that number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


@dataclass(frozen=True, slots=True)
class FolderLayout:
    """The settings of a state folder for good. `feeds`: every feed that was ever read into it, sorted."""

    format: int
    shards: int
    partitions: int
    feeds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StateFolder:
    """The paths of a state folder; nothing is read or made until asked for.

    Of several processes that use it at once each has a name of its `own` for its temporary files.
    """

    root: Path
    own: str = ""

    @property
    def layout_file(self) -> Path:
        """Where the layout is kept."""
        return self.root / "layout.json"

    @property
    def lock_file(self) -> Path:
        """Held by the job that runs."""
        return self.root / "lock"

    @property
    def closed_file(self) -> Path:
        """There after a drain."""
        return self.root / "closed"

    @property
    def checkpoint(self) -> Path:
        """Spark's own folder."""
        return self.root / "checkpoint"

    @property
    def manifests(self) -> Path:
        """Batch N's manifest is N.json, N.files what its files were before it ran."""
        return self.root / "manifests"

    @property
    def packs(self) -> Path:
        """A pack is REVISION.json."""
        return self.root / "packs"

    @property
    def queries(self) -> Path:
        """Sets of standing queries (cep.standing.store)."""
        return self.root / "queries"

    @property
    def requests(self) -> Path:
        """Deploys that wait."""
        return self.root / "deploy" / "requests"

    @property
    def answers(self) -> Path:
        """The folder of the answers to deploys."""
        return self.root / "deploy" / "answers"

    @property
    def record(self) -> Path:
        """Accepted events, by stream and day."""
        return self.root / "record"

    @property
    def logs(self) -> Path:
        """Spark's log, and tracebacks."""
        return self.root / "logs"

    @property
    def scratch(self) -> Path:
        """Temporary files."""
        return self.root / "scratch" / self.own

    @property
    def blobs(self) -> Path:
        """Large payloads of the batch that runs."""
        return self.scratch / "blobs"

    def make(self) -> None:
        """Makes the folders that are missing. Raises ConfigurationError where something is in the way."""
        wanted = (self.manifests, self.packs, self.requests, self.answers, self.logs)
        try:
            for folder in wanted:
                folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise ConfigurationError(
                f"{error.filename} is a file where the state folder needs a folder",
                "name another [job] state",
            ) from error

    def empty_scratch(self) -> None:
        """Removes what an earlier run left behind; of several, those of this machine that have ended."""
        for left in (self.root / "scratch").glob("*") if self.own else ():
            machine, _, process = left.name.rpartition("-")
            if machine == self.own.rpartition("-")[0] and process.isdigit() and ended(int(process)):
                shutil.rmtree(left, ignore_errors=True)
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True, exist_ok=True)

    @property
    def closed(self) -> bool:
        """True if the folder was drained."""
        try:
            return self.closed_file.exists()
        except PermissionError:  # it is told of with the rest of job.toml
            return False

    def layout(self) -> FolderLayout | None:
        """The layout; None for a new folder. Raises ConfigurationError if it is damaged."""
        try:
            value = read_json(self.layout_file, earlier=lambda value: value.get("format") != FORMAT)
            found = int(value["format"])
            if found in _READ:
                return FolderLayout(
                    found, int(value["shards"]), int(value["partitions"]), tuple(value["feeds"])
                )
        except FileNotFoundError:
            if (self.checkpoint / "metadata").exists() or (self.checkpoint / "offsets").exists():
                raise self.damaged("layout.json is missing") from None
            return None
        except DamagedFileError as error:
            raise self.damaged(f"layout.json {error}") from error
        except (ValueError, TypeError, KeyError) as error:
            raise self.damaged("layout.json is no layout") from error
        raise ConfigurationError(
            f"the state folder {self.root} has format {found}, this program writes format {FORMAT}",
            "use the program version that made it, or name a new [job] state",
        )

    def settle_layout(self, shards: int, partitions: int, feeds: tuple[str, ...]) -> FolderLayout:
        """The layout that holds from now on: that of the folder, with the feeds that are new to it.

        `shards` and `partitions` count for a new folder only. Raises ConfigurationError if it is damaged.
        """
        before = self.layout()
        if before is None:
            after = FolderLayout(FORMAT, shards, partitions, tuple(sorted(feeds)))
        else:
            after = replace(before, format=FORMAT, feeds=tuple(sorted({*before.feeds, *feeds})))
        if after != before:
            write_json(self.layout_file, asdict(after))
        return after

    def damaged(self, what: str) -> ConfigurationError:
        """The error for a state folder that nobody can go on with."""
        return ConfigurationError(
            f"the state folder {self.root} is damaged: {what}",
            "restore it from a backup together with the outbox, or name a new [job] state and begin anew",
        )
