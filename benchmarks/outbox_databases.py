"""The outbox on PostgreSQL beside that on SQLite: the same batches into each, in turns.

    python benchmarks/outbox_databases.py [--server URL] [--alerts 80000] [--batches 6]

URL is the address of an empty database, postgresql://user@host/name; without it SQLite is alone. Wall
microseconds an alert of the transaction, each with a delivery, and with the indexes that follow it; medians
over batches but for the first.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from contextlib import ExitStack, closing

from calibration import calibration
from writing_alerts import PACK, SHARDS, some_decisions

from alerts.outbox import BatchRecord, Outbox
from alerts.raised_columns import RaisedColumns
from alerts.routing import Route
from cep.batch.clock import Seen
from cep.collector import paused
from cep.job.shipping.rows import Kind, pack, pack_raised
from cep.job.workers.outcome import Settled, put_together
from cep.packs.compile import compile_plan
from cep.plan.plan import RulePlan
from cep.shard.render import rendered
from rules.packs import load_texts


def main() -> None:
    """Prints the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--server")
    options.add_argument("--alerts", type=int, default=80_000)
    options.add_argument("--batches", type=int, default=6)
    given = options.parse_args()
    print(calibration())
    plan = next(iter(compile_plan([load_texts([("p.rules", PACK)]).need()]).rules()))
    spent: defaultdict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        boxes = {
            name: stack.enter_context(closing(Outbox.open(url)))
            for name, url in (("SQLite", f"sqlite:///{folder}/outbox.db"), ("PostgreSQL", given.server))
            if url is not None
        }
        for number in range(given.batches):
            for name, outbox in boxes.items():
                raised = some_raised(plan, number, given.alerts)
                with paused():  # as in the job
                    begin = time.perf_counter()
                    outbox.record(BatchRecord(number, f"d{number}", {}), raised, [Route("desk")])
                    spent[f"{name}, transaction"].append(time.perf_counter() - begin)
                    outbox.finish()
                    spent[f"{name}, and indexes"].append(time.perf_counter() - begin)
        for name, seconds in spent.items():
            cost = statistics.median(seconds[1:] or seconds) * 1e6 / given.alerts
            print(f"{name:28}{cost:7.2f} us an alert")


def some_raised(plan: RulePlan, number: int, count: int) -> RaisedColumns:
    """The alerts of a batch, as they come from workers."""
    rows = []
    for shard in range(SHARDS):
        decisions = some_decisions(plan, number * SHARDS + shard, count // SHARDS)
        rows.append((Kind.RAISED, pack_raised(rendered([decisions]))))
        rows.append((Kind.SETTLED, pack(Settled(0, Seen(), {}, {}, 0, 0.0))))
    return put_together(rows, SHARDS).raised


if __name__ == "__main__":
    main()
