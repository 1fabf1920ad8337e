"""Million events a second of processor time that windows take, on one core, from columns of a batch.

    python benchmarks/windows.py [--events 1000000] [--batch 250000] [--turns 3] [--only NAME ...]

A row per piece of work: the median of turns, the least and the greatest; bytes of state a key at the end, how
many windows were evaluated, and how many raise an alert. Payments of cards at merchants come up to 30 s out
of order; what the watermark has not reached is held back. Sorting by key and time, state that is carried from
batch to batch, `having`, and what alerts tell as Arrow columns are in the time; decoding, numbers for keys,
what filters say of each event, and writing alerts are not (windows_whole.py has them). What only `emit` names
is read of windows that raise an alert alone; "all in having" has rules that read everything of each window.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from calibration import calibration

from cep.batch.texts import Texts
from cep.expressions.columns import Columns
from cep.operators.windows.compile.readings import aggregates_in
from cep.operators.windows.compile.window_plan import WindowPlan, window_plan
from cep.operators.windows.runtime.advance import advance
from cep.operators.windows.runtime.compact_windows import CompactWindows
from cep.operators.windows.runtime.compiled import load
from cep.operators.windows.runtime.evaluations import RuleEvents, Watch
from cep.operators.windows.runtime.window_rows import WindowRows
from rules.packs import load_texts
from rules.typed import Over

SECOND = 10**9
LEAST = -(2**63)
LATE = 30 * SECOND
STREAM = """pack bench version "1"
stream p { pid: string  at: timestamp  card: string  merchant: string  amount: double  country: string
           lane: long  id pid  time at }
"""
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Work:
    """A rule's clauses, its key, and for several rules like it how many there are."""

    name: str
    by: str
    clauses: str
    rules: int = 1


OF_MINUTES = "tumbling 1m having count() > 5 emit s = sum(amount), a = avg(amount), m = max(amount)"
OF_FIVE = "sliding 5m having count() > 5 emit s = sum(amount)"
WORKS = (
    Work("W1 tumbling 1m", "merchant", OF_MINUTES),
    Work(
        "W1 all in having",
        "merchant",
        "tumbling 1m having sum(amount) + avg(amount) + max(amount) > 9999999.0",
    ),
    Work("W2 hopping 1h/5m", "card", "hopping 1h every 5m having count() > 20 emit s = sum(amount)"),
    Work("W2 all in having", "card", "hopping 1h every 5m having sum(amount) / count() > 9999999.0"),
    Work("W3 sliding 5m", "card", OF_FIVE),
    Work("W3 with previous", "card", f"{OF_FIVE}, p = previous(count()), q = previous(sum(amount))"),
    Work("W3 all in having", "card", "sliding 5m having sum(amount) > 9 * previous(sum(amount)) + 9999999.0"),
    Work("W4 session 10m", "card", "session gap 10m having count() > 5 emit s = sum(amount)"),
    Work("W4 all in having", "card", "session gap 10m having sum(amount) / count() > 9999999.0"),
    Work(
        "W5 last 50",
        "card",
        "last 50 events having avg(amount) > 90 emit s = stddev(amount), m = max(amount)",
    ),
    Work(
        "W5 all in having",
        "card",
        "last 50 events having avg(amount) + stddev(amount) + max(amount) > 9999999.0",
    ),
    Work(
        "W6 sliding 1h",
        "merchant",
        "sliding 1h having distinct(card) > 500 emit p = percentile(amount, 0.99)",
    ),
    Work(
        "W6 all in having",
        "merchant",
        "sliding 1h having distinct(card) + percentile(amount, 0.99) > 9999999.0",
    ),
    Work("W7 10 filters", "merchant", OF_MINUTES, 10),
    Work("W7 100 filters", "merchant", OF_MINUTES, 100),
    Work("one key, 100,000 rows", "country", "sliding 2000s having sum(amount) + max(amount) > 9999999999.0"),
    Work("- percentile", "country", "sliding 2000s having percentile(amount, 0.99) > 9999999.0"),
    Work("- distinct", "country", "sliding 2000s having distinct(card) > 9999999"),
)


@dataclass(frozen=True, slots=True)
class Payments:
    """Payments in order of arrival: numbers of keys by field, and values."""

    times: Ints
    keys: dict[str, Ints]
    columns: dict[str, pa.Array]


def payments(count: int) -> Payments:
    """Generated payments: 91,687 cards and 1,000 merchants, some of them much used; a million in five and a
    half hours."""
    random = np.random.default_rng(7)
    times = (np.sort(random.integers(0, count * 20, count)) + 10**12) * 10**6
    arrival = np.argsort(times + random.integers(0, LATE, count), kind="stable")
    cards = np.minimum(random.pareto(1.1, count) * 9_000, 91_686).astype(np.int64)
    merchants = np.minimum(random.pareto(1.0, count) * 60, 999).astype(np.int64)
    amounts = np.round(random.lognormal(3, 1.2, count), 2)
    names = pa.array([f"card-{number}" for number in range(91_687)])
    return Payments(
        times[arrival],
        {"card": cards, "merchant": merchants, "country": np.zeros(count, np.int64)},
        {"amount": pa.array(amounts), "card": pa.DictionaryArray.from_arrays(pa.array(cards), names)},
    )


def plan_of(work: Work) -> WindowPlan:
    """The plan of a rule."""
    text = f"{STREAM}rule r {{ by {work.by} over p {work.clauses} }}"
    pack = load_texts([("b.rules", text)]).need()
    (rule,) = pack.rules
    assert isinstance(rule.body, Over)
    return window_plan(pack, rule, rule.body)


def argument(plan: WindowPlan, came: Payments, rows: Ints) -> tuple[pa.Array, ...]:
    """The columns of the rule's arguments."""
    found = []
    for one in plan.readings.arguments:
        column = came.columns[one.span.text].take(pa.array(rows))
        found.append(column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Ran:
    """Seconds of processor time, bytes of state a key, evaluations, and those that raise an alert."""

    seconds: float
    size: float
    evaluated: int
    raised: int


def run(work: Work, came: Payments, batch: int) -> Ran:
    """All payments past the rules of a piece of work."""
    plan, keys = plan_of(work), came.keys[work.by]
    asked, told = readings_of(plan)
    states = [WindowRows.none() for _ in range(work.rules)]
    filters = [np.random.default_rng(n).random(len(keys)) < 0.1 for n in range(work.rules)]
    texts, held, evaluated, seconds = Texts.empty(), np.zeros(0, np.int64), 0, 0.0
    raised = 0
    for first in range(0, len(keys), batch):
        rows = np.concatenate((held, np.arange(first, min(first + batch, len(keys)))))
        begin = time.process_time()
        mark = int(came.times[rows].max()) - LATE
        ready = came.times[rows] <= mark
        held, rows = rows[~ready], rows[ready]
        rows = ordered(keys[rows], came.times[rows], rows)
        seconds += time.process_time() - begin
        columns = argument(plan, came, rows)
        masks = [one[rows] for one in filters]
        begin = time.process_time()
        of_keys, times = keys[rows], came.times[rows]
        for number, state in enumerate(states):
            events = RuleEvents(of_keys, times, rows, columns)
            if work.rules > 1:
                mine = np.flatnonzero(masks[number])
                chosen = tuple(column.take(pa.array(mine)) for column in columns)
                events = RuleEvents(of_keys[mine], times[mine], rows[mine], chosen)
            advanced = advance(plan, state, events, Watch(LEAST, LEAST, None, mark), texts, True)
            table = advanced.read(asked).table
            holds = Columns(table).truth(plan.having).to_numpy(zero_copy_only=False)
            settled = advanced.settled(holds)
            advanced.read(told, np.flatnonzero(settled.raised))
            states[number], raised = settled.kept, raised + int(settled.raised.sum())
            evaluated += len(holds)
        seconds += time.process_time() - begin
    size = sum(bytes_of(state) for state in states)
    return Ran(seconds, size / max(sum(len(state.heads) for state in states), 1), evaluated, raised)


def bytes_of(state: WindowRows) -> int:
    """The bytes of memory that a segment takes for it, but for its keys."""
    if not len(state.heads):
        return 0
    keys = np.unique(state.keys)
    numbers = np.zeros(int(keys[-1]) + 1, np.int64)
    numbers[keys] = np.arange(len(keys))
    kept = state.renumbered(numbers).compacted(len(keys))
    return kept.bytes if isinstance(kept, CompactWindows) else 8 * kept.size


def readings_of(plan: WindowPlan) -> tuple[list[int], list[int]]:
    """The readings that `having` names, and those of `emit`."""
    body = plan.rule.body
    assert isinstance(body, Over)
    asked = {plan.readings.number(ref) for ref in aggregates_in(body.having)}
    return sorted(asked), sorted({plan.readings.number(ref) for ref in aggregates_in(*plan.rule.emit)})


def ordered(keys: Ints, times: Ints, rows: Ints) -> Ints:
    """Rows by key, time and place: both in one number, the place below them."""
    place = np.arange(len(rows)).astype(np.uint64)
    since = ((times - times.min()) // 10**6).astype(np.uint64)
    bits = [int(part.max()).bit_length() for part in (keys, since, place)]
    assert sum(bits) <= 64
    packed = (keys.astype(np.uint64) << np.uint64(bits[1] + bits[2])) | (since << np.uint64(bits[2])) | place
    found: Ints = rows[(np.sort(packed) & np.uint64((1 << bits[2]) - 1)).astype(np.int64)]
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row per piece of work."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--batch", type=int, default=250_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args(arguments)
    load()
    print(calibration())
    came = payments(options.events)
    chosen = [
        work for work in WORKS if not options.only or any(work.name.startswith(n) for n in options.only)
    ]
    found: dict[str, list[Ran]] = {work.name: [] for work in chosen}
    for _ in range(options.turns):
        for work in chosen:
            found[work.name].append(run(work, came, options.batch))
    named = f"{'':<22}{'M events/s':>11}{'least':>8}{'most':>8}{'bytes a key':>13}"
    print(f"{named}{'evaluations':>13}{'alerts':>11}")
    for name, turns in found.items():
        rates = sorted(len(came.times) / one.seconds / 1e6 for one in turns)
        row, first = f"{name:<22}{statistics.median(rates):>11.2f}{rates[0]:>8.2f}{rates[-1]:>8.2f}", turns[0]
        print(f"{row}{first.size:>13.0f}{first.evaluated:>13,}{first.raised:>11,}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
