"""A job whose state is in a bucket beside one whose state is in a folder: what it costs.

    python benchmarks/bucket.py [--turns 3] [--seconds 30] [--files 15]

Both have their outbox on PostgreSQL, two shuffle partitions and the usual trigger of a second. Nothing comes
for a while; then files of 500 events, each up to a second after the one before is in the outbox. The store is
moto's on loopback, which answers in some milliseconds and one request at a time: what holds elsewhere is the
number of requests. Figures are medians of the turns, which alternate.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from calibration import calibration

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / "strategies"), str(ROOT / "tests" / "job"), str(ROOT / "examples")]


def main() -> None:
    """Prints a row for each place of a state."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--files", type=int, default=15)
    options = parser.parse_args()
    import object_store
    import postgres

    print(calibration())
    found: dict[str, list[dict[str, float]]] = defaultdict(list)
    with object_store.running() as store, postgres.running_server() as server:
        for turn in range(options.turns):
            for place in ("folder", "bucket"):
                with tempfile.TemporaryDirectory() as folder:
                    url = server.url(options=f"&options=-csearch_path%3Dturn_{turn}_{place}")
                    _make_schema(server.url(), f"turn_{turn}_{place}")
                    bucket = store.bucket() if place == "bucket" else None
                    found[place].append(_measured(Path(folder), url, store, bucket, options))
    print("| state in a | requests a minute, idle | ms from a file to its alerts | requests |")
    print("| --- | --- | --- | --- |")
    for place, turns in found.items():
        names = ("idle requests", "file ms", "file requests")
        medians = (statistics.median(turn[name] for turn in turns) for name in names)
        print(f"| {place} | " + " | ".join(f"{one:.0f}" for one in medians) + " |")
    print(calibration())


def _make_schema(url: str, name: str) -> None:
    from sqlalchemy import create_engine, text

    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    engine.dispose()


def _measured(root: Path, url: str, store: Any, bucket: Any, options: argparse.Namespace) -> dict[str, float]:
    from job_folder import JobFolder
    from object_store import SECRET, section
    from rules_of_tests import in_files, pack, payments

    folder = JobFolder(
        root / "job", pack(), ("payment",), trigger="1 second", server=url, bucket=bucket,
        more="" if bucket is None else section(bucket), environ={"S3_SECRET": SECRET},
    )  # fmt: skip
    parts = in_files(list(payments(9, 500 * (options.files + 3), 200)), options.files + 3)

    with folder.running() as job:
        for part in parts[:3]:
            before = len(folder.alerts()) if folder.commits() else -1
            folder.put("payment", part)
            job.wait_for(lambda before=before: folder.commits() and len(folder.alerts()) > before, "alerts")
        time.sleep(10)
        asked, begin = store.asked, time.monotonic()
        time.sleep(options.seconds)
        idle = (store.asked - asked) / (time.monotonic() - begin)
        files, asked = [], store.asked
        for part in parts[3:]:
            time.sleep(random.uniform(0, 1))
            before, begin = len(folder.alerts()), time.monotonic()
            folder.put("payment", part)
            job.wait_for(lambda before=before: len(folder.alerts()) > before, "alerts")
            files.append(time.monotonic() - begin)
        busy = store.asked - asked
        job.stop()
    return {
        "idle requests": idle * 60,
        "file ms": statistics.median(files) * 1e3,
        "file requests": busy / len(files),
    }


if __name__ == "__main__":
    main()
