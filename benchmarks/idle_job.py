"""The cost of a job to which nothing comes, and how soon it is awake.

    python benchmarks/idle_job.py [--turns 3] [--seconds 30] [--files 10] [--before FOLDER]

The processor time of all its processes while nothing comes, at the usual trigger of a second. Then files of
500 events come, each some seconds after the alerts of the one before: milliseconds until its alerts are in
the outbox. `--before` is the checkout of another version, which takes turns with this one. Medians.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

import psutil
from calibration import calibration

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / "strategies"), str(ROOT / "tests" / "job"), str(ROOT / "examples")]


def main() -> None:
    """Prints a row for each version."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--files", type=int, default=10)
    parser.add_argument("--before", type=Path)
    options = parser.parse_args()
    print(calibration())
    versions = {"this": ROOT} | ({"before": options.before.absolute()} if options.before else {})
    found: dict[str, list[dict[str, float]]] = defaultdict(list)
    for _ in range(options.turns):
        for name, checkout in versions.items():
            with tempfile.TemporaryDirectory() as folder:
                found[name].append(_measured(Path(folder), checkout, options))
    print("| version | cores of an idle job | batches a minute | ms from a file to its alerts |")
    print("| --- | --- | --- | --- |")
    for name, turns in found.items():
        cores, batches, wait = (statistics.median(one[of] for one in turns) for of in turns[0])
        print(f"| {name} | {cores:.2f} | {batches:.0f} | {wait:.0f} |")
    print(calibration())


def _measured(root: Path, checkout: Path, options: argparse.Namespace) -> dict[str, float]:
    from job_folder import JobFolder
    from rules_of_tests import in_files, pack, payments

    folder = JobFolder(
        root / "job", pack(), ("payment",), trigger="1 second", environ={"PYTHONPATH": str(checkout)}
    )
    parts = in_files(list(payments(9, 500 * (options.files + 3), 200)), options.files + 3)

    def spent() -> float:
        total = 0.0
        for process in folder.processes():
            with suppress(psutil.Error):
                total += sum(process.cpu_times()[:4])
        return total

    os.chdir(checkout)  # where a command looks for its packages first
    with folder.running() as job:
        for part in parts[:3]:
            before = len(folder.alerts()) if folder.commits() else -1
            folder.put("payment", part)
            job.wait_for(lambda before=before: folder.commits() and len(folder.alerts()) > before, "alerts")
        time.sleep(5)
        used, batches, begin = spent(), int(folder.commits()[-1].name), time.monotonic()
        time.sleep(options.seconds)
        passed = time.monotonic() - begin
        used, batches = spent() - used, int(folder.commits()[-1].name) - batches
        waits = []
        for part in parts[3:]:
            time.sleep(random.uniform(2, 4))
            before, begin = len(folder.alerts()), time.monotonic()
            folder.put("payment", part)
            job.wait_for(lambda before=before: len(folder.alerts()) > before, "alerts")
            waits.append(time.monotonic() - begin)
        job.stop()
    return {
        "cores": used / passed,
        "batches": batches / passed * 60,
        "wait": statistics.median(waits) * 1e3,
    }


if __name__ == "__main__":
    main()
