"""The machines that a job's tasks run on: what they share, and a cluster's before the first batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cep.files import write_whole
from cep.job.batches.driver import Driver
from cep.job.running.stopping import Stop
from cep.job.shipping.folders import Shared
from cep.sources.files.files import paths
from cep.sources.files.names import matching
from cep.sources.source import Feed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cep.files import AnyPath


def shared(driver: Driver) -> Shared:
    """Folders and settings that the job's workers share, on one machine or on those of a cluster."""
    job, around = driver.running.job, driver.around
    return Shared.of(
        around.folder,
        record=job.keep > 0,
        mask=job.mask(around.environ),
        cluster=job.machines.master is not None,
    )


def variables(driver: Driver, feeds: Iterable[Feed]) -> Mapping[str, str]:
    """The variables of this machine's environment that the feeds' workers on others need."""
    if driver.running.job.machines.master is None:
        return {}
    environ = driver.around.environ
    named = {name for feed in feeds for secret in feed.secrets().values() for name in secret.variables}
    return {name: environ[name] for name in sorted(named) if name in environ}


def join(spark: SparkSession, driver: Driver, cores: int, stop: Stop) -> bool:
    """True when every machine of the cluster that gives the job cores is ready; False if the job is to stop.

    A job on this machine alone is ready. Raises ConfigurationError where a machine cannot run it.
    """
    from cep.job.spark import cluster
    from cep.job.workers.machine import Ready

    job, folder, tell = driver.running.job, driver.around.folder, driver.around.tell
    if job.machines.master is None:
        return True
    if not cluster.join(spark, cores, tell, stop.wait):
        return False
    tell("looking at the cluster's machines, each of which compiles what is new to it")
    seen: AnyPath = folder.scratch.absolute() / "seen-by-workers"
    if folder.bucket is not None:
        seen = folder.durable / f"seen-by-workers-{folder.own}"
    write_whole(seen, b"a machine that reads this sees the state folder\n")
    folders = {Path(matching(path)[0]) for path in paths(job.feeds).values()}
    ready = Ready(shared(driver), seen, tuple(sorted(one for one in folders if one.is_dir())))
    cluster.look_at(spark, cluster.cores_of(spark), ready)
    return True
