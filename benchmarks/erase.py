"""Erasure beside a job: how long the writer of batches waits while alerts on keys are erased.

    python benchmarks/erase.py [--alerts 1000000] [--seconds 20] [--rate 1000]

An outbox in SQLite with so many alerts on 100,000 keys, and three deliveries of each, as in retention.py. A
process records a batch of so many new alerts every second; meanwhile another erases one key after another,
with the rests of `cep alerts erase`, or does nothing. The last key is one that a hundredth of all alerts has.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import tempfile
import time
from contextlib import closing
from itertools import count
from pathlib import Path

from calibration import calibration
from retention import RECEIVERS, fill, write
from sqlalchemy import text

from alerts.outbox import Outbox
from alerts.outbox.retention import REPLAYS
from cep.config import load_job
from cep.web.desk.acting import Actor
from cep.web.desk.desk import JobDesk
from cep.web.desk.erasing import erase

JOB = '[job]\nname = "j"\npacks = "packs/"\nstate = "state/"\n[feeds.p]\nsource = "files"\npath = "*.jsonl"\n'
BODIES = """
UPDATE outbox_alerts SET body = json_insert(
  substr(body, 1, 72) || ',"summary":"","events":{}}',
  '$.key', json(key), '$.emit', json_object('text', hex(randomblob(150)))
)
"""
CHANGES = (
    'UPDATE outbox_alerts SET key = \'{"card_id":"hot"}\' WHERE number % 100 = 0',
    BODIES,
    "DELETE FROM outbox_by_key",
    "INSERT INTO outbox_by_key SELECT key, number FROM outbox_alerts ORDER BY 1, 2",
)


def desk(folder: Path, url: str) -> JobDesk:
    """The desk of a job that seems to run, so that the file is not written anew."""
    (folder / "job.toml").write_text(JOB, "utf-8")
    live = type("Live", (), {"driver": None, "wake": lambda _: None})()
    return JobDesk(Outbox.open(url), load_job(folder / "job.toml", {}).need(), {}, live)


def beside(folder: Path, url: str, first: int, given: argparse.Namespace, keys: tuple[str, ...]) -> None:
    """A writer beside erasures of these keys, over and over, or alone; prints its times."""
    context = multiprocessing.get_context("spawn")
    sent: multiprocessing.Queue[list[float]] = context.Queue()
    writer = context.Process(target=write, args=(url, first, given.rate, given.seconds, sent))
    writer.start()
    spent, gone = [], 0
    at = desk(folder, url)
    with closing(at.outbox):
        for number in count(1):
            if not keys or not sent.empty():
                break
            begun = time.perf_counter()
            key = keys[number % len(keys)].format(number)
            gone += erase(at, key, Actor("benchmark", time.time_ns()), dry_run=False).alerts
            spent.append(time.perf_counter() - begun)
    took = sorted(sent.get()[1:])
    writer.join()
    said = f"while {keys[0]} is erased" if keys else "alone"
    print(
        f"{given.rate:,} alerts, {len(RECEIVERS)} receivers, {said:34} "
        f"p50 {statistics.median(took) * 1e3:6.0f} ms, longest {took[-1] * 1e3:6.0f} ms"
    )
    if spent:
        print(f"    {len(spent)} erasures of {gone:,} alerts, in the middle {statistics.median(spent):.1f} s")


def main() -> None:
    """Prints the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--alerts", type=int, default=1_000_000)
    options.add_argument("--seconds", type=int, default=20)
    options.add_argument("--rate", type=int, default=1_000)
    given = options.parse_args()
    print(calibration())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "outbox.db"
        url = f"sqlite:///{path}"
        fill(url, given.alerts, time.time_ns())
        with closing(Outbox.open(url, durable=False)) as outbox, outbox.writing() as connection:
            for statement in CHANGES:
                connection.execute(text(statement))
        print(f"{given.alerts:,} alerts, {3 * given.alerts:,} deliveries: {path.stat().st_size >> 20:,} MiB")
        first = given.alerts // 1000 + 1 + REPLAYS
        for turn, keys in enumerate(((), ("card_id=c{}",), (), ("card_id=hot",))):
            beside(folder, url, first + turn * given.seconds, given, keys)
    print(calibration())


if __name__ == "__main__":
    main()
