"""Nanoseconds of processor time an event to add exactly, to take away and to read, beside other ways to add.

    python benchmarks/exact_sums.py [--values 300000] [--width 50] [--turns 5]

Medians of turns in which each way runs over the same values, one after the other: prices of two digits, and
doubles of 80 binary orders and both signs. A window holds the last `width` values. Of ways that read the sum
the last column tells in how many windows of prices they miss the exact one.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import exact_loops
import numpy as np
import numpy.typing as npt
from calibration import calibration
from exact_loops import Work

from cep.exact.kernel import MODULES
from cep.exact.kernel.deviations import ROOM
from cep.exact.kernel.layout import SQUARES, SUM
from kernels.family import Family
from kernels.loader import compiled

Doubles = npt.NDArray[np.float64]
FSUM = "math.fsum of each window"
MOST_OF_FSUM = 20_000
"""Values that math.fsum is asked about: it takes microseconds a window."""
WAYS = {
    "added": "add",
    "slid": "add, take away",
    "read": "add, take away, read the sum",
    "averaged": "add, take away, read the mean",
    "squared": "add, take away squares",
    "deviated": "values and squares, read the deviation",
    "merged": "add to a pane, merge it, clear it",
    "packed_and_back": "unpack, add, pack",
    "partials": "Shewchuk's partials: the same as read",
    "left_to_right": "a double: add",
    "in_and_out": "a double: add, subtract, read",
    "afresh": "a double: add each window anew",
}
READ = ("read", "partials", "in_and_out", "afresh")


def columns(count: int) -> Mapping[str, Doubles]:
    """The values, by name."""
    random = np.random.default_rng(1)
    sizes = np.exp2(random.uniform(-40, 40, count)) * random.choice([-1.0, 1.0], count)
    return {"prices": np.round(random.lognormal(3, 1.5, count), 2), "many sizes": sizes}


def work_of(values: Doubles, width: int) -> Work:
    """The column with empty accumulators."""
    sums, room = np.zeros(SUM + SQUARES, np.int64), np.zeros(ROOM, np.int64)
    found, partials = np.zeros(len(values)), np.zeros(64)
    return Work(values, values.view(np.int64), np.array([width]), found, partials, sums, room)


def by_fsum(values: Doubles, width: int) -> Doubles:
    """The sums of the windows of the first values."""
    listed = values[:MOST_OF_FSUM].tolist()
    return np.array([math.fsum(listed[max(0, row + 1 - width) : row + 1]) for row in range(len(listed))])


def measured(
    values: Doubles, width: int, turns: int, functions: Mapping[str, Callable[..., Any]]
) -> tuple[dict[str, float], dict[str, float]]:
    """Nanoseconds of processor time a value, the median of turns, and the part of the windows missed."""
    seconds: dict[str, list[float]] = {name: [] for name in (*WAYS, FSUM)}
    missed: dict[str, float] = {}
    for _ in range(turns):
        begin = time.process_time()
        right = by_fsum(values, width)
        seconds[FSUM].append((time.process_time() - begin) * len(values) / len(right))
        for name in WAYS:
            work = work_of(values, width)
            begin = time.process_time()
            functions[name](work)
            seconds[name].append(time.process_time() - begin)
            if name in READ:
                missed[name] = float(np.mean(work.found[: len(right)] != right))
    return {name: statistics.median(of) / len(values) * 1e9 for name, of in seconds.items()}, missed


def main() -> int:
    """Print nanoseconds by way and column."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--values", type=int, default=300_000)
    arguments.add_argument("--width", type=int, default=50)
    arguments.add_argument("--turns", type=int, default=5)
    options = arguments.parse_args()
    functions = compiled(Family("exact loops", (*MODULES, exact_loops), tuple(WAYS)), None)
    print(calibration())
    print(f"{'ns an event':<42}{'prices':>10}{'many sizes':>12}{'missed':>8}")
    prices, sizes = (
        measured(values, options.width, options.turns, functions)
        for values in columns(options.values).values()
    )
    for name, title in {**WAYS, FSUM: FSUM}.items():
        missed = f"{prices[1][name]:.0%}" if name in READ else ""
        print(f"{title:<42}{prices[0][name]:>10.1f}{sizes[0][name]:>12.1f}{missed:>8}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
