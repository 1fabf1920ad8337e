"""Many rules in one pack, in one process on one core, from decoded events on: events a second, and memory.

    python benchmarks/many_rules.py [--events 300000] [--rules 1 10 100 1000] [--turns 3]

Three-step patterns, every rule with predicates of its own: strict (`a => b => c`, about half of the events
begin a run of a rule, and conditions compare with earlier events) and relaxed (`a -> b -> c`, one event in a
hundred or, from 1,000 rules on, in a thousand is a step). Every case runs in a process of its own, all of
them in turns; a row has medians: events a second of processor time with everything and without writing
alerts, the share of each part, alerts an event, what memory grew by at its peak (RSS) and what the process
has of its own at the end (USS), and the bytes of state, beside a million events and before the first one.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from calibration import calibration
from patterns import STREAM, Workload, batches, relaxed

from cep.batch.clock import BatchStart, clock_of, next_start
from cep.inprocess.session import StoredShard
from cep.operators.patterns.runtime import advance
from cep.operators.patterns.runtime.compiled import load
from cep.packs.compile import compile_plan
from cep.plan.plan import Plan
from cep.resources.resource import Resources
from cep.routing.classify import classify
from cep.shard import advance as match
from cep.shard.advance import MatchOptions, match_shard
from cep.shard.memory import NOTHING
from rules.packs import load_texts

SHARDS = 16
STEP = 10.0
"""How far the constants of strict rules lie apart, of values from 0 to 100."""
PARTS = ("classify", "match", "alerts", "state")
Case = dict[str, Any]


def main() -> None:
    """Prints the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--events", type=int, default=300_000, help="of up to 100 rules; fewer of more")
    options.add_argument("--rules", type=int, nargs="+", default=[1, 10, 100, 1000])
    options.add_argument("--turns", type=int, default=3)
    options.add_argument("--case", nargs=2, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.case:
        print(json.dumps(measured(given.case[0], int(given.case[1]), given.events)))
        return
    print(calibration())
    cases = [(kind, rules) for kind in ("strict", "relaxed") for rules in given.rules]
    found: dict[tuple[str, int], list[Case]] = {case: [] for case in cases}
    for _ in range(given.turns):
        for case in cases:
            found[case].append(in_own_process(case, given.events))
    parts = " ".join(f"{part:>8}" for part in PARTS)
    print(
        f"{'rules':16} {'events':>8} {'keys':>8} {'events/s':>10} {'no alerts':>10} {parts} {'alerts/e':>8} "
        f"{'peak MB':>8} {'USS MB':>7} {'state MB':>8}"
    )
    for (kind, rules), runs in found.items():
        of = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
        shares = " ".join(f"{of[part] / of['all']:8.0%}" for part in PARTS)
        print(
            f"{kind + f' {rules:,}':16} {of['events']:8,.0f} {of['keys']:8,.0f} "
            f"{of['events'] / of['all']:10,.0f} {of['events'] / (of['all'] - of['alerts']):10,.0f} {shares} "
            f"{of['raised'] / of['events']:8.2f} {of['peak']:8,.0f} {of['own']:7,.0f} {of['stored']:8.2f}"
        )


def in_own_process(case: tuple[str, int], events: int) -> Case:
    """The figures of a case."""
    command = [sys.executable, str(Path(__file__)), "--case", case[0], str(case[1]), "--events", str(events)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: Case = json.loads(out)
    return found


def measured(kind: str, rules: int, events: int) -> Case:
    """The figures of a case, in this process."""
    count = max(1_000, events * 100 // rules if rules > 100 else events)
    work = Workload(kind, pack_of(kind, rules), max(1, count // 3), count, batch=max(1_000, count // 3))
    plan = compile_plan([load_texts([("many.rules", STREAM + work.rules)]).need()])
    load()
    one_pass(plan, Workload(kind, "", 100, 2_000), Counter())
    spent: Counter[str] = Counter()
    for owner, name in ((advance, "decisions_of"), (match, "rendered")):
        setattr(owner, name, timed(getattr(owner, name), "alerts", spent))
    given = batches(plan, work, work.events, 0, work.keys, special=False)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is that of what follows
    begun = memory("status", "VmRSS")
    own = memory("smaps_rollup", "Private_Clean") + memory("smaps_rollup", "Private_Dirty")
    raised, stored = one_pass(plan, work, spent, given)
    spent["match"] -= spent["alerts"]
    return {
        **{part: spent[part] for part in PARTS},
        "all": sum(spent[part] for part in PARTS),
        "events": work.events,
        "keys": work.keys,
        "raised": raised,
        "stored": stored / 1e6,
        "peak": memory("status", "VmHWM") - begun,
        "own": memory("smaps_rollup", "Private_Clean") + memory("smaps_rollup", "Private_Dirty") - own,
    }


def pack_of(kind: str, rules: int) -> str:
    """So many rules, each with constants of its own in the same range."""
    if kind == "relaxed":
        return "".join(relaxed(n, 1.0 if rules <= 100 else 0.1) for n in range(rules))
    return "".join(
        f"rule strict{n} {{ by k match a: e[v < {50 - n * STEP / rules:.4f}] "
        f"=> b: e[v > a.v + {10 + n * STEP / rules:.4f}] => c: e[v > b.v] within 10 minutes "
        "emit k, low = a.v, high = c.v }\n"
        for n in range(rules)
    )


def one_pass(
    plan: Plan, work: Workload, spent: Counter[str], given: Sequence[Any] | None = None
) -> tuple[int, int]:
    """All batches; how many alerts, and the bytes of state at the end."""
    if given is None:
        given = batches(plan, work, work.events, 0, work.keys, special=False)
    states = {shard: StoredShard() for shard in range(SHARDS)}
    memories = dict.fromkeys(range(SHARDS), NOTHING)
    start, raised, resources = BatchStart(), 0, Resources()
    for batch in given:
        found = timed(classify, "classify", spent)(plan, SHARDS, batch, start.watermark, resources)
        clock = clock_of(start, plan, found.seen)
        for shard in range(SHARDS):
            payloads = [found.payloads[shard]] if shard in found.payloads else []
            outcome = timed(match_shard, "match", spent)(
                plan, memories[shard], payloads, clock, MatchOptions(compiled=True)
            )
            memories[shard] = outcome.memory
            timed(states[shard].put, "state", spent)(outcome.memory)
            raised += sum(map(len, outcome.parts))
        start = next_start(start, clock, found.seen)
    return raised, sum(state.size for state in states.values())


def timed(function: Callable[..., Any], part: str, spent: Counter[str]) -> Callable[..., Any]:
    """The function, with its processor time added to the part."""

    def call(*arguments: Any) -> Any:
        begin = time.process_time()
        try:
            return function(*arguments)
        finally:
            spent[part] += time.process_time() - begin  # type: ignore[assignment]

    return call


def memory(file: str, name: str) -> float:
    """Megabytes that the kernel tells of this process."""
    lines = Path("/proc/self", file).read_text().splitlines()
    (line,) = [one for one in lines if one.startswith(name + ":")]
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
