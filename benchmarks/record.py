"""The record of events: what it costs the job, bytes an event, how long the events of an alert take to find.

    python benchmarks/record.py [--events 1000000] [--turns 5]

The strict pattern of job.py through `cep run`, with `[record] keep` "1 day" and "0" in turn: processor time
of all processes and time on the clock, after a first file that warms the job up, until all is in the outbox.
Then the events of a hundred alerts of each recorded job are looked for.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import job as job_benchmark
import strict_events
from calibration import calibration

from alerts.outbox import Outbox
from cep.job.state_folder.folder import StateFolder
from cep.record.read import events_of

_STAGE = "cep_stage_seconds_total record"


@dataclass(frozen=True, slots=True)
class Turn:
    """One job over the same files: seconds by the clock and by processors, those of the stage, the bytes."""

    seconds: float
    processor: float
    stage: float
    size: int
    files: int


def turn(paths: list[Path], events: int, keep: str, looks: list[float]) -> Turn:
    """A job over copies of the files, the first of which warms it up."""
    more = f'\n[record]\nkeep = "{keep}"\n'
    with job_benchmark.running(strict_events.PACK, "100 milliseconds", more=more) as job:
        job.until("cep_batch_duration_seconds_count", 1)
        for path in paths:
            shutil.copy(path, job.folder / path.name)
        _rename(job.folder, paths[:1])
        before = job.until("cep_events_total accepted", events // len(paths))
        used, begun = sum(job.processor().values()), time.perf_counter()
        _rename(job.folder, paths[1:])
        after = job.until("cep_events_total accepted", events)
        seconds = time.perf_counter() - begun
        spent = sum(job.processor().values()) - used
        stage = after.get(_STAGE, 0.0) - before.get(_STAGE, 0.0)
        written = [path.stat().st_size for path in (job.folder / "state" / "record").rglob("*.parquet")]
        if written:
            looks += _looks(job.folder / "state")
        return Turn(seconds, spent, stage, sum(written), len(written))


def _rename(folder: Path, paths: list[Path]) -> None:
    for path in paths:
        (folder / path.name).rename(folder / "inbox" / path.name)


def _looks(state: Path) -> list[float]:
    """Seconds that the events of some alerts take to find; every one of them has to be found."""
    with closing(Outbox.open(f"sqlite:///{state / 'outbox.db'}", create=False)) as outbox:
        raised = outbox.alerts()
    alerts = random.Random(1).sample(raised, min(100, len(raised)))
    found = []
    for one in alerts:
        begun = time.perf_counter()
        evidence = events_of(StateFolder(state), one)
        found.append(time.perf_counter() - begun)
        if evidence.missing:
            raise SystemExit(evidence.missing)
    return found


def main() -> None:
    """The command line of the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    os.environ.setdefault("NO_COLOR", "1")
    print(calibration())
    turns: dict[str, list[Turn]] = {"1 day": [], "0": []}
    looks: list[float] = []
    with tempfile.TemporaryDirectory() as generated:
        paths = strict_events.write(Path(generated), options.events, files=5)
        for number in range(options.turns):
            for keep in ("1 day", "0") if number % 2 else ("0", "1 day"):
                turns[keep].append(turn(paths, options.events, keep, looks))
    measured = options.events - options.events // 5
    for keep, label in (("0", "not recorded"), ("1 day", "recorded")):
        processor = [one.processor for one in turns[keep]]
        seconds = [one.seconds for one in turns[keep]]
        print(
            f"{label:14} processor time {statistics.median(processor):6.2f} s ({min(processor):.2f} to "
            f"{max(processor):.2f}), {measured / statistics.median(seconds):9,.0f} events/s by the clock"
        )
    ratios = [on.processor / off.processor for on, off in zip(turns["1 day"], turns["0"], strict=True)]
    stage = statistics.median(one.stage for one in turns["1 day"])
    last = turns["1 day"][-1]
    print(f"recorded to not recorded, processor time: median of turns {statistics.median(ratios):.3f}")
    print(f"stage `record`, by the clock of its task: {stage / measured * 1e9:,.0f} ns an event")
    print(f"{last.size / options.events:.1f} bytes an event, in {last.files} files")
    looks.sort()
    print(f"the events of an alert: {looks[len(looks) // 2] * 1e3:.1f} ms, at most {looks[-1] * 1e3:.0f} ms")
    print(calibration())


if __name__ == "__main__":
    main()
