"""Ticks: a row in every batch and nothing to read, so that batches go on while the feeds are idle.

Spark keeps no list of these, as it does of files, so that a job can tick for years (decision 5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cep.sources.checkpoint import TICKS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def ticks(session: SparkSession) -> DataFrame:
    """A streaming table of one long column: one row a batch, and none after the first of a run that takes
    what is there."""
    from pyspark.sql import functions as f

    rows = (
        session.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", "1")
        .option("numPartitions", "1")
        .option("startTimestamp", "0")
        .name(TICKS)
        .load()
    )
    return rows.select(f.col("value").alias("length"))
