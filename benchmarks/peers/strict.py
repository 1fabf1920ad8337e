"""Events and rules of the strict three-step pattern, new ones for every turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

import numpy as np

START = 1_767_225_600_000  # 2026-01-01T00:00Z in milliseconds
APART = 3_600_000
"""Milliseconds between the last event of a turn and the first of the next: all runs have ended by then."""

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
"""
RULE = """
rule {name} {{
  by     k
  match  a: e[price < {low}] => b: e[price > a.price + {more}] => c: e[price > b.price]
  within 10 minutes
  emit   k, low = a.price, high = c.price
}}
"""


@dataclass(frozen=True, slots=True)
class Rule:
    """The numbers of one rule."""

    name: str
    low: float
    more: float


def rules(number: int, rare: bool = False) -> list[Rule]:
    """Rules of which no two are equal.

    Half of all events begin a run of each, and one in fourteen ends one with an alert; of `rare` ones one in
    twenty begins a run, and one in a thousand or two raises an alert.
    """
    low, more, step = (5.0, 80.0, 0.01) if rare else (50.0, 10.0, -0.1)
    return [Rule(f"strict{n}", round(low + n * step, 2), round(more - n * step, 2)) for n in range(number)]


def pack(wanted: Sequence[Rule]) -> str:
    """The text of a pack of these rules."""
    return PACK + "".join(RULE.format(name=one.name, low=one.low, more=one.more) for one in wanted)


def instant(milliseconds: int) -> str:
    """A time since 1970 as events have it."""
    return f"{np.datetime_as_string(np.datetime64(milliseconds, 'ms'), unit='ms')}Z"


@dataclass(frozen=True, slots=True)
class Feed:
    """A generator of events: so many over so many keys, one a millisecond."""

    events: int
    keys: int
    seed: int

    def write(self, path: Path, turn: int, most: int | None = None) -> int:
        """Writes the events of a turn as JSON lines in order of time; the milliseconds of the first.

        Those of other turns have other ids, values and times, but the same keys. `most`: no more than these.
        """
        random = np.random.default_rng((self.seed, turn))
        key = random.integers(0, self.keys, self.events).tolist()
        price = (random.integers(0, 10_000, self.events) / 100).tolist()
        first = START + turn * (self.events + APART)
        times = np.datetime_as_string(np.datetime64(first, "ms") + np.arange(self.events), unit="ms")
        rows = islice(zip(count(), times.tolist(), key, price, strict=False), most)
        with path.open("w", encoding="ascii") as out:
            out.writelines(
                f'{{"eid":"e{turn}-{i}","ts":"{at}Z","k":"k{k}","price":{p}}}\n' for i, at, k, p in rows
            )
        return first
