"""Behind the shuffle: one shard's rows of a batch, its state, and what the batch comes to there.

Runs in Spark's Python workers, once per shard and batch; one worker serves all shards of a partition.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from cep.job.errors import ConfigurationError
from cep.job.manifest import watermark_after
from cep.job.mapper import current_manifest, plans
from cep.job.rows import PASSED_ON, Kind, pack, pack_raised, unpack
from cep.match import Clock, match_shard
from cep.state import StateError
from cep.watermark import Partition, progress

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
        begun = time.perf_counter()
        manifest = current_manifest()
        plan = plans(self._packs).plan(manifest.revisions)
        payloads: list[bytes] = []
        seen: list[dict[Partition, int]] = []
        for _, number, payload in rows:
            kind = Kind(number)
            if kind is Kind.EVENTS:
                payloads.append(bytes(payload))
            elif kind is Kind.SEEN:
                seen.append(unpack(payload))
            elif kind in PASSED_ON:
                yield _OUT(int(kind), payload)
        after = watermark_after(manifest, plan, seen)
        stored = self._state.get()
        before = None if stored is None else bytes(stored[0])
        shard = self._shards[key[0]]
        clock = Clock(manifest.batch, manifest.watermark, after, manifest.since)
        try:
            outcome = match_shard(plan, before, payloads, clock)
        except StateError as error:
            raise ConfigurationError(
                f"the state of shard {shard} cannot be used: {error}",
                "restore the state folder from a backup together with the outbox, or name a new [job] state",
            ) from error
        if outcome.changed and outcome.state is not None:
            self._state.update((outcome.state,))
        elif outcome.changed:
            self._state.clear()
        if outcome.raised:
            yield _OUT(int(Kind.RAISED), pack_raised(outcome.raised))
        told = (
            after,
            progress({}, seen),
            dict(outcome.counts),
            outcome.runs,
            len(outcome.state or b""),
            time.perf_counter() - begun,
        )
        yield _OUT(int(Kind.SETTLED), pack(told))

    def close(self) -> None:
        """Nothing to give back."""
