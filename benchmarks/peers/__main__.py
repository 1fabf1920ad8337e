"""Flink SQL, Esper, DuckDB and Lucene Monitor beside this project, in one run: `make bench-peers`.

    python -m peers [--small] [--turns 5] [--only flink esper ...] [--data FOLDER]
                    [--checkpoints SECONDS] [--events N]

In the folder `benchmarks`. Java 17 and Maven are needed; the first run fetches what the peers consist of.
Ratios are of processor time, of all threads of a side, as the other work of a machine changes them least;
those of the clock stand beside them. With `--data` the analysts' queries take part
(FOLDER/queries/sdg_queries_7972.jsonl.gz), which the project may not ship. `--small` shows that all runs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from calibration import calibration
from percolator_match import calibrate

from peers import esper, flink, highlights, java, lucene, windows
from peers.table import table
from peers.turns import Comparison

Comparing = Callable[[Path, int, bool], Iterator[Comparison]]


def main() -> int:
    """Prints every row when it is there, then the whole table; gives the exit code."""
    options = _options()
    comparisons: dict[str, Comparing] = {
        "flink": partial(flink.compare, checkpoints=options.checkpoints),
        "esper": esper.compare,
        "windows": partial(windows.compare, events=options.events),
        "lucene": partial(lucene.compare, data=options.data),
        "highlights": highlights.compare,
    }
    try:
        print("building the peers ...", flush=True)
        java.build()
    except java.MissingError as missing:
        print(missing, file=sys.stderr)
        return 3
    calibrated()
    rows: list[Comparison] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only or comparisons:
            for row in comparisons[name](Path(folder), options.turns, options.small):
                rows.append(row)
                print(table([row]).splitlines()[-1], flush=True)
    calibrated()
    print(f"\n{table(rows)}")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = ["flink", "esper", "windows", "lucene", "highlights"]
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--turns", type=int, default=5, help="behind those that warm up (5)")
    parser.add_argument("--only", nargs="+", choices=names)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--events", type=int, help="a turn of windows beside Flink, which then stand alone")
    parser.add_argument("--checkpoints", type=int, default=0, help="seconds between Flink's; 0, none")
    return parser.parse_args()


def calibrated() -> None:
    """The pace of the machine now."""
    print(calibration())
    print(f"calibration: findall and a dict for 668 words take {calibrate():.0f} us", flush=True)


if __name__ == "__main__":
    sys.exit(main())
