"""Retention beside a job: how long the writer of batches waits while what is old is removed.

    python benchmarks/retention.py [--alerts 1000000] [--seconds 30] [--rate 1000]

An outbox in SQLite with so many alerts and three deliveries of each: all deliveries are old enough to go, and
half of the alerts. A process records a batch of so many new alerts every second, each with three deliveries,
as a job does; meanwhile another removes deliveries, or alerts with theirs, with the rests of a job, or
nothing, in turn. The writer's times are those of `Outbox.record`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from alert_episodes import raised
from calibration import calibration
from sqlalchemy import text

from alerts.outbox import BatchRecord, Outbox
from alerts.outbox.retention import REPLAYS
from alerts.outbox.small_steps import REST
from alerts.raised_columns import RaisedColumns
from alerts.routing import Route
from cep.config.job import Retention
from cep.job.running.retention import removals

DAY = 86_400 * 10**9
RECEIVERS = ("archive", "desk", "pager")
_ALL = Retention(alerts=10_000 * DAY, deliveries=10_000 * DAY, late=7 * DAY, dead_letters=30 * DAY)
KEPT = {"deliveries": replace(_ALL, deliveries=30 * DAY), "alerts": replace(_ALL, alerts=400 * DAY)}
"""By what is removed."""
FILL = """
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
INSERT INTO outbox_alerts (number, head, batch, rule_number, time, key, body, recorded_at)
SELECT i, i * 9223372036854 + 2, i / 1000, 1, i, '{{"card_id":"c' || (i * 7919 % 100000) || '"}}',
  '{{"id":"' || lower(hex(randomblob(32))) || '","pack":"fraud","rule":"card_testing","emit":"'
  || hex(randomblob(150)) || '"}}', CASE WHEN i <= {count} / 2 THEN {old} ELSE {new} END
FROM n
"""
MORE = (
    "INSERT INTO outbox_rules VALUES (1, 'fraud', 'card_testing', 'high')",
    "INSERT INTO outbox_by_rule SELECT rule_number, number FROM outbox_alerts",
    "INSERT INTO outbox_by_key SELECT key, number FROM outbox_alerts ORDER BY 1, 2",
    "UPDATE outbox_indexed SET number = {count}",
    "UPDATE outbox_assigned SET number = {count}",
)
SENT = """
INSERT INTO outbox_deliveries (receiver, alert, state, attempts, settled_at, outcome)
SELECT '{receiver}', number, 'delivered', 1, recorded_at, '204' FROM outbox_alerts
"""


def fill(url: str, count: int, now: int) -> None:
    """So many alerts with their deliveries, one half recorded 401 days ago, the other 31."""
    with closing(Outbox.open(url, durable=False)) as outbox, outbox.writing() as connection:
        connection.execute(text(FILL.format(count=count, old=now - 401 * DAY, new=now - 31 * DAY)))
        for statement in MORE:
            connection.execute(text(statement.format(count=count)))
        for receiver in RECEIVERS:
            connection.execute(text(SENT.format(receiver=receiver)))


def write(url: str, first: int, rate: int, seconds: int, sent: multiprocessing.Queue[list[float]]) -> None:
    """Record a batch every second; the seconds that each took."""
    took = []
    with closing(Outbox.open(url)) as outbox:
        for number in range(seconds):
            due = time.monotonic() + 1
            start = 10**9 + (first + number) * rate
            came = RaisedColumns.of([raised(start + n, 10_000) for n in range(rate)])
            begun = time.perf_counter()
            batch = BatchRecord(first + number, f"d{first + number}", {})
            outbox.record(batch, came, [Route(name) for name in RECEIVERS])
            took.append(time.perf_counter() - begun)
            time.sleep(max(0.0, due - time.monotonic()))
    sent.put(took)


def beside(url: str, first: int, given: argparse.Namespace, now: int, removing: str) -> int:
    """A writer beside removals, or alone; prints its times, and gives the number of transactions."""
    context = multiprocessing.get_context("spawn")
    sent: multiprocessing.Queue[list[float]] = context.Queue()
    writer = context.Process(target=write, args=(url, first, given.rate, given.seconds, sent))
    writer.start()
    steps: list[float] = []
    if removing:
        with closing(Outbox.open(url)) as outbox:
            for seconds in removals(outbox, KEPT[removing], now):
                steps.append(seconds)
                if not writer.is_alive() or not sent.empty():
                    break
                time.sleep(REST * seconds)
    took = sorted(sent.get()[1:])
    writer.join()
    said = f"while {removing} are removed" if removing else "alone"
    print(
        f"{given.rate:,} alerts, 3 receivers, {said:28} p50 {statistics.median(took) * 1e3:6.0f} ms, "
        f"longest {took[-1] * 1e3:6.0f} ms"
    )
    if steps:
        middle, longest = statistics.median(steps) * 1e3, max(steps) * 1e3
        print(f"    {len(steps):,} removals, median {middle:.1f} ms, longest {longest:.0f} ms")
    return len(steps)


def main() -> None:
    """Prints the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--alerts", type=int, default=1_000_000)
    options.add_argument("--seconds", type=int, default=30)
    options.add_argument("--rate", type=int, default=1_000)
    given = options.parse_args()
    print(calibration())
    now = time.time_ns()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "outbox.db"
        url = f"sqlite:///{path}"
        fill(url, given.alerts, now)
        print(f"{given.alerts:,} alerts, {3 * given.alerts:,} deliveries: {path.stat().st_size >> 20:,} MiB")
        first = given.alerts // 1000 + 1 + REPLAYS
        for turn, removing in enumerate(("", "deliveries", "", "alerts")):
            beside(url, first + turn * given.seconds, given, now, removing)
    print(calibration())


if __name__ == "__main__":
    main()
