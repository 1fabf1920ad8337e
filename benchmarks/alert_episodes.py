"""The cost of episodes: alerts of recorded batches assigned to them.

    python benchmarks/alert_episodes.py [--alerts 20000] [--batches 6]

Microseconds of processor time an alert, medians over batches but for the first, for alerts on few keys, which
go on with their episodes, and on many, which begin new ones. The insert is one without deliveries.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time

from calibration import calibration

from alerts.alert import Alert
from alerts.identity import alert_id
from alerts.notation import timestamp
from alerts.outbox import BatchRecord, Outbox
from alerts.outbox.episodes import assign_some
from alerts.raised import Raised
from alerts.raised_columns import RaisedColumns

BEGIN = 1_531_303_500 * 10**9
HOUR = 3_600 * 10**9


def main() -> None:
    """Prints the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--alerts", type=int, default=20_000)
    options.add_argument("--batches", type=int, default=6)
    given = options.parse_args()
    print(calibration())
    for keys in (1_000, given.alerts * given.batches):
        spent = batches(given.alerts, given.batches, keys)
        for place, name in enumerate(("insert", "episodes")):
            cost = statistics.median([one[place] for one in spent[1:]]) * 1e6 / given.alerts
            print(f"{keys:>9,} keys: {name:10}{cost:6.2f} us an alert")


def batches(count: int, number: int, keys: int) -> list[tuple[float, float]]:
    """Processor seconds of insert and assignment, for each batch."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        outbox = Outbox.open(f"sqlite:///{folder}/outbox.db")
        for batch in range(number):
            came = RaisedColumns.of([raised(batch * count + n, keys) for n in range(count)])
            begin = time.thread_time()
            outbox.record(BatchRecord(batch, f"d{batch}", {}), came, [])
            inserted = time.thread_time() - begin
            outbox.finish()
            begin, more = time.thread_time(), True
            while more:
                with outbox.writing() as connection:
                    more = assign_some(connection, lambda *_: HOUR)
            found.append((inserted, time.thread_time() - begin))
        outbox.close()
    return found


def raised(number: int, keys: int) -> Raised:
    """An alert on one of so many cards, a millisecond after the one before it."""
    card, time_ = f"card-{number % keys:07}", BEGIN + number * 10**6
    id_ = alert_id("fraud", "card_testing", "s", "match", [card], [("probe", [f"p{number}"])])
    alert = Alert(
        id_, "fraud", "r1", "card_testing", "match", "high", timestamp(time_), {"card_id": card},
        f"3 probes on {card}", {"card_id": card, "n": 3}, {"probe": [f"p{number}"]}, ["card-testing"], None,
    )  # fmt: skip
    return Raised.of(alert, time_, (1,))


if __name__ == "__main__":
    main()
