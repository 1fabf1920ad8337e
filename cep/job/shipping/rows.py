"""Messages of mappers to shards, and of shards to the driver: rows of shard, kind and payload.

    EVENTS   mapper -> shard    a payload of cep.routing.classify
    SEEN     mapper -> shard    greatest and first event times of this mapper; each sends every shard one
    DEAD     mapper -> driver   dead letters; shard 0 passes them on
    LATE     mapper -> driver   late events, as dead letters of the stage "late"; as DEAD
    READ     mapper -> driver   what this mapper counted and took; as DEAD
    RAISED   shard -> driver    alerts before suppression, by column
    SETTLED  shard -> driver    the watermark, counts and runs of a shard; one from every shard

Payloads but EVENTS are pickled values: both ends are this program, at one version.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Any

from alerts.raised import Raised
from alerts.raised_columns import RaisedColumns

MAPPED = "shard int, kind int, payload binary"
"""Schema of the rows from mappers."""
MATCHED = "kind int, payload binary"
"""Schema of the rows from shards."""


class Kind(IntEnum):
    """The kind of a row's payload."""

    EVENTS = 1
    SEEN = 2
    DEAD = 3
    LATE = 4
    READ = 5
    RAISED = 6
    SETTLED = 7


AWAY = 16
"""Added to the kind of a row whose payload lies in a file (cep.job.shipping.blobs)."""


PASSED_ON = frozenset({Kind.DEAD, Kind.LATE, Kind.READ})
"""Kinds that a shard hands to the driver as they are."""


def pack(value: object) -> bytes:
    """A payload of values."""
    return pickle.dumps(value, protocol=5)


def unpack(payload: bytes) -> Any:
    """The values of a payload."""
    return pickle.loads(payload)


def pack_raised(parts: Iterable[list[Raised] | RaisedColumns]) -> bytes:
    """Alerts as a payload. Those given one by one are a list for each of their fields, which is quicker than
    one for each alert."""
    rows, columns = [], []
    for part in parts:
        if isinstance(part, RaisedColumns):
            columns.append(part)
        else:
            rows += part
    return pack((list(zip(*rows, strict=True)), columns))


def unpack_raised(payload: bytes) -> list[Sequence[Raised]]:
    """The alerts of a payload, in parts."""
    rows, columns = unpack(payload)
    return [*([Raised.rows(*rows)] if rows else []), *columns]
