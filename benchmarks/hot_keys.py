"""The cost of an event that matters to every run of its key: one key, every event fits every step.

    python benchmarks/hot_keys.py [--scale 1.0] [--seconds 60] [--only NAME ...]

Prints a row per pattern: events, milliseconds an event (median, then the worst batch of ten), how much longer
twice the events take, runs and alternatives at the end, alerts, and peak memory of the process so far. The
kernel is compiled but where a row says so; loading it, compiling the plan and a first batch that warms up
stand apart as `start`. A pattern that takes longer than `--seconds` is cut short, which its row says.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from calibration import calibration

from cep.events import FILE, ID, OFFSET, TIME, Events, event_schema
from cep.inprocess.session import Session
from cep.operators.patterns.runtime.compiled import load
from cep.operators.patterns.runtime.kinds import RUNS
from cep.operators.patterns.runtime.runs import RunRows
from cep.packs.compile import compile_plan
from cep.shard.advance import MatchOptions
from cep.state.keyed_rows import of_kind
from rules.packs import load_texts

BATCH = 10
STREAM = """pack hot version "1"
stream s { eid: string  ts: timestamp  k: string  v: double  id eid  time ts }
"""


@dataclass(frozen=True, slots=True)
class Hot:
    """A rule's clauses, how many events of one key come, one every millisecond, and which form runs it.

    So many events with `v == -2` come `before` in one batch and are not measured.
    """

    name: str
    rule: str
    events: int
    compiled: bool = True
    before: int = 0


def patterns() -> list[Hot]:
    """Each of them keeps as many runs or alternatives as it can; `s[v == -1]` never comes."""
    never, begin = "s[v == -1]", "a: s[v == -2]"
    hundreds = "a: s{100}"
    for _ in range(4):
        hundreds = f"({hundreds}){{100}}"
    return [
        Hot("a loop before its end", "a: s+ -> b: s within 1 hour", 2_000),
        Hot("a loop that waits", f"a: s -> b: s+ -> c: {never} within 1 hour", 2_000),
        Hot("a million rounds", f"a: s{{1,1000000}} -> b: {never} within 1 hour", 2_000),
        Hot("two loops in a loop", f"(a: s+ -> b: s+)+ -> c: {never} within 1 hour", 500),
        Hot("{100} five deep", f"{hundreds} -> b: {never} within 1 hour", 2_000),
        Hot("{1000} of {1000}", f"(a: s{{1000}}){{1000}} -> b: {never} within 1 hour", 2_000),
        Hot("a loop in a loop", f"(a: s -> b: s*){{1,}} -> c: {never} within 1 hour", 500),
        Hot(
            "loops in a loop, counted",
            f"((a: s{{1,3}} -> b: s{{0,5}}){{1,7}} -> c: s*){{2,9}} -> d: {never} within 1 hour",
            500,
        ),
        Hot(
            "loops in a loop, sums differ",
            "(a: s -> b: s*){1,} -> c: s[v < 0 and 0 - v > sum(b.v)] within 1 hour",
            500,
        ),
        Hot(
            "branches in loops, each",
            f"(a: s* any each | b: s+ each | (c: s* each -> d: s){{1,}} each){{1,}} each -> e: {never} "
            "within unbounded",
            100,
        ),
        Hot(
            "any order in loops, each",
            f"(a: s+ any each & b: s* each & c: s+ any){{1,}} each -> d: {never} within unbounded",
            100,
        ),
        Hot(
            "forks of loops in loops",
            "o: s{3} ~> (a: s?? contiguous until s => (b: s? contiguous)+ each){2,} each "
            f"-> c: {never} within unbounded",
            100,
        ),
        Hot(
            "any order in loops, absence last",
            "o: s{2,}? gap 1s -> ((a: s* & b: s*?){1,} each | c: s{3} any each gap 1s){1,} "
            "-> absent s for 2 seconds within 1 hour",
            100,
        ),
        Hot("every later event", f"a: s ~> b: s ~> c: {never} within 1 hour", 1_000),
        Hot("every length", f"a: s+ each -> b: {never} within 1 hour", 1_000),
        Hot("every choice", f"a: s+ any -> b: {never} within 1 hour", 1_000),
        Hot("absence, a thousand runs", "a: s -> absent s[v == -1] for 1 second", 4_000),
        Hot("absence in a loop", f"a: s -> (b: s+ -> absent {never} for 1 second)+ within 1 hour", 500),
        *(
            Hot(
                f"{runs:,} runs, {what}",
                f"{begin} -> b: {step} within 1 day limit {runs} runs",
                events,
                True,
                runs,
            )
            for runs, events in ((1_000, 1_000), (10_000, 200), (100_000, 40))
            for what, step in (
                ("which wait for other events", "s[v == -1]"),
                ("all asked", "s[v >= 0 and v < a.v]"),
                ("all taking", "s[v >= 0]{1000000}"),
            )
        ),
        Hot("median, interpreted", "a: s -> b: s[v < 0 - percentile(a.v, 0.5)] within 1 hour", 300, False),
        Hot(
            "distinct of a loop, interpreted",
            "a: s+ -> b: s[distinct(a.v) > 1000] within 1 hour",
            100,
            False,
        ),
    ]


def batch(session: Session, first: int, count: int, value: float | None = None) -> list[Events]:
    """Events of one key that fit every step; all with one value, if it is given."""
    numbers = np.arange(first, first + count)
    times = numbers * 1_000_000
    schema = event_schema(session.plan.streams["s"])
    ids, stamp = pa.array([f"{n}" for n in numbers]), pa.array(times)
    columns = {
        "eid": ids,
        "ts": stamp.cast(pa.timestamp("ns", "UTC")),
        "k": pa.array(["x"] * count),
        "v": pa.array(2.0 ** (numbers % 50) if value is None else np.full(count, value)),
        TIME: stamp,
        ID: ids,
        FILE: pa.array(["f"] * count).dictionary_encode(),
        OFFSET: pa.array(numbers),
    }
    return [Events("s", "p", pa.table([columns[f.name] for f in schema], schema=schema))]


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of the start and of each batch, and what there was at the end."""

    start: float
    seconds: tuple[float, ...]
    runs: int
    alternatives: int
    alerts: int


def measured(hot: Hot, count: int, most: float) -> Measured:
    """Feeds so many events in batches, for so many seconds at most."""
    begin = time.process_time()
    text = f"{STREAM}rule hot {{ by k match {hot.rule} }}"
    session = Session(
        compile_plan([load_texts([("hot.rules", text)]).need()]), options=MatchOptions(compiled=hot.compiled)
    )
    alerts = len(session.feed(batch(session, 0, hot.before or 1, -2.0 if hot.before else None)))
    start, seconds = time.process_time() - begin, []
    for first in range(hot.before + 1, hot.before + count + 1, BATCH):
        came = batch(session, first, BATCH)
        begin = time.process_time()
        alerts += len(session.feed(came))
        seconds.append(time.process_time() - begin)
        if sum(seconds) > most:
            break
    return Measured(start, tuple(seconds), sum(session.runs.values()), alternatives(session), alerts)


def alternatives(session: Session) -> int:
    """The rows that all alternatives of all runs take."""
    return sum(
        len(runs.alternatives)
        for memory in session.memories.values()
        for space in memory.spaces.values()
        for segment in space.segments
        for runs in of_kind(segment.content.rows, RUNS, RunRows).by_width.values()
    )


def row(hot: Hot, scale: float, most: float) -> str:
    """A pattern's row of the table."""
    count = max(2, round(hot.events * scale / 2 / BATCH)) * 2 * BATCH
    half, whole = measured(hot, count // 2, most), measured(hot, count, most)
    done = len(whole.seconds) * BATCH
    cut = "" if done >= count else f"  cut short after {sum(whole.seconds):.0f} s"
    each = [1000 * seconds / BATCH for seconds in whole.seconds]
    growth = f"{sum(whole.seconds) / sum(half.seconds):6.1f}" if not cut else f"{'-':>6}"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (
        f"{hot.name:32} {done:7,} {statistics.median(each):9.2f} {max(each):9.2f} {growth} "
        f"{whole.runs:8,} {whole.alternatives:8,} {whole.alerts:7,} {whole.start:6.2f} {peak:7,.0f}{cut}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--scale", type=float, default=1.0, help="share of the events")
    options.add_argument("--seconds", type=float, default=60.0, help="for one pattern at most")
    options.add_argument("--only", nargs="*", default=[], help="parts of names of patterns")
    given = options.parse_args(arguments)
    print(calibration())
    begin = time.process_time()
    load()
    print(f"loading the compiled kernel takes {time.process_time() - begin:.1f} s")
    print(
        f"{'pattern':32} {'events':>7} {'ms/event':>9} {'worst':>9} {'2n / n':>6} {'runs':>8} {'alts':>8} "
        f"{'alerts':>7} {'start':>6} {'peak MB':>7}"
    )
    for hot in patterns():
        if not given.only or any(part in hot.name for part in given.only):
            print(row(hot, given.scale, given.seconds), flush=True)


if __name__ == "__main__":
    main()
