"""A whole job with its outbox on PostgreSQL beside one on SQLite, in turns, from files to the outbox.

    python benchmarks/job_databases.py [--events 1000000] [--turns 3]

The strict three-step pattern of strict_events.py, of which 8 % of the events raise an alert. PostgreSQL is a
server of this machine's package in a temporary folder, on the same cores. Processor time is that of the job's
processes; the server's is not in it. Medians.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import job
import strict_events
from calibration import calibration

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))


def main() -> None:
    """Prints a row for each database."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    import database

    print(calibration())
    found: dict[str, list[tuple[float, float, float, float]]] = defaultdict(list)
    with database.running_server() as server:
        for turn in range(options.turns):
            places = {"SQLite": "", "PostgreSQL": _database(server, f"turn{turn}")}
            for name, url in list(places.items())[:: 1 if turn % 2 else -1]:
                found[name].append(_measured(url, options.events, turn))
    print("| outbox | events/s | processor s: driver | JVM | workers |")
    print("| --- | --- | --- | --- | --- |")
    for name, turns in found.items():
        rate, *spent = (statistics.median(column) for column in zip(*turns, strict=True))
        print(f"| {name} | {rate:,.0f} | " + " | ".join(f"{one:.1f}" for one in spent) + " |")
    ratios = [ours[0] / lite[0] for ours, lite in zip(found["PostgreSQL"], found["SQLite"], strict=True)]
    middle = statistics.median(ratios)
    print(f"PostgreSQL is {middle:.2f} times as quick ({min(ratios):.2f} to {max(ratios):.2f})")
    print(calibration())


def _database(server: object, name: str) -> str:
    """The address of a new schema for the outbox."""
    from sqlalchemy import create_engine, text

    engine = create_engine(server.url(), isolation_level="AUTOCOMMIT")  # type: ignore[attr-defined]
    with engine.connect() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    engine.dispose()
    return server.url(options=f"&options=-csearch_path%3D{name}")  # type: ignore[attr-defined, no-any-return]


def _measured(url: str, events: int, seed: int) -> tuple[float, float, float, float]:
    """Events a second; processor seconds of driver, JVM and workers."""
    outbox = f'\n[outbox]\nurl = "{url}"\n' if url else ""
    with tempfile.TemporaryDirectory() as folder:
        paths = strict_events.write(Path(folder), events + events // 4, files=5, seed=seed + 1)
        expected = strict_events.matches(paths)
        with job.running(strict_events.PACK, "100 milliseconds", more=outbox) as one:
            one.until("cep_batch_duration_seconds_count", 1)
            paths[0].rename(one.folder / "inbox" / paths[0].name)
            one.until("cep_events_total accepted", events // 4)
            used, begun = one.processor(), time.perf_counter()
            for path in paths[1:]:
                path.rename(one.folder / "inbox" / path.name)
            one.until("cep_events_total accepted", events + events // 4)
            seconds = time.perf_counter() - begun
            spent = {kind: now - used[kind] for kind, now in one.processor().items()}
            raised = one.until("cep_alerts_total", expected)["cep_alerts_total"]
    if raised != expected:
        raise SystemExit(f"the job raised {raised:,.0f} alerts, a plain loop {expected:,}")
    return events / seconds, spent["driver"], spent["JVM"], spent["workers"]


if __name__ == "__main__":
    main()
