"""Ticks and feeds as one streaming table, whose partitions are the lanes of mappers and hold nothing else.

Spark decides what comes in a batch and records it; it never reads it. Each source has a name, so that feeds
can be added to a checkpoint. Each mapper is told all extents of a batch (cep.job.state_folder.extents) and
takes its share (cep.job.workers.share), so that a single large file is read by all of them.

Where every batch has a tick, Spark plans it as one of ticks alone (decision 88). Where one may have none, the
rows of files are in its plan as well: a table without any would have no partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from cep.sources.checkpoint import FEED
from cep.sources.source import Feed
from cep.sources.ticks import ticks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

UNREAD = {"spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan": "true"}
"""The setting with which Spark leaves a source out of a batch's plan when none of its rows can pass."""


def listing(session: SparkSession, feeds: Sequence[Feed], lanes: int, ticking: bool) -> DataFrame:
    """A table with a partition for each lane in every batch: partition i is lane i, with rows or without.

    `ticking`: every batch has a tick. The session has the setting UNREAD.
    """
    from pyspark.sql import functions as f

    frames = (feed.source.frame(session, f"{FEED}{feed.name}") for feed in feeds)
    if ticking:
        frames = (frame.where(f.lit(False)) for frame in frames)
    union = reduce(lambda one, other: one.union(other), frames, ticks(session))
    return union.repartitionById(lanes, f.pmod("length", f.lit(lanes)).cast("int"))
