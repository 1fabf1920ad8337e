"""Ticks: a row in every batch and nothing to read, so that batches go on while the feeds are idle.

Spark keeps no list of these, as it does of files, so that a job can tick for years (decision 5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TICKS = "ticks"
"""The name of the source of ticks; no stream can have it, for a stream's source is `feed_NAME`."""


@dataclass(frozen=True, slots=True)
class Ticks:
    """The source of ticks."""

    def frame(self, session: SparkSession, name: str) -> DataFrame:
        """One row a batch."""
        from pyspark.sql import functions as f

        ticks = (
            session.readStream.format("rate-micro-batch")
            .option("rowsPerBatch", "1")
            .option("numPartitions", "1")
            .option("startTimestamp", "0")
            .name(name)
            .load()
        )
        return ticks.select(f.col("value").alias("length"))
