"""The cost of a batch beside many live runs, and of letting runs expire, in one process on one core.

    python benchmarks/state.py [--runs 1000000] [--expiries 10000000] [--shards 4]

The first two tables: batches of 2,500 events under 1 % of the keys, each of which begins a run, first with
nothing remembered, then beside many runs; storing what is new is in it. In the first no run can wait for such
an event, in the second every run of the key is asked, and stays. The third: every event begins a run that
expires a second later; the rows differ in how many there are. The fourth: a batch lets 1,000 runs expire
beside runs of other keys that stay. Times are processor seconds; making the events is not in them.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator, Sequence
from statistics import mean, median

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from calibration import calibration

from cep.events import FILE, ID, OFFSET, TIME, Events, event_schema
from cep.inprocess.session import Session
from cep.operators.patterns.runtime.compiled import load
from cep.packs.compile import compile_plan
from cep.plan.plan import Plan
from cep.shard.advance import MatchOptions
from rules.packs import load_texts

START = 1_767_225_600_000_000_000  # 2026-01-01T00:00Z
SECOND = 1_000_000_000
KEYS, BATCH = 100_000, 2_500
STREAM = """pack bench version "1"
stream e { eid: string  ts: timestamp  k: string  v: double  id eid  time ts }
"""
LASTING = "rule lasting { by k  match a: e[v >= 0] -> b: e[v < 0]  within 30 days }\n"
ASKED = "rule lasting { by k  match a: e[v >= 0] -> b: e[v >= 0 and v > a.v]  within 30 days }\n"
SHORT = "rule short { by k  match a: e[v < 0] -> b: e[v > 1000000]  within 1 second }\n"


def planned(rules: str) -> Plan:
    """The plan of some rules."""
    return compile_plan([load_texts([("bench.rules", STREAM + rules)]).need()])


class Stream:
    """Events of one value each, one every so many nanoseconds, with ids and times that rise for ever."""

    def __init__(self, plan: Plan, step: int) -> None:
        self._schema = event_schema(plan.streams["e"])
        self._step = step
        self._number = 0
        self._random = np.random.default_rng(1)

    def events(self, count: int, keys: np.ndarray, value: float) -> list[Events]:
        """The next events, under random ones of the keys."""
        numbers = np.arange(self._number, self._number + count)
        self._number += count
        ids, stamp = named("e", numbers), pa.array(START + numbers * self._step)
        columns = {
            "eid": ids,
            "ts": stamp.cast(pa.timestamp("ns", "UTC")),
            "k": named("k", self._random.choice(keys, count)),
            "v": pa.array(np.full(count, value)),
            TIME: stamp,
            ID: ids,
            FILE: pa.array(["f"] * count).dictionary_encode(),
            OFFSET: pa.array(numbers),
        }
        table = pa.table([columns[field.name] for field in self._schema], schema=self._schema)
        return [Events("e", "p", table)]

    def some_keys(self, count: int) -> np.ndarray:
        """Some of all keys."""
        return self._random.choice(KEYS, count, replace=False)


def named(prefix: str, numbers: np.ndarray) -> pa.Array:
    """The numbers as names."""
    return pc.binary_join_element_wise(prefix, pa.array(numbers).cast(pa.string()), "")


def feed(session: Session, events: list[Events]) -> tuple[float, int]:
    """The seconds of a batch and of storing what is new, and the bytes that were written."""
    begin = time.process_time()
    session.feed(events)
    written = session.store()
    return time.process_time() - begin, written


def size(session: Session) -> int:
    """Bytes of state."""
    return sum(stored.size for stored in session.stored.values())


def peak() -> float:
    """Peak memory of the process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def beside_live_runs(rule: str, shown_as: str, runs: int, shards: int, batches: int) -> None:
    """The first or the second table."""
    plan = planned(rule)
    stream = Stream(plan, 1_000_000)
    full = Session(plan, shards, options=MatchOptions(compiled=True))
    for first in range(0, runs, 250_000):
        feed(full, stream.events(min(250_000, runs - first), np.arange(KEYS), 1.0))
    before = full.runs["bench", "lasting"]
    spent: dict[str, list[float]] = {"nothing": [], "runs": []}
    written: dict[str, list[int]] = {"nothing": [], "runs": []}
    for number in range(batches + 2):
        events = stream.events(BATCH, stream.some_keys(KEYS // 100), 1.0)
        for name, session in (
            ("nothing", Session(plan, shards, options=MatchOptions(compiled=True))),
            ("runs", full),
        ):
            seconds, count = feed(session, events)
            if number > 1:
                spent[name].append(seconds)
                written[name].append(count)
    head = f"{'mean ms':>8} {'median':>8} {'most':>8} {'ratio':>7} {'written KB':>11}"
    print(f"{shown_as:40} {head}")
    base = mean(spent["nothing"])
    for name, shown in (("nothing", "nothing"), ("runs", f"{before:,} live runs")):
        ms = [1000 * seconds for seconds in spent[name]]
        ratio = mean(spent[name]) / base
        print(
            f"{shown:40} {mean(ms):8.1f} {median(ms):8.1f} {max(ms):8.1f} {ratio:7.2f} "
            f"{median(written[name]) / 1e3:11,.0f}"
        )
    worst = sorted(spent["runs"])[-5:]
    of_batches = median(spent["runs"]) / median(spent["nothing"])
    sizes = f"state {size(full) / 1e6:.1f} MB, peak memory {peak():,.0f} MB"
    most = ", ".join(f"{1000 * seconds:.0f}" for seconds in worst)
    print(f"ratio of the medians {of_batches:.2f}; the longest {most} ms; {sizes}\n", flush=True)


def expiries(counts: Sequence[int], shards: int) -> None:
    """The third table."""
    print(f"{'expiries':>12} {'seconds':>8} {'us each':>8} {'ratio':>7} {'state MB':>9} {'peak MB':>8}")
    base = 0.0
    for count in counts:
        plan = planned(SHORT)
        stream, session = Stream(plan, 10_000), Session(plan, shards, options=MatchOptions(compiled=True))
        feed(session, stream.events(100_000, np.arange(KEYS), -1.0))
        spent, most = 0.0, 0
        for first in range(0, count, 250_000):
            seconds, _ = feed(session, stream.events(min(250_000, count - first), np.arange(KEYS), -1.0))
            spent, most = spent + seconds, max(most, size(session))
        each = spent / count * 1e6
        base = base or each
        print(
            f"{count:12,} {spent:8.1f} {each:8.2f} {each / base:7.2f} {most / 1e6:9.1f} {peak():8,.0f}",
            flush=True,
        )
    print()


def few_expiries(others: Sequence[int], shards: int, batches: int) -> None:
    """The fourth table."""
    print(f"{'1,000 expiries a batch beside':40} {'mean ms':>8} {'median':>8} {'ratio':>7} {'state MB':>9}")
    base = 0.0
    for runs in others:
        plan = planned(LASTING + SHORT)
        stream, session = Stream(plan, 2_000_000), Session(plan, shards, options=MatchOptions(compiled=True))
        for events in lasting(stream, runs):
            feed(session, events)
        spent = [feed(session, stream.events(1_000, np.arange(KEYS), -1.0))[0] for _ in range(batches)]
        base = base or mean(spent)
        ms = f"{1000 * mean(spent):8.1f} {1000 * median(spent):8.1f} {mean(spent) / base:7.2f}"
        print(f"{f'{runs:,} lasting runs':40} {ms} {size(session) / 1e6:9.1f}", flush=True)


def lasting(stream: Stream, runs: int) -> Iterator[list[Events]]:
    """Events that begin runs that stay, under keys of their own."""
    for first in range(0, runs, 250_000):
        yield stream.events(min(250_000, runs - first), np.arange(KEYS, 2 * KEYS), 1.0)


def main() -> None:
    """Prints the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--runs", type=int, default=1_000_000)
    options.add_argument("--expiries", type=int, default=10_000_000)
    options.add_argument("--shards", type=int, default=4)
    options.add_argument("--batches", type=int, default=120)
    given = options.parse_args()
    print(calibration())
    load()
    begin, asked = "batches of 2,500 events that begin runs", "the same, and every run is asked"
    beside_live_runs(LASTING, begin, given.runs, given.shards, given.batches)
    beside_live_runs(ASKED, asked, given.runs, given.shards, given.batches // 4)
    expiries([given.expiries // 10, given.expiries // 3, given.expiries], given.shards)
    few_expiries([given.runs // 100, given.runs // 10, given.runs], given.shards, 20)


if __name__ == "__main__":
    main()
