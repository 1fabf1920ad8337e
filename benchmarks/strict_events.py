"""The events and the pack of the strict three-step benchmark, as JSON lines.

One million events over 100,000 keys within a little over sixteen minutes, values in hundredths; half of
the events begin a run. Written with numpy's seeded generator, so that every run measures the same.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

PACK = """
pack bench version "1"

stream e {
  eid:   string
  ts:    timestamp
  k:     string
  price: double
  id     eid
  time   ts
}

rule strict {
  by     k
  match  a: e[price < 50] => b: e[price > a.price + 10] => c: e[price > b.price]
  within 10 minutes
  emit   k, low = a.price, high = c.price
}
"""
START = 1_767_225_600_000  # 2026-01-01T00:00Z in milliseconds


def write(folder: Path, events: int, keys: int = 100_000, files: int = 4, seed: int = 1) -> list[Path]:
    """JSON lines of `events` events in order of time, in `files` files of equal length."""
    random = np.random.default_rng(seed)
    key = random.integers(0, keys, events)
    price = random.integers(0, 10_000, events)
    stamp = np.datetime64(START, "ms") + np.arange(events)
    times = np.datetime_as_string(stamp, unit="ms")
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(files):
        begin, end = events * number // files, events * (number + 1) // files
        path = folder / f"events-{number:03d}.jsonl"
        with path.open("w", encoding="ascii") as out:
            out.writelines(
                f'{{"eid":"e{i}","ts":"{times[i]}Z","k":"k{key[i]}","price":{price[i] / 100}}}\n'
                for i in range(begin, end)
            )
        paths.append(path)
    return paths


def matches(paths: list[Path]) -> int:
    """The number of matches that a plain Python loop over the files finds: the job must find as many."""
    waiting: dict[str, list[tuple[int, float]]] = {}
    found = number = 0
    for path in paths:
        for line in path.open(encoding="ascii"):
            event = json.loads(line)
            seen = waiting.setdefault(event["k"], [])
            seen.append((number, event["price"]))
            number += 1
            if len(seen) > 2:
                (begun, a), (_, b), (ended, c) = seen[-3:]
                if a < 50 and b > a + 10 and c > b and ended - begun < 600_000:
                    found += 1
                    seen.clear()
    return found
