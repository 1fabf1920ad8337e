"""Parts of a start that are done beside the rest of it, on another core.

Each is done in any case as soon as somebody needs it: so it may fail here, and may be cut off.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from cep.without_pandas import pandas_by_name

if TYPE_CHECKING:
    import pyarrow as pa
    from py4j.clientserver import ClientServer  # type: ignore[import-untyped]
    from pyspark.sql import SparkSession


@contextmanager
def state_library(gateway: ClientServer) -> Iterator[None]:
    """Within the block the JVM unpacks and loads the library of RocksDB."""
    with _beside(lambda: gateway.jvm.org.rocksdb.RocksDB.loadLibrary()):
        yield


@contextmanager
def workers(session: SparkSession, cores: int) -> Iterator[None]:
    """Within the block Spark starts Python's daemon, and a worker for each core, for the first batch.

    It is planned before: two threads that plan a first query would load the same classes in another order.
    """
    with pandas_by_name():
        frame = session.range(0, cores, 1, cores).mapInArrow(passed_on, "id long")
    frame._jdf.queryExecution().executedPlan()
    with _beside(frame.collect):
        yield


def passed_on(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches as they come."""
    yield from batches


@contextmanager
def _beside(work: Callable[[], object]) -> Iterator[None]:
    """Works in a thread while the block runs, and waits for its end at the end of the block."""

    def done() -> None:
        with suppress(Exception):
            work()

    thread = threading.Thread(target=done, name="warming", daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join()
