"""A job on a cluster of this machine: with 1, 2, 3 workers of one core, and beside them without a cluster.

    python benchmarks/machines.py [--events 1000000] [--times 3] [--workers 1 2 3]

The job of scale.py, taking turns on the same files. Master and workers are processes on this machine, whose
cores the driver shares with them: more workers than cores say what dividing costs, not what it gains.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import scale
import strict_events
from calibration import calibration

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "examples"))


def main() -> None:
    """Prints a row for each number of workers; 0 is a job without a cluster, on all cores."""
    from cluster import cluster

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 3])
    options = parser.parse_args()
    print(calibration())
    os.environ["PYTHONPATH"] = str(ROOT)  # the workers' Python imports what this one does
    found: dict[int, list[Mapping[str, float]]] = {workers: [] for workers in (0, *options.workers)}
    with tempfile.TemporaryDirectory() as folder:
        paths = strict_events.write(Path(folder), options.events + options.events // 4, files=5)
        expected = strict_events.matches(paths)
        for turn in range(options.times):
            for workers, turns in found.items():
                if not workers:
                    turns.append(scale.measured(paths, options.events, expected, None))
                    continue
                with cluster(Path(folder) / f"machines-{turn}-{workers}", workers) as machines:
                    more = f'[spark]\nmaster = "{machines.master}"\ncores = {workers}\n'
                    turns.append(scale.measured(paths, options.events, expected, None, more))
    print("| workers of one core | events/s | s | Spark's action | merge | outbox |")
    print("| --- | --- | --- | --- | --- | --- |")
    for workers, turns in found.items():
        medians = [
            statistics.median(turn[name] for turn in turns) for name in ("events/s", "s", *scale.STAGES)
        ]
        rate, *seconds = medians
        name = workers or f"no cluster, {os.cpu_count()} cores"
        print(f"| {name} | {rate:,.0f} | " + " | ".join(f"{one:.1f}" for one in seconds) + " |")
    print(calibration())


if __name__ == "__main__":
    main()
