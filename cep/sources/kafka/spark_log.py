"""The offsets that Spark's connector has written down.

    offsets/N              behind the last record of each partition that batch N reads, as JSON
    sources/feed_X/0       where the first batch begins: after a zero byte `v1`, and the same JSON

A partition that a batch before did not have is new, and is read from the beginning of its log.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from cep.sources.checkpoint import Checkpoint, DamagedError, text
from cep.sources.kafka.extents import NOT_KNOWN, KafkaExtent

_VERSION = "\0v1"
_GONE = -1


def planned(checkpoint: Checkpoint, stream: str, batch: int) -> list[KafkaExtent]:
    """The extents of a batch, sorted by place; a partition that is gone ends at -1. Raises DamagedError."""
    until = of_batch(checkpoint, stream, batch)
    since = _since(checkpoint, stream, batch)
    found = [
        KafkaExtent(stream, place, since.get(place, NOT_KNOWN), end)
        for place, end in until.items()
        if since.get(place) != end
    ]
    gone = [KafkaExtent(stream, place, at, _GONE) for place, at in since.items() if place not in until]
    return sorted([*found, *gone], key=lambda one: one.path)


def _since(checkpoint: Checkpoint, stream: str, batch: int) -> dict[str, int]:
    """Up to where the batch before read; for the first batch of a feed, where it begins."""
    if batch and stream in checkpoint.offsets(batch - 1):
        return of_batch(checkpoint, stream, batch - 1)
    path = checkpoint.log(stream) / "0"
    version, _, offsets = text(path).partition("\n")
    try:
        if version != _VERSION:
            raise ValueError(version)
        return dict(_places(json.loads(offsets)))
    except (ValueError, TypeError, AttributeError) as error:
        raise DamagedError(path, "does not say where the feed begins") from error


def of_batch(checkpoint: Checkpoint, stream: str, batch: int) -> dict[str, int]:
    """Up to which offset of each partition a batch reads. Raises DamagedError."""
    try:
        return dict(_places(checkpoint.offsets(batch)[stream]))
    except (ValueError, TypeError, AttributeError) as error:
        raise checkpoint.no_record(batch) from error


def _places(offsets: Any) -> Iterator[tuple[str, int]]:
    """Offsets by place, of an object that has them by topic and number. Raises ValueError and TypeError."""
    for topic, partitions in offsets.items():
        for number, offset in partitions.items():
            if not isinstance(offset, int):
                raise TypeError("an offset is a whole number")
            yield f"{topic}/{int(number)}", offset
