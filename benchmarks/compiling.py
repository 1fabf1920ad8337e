"""The cost of compiling the kernels at set-up: processor time of each family and of its dearest functions.

    python benchmarks/compiling.py [--only FAMILY ...] [--functions 10]

Nothing is read from disk or kept there. A function's time is its own: what it calls was compiled before. The
import of numba is not in it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

from calibration import calibration

from alerts.compiled import ALERTS
from cep.decode.compiled import DECODING
from cep.hashing.compiled import FAMILY as STRINGS
from cep.operators.patterns.runtime.compiled import PATTERNS
from cep.operators.windows.runtime.compiled import WINDOWS
from kernels.family import Family
from kernels.loader import compiled
from percolator.matching.compiled import PERCOLATOR

FAMILIES = (STRINGS, ALERTS, DECODING, PATTERNS, WINDOWS, PERCOLATOR)


def measured(family: Family) -> list[tuple[float, str]]:
    """Compile a family; processor seconds of its functions and their names, the dearest first."""
    found: list[tuple[float, str]] = []
    began = time.process_time()

    def seen(function: Callable[..., object]) -> None:
        nonlocal began
        now = time.process_time()
        found.append((now - began, function.__name__))
        began = now

    compiled(family, None, seen)
    return sorted(found, reverse=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each family, and its dearest functions."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--only", nargs="*", default=[], help="names of families")
    options.add_argument("--functions", type=int, default=10, help="so many functions of each")
    given = options.parse_args(arguments)
    print(calibration())
    for family in FAMILIES:
        if not given.only or family.name in given.only:
            costs = measured(family)
            print(f"{family.name:10} {sum(cost for cost, _ in costs):6.1f} s, {len(costs)} functions")
            for cost, name in costs[: given.functions]:
                print(f"    {name:20} {cost:6.2f} s")


if __name__ == "__main__":
    main()
