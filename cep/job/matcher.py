"""A shard's state in Spark's hands: transformWithState calls this once per shard and batch.

Spark starts a process for every start of a query, only to ask `init` for the state's schema. So nothing
heavy is imported here before rows come; workers have it from cep.job.daemon.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import TimerValues, ValueState

_OUT = Row("kind", "payload")


class Matcher(StatefulProcessor):
    """Matches what came to a shard. `keys` are the keys of the shards (cep.job.balance), by number."""

    def __init__(self, packs: Path, keys: tuple[int, ...]) -> None:
        self._packs = packs
        self._shards = {key: shard for shard, key in enumerate(keys)}

    def init(self, handle: StatefulProcessorHandle) -> None:
        """The shard's whole state is one value."""
        self._state: ValueState = handle.getValueState("shard", "state binary")

    def handleInputRows(  # noqa: N802  Spark's name
        self,
        key: tuple[int],
        rows: Iterator[Row],
        timerValues: TimerValues,  # noqa: ARG002, N803
    ) -> Iterator[Row]:
        """The rows for the driver."""
        from cep.job.mapper import current_manifest, plans
        from cep.job.shard import ShardBatch

        manifest = current_manifest()
        batch = ShardBatch(plans(self._packs).plan(manifest.revisions), manifest, self._shards[key[0]])
        for kind, payload in batch.sort((kind, bytes(payload)) for _, kind, payload in rows):
            yield _OUT(int(kind), payload)
        stored = self._state.get()
        outcome, told = batch.match(None if stored is None else bytes(stored[0]))
        if outcome.changed and outcome.state is not None:
            self._state.update((outcome.state,))
        elif outcome.changed:
            self._state.clear()
        for kind, payload in told:
            yield _OUT(int(kind), payload)

    def close(self) -> None:
        """Nothing to give back."""
