"""One core against two: the same job on the same files, taking turns; what each core adds, and the memory.

    python benchmarks/scale.py [--events 1000000] [--times 5] [--cores 1 2]

The strict three-step pattern of strict_events.py through `cep run`; its processes (driver, JVM, workers) may
use so many cores and no more. A first file warms the workers up; then four come at once, and the time runs
until the outbox has all alerts. Medians of all turns. `spark` is the action of the batches, `merge` and
`outbox` are the driver's alone; what is left is `between`: planning and committing batches, listing files.
Memory is that of all processes at its greatest, shared pages counted once (PSS).
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import job as jobs
import strict_events
from calibration import calibration

STAGES = ("spark", "merge", "outbox")
KINDS = ("driver", "JVM", "workers")


def main() -> None:
    """Prints a line for each number of cores, and what the last gives over the first."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    if max(options.cores) > len(os.sched_getaffinity(0)):
        raise SystemExit(f"this process may use {len(os.sched_getaffinity(0))} cores")
    print(calibration())
    found: dict[int, list[Mapping[str, float]]] = {cores: [] for cores in options.cores}
    with tempfile.TemporaryDirectory() as folder:
        paths = strict_events.write(Path(folder), options.events + options.events // 4, files=5)
        expected = strict_events.matches(paths)
        for _ in range(options.times):
            for cores in options.cores:
                found[cores].append(measured(paths, options.events, expected, cores))
    columns = ("events/s", "s", *STAGES, "between", *(f"{kind} cpu" for kind in KINDS), "MiB", *KINDS)
    print(f"{'cores':<6}" + "".join(f"{column:>12}" for column in columns))
    for cores, turns in found.items():
        medians = [statistics.median(turn[column] for turn in turns) for column in columns]
        figures = (f"{figure:>12,.0f}" if figure > 99 else f"{figure:>12.2f}" for figure in medians)
        print(f"{cores:<6}" + "".join(figures))
    first, last = options.cores[0], options.cores[-1]
    took = {cores: statistics.median(turn["s"] for turn in turns) for cores, turns in found.items()}
    print(f"{last} cores are {took[first] / took[last]:.2f} times as fast as {first}")
    print(calibration())


def measured(
    paths: Sequence[Path], events: int, expected: int, cores: int | None, more: str = ""
) -> Mapping[str, float]:
    """Seconds, stages, processor time and memory of one run; `more` comes to the end of its job.toml."""
    with jobs.running(strict_events.PACK, "100 milliseconds", cores, more) as job:
        aside = job.folder / "aside"
        aside.mkdir()
        first, *rest = (Path(shutil.copy(path, aside)) for path in paths)
        job.until("cep_batch_duration_seconds_count", 1)
        first.rename(job.folder / "inbox" / first.name)
        job.until("cep_events_total accepted", events // 4)
        before, used = job.metrics(), job.processor()
        begun = time.perf_counter()
        for path in rest:
            path.rename(job.folder / "inbox" / path.name)
        job.until_raised(expected, events + events // 4)
        seconds = time.perf_counter() - begun
        after = job.until("cep_events_total accepted", events + events // 4)
        spent = {kind: total - used[kind] for kind, total in job.processor().items()}
    names = {stage: f"cep_stage_seconds_total {stage}" for stage in STAGES}
    stages = {stage: after.get(name, 0.0) - before.get(name, 0.0) for stage, name in names.items()}
    return {
        "events/s": events / seconds,
        "s": seconds,
        **stages,
        "between": seconds - sum(stages.values()),
        **{f"{kind} cpu": spent[kind] for kind in KINDS},
        "MiB": job.peak / 2**20,
        **{kind: job.parts[kind] / 2**20 for kind in KINDS},
    }


if __name__ == "__main__":
    main()
