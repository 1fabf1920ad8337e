"""Every benchmark of README.md, one after the other, and what each took: `make bench`.

    python benchmarks/all.py [--small] [--data FOLDER] [--only NAME...]

About fifteen minutes on two quiet cores. `--small` runs each with so little that its figures mean nothing, to
see in some minutes that it runs. With `--data` percolator_match takes the analysts' queries in, too. A
benchmark that fails does not keep the next one from running; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

FULL: Mapping[str, str] = {
    "start": "",
    "exact_sums": "",
    "compiling": "",
    "front_end": "",
    "large_packs": "",
    "decoding": "",
    "by_schema": "",
    "engine_in_process": "",
    "writing_alerts": "",
    "outbox_databases": "",
    "alert_episodes": "",
    "alert_stages": "",
    "erase": "",
    "retention": "",
    "patterns": "--events 500000",
    "many_rules": "",
    "hot_keys": "",
    "windows": "",
    "windows_whole": "",
    "windows_state": "",
    "state": "",
    "percolator_match": "",
    "highlights": "",
    "percolator_library": "",
    "percolator_cost": "",
    "query_parsing": "",
    "percolator_spark": "",
    "hostile_receivers": "",
    "page": "",
    "burst": "--only desk pager each",
    "idle_page": "",
    "http_in": "",
    "http_read": "",
    "job": "",
    "kafka_in": "",
    "kafka_catch_up": "",
    "kafka_out": "",
    "queries_page": "",
    "record": "",
    "scale": "",
    "machines": "",
    "bucket": "",
    "idle_job": "",
    "job_databases": "",
    "load": "half --minutes 3",
}
"""The benchmarks, in the order in which they run, with the sizes of README.md's figures."""

SMALL: Mapping[str, str] = {
    "start": "--times 1 --only check test eval",
    "exact_sums": "--values 20000 --turns 1",
    "compiling": "--only strings",
    "front_end": "--rules 10 50",
    "large_packs": "--rules 10 100 --values 20 200",
    "decoding": "--lines 5000 --turns 1",
    "by_schema": "--records 20000 --turns 1",
    "engine_in_process": "--events 50000",
    "writing_alerts": "--alerts 2000 --batches 2",
    "outbox_databases": "--alerts 2000 --batches 2",
    "alert_episodes": "--alerts 2000 --batches 2",
    "alert_stages": "--alerts 1000 --routes 3 --silences 3",
    "erase": "--alerts 5000 --seconds 2 --rate 100",
    "retention": "--alerts 5000 --seconds 2 --rate 100",
    "patterns": "--events 20000",
    "many_rules": "--events 2000 --rules 1 10 100 --turns 1",
    "hot_keys": "--scale 0.02 --seconds 1",
    "windows": "--events 20000 --batch 5000 --turns 1",
    "windows_whole": "--events 20000 --batch 5000 --turns 1 --only W1 W4",
    "windows_state": "--keys 5000 --batches 3",
    "state": "--runs 20000 --expiries 50000 --batches 10",
    "percolator_match": "--queries 2000",
    "highlights": "",
    "percolator_library": "5000",
    "percolator_cost": "",
    "query_parsing": "--count 1000",
    "percolator_spark": "--queries 1000 --documents 5000",
    "hostile_receivers": "--alerts 200 --only nobody 100s",
    "burst": "--alerts 2000 --wait 2",
    "idle_page": "--seconds 2 --turns 1",
    "page": "--alerts 10000 --rate 200 --times 2 --streams 5 --seconds 2",
    "job": "--events 50000 --seconds 3",
    "kafka_in": "--events 50000 --seconds 3 --turns 1",
    "kafka_catch_up": "--events 2000000",
    "kafka_out": "--alerts 5000 --seconds 2 --turns 1",
    "http_in": "--seconds 1",
    "http_read": "--objects 20 --events 20 --turns 1",
    "queries_page": "--queries 2000",
    "record": "--events 50000 --turns 1",
    "scale": "--events 50000 --times 1",
    "machines": "--events 50000 --times 1 --workers 1",
    "bucket": "--turns 1 --seconds 2 --files 2",
    "idle_job": "--turns 1 --seconds 5 --files 2",
    "job_databases": "--events 50000 --turns 1",
    "load": "hot --events 200000",
}


def main() -> int:
    """Runs them and prints the seconds of each; gives the exit code."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--small", action="store_true")
    arguments.add_argument("--data", type=Path)
    arguments.add_argument("--only", nargs="+", choices=FULL, default=list(FULL), metavar="NAME")
    options = arguments.parse_args()
    ran = []
    for name in options.only:
        command = [f"{name}.py", *(SMALL if options.small else FULL)[name].split()]
        if name == "percolator_match" and options.data is not None:
            command += ["--data", str(options.data)]
        print(f"\n== benchmarks/{' '.join(command)}", flush=True)
        begin = time.monotonic()
        path = Path(__file__).with_name(command[0])
        code = subprocess.run([sys.executable, path, *command[1:]], check=False).returncode
        ran.append((name, time.monotonic() - begin, code))
    print(f"\n{'benchmark':<22}{'s':>6}")
    for name, seconds, code in ran:
        print(f"{name:<22}{seconds:>6.0f}{'' if code == 0 else f'   failed, exit code {code}'}")
    return 1 if any(code for _, _, code in ran) else 0


if __name__ == "__main__":
    sys.exit(main())
