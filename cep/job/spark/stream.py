"""The one streaming query: listing -> classify -> shuffle by shard -> match -> the driver's foreachBatch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from cep.config import Feed
from cep.job.shipping import declared
from cep.job.shipping.folders import Shared
from cep.job.shipping.rows import MAPPED, MATCHED
from cep.job.shipping.task import pickled
from cep.job.spark.balance import shard_keys
from cep.job.spark.listing import listing
from cep.job.state_folder.folder import FolderLayout, StateFolder
from cep.job.workers.mapper import Lanes
from cep.job.workers.matcher import Matcher
from cep.sources.checkpoint import Checkpoint, DamagedError
from cep.without_pandas import pandas_by_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


def start(
    session: SparkSession,
    folder: StateFolder,
    layout: FolderLayout,
    lanes: int,
    feeds: Sequence[Feed],
    batch: Callable[[DataFrame, int], None],
    trigger: float | None,
    *,
    shared: Shared,
    environ: Mapping[str, str],
) -> StreamingQuery:
    """Starts the query on the state folder's checkpoint.

    `trigger` is the least number of seconds from one batch's begin to the next's; None: take what is there
    and stop. `batch` is called with each batch's frame and number. `environ` is what mappers find in the
    environment besides what their machine has. Raises ConfigurationError.
    """
    keys = shard_keys(layout.shards, layout.partitions)
    named = {feed.name: feed for feed in feeds}
    mapper = pickled(declared.MAPPER, Lanes(shared, lanes, keys, named, environ))
    matcher = pickled(declared.MATCHER, Matcher(shared, keys))
    listed = listing(session, feeds, lanes, trigger is not None and _ticked(folder))
    with pandas_by_name():
        by_shard = listed.mapInArrow(mapper, MAPPED).groupBy("shard")
        matched = by_shard.transformWithState(matcher, MATCHED, "append", "none")
    writer = (
        matched.writeStream.queryName("cep")
        .foreachBatch(batch)
        .option("checkpointLocation", folder.checkpoint_name)
    )
    if trigger is None:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=f"{round(trigger * 1000)} milliseconds").start()


def _ticked(folder: StateFolder) -> bool:
    """True if the batch that is run first, which may have been begun before, has a tick."""
    try:
        return Checkpoint(folder.checkpoint).ticked()
    except DamagedError:  # which Spark finds, too
        return False
