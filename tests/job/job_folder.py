"""A job in a folder of its own: job.toml, packs, an inbox; run in this process or as a command."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
from heard_signals import hear

from alerts.outbox import Outbox
from cep.buckets import Bucket
from cep.cli.run import first_packs
from cep.config import load_job
from cep.decode.blocks import decoder
from cep.events import Events
from cep.inprocess.session import Session
from cep.job.running import lifecycle
from cep.job.running.progress import Progress
from cep.job.state_folder.folder import StateFolder
from cep.job.state_folder.manifest import Result, result_of
from cep.packs.compile import compile_plan
from cep.plan.plan import RuleName
from cep.sources.checkpoint import Checkpoint
from cep.sources.files.reading import read
from cep.sources.files.splits import splits
from rules.packs import load
from rules.typed import Stream

if TYPE_CHECKING:
    from cep.files import AnyPath

_MARK = "CEP_JOB_FOLDER_OF_A_TEST"

PATIENCE = 240.0
"""Seconds after which a condition that does not come is a failure; machines that run tests may be slow."""


@dataclass
class JobFolder:
    """`streams` get a feed each: `inbox/STREAM/*.jsonl`. `more` is written at the end of job.toml.

    `environ` comes to the environment of its commands. `server` is the address of an outbox on PostgreSQL.
    With a `bucket` the state is there.
    """

    root: Path
    pack: str
    streams: tuple[str, ...]
    trigger: str = "200ms"
    shards: int | None = 4
    more: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)
    server: str = ""
    bucket: Bucket | None = None
    _written: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        (self.root / "packs").mkdir(parents=True)
        (self.root / "aside").mkdir()
        for stream in self.streams:
            (self.root / "inbox" / stream).mkdir(parents=True)
        (self.root / "packs" / "pack.rules").write_text(self.pack, "utf-8")
        self.describe()

    def describe(self, streams: Iterable[str] | None = None, shards: int | None = None) -> None:
        """Writes job.toml."""
        feeds = "".join(
            f'[feeds.{s}]\nsource = "files"\npath = "inbox/{s}/*.jsonl"\n' for s in streams or self.streams
        )
        number = shards or self.shards
        parts = "" if number is None else f"shards = {number}\n"
        outbox = f'[outbox]\nurl = "{self.server}"\n' if self.server else ""
        text = (
            f'[job]\nname = "test"\npacks = "packs/"\n{self._where()}trigger = "{self.trigger}"\n'
            f"{parts}{outbox}{feeds}{self.more}"
        )
        self.description.write_text(text, "utf-8")

    def _where(self) -> str:
        if self.bucket is None:
            return 'state = "state/"\n'
        return f'state = "{self.bucket.url}"\nlocal = "state/"\n'

    @property
    def description(self) -> Path:
        return self.root / "job.toml"

    @property
    def state(self) -> StateFolder:
        return StateFolder(self.root / "state", bucket=self.bucket)

    def put(self, stream: str, events: Iterable[Mapping[str, object] | bytes]) -> Path:
        """Renames a file of events into a stream's inbox; bytes are written as they are."""
        lines = [e if isinstance(e, bytes) else json.dumps(e).encode() for e in events]
        aside = self.root / "aside" / f"{self._written:06d}.jsonl"
        aside.write_bytes(b"".join(line + b"\n" for line in lines))
        self._written += 1
        return aside.rename(self.root / "inbox" / stream / aside.name)

    def once(
        self, spark: Callable[..., Any], *, drain: bool = False, mode: lifecycle.Mode | None = None
    ) -> str:
        """Runs `cep run --once` in this process on a shared session; what it told."""
        environ = {**os.environ, **self.environ}
        job = load_job(self.description, self.environ).need()
        told = io.StringIO()
        mode = mode or lifecycle.Mode(once=True, drain=drain)
        lifecycle.run(lifecycle.Launch(job, lambda: first_packs(job), environ, mode), Progress(told), spark)
        return told.getvalue()

    def alerts(self) -> list[dict[str, object]]:
        """The alerts in the outbox, in the order raised, each with its batch."""
        outbox = Outbox.open(self.outbox_url, create=False)
        try:
            return [{**one.alert, "batch": one.batch} for one in outbox.alerts()]
        finally:
            outbox.close()

    def watermark(self) -> int:
        """Where event time stands after the last batch in the outbox."""
        return self._last_result().watermark

    def runs(self) -> Mapping[RuleName, int]:
        """The runs that live after the last batch in the outbox."""
        return self._last_result().runs

    def _last_result(self) -> Result:
        outbox = Outbox.open(self.outbox_url, create=False)
        try:
            last = outbox.last_batch()
        finally:
            outbox.close()
        assert last is not None
        return result_of(last.result)

    @property
    def outbox_url(self) -> str:
        return self.server or f"sqlite:///{self.outbox}"

    @property
    def outbox(self) -> Path:
        return self.root / "state" / "outbox.db"

    def ids(self) -> set[object]:
        return {alert["id"] for alert in self.alerts()}

    def commits(self) -> list[AnyPath]:
        """Spark's commit log, in order."""
        numbers = Checkpoint(self.state.checkpoint).batches("commits")
        return [self.state.checkpoint / "commits" / str(number) for number in numbers]

    def read_by(self, batch: int) -> set[str]:
        """The files that a batch reads."""
        try:
            rows = json.loads((self.state.manifests / f"{batch}.files").read_text("utf-8"))["files"]
        except FileNotFoundError:
            return set()
        return {str(row[1]) for row in rows}

    @contextmanager
    def running(self, *arguments: str) -> Iterator[RunningJob]:
        """The command `cep run` in a process group of its own; what is left of it is killed."""
        with (self.root / "told.txt").open("ab") as told:
            process = subprocess.Popen(
                [sys.executable, "-m", "cep.cli.main", "run", str(self.description), *arguments],
                stdin=subprocess.DEVNULL, stdout=told, stderr=told, start_new_session=True,
                env=self.environment, preexec_fn=hear,
            )  # fmt: skip
        job = RunningJob(self, process)
        try:
            yield job
        finally:
            job.kill()

    @property
    def environment(self) -> dict[str, str]:
        """That of its commands, by which `processes` knows them."""
        return {**os.environ, **self.environ, _MARK: str(self.root)}

    def processes(self) -> list[psutil.Process]:
        """Its commands that run, and all that they started, also what has lost its parent."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get(_MARK) == str(self.root):
                    found.append(process)
        return found

    def processes_of(self, program: str) -> list[psutil.Process]:
        """Those of its processes that run a program of that name."""
        found = []
        for process in self.processes():
            with suppress(psutil.Error):  # ended since it was listed
                if process.name() == program:
                    found.append(process)
        return found

    @property
    def told(self) -> str:
        return (self.root / "told.txt").read_text("utf-8", "replace")

    @property
    def logged(self) -> str:
        """What libraries logged, warned or printed in the job's process; empty where none did."""
        log = self.state.logs / "python.log"
        return log.read_text("utf-8", "replace") if log.exists() else ""


@dataclass
class RunningJob:
    folder: JobFolder
    process: subprocess.Popen[bytes]

    def wait_for(self, condition: Callable[[], object], what: str) -> None:
        """Waits until the condition holds; fails if the job ends meanwhile."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert self.process.poll() is None, f"the job ended before {what}:\n{self.folder.told}"
            assert time.monotonic() < deadline, f"{what} did not come:\n{self.folder.told}"
            time.sleep(0.05)

    def wait_for_batch(self, number: int) -> None:
        """Waits until Spark has committed a batch."""
        commits = self.folder.state.checkpoint / "commits"
        self.wait_for(lambda: (commits / str(number)).exists(), f"batch {number}")

    def wait_until_read(self) -> None:
        """Waits until Spark has committed the batches that read the files which are there now.

        After two more batches they are read, whatever the manifests say.
        """
        left = {str(path) for path in (self.folder.root / "inbox").rglob("*") if path.is_file()}
        done = max((int(path.name) for path in self.folder.commits()), default=-1)
        looked = -1

        def read() -> bool:
            nonlocal looked
            for number in [int(path.name) for path in self.folder.commits() if int(path.name) > looked]:
                left.difference_update(self.folder.read_by(number))
                looked = number
            return not left or looked >= done + 2

        self.wait_for(read, f"a batch that reads {sorted(left)}")

    def kill(self) -> None:
        """SIGKILL to the command and to every process that it started, in whatever group."""
        for process in self.folder.processes():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.wait()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Asks the command to stop; its exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


def command(*arguments: object, environ: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """A command of `cep` that ends by itself."""
    return subprocess.run(
        [sys.executable, "-m", "cep.cli.main", *map(str, arguments)],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
        env=dict(os.environ) | dict(environ or {}),
    )  # fmt: skip


def in_process(
    folder: JobFolder, batches: Iterable[Iterable[tuple[str, Path]]], *, drain: bool = True
) -> list[Any]:
    """The alerts of the engine in this process over the same files, batch by batch, as JSON objects."""
    pack = load([folder.root / "packs"]).need()
    session = Session(compile_plan([pack]))
    raised = []
    for batch in batches:
        raised += session.feed([e for stream, path in batch for e in events_in(path, pack.stream(stream))])
    if drain:
        raised += session.drain()
    return [one.alert.as_dict() for one in raised]


def events_in(path: Path, stream: Stream) -> Iterator[Events]:
    """The events of a file of a feed, decoded as the job does it."""
    for split in splits(str(path), path.stat().st_size):
        for decoded in read(split, decoder(stream)):
            yield decoded.events


def get(url: str) -> tuple[int, str]:
    """Status and body of a GET; 0 while nobody listens."""
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""
