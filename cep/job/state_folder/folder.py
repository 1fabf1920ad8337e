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

Where the state is in a bucket, all but lock, logs/ and scratch/ are objects there, by the same names. A
folder of this machine then has those three, and what it has read of queries/.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from cep.buckets import of_store
from cep.errors import ConfigurationError
from cep.files import DamagedFileError, read_json, write_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from upath import UPath

    from cep.buckets import Bucket
    from cep.config import Job
    from cep.files import AnyPath
    from cep.standing.store import QueryStore

NAMES = (
    "layout.json", "lock", "closed", "checkpoint", "manifests", "packs", "queries", "deploy", "logs",
    "scratch", "received",
)  # fmt: skip
"""What there may be in a state folder that a job cannot do without."""
FORMAT = 4
"""Files of a folder of format 3 carry no checksums; it becomes one of format 4 when it is next used."""
_READ = (3, FORMAT)
SHARDS_A_CORE = 2
"""Each shard of a batch has a share of its work that does not depend on its events (decision 85)."""


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

    Of several processes that use it at once each has a name of its `own` for its temporary files. `bucket` is
    where the state is if not in `root`, which then is this machine's folder for the rest.
    """

    root: Path
    own: str = ""
    bucket: Bucket | None = None

    @classmethod
    def of(cls, job: Job, environ: Mapping[str, str] = os.environ, own: str = "") -> Self:
        """The state folder of a job. Raises SecretError where its state is in a bucket."""
        return cls(job.state, own, None if job.bucket is None else job.bucket.reveal(environ))

    def __str__(self) -> str:
        """The name that its user gave it."""
        return str(self.root) if self.bucket is None else self.bucket.url

    @property
    def durable(self) -> AnyPath:
        """Where everything is that the job must find again."""
        return self.root if self.bucket is None else self.bucket.path

    @property
    def layout_file(self) -> AnyPath:
        """Where the layout is kept."""
        return self.durable / "layout.json"

    @property
    def lock_file(self) -> Path:
        """Held by the job that runs."""
        return self.root / "lock"

    @property
    def closed_file(self) -> AnyPath:
        """There after a drain."""
        return self.durable / "closed"

    @property
    def checkpoint(self) -> AnyPath:
        """Spark's own folder."""
        return self.durable / "checkpoint"

    @property
    def checkpoint_name(self) -> str:
        """Its name for Spark."""
        root = str(self.root.absolute()) if self.bucket is None else self.bucket.url
        return f"{root}/checkpoint"

    @property
    def manifests(self) -> AnyPath:
        """Batch N's manifest is N.json, N.files what its files were before it ran."""
        return self.durable / "manifests"

    @property
    def packs(self) -> AnyPath:
        """A pack is REVISION.json."""
        return self.durable / "packs"

    @property
    def queries(self) -> Path:
        """Sets of standing queries (cep.standing.store), or what this machine has of them."""
        return self.root / "queries"

    @property
    def kept_queries(self) -> UPath | None:
        """All of them, where the state is in a bucket."""
        return None if self.bucket is None else self.bucket.path / "queries"

    @property
    def query_store(self) -> QueryStore:
        """The store of these sets."""
        from cep.standing.store import QueryStore

        return QueryStore(self.queries, self.kept_queries)

    @property
    def requests(self) -> AnyPath:
        """Deploys that wait."""
        return self.durable / "deploy" / "requests"

    @property
    def answers(self) -> AnyPath:
        """The folder of the answers to deploys."""
        return self.durable / "deploy" / "answers"

    @property
    def record(self) -> AnyPath:
        """Accepted events, by stream and day."""
        return self.durable / "record"

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
        wanted = (self.manifests, self.packs, self.requests, self.answers)
        try:
            for folder in (self.logs, *(one for one in wanted if isinstance(one, Path))):
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
        except Exception as error:
            if of_store(error):  # likewise
                return False
            raise

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
            f"the state folder {self} has format {found}, this program writes format {FORMAT}",
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
            f"the state folder {self} is damaged: {what}",
            "restore it from a backup together with the outbox, or name a new [job] state and begin anew",
        )
