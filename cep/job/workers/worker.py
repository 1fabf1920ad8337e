"""The values that one worker process keeps from batch to batch, of the one job that it works for."""

from __future__ import annotations

from cep.job.shipping.folders import Shared
from cep.job.shipping.packs import Plans
from cep.job.shipping.program import installed
from cep.job.state_folder.manifest import Manifest
from cep.job.workers.shard_states import ShardStates
from cep.plan.plan import Plan
from cep.resources.resource import Places, Resources


class Worker:
    """Plans, open resources and states of shards, each kept within bounds of its own."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.states = ShardStates()
        self._plans = Plans(shared.packs)
        self._resources = Resources(Places(shared.queries, shared.kept_queries))

    def plan(self, manifest: Manifest) -> Plan:
        """The plan of the packs that a batch runs with. Raises ConfigurationError."""
        return self._plans.plan(manifest.revisions, manifest.generations)

    def resources(self, manifest: Manifest) -> Resources:
        """The resources that the batch may look up, at the versions that its manifest pins."""
        return self._resources.at(manifest.resources)


_mine: list[Worker] = []
"""At most one: a process works for one job, and lets go of all that it kept for another. Its owner is the
process: Spark keeps it alive over batches and restarts of the query, and gives it no place of ours."""


def worker(shared: Shared) -> Worker:
    """This process's, for the job with these folders. Raises ConfigurationError where its program differs."""
    if not _mine or _mine[0].shared != shared:
        if shared.program is not None:
            shared.program.check(installed())
        _mine[:] = [Worker(shared)]
    return _mine[0]
