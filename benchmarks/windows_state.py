"""The cost of a batch beside the windows of very many keys, and of windows that end, in one process.

    python benchmarks/windows_state.py [--keys 1000000 10000000] [--batches 40] [--shards 4] [--only NAME ...]

The first table: batches of 1,000 events under 1,000 of the keys, beside the windows of so many, of a rule
over sliding windows and one over tumbling ones; storing what is new is in it. All sessions are there at the
same time and take a batch each in turn. Then the bytes of memory that windows take a key, what a key costs
whose window time ends, and what is left once that is so of all but the one whose event it was. The second
table: a batch in which time alone ends the windows of 1,000 keys, beside those of others that stay. Times are
processor milliseconds.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Sequence
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from calibration import calibration

from cep.events import FILE, ID, OFFSET, TIME, Events, event_schema
from cep.inprocess.session import Session
from cep.operators.windows.runtime.compact_windows import CompactWindows
from cep.operators.windows.runtime.compiled import load
from cep.packs.compile import compile_plan
from cep.plan.plan import Plan
from cep.shard.advance import MatchOptions
from rules.packs import load_texts

START = 1_767_225_600 * 10**9  # 2026-01-01T00:00Z
SECOND, TOUCHED = 10**9, 1_000
STREAM = """pack bench version "1"
stream e { eid: string  ts: timestamp  k: string  v: double  id eid  time ts  lateness 0 seconds }
"""
RULES = {
    "sliding 1 day": "rule r { by k  over e[v >= 0] sliding 1 day having count() > 99 emit s = sum(v) }",
    "tumbling 1 day": """rule r { by k  over e[v >= 0] tumbling 1 day having count() > 99
      emit s = sum(v), a = avg(v), m = max(v) }""",
}
ENDING = "\nrule ending { by k  over e[v < 0] tumbling 1s having count() > 99 emit s = sum(v) }"


class Stream:
    """Events with ids that go on for ever, a microsecond apart."""

    def __init__(self, plan: Plan) -> None:
        self._schema, self._number, self.time = event_schema(plan.streams["e"]), 0, START

    def events(self, keys: np.ndarray, value: float = 1.0) -> list[Events]:
        """The next events, one a key."""
        numbers = np.arange(self._number, self._number + len(keys))
        times = self.time + 1_000 * np.arange(len(keys))
        self._number, self.time = self._number + len(keys), int(times[-1]) + 1_000
        ids = named("e", numbers)
        columns = {
            "eid": ids,
            "ts": pa.array(times).cast(pa.timestamp("ns", "UTC")),
            "k": named("k", keys),
            "v": pa.array(np.full(len(keys), value)),
            TIME: pa.array(times),
            ID: ids,
            FILE: pa.array(["f"] * len(keys)).dictionary_encode(),
            OFFSET: pa.array(numbers),
        }
        table = pa.table([columns[field.name] for field in self._schema], schema=self._schema)
        return [Events("e", "p", table)]


def named(prefix: str, numbers: np.ndarray) -> pa.Array:
    """The numbers as names."""
    return pc.binary_join_element_wise(prefix, pa.array(numbers).cast(pa.string()), "")


def filled(rules: str, keys: int, shards: int) -> tuple[Session, Stream]:
    """A session with a window of each of so many keys."""
    plan = compile_plan([load_texts([("bench.rules", STREAM + rules)]).need()])
    session, stream = Session(plan, shards, options=MatchOptions(compiled=True)), Stream(plan)
    for first in range(0, keys, 250_000):
        fed(session, stream.events(np.arange(first, min(first + 250_000, keys))))
    return session, stream


def fed(session: Session, events: list[Events]) -> float:
    """The milliseconds of a batch and of storing what is new."""
    begin = time.process_time()
    session.feed(events)
    session.store()
    return (time.process_time() - begin) * 1e3


def megabytes(session: Session) -> float:
    """Megabytes of state as they are stored."""
    return sum(stored.size for stored in session.stored.values()) / 1e6


def in_memory(session: Session) -> float:
    """Bytes of memory of the windows, a key."""
    segments = [
        segment
        for memory in session.memories.values()
        for space in memory.spaces.values()
        for segment in space.segments
    ]
    rows = [rows for segment in segments for rows in segment.content.rows.values()]
    size = sum(one.bytes if isinstance(one, CompactWindows) else 8 * one.size for one in rows)
    return size / max(sum(session.runs.values()), 1)


def touched(name: str, sizes: Sequence[int], batches: int, shards: int) -> None:
    """Rows of the first table, and what is left when all is over."""
    random = np.random.default_rng(1)
    sessions = [filled(RULES[name], keys, shards) for keys in sizes]
    spent: list[list[float]] = [[] for _ in sizes]
    for _ in range(batches):
        for (session, stream), keys, times in zip(sessions, sizes, spent, strict=True):
            chosen = random.choice(max(keys, TOUCHED), TOUCHED, replace=False)
            times.append(fed(session, stream.events(chosen)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for (session, stream), keys, times in zip(sessions, sizes, spent, strict=True):
        row = f"{name:<16}{keys:>12,}{median(times):>9.1f}{max(times):>9.1f}{megabytes(session):>10.1f}"
        row += f"{in_memory(session):>9.0f}{peak:>9,.0f}"
        stream.time += 3 * 86_400 * SECOND
        ended = fed(session, stream.events(np.arange(1)))
        left = sum(session.runs.values())
        print(f"{row}{1e3 * ended / max(keys, 1):>12.2f}{left:>7}{megabytes(session):>9.3f}", flush=True)


def ending(keys: int, batches: int, shards: int) -> None:
    """A row of the second table."""
    session, stream = filled(RULES["sliding 1 day"] + ENDING, keys, shards)
    spent = []
    for _ in range(batches):
        fed(session, stream.events(keys + np.arange(TOUCHED), -1.0))
        stream.time += 2 * SECOND
        spent.append(fed(session, stream.events(keys + TOUCHED + np.arange(1))))
    print(f"{keys:>12,}{median(spent):>9.1f}{max(spent):>9.1f}", flush=True)


def main() -> None:
    """Prints the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--keys", type=int, nargs="*", default=[1_000_000, 10_000_000])
    options.add_argument("--batches", type=int, default=40)
    options.add_argument("--shards", type=int, default=4)
    options.add_argument("--only", nargs="*", default=[*RULES, "ending"])
    given = options.parse_args()
    print(calibration())
    load()
    print(
        f"{'beside':<16}{'keys':>12}{'ms':>9}{'most':>9}{'state MB':>10}{'B a key':>9}{'peak MB':>9}", end=""
    )
    print(f"{'us to end':>12}{'keys':>7}{'left MB':>9}")
    for name in [one for one in RULES if one in given.only]:
        touched(name, (0, *given.keys), given.batches, given.shards)
    if "ending" in given.only:
        print(f"\n{'ends beside':>12}{'ms':>9}{'most':>9}")
        for keys in (0, *given.keys):
            ending(keys, given.batches, given.shards)


if __name__ == "__main__":
    main()
