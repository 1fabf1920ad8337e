"""Where the time of the strict three-step pattern goes, in one process on one core, from decoded events on.

    python benchmarks/engine_in_process.py [--events 1000000] [--batch 250000] [--shards 16]

Prints processor seconds a stage for one pass over all batches, after a first pass that warms up, and a
calibration line. Reading and decoding files, the shuffle and the outbox are not in it.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from calibration import calibration
from strict_events import PACK, START

from cep.batch.clock import BatchStart, clock_of, next_start
from cep.events import FILE, ID, OFFSET, TIME, Events, event_schema
from cep.inprocess.session import StoredShard
from cep.operators.patterns.runtime import advance
from cep.operators.patterns.runtime.compiled import load
from cep.operators.patterns.runtime.pool import Pool
from cep.operators.patterns.runtime.predicate_bits import PredicateReader
from cep.packs.compile import compile_plan
from cep.plan.plan import Plan
from cep.resources.resource import Resources
from cep.routing.classify import classify
from cep.shard import advance as match
from cep.shard.advance import MatchOptions, match_shard
from cep.shard.memory import NOTHING
from rules.packs import load_texts

Spent = defaultdict[str, float]


def main() -> None:
    """Prints the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--events", type=int, default=1_000_000)
    options.add_argument("--batch", type=int, default=250_000)
    options.add_argument("--shards", type=int, default=16)
    given = options.parse_args()
    print(calibration())
    plan = compile_plan([load_texts([("strict.rules", PACK)]).need()])
    batches = events(plan, given.events, given.batch)
    begin = time.process_time()
    load()
    print(f"kernel loaded in {time.process_time() - begin:.2f} s")
    spent: Spent = defaultdict(float)
    watch(spent)
    one_pass(plan, batches, given.shards, spent)
    spent.clear()
    begin = time.process_time()
    alerts, state = one_pass(plan, batches, given.shards, spent)
    total = time.process_time() - begin
    for stage, seconds in sorted(spent.items(), key=lambda one: -one[1]):
        print(f"{stage:24} {seconds:6.3f} s")
    print(f"{'in all':24} {total:6.3f} s   {given.events / total:,.0f} events/s")
    without = total - spent["write alerts"]
    print(f"{'without writing alerts':24} {without:6.3f} s   {given.events / without:,.0f} events/s")
    print(f"{alerts:,} alerts, {state / 1e6:.1f} MB of state at the end")


def events(plan: Plan, count: int, batch: int) -> list[list[Events]]:
    """Decoded events as strict_events writes them, in batches."""
    random = np.random.default_rng(1)
    key = random.integers(0, 100_000, count)
    price = random.integers(0, 10_000, count) / 100
    times = (START + np.arange(count)) * 1_000_000
    schema = event_schema(plan.streams["e"])
    found = []
    for begin in range(0, count, batch):
        part = slice(begin, min(begin + batch, count))
        numbers = np.arange(part.start, part.stop)
        ids, stamp = named("e", numbers), pa.array(times[part])
        columns = {
            "eid": ids,
            "ts": stamp.cast(pa.timestamp("ns", "UTC")),
            "k": named("k", key[part]),
            "price": pa.array(price[part]),
            TIME: stamp,
            ID: ids,
            FILE: pa.array(["f"] * len(numbers)).dictionary_encode(),
            OFFSET: pa.array(numbers),
        }
        found.append([Events("e", "p", pa.table([columns[f.name] for f in schema], schema=schema))])
    return found


def named(prefix: str, numbers: np.ndarray) -> pa.Array:
    """The numbers as names."""
    return pc.binary_join_element_wise(prefix, pa.array(numbers).cast(pa.string()), "")


def one_pass(plan: Plan, batches: list[list[Events]], shards: int, spent: Spent) -> tuple[int, int]:
    """All batches; how many alerts, and how many bytes of state are left."""
    states = {shard: StoredShard() for shard in range(shards)}
    memories = dict.fromkeys(range(shards), NOTHING)
    start, alerts, resources = BatchStart(), 0, Resources()
    for batch in batches:
        begin = time.process_time()
        found = classify(plan, shards, batch, start.watermark, resources)
        spent["classify"] += time.process_time() - begin
        clock = clock_of(start, plan, found.seen)
        for shard in range(shards):
            payloads = [found.payloads[shard]] if shard in found.payloads else []
            outcome = match_shard(plan, memories[shard], payloads, clock, options=MatchOptions(compiled=True))
            memories[shard] = outcome.memory
            begin = time.process_time()
            states[shard].put(outcome.memory)
            spent["write state"] += time.process_time() - begin
            alerts += sum(map(len, outcome.parts))
        start = next_start(start, clock, found.seen)
    return alerts, sum(state.size for state in states.values())


def watch(spent: Spent) -> None:
    """Count the processor time of the stages of matching; none of them contains another."""
    stages: list[tuple[Any, str, str]] = [
        (match, "unpack", "read payloads"),
        (match, "parts_of", "read payloads"),
        (match, "in_order", "sort by time"),
        (match, "without_duplicates", "find duplicates"),
        (advance, "decisions_of", "write alerts"),
        (match, "rendered", "write alerts"),
        (match, "number_keys", "number keys"),
        (match, "recall", "cut out what is touched"),
        (match, "remember", "remember the difference"),
        (PredicateReader, "by_atom", "read predicate bits"),
        (PredicateReader, "columns", "read columns"),
        (PredicateReader, "encode", "read columns"),
        (Pool, "live", "collect live runs"),
    ]
    for owner, name, stage in stages:
        setattr(owner, name, timed(getattr(owner, name), stage, spent))
    engine = load()
    watched = replace(
        engine,
        run_rules=timed(engine.run_rules, "kernel", spent),
        run_strict=timed(engine.run_strict, "kernel", spent),
        fit_events=timed(engine.fit_events, "read predicate bits", spent),
    )
    stages_of: Any = advance
    stages_of.engine = lambda *_: watched


def timed(function: Callable[..., Any], stage: str, spent: Spent) -> Callable[..., Any]:
    """The function, with its processor time added to the stage."""

    def call(*arguments: Any) -> Any:
        begin = time.process_time()
        try:
            return function(*arguments)
        finally:
            spent[stage] += time.process_time() - begin

    return call


if __name__ == "__main__":
    main()
