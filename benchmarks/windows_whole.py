"""Million parsed events a second of processor time from columns to alerts of rules over windows, on one core.

    python benchmarks/windows_whole.py [--events 1000000] [--batch 250000] [--shards 1] [--turns 3]
                                       [--only NAME ...] [--stages]

The payments and rules of windows.py, from decoded events to rows for the outbox: predicates and late events,
a payload a shard, order of time, windows with what is kept of their keys, `having`, alerts with their ids,
and the state as bytes of a checkpoint. Reading and decoding files, the shuffle and the outbox are not in it.
A row per rule: the median of turns, the least and the greatest, alerts, and bytes stored at the end a key of
which something is kept, with the keys themselves and the ids of events that alerts may yet name.
`--stages` prints seconds by stage as well.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from calibration import calibration
from windows import LATE, STREAM, WORKS, Payments, Work, payments

from cep.batch.clock import BatchStart, clock_of, next_start
from cep.events import FILE, ID, OFFSET, TIME, Events, event_schema
from cep.inprocess.session import StoredShard
from cep.job.shipping.rows import pack_raised
from cep.operators.windows.runtime import run_windows
from cep.operators.windows.runtime.compiled import load
from cep.operators.windows.runtime.deciding import Deciding
from cep.operators.windows.runtime.rule_events import Gathering
from cep.packs.compile import compile_plan
from cep.plan.plan import Plan
from cep.resources.resource import Resources
from cep.routing.classify import classify
from cep.shard import advance as match
from cep.shard.advance import MatchOptions, match_shard
from cep.shard.memory import NOTHING, ShardMemory
from rules.packs import load_texts

Spent = defaultdict[str, float]


@dataclass(frozen=True, slots=True)
class Passed:
    """Seconds of processor time for all batches, the alerts, and what is stored: bytes, and keys of it."""

    seconds: float
    alerts: int
    size: int
    keys: int


def plan_of(work: Work) -> Plan:
    """The plan of a pack with the rules of a piece of work, each with a filter of its own where there are
    several."""
    late = STREAM.replace("time at", f"time at  lateness {LATE // 10**9} seconds")
    where = "[lane == {}]" if work.rules > 1 else ""
    rules = (
        f"rule r{n} {{ by {work.by} over p{where.format(n % 10)} {work.clauses} }}" for n in range(work.rules)
    )
    return compile_plan([load_texts([("b.rules", "\n".join((late, *rules)))]).need()])


def events(plan: Plan, came: Payments, batch: int) -> list[list[Events]]:
    """Decoded payments, in batches."""
    schema, count = event_schema(plan.streams["p"]), len(came.times)
    random = np.random.default_rng(8)
    merchants = pa.array([f"merchant-{n}" for n in range(1_000)])
    columns = {
        "pid": pa.array([f"p{n}" for n in range(count)]),
        "at": pa.array(came.times).cast(pa.timestamp("ns", "UTC")),
        "card": came.columns["card"].cast(pa.string()),
        "merchant": merchants.take(pa.array(came.keys["merchant"])),
        "amount": came.columns["amount"],
        "country": pa.array(["DE"] * count),
        "lane": pa.array(random.integers(0, 10, count)),
        TIME: pa.array(came.times),
        FILE: pa.array(["f"] * count).dictionary_encode(),
        OFFSET: pa.array(np.arange(count)),
    }
    columns[ID] = columns["pid"]
    table = pa.table([columns[f.name].cast(f.type) for f in schema], schema=schema)
    return [[Events("p", "f", table.slice(first, batch))] for first in range(0, count, batch)]


def one_pass(plan: Plan, batches: Sequence[list[Events]], shards: int, spent: Spent) -> Passed:
    """All batches through every shard."""
    states = {shard: StoredShard() for shard in range(shards)}
    memories: dict[int, ShardMemory] = dict.fromkeys(range(shards), NOTHING)
    start, alerts, resources = BatchStart(), 0, Resources()
    begin = time.process_time()
    for batch in batches:
        found = timed(classify, "predicates and payloads", spent)(
            plan, shards, batch, start.watermark, resources
        )
        clock = clock_of(start, plan, found.seen)
        for shard in range(shards):
            payloads = [found.payloads[shard]] if shard in found.payloads else []
            outcome = match_shard(plan, memories[shard], payloads, clock, options=MatchOptions(compiled=True))
            memories[shard] = outcome.memory
            timed(states[shard].put, "write state", spent)(outcome.memory)
            timed(pack_raised, "write alerts", spent)(outcome.parts)
            alerts += sum(map(len, outcome.parts))
        start = next_start(start, clock, found.seen)
    seconds = time.process_time() - begin
    spaces = [space for memory in memories.values() for space in memory.spaces.values()]
    keys = sum(int(segment.something.sum()) for space in spaces for segment in space.segments)
    return Passed(seconds, alerts, sum(state.size for state in states.values()), keys)


def watch(spent: Spent) -> None:
    """Count the processor time of the stages of matching; none of them contains another."""
    stages: list[tuple[Any, str, str]] = [
        (match, "unpack", "read payloads"),
        (match, "parts_of", "read payloads"),
        (match, "in_order", "sort by time"),
        (match, "without_duplicates", "find duplicates"),
        (match, "order_of", "sort by key"),
        (match, "number_keys", "number keys"),
        (match, "recall", "cut out what is touched"),
        (match, "remember", "remember the difference"),
        (match, "rendered", "write alerts"),
        (match, "pending_parts", "keep what waits"),
        (match, "at_the_watermark", "keep what waits"),
        (Gathering, "of", "gather events"),
        (run_windows, "advance", "windows"),
        (Deciding, "holds", "windows"),
        (Deciding, "decisions", "decisions"),
    ]
    for owner, name, stage in stages:
        setattr(owner, name, timed(getattr(owner, name), stage, spent))


def timed(function: Callable[..., Any], stage: str, spent: Spent) -> Callable[..., Any]:
    """The function, with its processor time added to the stage."""

    def call(*arguments: Any, **named: Any) -> Any:
        begin = time.process_time()
        try:
            return function(*arguments, **named)
        finally:
            spent[stage] += time.process_time() - begin

    return call


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row per rule."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--batch", type=int, default=250_000)
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--stages", action="store_true")
    options = parser.parse_args(arguments)
    load()
    print(calibration())
    spent: Spent = defaultdict(float)
    if options.stages:
        watch(spent)
    came = payments(options.events)
    chosen = [work for work in WORKS if not options.only or work.name.startswith(tuple(options.only))]
    print(f"{'':<22}{'M events/s':>11}{'least':>8}{'most':>8}{'alerts':>11}{'bytes a key':>13}{'keys':>9}")
    for work in chosen:
        plan = plan_of(work)
        batches = events(plan, came, options.batch)
        one_pass(plan, batches[:1], options.shards, defaultdict(float))
        spent.clear()
        turns = [one_pass(plan, batches, options.shards, spent) for _ in range(options.turns)]
        rates = sorted(options.events / one.seconds / 1e6 for one in turns)
        row = f"{work.name:<22}{statistics.median(rates):>11.2f}{rates[0]:>8.2f}{rates[-1]:>8.2f}"
        last = turns[-1]
        print(f"{row}{last.alerts:>11,}{last.size / max(last.keys, 1):>13.0f}{last.keys:>9,}")
        for stage, seconds in sorted(spent.items(), key=lambda one: -one[1]):
            print(f"    {stage:<26}{seconds / options.turns:8.3f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
