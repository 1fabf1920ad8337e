"""Feeds and ticks as one streaming table of nothing but lanes, with rows in every lane and batch.

Spark decides what comes in a batch and records it; it never reads it. Each source has a name, so
that feeds can be added to a checkpoint. Mappers are lanes; each is told all extents of a batch
(cep.job.state_folder.extents) and takes its share (cep.job.workers.share), so that a single large file is
read by all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from cep.sources.checkpoint import FEED
from cep.sources.source import Feed, Streaming
from cep.sources.ticks import TICKS, Ticks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def listing(session: SparkSession, feeds: Sequence[Feed], lanes: int) -> DataFrame:
    """The union of all sources, once per lane; partition i of it is lane i."""
    from pyspark.sql import functions as f

    sources: dict[str, Streaming] = {TICKS: Ticks()}
    sources |= {f"{FEED}{feed.name}": feed.source for feed in feeds}
    frames = (source.frame(session, name) for name, source in sources.items())
    union = reduce(lambda one, other: one.union(other), frames)
    in_lanes = union.withColumn("lane", f.explode(f.array(*[f.lit(lane) for lane in range(lanes)])))
    return in_lanes.repartitionById(lanes, "lane").select("lane")
