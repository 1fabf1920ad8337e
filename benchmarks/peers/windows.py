"""Windows over payments: our job beside Flink SQL on two cores, our engine beside Esper and DuckDB on one.

The job and Flink get payments up to half a minute out of order, and both wait for as long, so that none is
late. Esper has no watermark and DuckDB a whole table: beside these payments come in order of time.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from job import Job, running

from alerts.outbox import Outbox, Wanted
from peers import esper, flink, java, payments, window_alerts
from peers.payments import Feed, Turn, pack
from peers.process import Conversation, conversation
from peers.turns import Comparison, Taken, measured

ACCEPT = 8.0
"""Beside Flink SQL."""
WARM_UP = 2
"""Turns before the first that counts, beside Esper and DuckDB."""
THROUGH_SPARK = {True: 10_000, False: 1_000_000}
"""Payments of a turn beside Flink: as many as the strict pattern's row has."""
IN_ONE_PROCESS = {True: 10_000, False: 500_000}
"""Those beside Esper and DuckDB."""
OURS = (sys.executable, "-m", "peers.ours.engine")
DUCK = (sys.executable, "-m", "peers.duck")


def compare(folder: Path, turns: int, small: bool, events: int | None = None) -> Iterator[Comparison]:
    """The rows: Flink's, Esper's and DuckDB's of each piece of work; of so many `events` Flink's alone."""
    warm_up = 1 if small else WARM_UP
    beside = (1 if small else flink.WARM_UP, turns)
    yield from beside_flink(folder, events or THROUGH_SPARK[small], beside, flink.SMALL_FILES[small])
    if events:
        return
    for work in payments.NAMES:
        with (
            conversation(OURS, folder / "ours.log", 1) as ours,
            conversation(java.program("esper", esper.JVM), folder / "esper.log", 1) as theirs,
        ):
            both = Sides(folder, work, Feed(IN_ONE_PROCESS[small], 2), "Esper", (ours, theirs))
            yield from both.rows(("json", "parsed"), (warm_up, turns))
        with (
            conversation(OURS, folder / "ours.log", 1) as ours,
            conversation(DUCK, folder / "duck.log", 1) as theirs,
        ):
            both = Sides(folder, work, Feed(IN_ONE_PROCESS[small], 3), "DuckDB", (ours, theirs))
            yield from both.rows(("parsed",), (warm_up, turns))


def beside_flink(
    folder: Path,
    events: int,
    turns: tuple[int, int],
    small_files: int,
    works: Sequence[str] = tuple(payments.NAMES),
) -> Iterator[Comparison]:
    """The rows of Flink's, whose cluster stays for all of them. Our job takes `small_files` before."""
    with (
        flink.bound(),
        conversation(java.program("flink", flink.JVM), folder / "flink.log", flink.CORES) as theirs,
    ):
        for work in works:
            name = payments.NAMES[work]
            with running(pack(work, lateness=True), "100 milliseconds") as job:
                job.until("cep_batch_duration_seconds_count", 1)
                contest = BesideFlink(folder, work, Feed(events, 1, disorder=True), job, theirs)
                contest.work_in(small_files)
                pairs, same = measured(contest, *turns)
                peaks = job.peak, theirs.peak()
            print(f"our job, the last turn: {contest.parts}", flush=True)
            yield Comparison(
                f"Flink SQL: JSON files to alerts, {name}", "events", events, pairs, ACCEPT, peaks, same=same
            )


@dataclass(slots=True)
class Turns:
    """The turns of a piece of work: the payments of the one that runs, and how many there were."""

    folder: Path
    work: str
    feed: Feed
    made: int = 0
    turn: Turn = field(init=False)

    def next(self, feed: Feed | None = None) -> None:
        """Writes the payments of the next turn, from a feed of its own if one is given."""
        self.turn = (feed or self.feed).write(self.input, self.made)
        self.made += 1

    @property
    def input(self) -> Path:
        """The file of the turn's payments."""
        return self.folder / "payments.jsonl"


class BesideFlink:
    """Files to alerts: our running job, and a job in a cluster that stays warm."""

    def __init__(self, folder: Path, work: str, feed: Feed, job: Job, theirs: Conversation) -> None:
        self._turns, self._job, self._theirs = Turns(folder, work, feed), job, theirs
        self._raised = 0
        self.parts = ""
        self._out = folder / "told"

    def work_in(self, files: int) -> None:
        """The job takes so many small files."""
        self._turns.next(Feed(10 * files, 1, disorder=True))
        self._raised += window_alerts.expected(self._turns.work, self._turns.turn)
        flink.worked_in(self._job, self._turns.input)

    def prepare(self) -> None:
        """Writes new payments."""
        self._turns.next()
        self._raised += window_alerts.expected(self._turns.work, self._turns.turn)

    def ours(self) -> Taken:
        """From the moment that a file is there until the outbox has the last alert."""
        job = self._job
        inside = job.folder / "payments.jsonl"
        shutil.copyfile(self._turns.input, inside)
        stages, before = job.metrics(), job.processor()
        events = stages[flink.ACCEPTED] + self._turns.feed.lines
        begin = time.perf_counter()
        inside.rename(job.folder / "inbox" / f"{self._turns.made}.jsonl")
        job.until_raised(self._raised, events)
        seconds = time.perf_counter() - begin
        after = job.until(flink.ACCEPTED, events)
        used = {kind: spent - before[kind] for kind, spent in job.processor().items()}
        names = [name for name in after if name.startswith("cep_stage_seconds_total")]
        by_stage = {name.split()[1]: after[name] - stages.get(name, 0) for name in names}
        self.parts = "; by the clock ".join(
            ", ".join(f"{name} {spent:.2f}" for name, spent in parts.items()) for parts in (used, by_stage)
        )
        return Taken(seconds, sum(used.values()))

    def theirs(self) -> Taken:
        """From the moment that all tasks run until the job has finished, its files whole."""
        shutil.rmtree(self._out, ignore_errors=True)
        given = {"work": self._turns.work, "path": str(self._turns.input), "out": str(self._out)}
        with flink.held(self._job):
            answer = self._theirs.ask("windows", checkpoints=0, **given)
        flink.awake(self._job)
        return Taken.of(answer)

    def check(self) -> str:
        """The alerts of the turn in the outbox, and those in Flink's files."""
        work, turn = self._turns.work, self._turns.turn
        outbox = Outbox.open(f"sqlite:///{self._job.folder / 'state' / 'outbox.db'}", create=False)
        since = int(turn.payments.ms.iloc[0]) * 10**6
        stored = outbox.alerts(Wanted(since=since, until=turn.ends * 10**6))
        outbox.close()
        files = [path for path in self._out.iterdir() if path.is_file()]
        ours = window_alerts.of_alerts(work, (one.alert for one in stored))
        return window_alerts.verdict(work, ours, window_alerts.theirs(work, files, turn))


class Sides:
    """Two processes on a core each: files to alerts, or what was read before to alerts."""

    def __init__(
        self, folder: Path, work: str, feed: Feed, peer: str, sides: tuple[Conversation, Conversation]
    ) -> None:
        self._turns, self._peer, self._sides = Turns(folder, work, feed), peer, sides
        self._way = ""
        self._outs = folder / "ours.jsonl", folder / "theirs.jsonl"

    def rows(self, ways: Sequence[str], turns: tuple[int, int]) -> Iterator[Comparison]:
        """A row for each way."""
        work = self._turns.work
        self._sides[0].ask("set_up", pack=pack(work, lateness=False))
        self._sides[1].ask("set_up", work=work)
        for self._way in ways:
            pairs, same = measured(self, *turns)
            name = {"json": "JSON to alerts", "parsed": "parsed events to alerts"}[self._way]
            yield Comparison(
                f"{self._peer}: {name}, {payments.NAMES[work]}", "events", self._turns.feed.events, pairs,
                peaks=(self._sides[0].peak(), self._sides[1].peak()), same=same,
            )  # fmt: skip

    def prepare(self) -> None:
        """Writes new payments, and has both read them where that does not count."""
        self._turns.next()
        if self._way == "parsed":
            for side in self._sides:
                side.ask("load", path=str(self._turns.input))

    def ours(self) -> Taken:
        """Our side."""
        return self._run(0)

    def theirs(self) -> Taken:
        """The peer's."""
        return self._run(1)

    def check(self) -> str:
        """The output of both."""
        work, (ours, theirs) = self._turns.work, self._outs
        told = window_alerts.theirs(work, [theirs], self._turns.turn)
        return window_alerts.verdict(work, window_alerts.of_file(work, ours), told)

    def _run(self, side: int) -> Taken:
        given = {"path": str(self._turns.input)} if self._way == "json" else {}
        return Taken.of(self._sides[side].ask(self._way, out=str(self._outs[side]), **given))
