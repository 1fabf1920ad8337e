"""[spark] of a job file: where tasks run, and the settings of Spark that a job may be given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from cep.config.job import Job
from cep.config.values import OTHER_CLUSTERS
from rules.diagnostics import Diagnostic

MADE_HERE: Mapping[str, str] = MappingProxyType(
    {
        "spark.master": "write [spark] master",
        "spark.cores.max": "write [spark] cores",
        "spark.driver.host": "write [spark] host",
        "spark.pyspark.python": "write [spark] python",
        "spark.sql.shuffle.partitions": "write [spark] cores for the first start of a new state folder",
        "spark.driver.memory": "write JDK_JAVA_OPTIONS=-Xmx2g in the job's environment",
        "spark.driver.extraJavaOptions": "write JDK_JAVA_OPTIONS in the job's environment",
        "spark.app.name": "the job's name is [job] name",
    }
)
"""Settings that another option gives, and which that is."""

FIXED = (
    "spark.hadoop.fs.file.impl",
    "spark.jars",
    "spark.python.daemon.module",
    "spark.sql.codegen.",
    "spark.sql.execution.arrow.maxRecordsPerBatch",
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled",
    "spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan",
    "spark.sql.session.timeZone",
    "spark.sql.sources.parallelPartitionDiscovery.threshold",
    "spark.sql.streaming.",
    "spark.sql.warehouse.dir",
    "spark.local.dir",
    "spark.ui.",
)
"""The settings, or what those begin with, on which the job's results or its state depend."""


def masters(master: str) -> list[tuple[str, int]]:
    """The hosts and ports of an address `spark://HOST:PORT,HOST:PORT`."""
    found = []
    for one in master.removeprefix("spark://").split(","):
        host, _, port = one.rpartition(":")
        found.append((host.strip("[]"), int(port)))
    return found


def check_machines(job: Job) -> Iterator[Diagnostic]:
    """Mistakes in [spark] that its single values do not show."""
    given, places = job.machines, job.places
    kind = (given.master or "").partition("://")[0]
    if kind in OTHER_CLUSTERS:
        said, help_ = (
            f"no job of this version runs on {kind}",
            'write the address of a master: "spark://head:7077"',
        )
        yield Diagnostic("CEP0707", "error", said, places.value(("spark", "master")), help=help_)
        return
    if given.master is not None and given.cores is None:
        said = "of how many of the cluster's cores the job is to run does not stand here"
        place = places.value(("spark", "master"))
        yield Diagnostic("CEP0744", "error", said, place, help="write cores = 4: so many tasks run at once")
    if given.master is None:
        for name in ("python", "host"):
            if getattr(given, name) is not None:
                said = f"`{name}` is for the machines of a cluster, and no `master` is given"
                place = places.value(("spark", name))
                yield Diagnostic(
                    "CEP0744", "error", said, place, help='remove it, or write master = "spark://head:7077"'
                )
    for name in given.conf:
        if (found := _unfit(name)) is not None:
            said, help_ = found
            yield Diagnostic(
                "CEP0745", "error", said, places.key(places.dotted(("spark", "conf", name))), help=help_
            )


def _unfit(name: str) -> tuple[str, str] | None:
    """Why a setting may not be given, and what helps; None where it may."""
    if name in MADE_HERE:
        return f"the job sets `{name}` itself", MADE_HERE[name]
    if name.startswith(FIXED):
        return f"the job sets `{name}` itself: what it raises would depend on it", "remove it"
    if not name.startswith("spark."):
        return f"`{name}` is no setting of Spark", "their names begin with `spark.`"
    return None
