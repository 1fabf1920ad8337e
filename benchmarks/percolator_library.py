"""The life of standing queries: loading, opening, single changes and single documents, sizes.

`python benchmarks/percolator_library.py [QUERIES]` (100,000). Calibration: sorting ten million numbers.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from percolator.disk import Disk
from percolator.library.reader import Reader
from percolator.library.standing import StandingQuery
from percolator.library.writer import Library
from percolator.matching.compiled import load
from percolator.schema import Schema

SCHEMA = Schema.of({"body": "text"})
CHANGES = 1000


def text(chance: random.Random) -> str:
    """A query of two or three words that are not very common, a phrase, a prefix or a NEAR."""
    one, two, three = (f"w{chance.randrange(100, 50_000)}" for _ in range(3))
    form = chance.choice(["{} AND {}", '"{} {}"', "{} AND {} NOT {}", "{}x* AND {}", "{} NEAR/5 {} AND {}"])
    return form.format(one, two, three)


def times(work: Callable[[int], object], count: int) -> str:
    """Median and 99th percentile of the calls, in milliseconds."""
    found = np.empty(count)
    for number in range(count):
        begin = time.perf_counter()
        work(number)
        found[number] = time.perf_counter() - begin
    middle, high = np.percentile(found * 1000, (50, 99))
    return f"median {middle:8.3f} ms    99 % below {high:8.3f} ms"


def main(count: int) -> None:
    """Prints what was measured."""
    chance = random.Random(7)
    begin = time.perf_counter()
    np.sort(np.random.default_rng(1).random(10_000_000))
    print(f"calibration {(time.perf_counter() - begin) * 1000:.0f} ms")
    load()
    lines = [json.dumps({"id": f"q{number}", "query": text(chance)}) for number in range(count)]
    documents = [{"body": " ".join(f"w{int(chance.paretovariate(0.7)) % 50_000}" for _ in range(180))}
                 for _ in range(CHANGES)]  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Library.create(folder, SCHEMA) as library:
            begin = time.perf_counter()
            report = library.load(lines)
            print(f"load {report.taken:,} queries: {time.perf_counter() - begin:.1f} s")
        size = sum(path.stat().st_size for path in folder.glob("segment-*"))
        print(f"on disk: {size / count:.0f} bytes a query")
        for verify in (True, False):
            begin = time.perf_counter()
            reader = Reader.open(folder, verify=verify)
            print(f"open, verify={verify}: {(time.perf_counter() - begin) * 1000:.1f} ms")
        for document in documents[:200]:
            reader.queries.match(document)
        print(f"one document:      {times(lambda number: reader.queries.match(documents[number]), CHANGES)}")
        print(f"private memory of the reader: {reader.queries.nbytes / 1e6:.1f} MB")
        with Library.open(folder) as library:
            queries = library.queries
            new = [StandingQuery(f"n{number}", text(chance)) for number in range(CHANGES)]
            print(f"add, in memory:    {times(lambda number: queries.add(new[number]), CHANGES)}")
            print(f"remove, in memory: {times(lambda number: queries.remove(f'q{number}'), CHANGES)}")
        with Library.open(folder) as library:
            print(f"add, on disk:      {times(lambda number: library.add(new[number]), CHANGES)}")
            print(f"remove, on disk:   {times(lambda number: library.remove(f'q{number}'), CHANGES)}")
            file = Disk().open(folder / "probe", "wb")

            def flush(_: int) -> None:
                file.write(b"x")
                Disk().sync(file)

            print(f"(an empty flush:   {times(flush, 500)})")
            file.close()
            library.queries.match(documents[0])

            def change_and_match(number: int) -> None:
                library.queries.add(StandingQuery(f"m{number}", text(chance)))
                library.queries.match(documents[number])

            print(f"add and a document: {times(change_and_match, CHANGES)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
