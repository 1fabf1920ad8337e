"""The cost of an alert: written in a worker, merged and inserted on the driver; and pages of many.

    python benchmarks/writing_alerts.py [--alerts 80000] [--batches 6] [--other CHECKOUT]

Microseconds of processor time an alert, medians over batches but for the first, of a rule of three steps and
four emitted values. `--other` runs that checkout's own script in turns with this one.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
from calibration import calibration

from alerts import patience
from alerts.outbox import BatchRecord, Outbox, Wanted
from alerts.ranks import decided
from alerts.routing import Route
from cep.batch.clock import Seen
from cep.batch.decisions import Decisions, EventColumns
from cep.collector import paused
from cep.job.shipping.rows import Kind, pack, pack_raised
from cep.job.workers.outcome import Settled, put_together
from cep.packs.compile import compile_plan
from cep.plan.plan import RulePlan
from cep.shard.render import rendered
from rules.packs import load_texts

PACK = """pack fraud version "1"
stream payment {
  payment_id: string  at: timestamp  card_id: string  amount: double  country: string
  id payment_id  time at
}
rule card_testing {
  severity high
  tags     "card-testing"
  summary  "small, then {amount} in {country} on {card_id}"
  by       card_id
  match    a: payment[amount < 2] -> b: payment[amount > 500] -> c: payment[country == "NG"]
  within   10 minutes
  emit     card_id, first = a.amount, amount = b.amount, country = c.country
}"""
SHARDS = 2
BEGIN = 1_531_303_500 * 10**9
TURNS = 3


def main() -> None:
    """Prints the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--alerts", type=int, default=80_000)
    options.add_argument("--batches", type=int, default=6)
    options.add_argument("--other", type=Path)
    given = options.parse_args()
    if given.other is None:
        print(calibration())
        measured(given.alerts, given.batches)
        return
    for _ in range(TURNS):
        for root in (given.other, Path(__file__).parents[1]):
            print(root.name, flush=True)
            sizes = ["--alerts", str(given.alerts), "--batches", str(given.batches)]
            script = [sys.executable, str(root / "benchmarks/writing_alerts.py"), *sizes]
            subprocess.run(script, check=True, env={"PYTHONPATH": str(root)})


def measured(count: int, batches: int) -> None:
    """Batches of so many alerts each through worker, driver and outbox, then pages of all of them."""
    plan = next(iter(compile_plan([load_texts([("p.rules", PACK)]).need()]).rules()))
    patience.load()  # as a worker has it in which patterns are compiled
    spent: defaultdict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        outbox = Outbox.open(f"sqlite:///{folder}/outbox.db")
        for number in range(batches):
            with paused():  # as in the job
                for stage, seconds in one_batch(outbox, plan, number, count).items():
                    spent[stage].append(seconds * 1e6 / count)
        for stage, costs in spent.items():
            print(f"{stage:32}{statistics.median(costs[1:] or costs):6.2f} us an alert")
        for name, wanted in pages(outbox):
            begin = time.perf_counter()
            outbox.alerts(wanted, limit=50, newest_first=True)
            print(f"page of {name:24}{(time.perf_counter() - begin) * 1e3:6.1f} ms")
        outbox.close()
        print(f"file: {Path(folder, 'outbox.db').stat().st_size / count / batches:.0f} bytes an alert")


def one_batch(outbox: Outbox, plan: RulePlan, number: int, count: int) -> Mapping[str, float]:
    """Processor seconds by stage."""
    spent: dict[str, float] = {}
    rows = []
    for shard in range(SHARDS):
        decisions = some_decisions(plan, number * SHARDS + shard, count // SHARDS)
        begin = time.process_time()
        rows.append((Kind.RAISED, pack_raised(rendered([decisions]))))
        spent["worker"] = spent.get("worker", 0.0) + time.process_time() - begin
        rows.append((Kind.SETTLED, pack(Settled(0, Seen(), {}, {}, 0, 0.0))))
    begin = time.thread_time()
    outcome = put_together(rows, SHARDS)
    spent["merge"] = time.thread_time() - begin
    begin, whole = time.thread_time(), time.process_time()
    outbox.record(BatchRecord(number, f"d{number}", {}), outcome.raised, [Route("desk")])
    spent["insert, with a delivery"] = time.thread_time() - begin
    outbox.finish()
    spent["insert and what follows it"] = time.process_time() - whole
    return spent


def some_decisions(plan: RulePlan, seed: int, count: int) -> Decisions:
    """Matches of three events each, of 100,000 cards, in a stretch of time of their own."""
    random = np.random.default_rng(seed)
    cards = random.integers(0, 100_000, count)
    times = BEGIN + (seed // SHARDS) * 10**12 + np.sort(random.integers(0, 10**6, count)) * 10**6
    events = 3 * count
    table = pa.table(
        {
            "@id": [f"p{seed}-{n}" for n in range(events)],
            "f:amount": np.round(random.random(events) * 1000, 2),
            "f:country": [("DE", "NG", "FR")[n % 3] for n in range(events)],
        }
    )
    everything = np.arange(events)
    return Decisions(
        (plan,),
        np.zeros(count, np.int64),
        np.arange(1, count + 1),
        times,
        [pa.array([f"card-{card:06}" for card in cards.tolist()])],
        pa.array([decided((1, 3 * n, 3 * n + 1, 3 * n + 2)) for n in range(count)], pa.binary()),
        np.zeros(count, bool),
        np.arange(1, count + 1) * 3,
        np.tile(np.arange(3), count),
        everything,
        EventColumns(events, [(table, everything, everything)]),
    )


def pages(outbox: Outbox) -> Iterator[tuple[str, Wanted]]:
    """The pages that a desk asks for."""
    (first,) = outbox.alerts(limit=1)
    key = first.alert["key"]
    assert isinstance(key, dict)
    yield "all", Wanted()
    yield "a stretch of time", Wanted(since=BEGIN + 10**12, until=BEGIN + 11 * 10**11)
    yield "a rule", Wanted(rule="card_testing")
    yield "a severity", Wanted(severity="high")
    yield "a key", Wanted(key=key)


if __name__ == "__main__":
    main()
