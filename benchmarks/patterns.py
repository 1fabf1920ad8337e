"""Patterns of every kind in one process on one core, from decoded events on: events a second past matching.

    python benchmarks/patterns.py [--events 1000000] [--only NAME ...]

Prints a row per workload: events a second without writing alerts, the ratio to the first row, alerts, peak
memory of the process so far, and the bytes of state at the end. Compilation and a first batch that warms up
are not in it.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from calibration import calibration

from cep.events import FILE, ID, OFFSET, TIME, Events, event_schema
from cep.inprocess.session import Session
from cep.operators.patterns.runtime import advance
from cep.operators.patterns.runtime.compiled import load
from cep.packs.compile import compile_plan
from cep.plan.plan import Plan
from cep.shard import advance as match
from cep.shard.advance import MatchOptions
from rules.packs import load_texts

START = 1_767_225_600_000  # 2026-01-01T00:00Z in milliseconds
STREAM = """pack bench version "1"
stream e {
  eid: string  ts: timestamp  k: string  v: double  lat: double  lon: double  ref: long
  id eid  time ts
}
"""


@dataclass(frozen=True, slots=True)
class Workload:
    """Rules over events. `keys` under which the events come, one event every `step` milliseconds.

    `before` events come first, to fill the state, and are not measured; `touched` is the number of keys of
    the measured ones. Events have so many values of `ref` in turn, those measured from `first_ref` on.
    """

    name: str
    rules: str
    keys: int
    events: int
    step: int = 1
    before: int = 0
    touched: int = 0
    batch: int = 250_000
    refs: int = 1
    first_ref: int = 0


def strict(number: int) -> str:
    """Three events in a row, half of all events begin a run."""
    low, more = 50 - number * 0.1, 10 + number * 0.1
    return (
        f"rule strict{number} {{ by k match a: e[v < {low}] => b: e[v > a.v + {more}] => c: e[v > b.v] "
        "within 10 minutes }\n"
    )


def relaxed(number: int, share: float) -> str:
    """Three events one after the other, each of which so many percent of the events fit."""
    a, b, c = (f"v >= {x + number * 0.01:.2f} and v < {x + number * 0.01 + share:.2f}" for x in (10, 40, 70))
    return f"rule relaxed{number} {{ by k match a: e[{a}] -> b: e[{b}] -> c: e[{c}] within 10 minutes }}\n"


def workloads(events: int) -> list[Workload]:
    """All of them. The first is what the others are compared with."""
    found = [Workload("strict, 1 rule", strict(0), 100_000, events)]
    found += [
        Workload(f"strict, {n} rules", "".join(map(strict, range(n))), 100_000, events // (n // 5))
        for n in (10, 100)
    ]
    found += [
        Workload(
            f"relaxed 1 %, {n} rules",
            "".join(relaxed(i, 1) for i in range(n)),
            100_000,
            events // max(1, n // 10),
        )
        for n in (1, 10, 100)
    ]
    many = "".join(relaxed(i, 0.1) for i in range(1000))
    loop = "match a: e[v < 1]{2,} -> b: e[v > 99 and v > 2 * avg(a.v)] within 10 minutes"
    quiet = "match a: e[v < 1] -> absent e[v > 50] for 10 minutes within 1 hour"
    far = "match a: e -> b: e[distance_km(a.lat, a.lon, lat, lon) > 100] within 10 minutes limit 200 runs"
    waiting = "match a: e[v == 1000] -> b: e{} within 1 day limit 2000 runs skip none"
    found += [
        Workload("relaxed 0.1 %, 1,000 rules", many, 100_000, events // 20),
        Workload("loop with avg, 1 %", f"rule loop {{ by k {loop} }}", 1_000, events),
        Workload("absence of 10 minutes, 1 %", f"rule quiet {{ by k {quiet} }}", 10_000, events, step=10),
        Workload("distance, 100 events a window", f"rule far {{ by k {far} }}", 10, events // 40, step=600),
    ]
    for what, step, count in (
        ("that none waits for", "[v == 2000]", events),
        ("that every run is asked about", "[v == a.v + v + 1]", events // 100),
        ("that every run takes", "{2000}", events // 1000),
    ):
        rule = f"rule waiting {{ by k {waiting.format(step)} }}"
        found.append(Workload(f"1,000 live runs, events {what}", rule, 1, count, before=1_000))
    equal = "match a: e[v == 1000] -> b: e[ref == a.ref]{1000000} within 1 day limit 2000 runs"
    for live, what, refs, first_ref, count in (
        (1, "the one", 1, 0, events // 4),
        (1_000, "none", 1_000, 1_000, events // 4),
        (1_000, "one", 1_000, 0, events // 4),
        (1_000, "all", 1, 0, events // 1000),
    ):
        name, rule = f"{live:,} live runs, events equal to {what}", f"rule equal {{ by k {equal} }}"
        found.append(Workload(name, rule, 1, count, before=live, refs=refs, first_ref=first_ref))
    runs = "rule runs { by k match a: e[v >= 0] -> b: e[v < 0] within 30 days }"
    found += [
        Workload("no live run, 1 % of the keys", runs, 100_000, 20_000, touched=1_000, batch=2_500),
        Workload("500,000 live runs, 1 % of the keys", runs, 100_000, 20_000, 1, 500_000, 1_000, 2_500),
        Workload(
            "expiries",
            "rule short { by k match a: e -> b: e[v < 0] within 1 second }",
            100_000,
            events,
            step=1,
        ),
    ]
    return found


def batches(
    plan: Plan, work: Workload, count: int, first: int, keys: int, special: bool
) -> list[list[Events]]:
    """Decoded events in batches; `special`: those that only begin runs."""
    random = np.random.default_rng(first + 1)
    schema = event_schema(plan.streams["e"])
    found = []
    for begin in range(0, count, work.batch):
        size = min(work.batch, count - begin)
        numbers = np.arange(first + begin, first + begin + size)
        times = (START + numbers * work.step) * 1_000_000
        values = np.full(size, 1000.0) if special else random.integers(0, 10_000, size) / 100
        ids, stamp = named("e", numbers), pa.array(times)
        columns = {
            "eid": ids,
            "ts": stamp.cast(pa.timestamp("ns", "UTC")),
            "k": named("k", random.integers(0, keys, size)),
            "v": pa.array(values),
            "lat": pa.array(48 + random.random(size)),
            "lon": pa.array(9 + random.random(size)),
            "ref": pa.array(numbers % work.refs + (0 if special else work.first_ref)),
            TIME: stamp,
            ID: ids,
            FILE: pa.array(["f"] * size).dictionary_encode(),
            OFFSET: pa.array(numbers),
        }
        found.append([Events("e", "p", pa.table([columns[f.name] for f in schema], schema=schema))])
    return found


def named(prefix: str, numbers: np.ndarray) -> pa.Array:
    """The numbers as names."""
    return pc.binary_join_element_wise(prefix, pa.array(numbers).cast(pa.string()), "")


def measured(work: Workload) -> tuple[float, int, int]:
    """Events a second, alerts, and bytes of state at the end."""
    plan = compile_plan([load_texts([("bench.rules", STREAM + work.rules)]).need()])
    session = Session(plan, 4, options=MatchOptions(compiled=True))
    warm = min(work.batch, 2_000)
    for batch in batches(plan, work, work.before or warm, 0, work.keys, work.before > 0):
        session.feed(batch)
    first = work.before or warm
    feeds = batches(plan, work, work.events, first, work.touched or work.keys, False)
    begin, writing.seconds, alerts = time.process_time(), 0.0, 0
    for batch in feeds:
        alerts += len(session.feed(batch))
    spent = time.process_time() - begin - writing.seconds
    session.store()
    return work.events / spent, alerts, sum(stored.size for stored in session.stored.values())


class writing:  # noqa: N801 - a counter that the watched function adds to
    """Processor seconds that writing alerts took."""

    seconds = 0.0


def timed(function: Callable[..., object]) -> Callable[..., object]:
    """The function, with its processor time added to `writing`."""

    def call(*arguments: object) -> object:
        begin = time.process_time()
        try:
            return function(*arguments)
        finally:
            writing.seconds += time.process_time() - begin

    return call


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--events", type=int, default=1_000_000)
    options.add_argument("--only", nargs="*", default=[], help="parts of names of workloads")
    given = options.parse_args(arguments)
    print(calibration())
    load()
    for owner, name in ((advance, "decisions_of"), (match, "rendered")):
        setattr(owner, name, timed(getattr(owner, name)))
    print(f"{'workload':44} {'events/s':>12} {'ratio':>7} {'alerts':>8} {'peak MB':>8} {'state MB':>9}")
    base = 0.0
    for number, work in enumerate(workloads(given.events)):
        if number and given.only and not any(part in work.name for part in given.only):
            continue
        rate, alerts, state = measured(work)
        base = base or rate
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{work.name:44} {rate:12,.0f} {rate / base:7.3f} {alerts:8,} {peak:8,.0f} {state / 1e6:9.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
