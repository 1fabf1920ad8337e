"""Standing queries through Spark: `mapInArrow` on two cores against one process on one.

    python benchmarks/percolator_spark.py [--queries 100000] [--documents 200000] [--cores 2]

The generated mix of percolator_match.py over 196-word documents that were never seen before, in Parquet
files. Every task maps the one set of queries on disk, as the workers of a job do. Spark's figure is wall
time from the files to the count of hits, after one pass over other documents that starts the workers and
warms their matchers; the figure in process reads the same files in one process. Both must find the same
hits.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from calibration import calibration
from percolator_match import mixed_queries
from pyspark.sql import SparkSession
from unseen import Corpus

from percolator.disk import Disk
from percolator.library.collection import Collection
from percolator.library.load import prepare_lines
from percolator.library.stored import StoredSegment
from percolator.schema import Schema

SCHEMA = Schema.of({"body": "text"})
ROWS = 2_000
"""Documents of an Arrow batch."""

_opened: dict[str, Collection] = {}


def main() -> None:
    """Prints the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--queries", type=int, default=100_000)
    options.add_argument("--documents", type=int, default=200_000)
    options.add_argument("--cores", type=int, default=2)
    given = options.parse_args()
    print(calibration())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = Corpus(1)
        save(folder, mixed_queries(given.queries, corpus, random.Random(1)))
        passes = [folder / "first", folder / "second"]
        for one in passes:
            write(one, corpus, given.documents, given.cores * 4)
        print(f"{given.queries:,} queries, {given.documents:,} documents a pass")
        print(f"{'':28}{'seconds':>9}{'docs/s':>11}{'ratio':>8}{'hits':>13}")
        alone = measured(passes, in_process, folder)
        report("one process", given.documents, *alone, alone[0])
        with spark(given.cores) as session:
            job = measured(passes, partial(through_spark, session), folder)
        report(f"mapInArrow, {given.cores} cores", given.documents, *job, alone[0])
        if alone[1] != job[1]:
            raise SystemExit("the two found other hits")


Work = Callable[[Path, Path], int]


def measured(passes: list[Path], work: Work, folder: Path) -> tuple[float, int]:
    """Seconds and hits of the last pass."""
    seconds, hits = 0.0, 0
    for files in passes:
        begun = time.perf_counter()
        hits = work(folder, files)
        seconds = time.perf_counter() - begun
    return seconds, hits


def report(name: str, documents: int, seconds: float, hits: int, alone: float) -> None:
    """One row."""
    print(f"{name:28}{seconds:9.2f}{documents / seconds:11,.0f}{alone / seconds:8.2f}{hits:13,}", flush=True)


def save(folder: Path, queries: list[str]) -> None:
    """The queries, compiled, in the folder."""
    lines = [json.dumps({"id": f"q{n}", "query": text}) for n, text in enumerate(queries)]
    changes, report = prepare_lines(Collection(SCHEMA), lines)
    assert not report.refused
    stored = StoredSegment.of([(one.query, one.node, one.estimate.units) for one in changes], SCHEMA)
    stored.save(folder, "set", Disk())


def write(folder: Path, corpus: Corpus, documents: int, files: int) -> None:
    """New documents in files of equal length."""
    folder.mkdir()
    for number in range(files):
        texts = corpus.texts(documents // files)
        pq.write_table(pa.table({"body": texts}), folder / f"{number:03}.parquet", row_group_size=ROWS)


def hits_of(folder: str, bodies: pa.Array) -> int:
    """The number of hits, by this process's collection, which maps the set."""
    found = _opened.get(folder)
    if found is None:
        stored = StoredSegment.open(Path(folder), "set")
        found = _opened[folder] = Collection(SCHEMA, [(stored, np.zeros(len(stored), np.bool_))])
    return len(found.match_batch({"body": bodies}).query)


def in_process(folder: Path, files: Path) -> int:
    """All documents in this process."""
    return sum(
        hits_of(str(folder), batch.column(0))
        for path in sorted(files.iterdir())
        for batch in pq.ParquetFile(path).iter_batches(ROWS)
    )


@contextmanager
def spark(cores: int) -> Iterator[SparkSession]:
    """A session with so many task slots, whose workers find these modules."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    session = (
        SparkSession.builder.master(f"local[{cores}]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", str(ROWS))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()


def through_spark(session: SparkSession, folder: Path, files: Path) -> int:
    """All documents in Spark's workers."""
    place = str(folder)

    def matched(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from percolator_spark import hits_of  # the worker's own, which keeps what it opened

        for batch in batches:
            yield pa.RecordBatch.from_pydict(
                {"hits": pa.array([hits_of(place, batch.column(0))], pa.int64())}
            )

    counted = session.read.parquet(str(files)).mapInArrow(matched, "hits long")
    return sum(row.hits for row in counted.collect())


if __name__ == "__main__":
    main()
