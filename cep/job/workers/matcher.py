"""A shard's state in Spark's hands: transformWithState calls this once per shard and batch.

Spark starts a process for every start of a query, only to ask `init` for the state's schema. So nothing
heavy is imported here before rows come; workers have it from cep.job.workers.daemon.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import MapState, TimerValues, ValueState

    from cep.job.shipping.folders import Shared
    from cep.shard.state_bytes import StoredPart, Written

_OUT = Row("kind", "payload")
_PIECE = 1 << 20
"""Bytes that go to Spark and back at once: pieces sixteen times as long take more than twice the time."""


class Matcher(StatefulProcessor):
    """Matches what came to a shard. `keys` are the keys of the shards (cep.job.spark.balance), by number."""

    def __init__(self, shared: Shared, keys: tuple[int, ...]) -> None:
        self._shared = shared
        self._shards = {key: shard for shard, key in enumerate(keys)}

    def init(self, handle: StatefulProcessorHandle) -> None:
        """A shard's state is a head and parts, each in pieces (cep.shard.state_bytes)."""
        self._head: ValueState = handle.getValueState("head", "head binary")
        self._parts: MapState = handle.getMapState("parts", "part int, piece int", "bytes binary")

    def handleInputRows(  # noqa: N802  Spark's name
        self,
        key: tuple[int],
        rows: Iterator[Row],
        timerValues: TimerValues,  # noqa: ARG002, N803
    ) -> Iterator[Row]:
        """The rows for the driver."""
        from cep.job.shipping import task
        from cep.job.shipping.blobs import Sender, opened
        from cep.job.workers.shard import ShardBatch
        from cep.job.workers.worker import worker

        mine, blobs = worker(self._shared), self._shared.blobs
        sent, shard = task.current(), self._shards[key[0]]
        batch = ShardBatch(mine.plan(sent.manifest), sent.manifest, shard, self._shared.mask)
        variables = _Variables(self._head, self._parts)
        came = opened(blobs, ((kind, bytes(payload)) for _, kind, payload in rows))
        with closing(Sender(blobs, f"{sent.name}-{shard}")) as sender:
            for kind, payload in batch.sort(came):
                yield _OUT(*sender.row(kind, payload))
            for kind, payload in batch.match(mine.states, variables, sent.careful):
                yield _OUT(*sender.row(kind, payload))

    def close(self) -> None:
        """Nothing to give back."""


@dataclass(frozen=True, slots=True)
class _Variables:
    """Spark's state variables of one shard."""

    _head: ValueState
    _parts: MapState

    def head(self) -> bytes | None:
        stored = self._head.get()
        return None if stored is None else bytes(stored[0])

    def part(self, number: int, length: int) -> bytes | None:
        found = []
        for piece in _pieces(length):
            stored = self._parts.getValue((number, piece))
            if stored is None:
                return None
            found.append(bytes(stored[0]))
        return b"".join(found)

    def store(self, written: Written, before: Mapping[int, StoredPart]) -> None:
        for number in written.gone:
            for piece in _pieces(before[number].length):
                self._parts.removeKey((number, piece))
        for number, data in written.parts.items():
            for piece in _pieces(len(data)):
                self._parts.updateValue((number, piece), (data[piece * _PIECE : (piece + 1) * _PIECE],))
        if written.head is None:
            self._head.clear()
        else:
            self._head.update((written.head,))


def _pieces(length: int) -> range:
    return range(-(-length // _PIECE))
