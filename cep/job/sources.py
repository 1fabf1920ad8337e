"""Feeds and ticks as one streaming table of nothing but lanes, with rows in every lane and batch.

Spark lists files, decides which come in a batch and keeps account of them; it never opens them. Each source
has a name, so that feeds can be added to a checkpoint. Mappers are lanes; each is told all files of a batch
(cep.job.extents) and takes its share (cep.job.mapper), so that a single large file is read by all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cep.config import Feed
from cep.feeds import BATCH_BYTES, matching
from cep.job.checkpoint import FEED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TICKS = "ticks"
"""The name of the source of ticks; no stream can have it, for a stream's source is `feed_NAME`."""

_FOR_EVER = "36500d"


def listing(session: SparkSession, feeds: Sequence[Feed], lanes: int) -> DataFrame:
    """The union of all sources, once per lane; partition i of it is lane i."""
    from pyspark.sql import functions as f

    union = _ticks(session)
    for feed in feeds:
        union = union.union(_files(session, feed))
    in_lanes = union.withColumn("lane", f.explode(f.array(*[f.lit(lane) for lane in range(lanes)])))
    return in_lanes.repartitionById(lanes, "lane").select("lane")


def _files(session: SparkSession, feed: Feed) -> DataFrame:
    folder, below = matching(feed.path)
    reader = (
        session.readStream.format("binaryFile")
        .schema("path string, modificationTime timestamp, length long, content binary")
        .option("maxBytesPerTrigger", str(BATCH_BYTES))
        .option("maxFileAge", _FOR_EVER)  # else files older than a week than the newest are passed over
        .option("ignoreMissingFiles", "true")  # mappers miss them, and can say so in a sentence
        .name(f"{FEED}{feed.name}")
    )
    if "/" in below:
        files = reader.load(f"{folder}/{below}")
    else:  # one look into one folder, where a path with wildcards would look at every file by itself
        files = reader.option("pathGlobFilter", below).load(folder)
    return files.select("length")


def _ticks(session: SparkSession) -> DataFrame:
    """A row in every batch, so that batches go on while the feeds are silent.

    Spark keeps no list of these, as it does of files, so that a job can tick for years.
    """
    from pyspark.sql import functions as f

    ticks = (
        session.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", "1")
        .option("numPartitions", "1")
        .option("startTimestamp", "0")
        .name(TICKS)
        .load()
    )
    return ticks.select(f.col("value").alias("length"))
