"""Flink SQL's MATCH_RECOGNIZE and our job, files to alerts, on two cores.

Ours is a running job with its outbox, which stores the state of every batch. Flink's is a job in a local
cluster of one process that stays warm from turn to turn; it writes files of JSON, and takes no checkpoints
unless --checkpoints says so, which is in its favour. Its start is told apart and does not count; ours is the
start of `cep run` until its first batch. While one side works the other is held, since our job goes on with
batches while nothing comes. Both have worked long enough before the first turn that counts that a further one
is no quicker: Flink's cluster on whole turns, our job on small files, for its JVM works by the batch.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import strict_events
from job import Job, running
from sqlalchemy import func, select

from alerts.outbox import Outbox, Wanted, schema
from peers import alerts, java, strict
from peers.process import Conversation, conversation
from peers.turns import Comparison, Latency, Taken, measured

CORES = 2
OPENED = (
    *("java.io", "java.lang", "java.lang.reflect", "java.net", "java.nio", "java.text", "java.time"),
    *("java.util", "java.util.concurrent", "java.util.concurrent.atomic", "java.util.concurrent.locks"),
    "sun.nio.ch",
)
JVM = ("-Xms4g", "-Xmx4g", *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in OPENED))
"""A heap that is never short, taken at the start; the collector is a JVM's own choice on two cores (G1:
ParallelGC was no quicker); packages opened as the scripts of Flink's distribution do."""
WARM_UP = 6
"""Turns before the first that counts: half a million payments with a sliding window took Flink 14.9, 6.9,
5.9, 5.1, 4.1 and 4.3 s of processor time in its first jobs, then 3.8 to 4.6."""
SMALL_FILES = {True: 4, False: 100}
"""Files of ten events that our job takes before all turns, one after the other."""
ACCEPT = 11.0
ACCEPTED = "cep_events_total accepted"
FILES = {True: 50, False: 400}
"""Files of ten events for the latency, one every tenth of a second; the first quarter warms up."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The events of a turn, their keys, and seconds between Flink's checkpoints (0: none)."""

    events: int = 1_000_000
    keys: int = 100_000
    checkpoints: int = 0


def compare(folder: Path, turns: int, small: bool, checkpoints: int = 0) -> Iterator[Comparison]:
    """The one row."""
    asked = Asked(20_000, 2_000, checkpoints) if small else Asked(checkpoints=checkpoints)
    pack = strict.pack(strict.rules(1))
    with bound(), conversation(java.program("flink", JVM), folder / "flink.log", CORES) as theirs:
        print(f"Flink: cluster started in {theirs.ask('started')['seconds']:.1f} s", flush=True)
        begun = time.perf_counter()
        with running(pack, "100 milliseconds") as job:
            job.until("cep_batch_duration_seconds_count", 1)
            print(f"our job: {time.perf_counter() - begun:.1f} s to its first batch", flush=True)
            contest = _Strict(folder, asked, job, theirs)
            contest.work_in(SMALL_FILES[small])
            pairs, same = measured(contest, 1 if small else WARM_UP, turns)
            peaks = job.peak, theirs.peak()
        print(f"Flink: a job starts in {contest.started:.1f} s (the last)", flush=True)
        later = statistics.median(contest.later)
        print(f"our job: episodes and pages' indexes take {later:.2f} s more of a turn's driver", flush=True)
        with running(pack, "1 millisecond") as job:
            job.until("cep_batch_duration_seconds_count", 1)
            latencies = prompt(folder, FILES[small], job, theirs)
    kept = f"checkpoints every {checkpoints} s" if checkpoints else "no checkpoints"
    yield Comparison(
        f"Flink SQL: JSON files to alerts, {kept}", "events", asked.events, pairs, ACCEPT, peaks,
        latencies, same,
    )  # fmt: skip


@contextmanager
def bound() -> Iterator[None]:
    """This process, and so all that it starts, uses so many cores."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[-CORES:])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


@contextmanager
def held(job: Job) -> Iterator[None]:
    """Our job does nothing meanwhile."""
    tree = psutil.Process(job.process.pid)
    processes = [tree, *tree.children(recursive=True)]
    for process in processes:
        with suppress(psutil.Error):
            process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            with suppress(psutil.Error):
                process.send_signal(signal.SIGCONT)


def awake(job: Job) -> None:
    """Waits for some batches of a job that was held.

    Spark ends Python workers that were idle for a minute, held or not; the next batch starts them.
    """
    batches = "cep_batch_duration_seconds_count"
    job.until(batches, job.metrics().get(batches, 0) + 3)


def worked_in(job: Job, events: Path) -> None:
    """The job takes the lines of a file, ten at a time.

    Java has compiled what a batch runs after some hundred batches.
    """
    lines = events.read_text("utf-8").splitlines(keepends=True)
    for begin in range(0, len(lines), 10):
        made = job.folder / "made.jsonl"
        made.write_text("".join(lines[begin : begin + 10]), "utf-8")
        made.rename(job.folder / "inbox" / f"before-{begin}.jsonl")
        job.until(ACCEPTED, min(begin + 10, len(lines)))


@dataclass(slots=True)
class _Strict:
    folder: Path
    asked: Asked
    job: Job
    theirs_process: Conversation
    made: int = 0
    first: int = 0
    raised: int = 0
    started: float = 0.0
    later: list[float] = field(default_factory=list)

    def work_in(self, files: int) -> None:
        strict.Feed(10 * files, files, 1).write(self._events, self.made)
        self.made += 1
        self.raised += strict_events.matches([self._events])
        worked_in(self.job, self._events)

    def prepare(self) -> None:
        feed = strict.Feed(self.asked.events, self.asked.keys, 1)
        self.first = feed.write(self._events, self.made)
        self.made += 1
        self.raised += strict_events.matches([self._events])

    def ours(self) -> Taken:
        """From the moment a file is there until the outbox has the last alert."""
        job, all_ = self.job, self.job.metrics()[ACCEPTED] + self.asked.events
        before = sum(job.processor().values())
        # A second name for the same file, so that theirs can read it, too.
        (job.folder / "inbox" / f"{self.made}.jsonl").hardlink_to(self._inside)
        begin = time.perf_counter()
        job.until_raised(self.raised, all_)
        seconds = time.perf_counter() - begin
        job.until(ACCEPTED, all_)
        spent = job.processor()
        self._until_settled()
        self.later.append(job.processor()["driver"] - spent["driver"])
        return Taken(seconds, sum(spent.values()) - before)

    def _until_settled(self) -> None:
        """Waits for what follows the alerts and no batch waits for: their episodes, and pages' indexes."""
        columns = schema.assigned.c.number, schema.indexed.c.number, func.max(schema.alerts.c.number)
        places = select(*(select(column).scalar_subquery() for column in columns))
        with closing(Outbox.open(self._outbox, create=False)) as outbox:
            while True:
                with outbox.reading() as connection:
                    episodes, pages, alerts_ = connection.execute(places).one()
                if min(episodes, pages) >= (alerts_ or 0):
                    return
                time.sleep(0.05)

    def theirs(self) -> Taken:
        """From the moment all tasks run until the job has finished, its files whole."""
        for folder in (self._out, self._state):
            shutil.rmtree(folder, ignore_errors=True)
        with held(self.job):
            answer = self.theirs_process.ask(
                "run", path=str(self._events), out=str(self._out), state=str(self._state),
                checkpoints=self.asked.checkpoints,
            )  # fmt: skip
        self.started = answer["start"]
        awake(self.job)
        return Taken.of(answer)

    def check(self) -> str:
        """The alerts of the turn in the outbox, and those in Flink's files."""
        since = self.first * 10**6
        with closing(Outbox.open(self._outbox, create=False)) as outbox:
            stored = outbox.alerts(Wanted(since=since, until=since + self.asked.events * 10**6))
        found = Counter(alerts.of_outbox(one.time, one.alert) for one in stored)
        files = [path for path in self._out.iterdir() if path.is_file()]
        return alerts.verdict(found, alerts.theirs(files))

    @property
    def _outbox(self) -> str:
        return f"sqlite:///{self.job.folder / 'state' / 'outbox.db'}"

    @property
    def _events(self) -> Path:
        return self.folder / "events.jsonl"

    @property
    def _inside(self) -> Path:
        """The events on the file system of the job's folder, as another name or a copy."""
        path = self.job.folder / "events.jsonl"
        path.unlink(missing_ok=True)
        try:
            path.hardlink_to(self._events)
        except OSError:
            shutil.copyfile(self._events, path)
        return path

    @property
    def _out(self) -> Path:
        return self.folder / "alerts"

    @property
    def _state(self) -> Path:
        return self.folder / "checkpoints"


def prompt(folder: Path, files: int, job: Job, theirs: Conversation) -> tuple[Latency, Latency]:
    """From the renaming of a file of ten events until each of its three alerts is out."""
    inbox, out = folder / "inbox", folder / "prompt.txt"
    shutil.rmtree(inbox, ignore_errors=True)
    inbox.mkdir()
    renamed = paced(job.folder / "inbox", job.folder, range(files))
    job.until(ACCEPTED, 10 * files)
    outbox = Outbox.open(f"sqlite:///{job.folder / 'state' / 'outbox.db'}", create=False)
    ours = {one.alert["events"]["c"][0]: one.recorded_at for one in outbox.alerts()}  # type: ignore[index]
    outbox.close()
    with held(job):
        theirs.ask("follow", path=str(inbox), out=str(out))
        again = paced(inbox, folder, range(files))
        while len(lines := out.read_text("utf-8").splitlines()) < 3 * files:
            time.sleep(0.05)
        theirs.ask("stop")
    then = {id_: int(at) * 10**6 for id_, at in (line.split() for line in lines)}
    return _latency(renamed, ours), _latency(again, then)


def paced(inbox: Path, beside: Path, numbers: Sequence[int]) -> dict[str, int]:
    """A file every tenth of a second; when it was renamed (ns), by the id of each match's last event."""
    renamed: dict[str, int] = {}
    for number in numbers:
        due = time.monotonic() + 0.1
        made = beside / "made.jsonl"
        made.write_text("".join(lines := list(_lines(number, time.time_ns() // 10**6))), "utf-8")
        made.rename(inbox / f"latency-{number}.jsonl")
        now = time.time_ns()
        renamed.update({json.loads(line)["eid"]: now for line in lines if '"price": 60' in line})
        time.sleep(max(0.0, due - time.monotonic()))
    return renamed


def _lines(number: int, now: int) -> Iterator[str]:
    """Three matches of three events, and one event that only moves the time on, a millisecond apart."""
    for place in range(10):
        step, key = divmod(place, 3)
        price = (10, 30, 60, 0)[step]
        at, id_ = strict.instant(now + place), f"l{number}-{place}"
        yield json.dumps({"eid": id_, "ts": at, "k": f"l{number}-{key}", "price": price}) + "\n"


def _latency(renamed: dict[str, int], out: dict[str, int]) -> Latency:
    waits = [(out[id_] - at) / 1e3 for id_, at in renamed.items()]
    return Latency.of(waits[len(waits) // 4 :])
