"""The process that Spark forks its Python workers from: it loads once what every worker needs.

Spark's own daemon imports nothing before it forks, so that each worker spends its first second on imports.
None of the modules below starts a thread when it is imported, which a process that forks may not have.
"""

from __future__ import annotations

import logging
import os

from cep.allocator import keep_freed
from cep.collector import settled
from cep.without_pandas import hide_pandas


def main() -> None:
    """Load what mappers and matchers need, then be Spark's daemon."""
    logging.getLogger("pyspark").setLevel(logging.WARNING)
    # Arrow's own allocators keep what a batch took until the next one, in each worker
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    keep_freed()
    hide_pandas()  # Spark's workers need it for functions of pandas, of which a job has none
    import pyarrow.parquet  # noqa: F401
    import pyspark.sql.streaming.proto.StateMessage_pb2
    import pyspark.sql.streaming.stateful_processor_util
    import pyspark.worker  # noqa: F401
    from pyspark.daemon import manager

    import cep.job.workers.mapper
    import cep.job.workers.matcher
    import cep.job.workers.shard  # noqa: F401
    import rules.checks
    import rules.grammar
    import rules.resolve
    import rules.structure  # noqa: F401

    _share_kernels()
    settled()
    manager()


def _share_kernels() -> None:
    """Load numba, LLVM and the kernels that all rules need, which workers then share and use from their first
    event on.

    What does not lie compiled on this machine is compiled by the first worker for which it pays. LLVM's pages
    go: a worker that loads one kernel more touches a few of them.
    """
    from alerts import patience as alerts
    from alerts.compiled import ALERTS
    from cep.decode import patience as decoding
    from cep.decode.compiled import DECODING
    from cep.hashing import compiled as strings
    from cep.job.workers.compiler_pages import unmap_compiler
    from kernels.loader import load_kept

    for family, use in ((strings.FAMILY, strings.load), (DECODING, decoding.load), (ALERTS, alerts.load)):
        if load_kept(family):
            use()
    unmap_compiler()


if __name__ == "__main__":
    main()
