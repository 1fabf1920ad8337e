"""Extents of partitions: the records between two offsets that a batch reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from itertools import pairwise
from typing import Any

NOT_KNOWN = -1
"""The first offset of a partition that is new: as far back as its log goes."""
RECORD = 256
"""Bytes of a record, about: by this the work of a batch is divided, and by nothing else."""


@dataclass(frozen=True, slots=True)
class KafkaExtent:
    """The records of a partition, `TOPIC/NUMBER`, from `first` up to, not including, `until`.

    That is what Spark wrote down; it is read from `since` on. `until` is -1 where the partition is gone.
    `topic_id` is that which brokers gave the topic when it was made, "" where they give none.
    """

    stream: str
    path: str
    first: int
    until: int
    since: int = NOT_KNOWN
    topic_id: str = ""

    @property
    def planned(self) -> tuple[object, ...]:
        """All that Spark writes down."""
        return self.stream, self.path, self.first, self.until

    @property
    def length(self) -> int:
        """Bytes, about."""
        return RECORD * max(0, self.until - max(0, self.since))

    @property
    def topic(self) -> str:
        """The topic."""
        return self.path.rpartition("/")[0]

    @property
    def number(self) -> int:
        """The partition's number."""
        return int(self.path.rpartition("/")[2])

    def row(self) -> tuple[object, ...]:
        """The fields in their order."""
        return astuple(self)

    def pinned(self, since: int, topic_id: str) -> KafkaExtent:
        """The same, read from an offset on, of a topic with this id."""
        return replace(self, since=since, topic_id=topic_id)


@dataclass(frozen=True, slots=True)
class KafkaPart:
    """Some records of an extent."""

    path: str
    start: int
    until: int


def of_row(row: Sequence[Any]) -> KafkaExtent:
    """The extent of a row. Raises TypeError and ValueError."""
    stream, path, first, until, since, *topic_id = row  # those of earlier versions have no id
    if not all(isinstance(number, int) for number in (first, until, since)):
        raise ValueError("offsets are whole numbers")
    found = KafkaExtent(str(stream), str(path), first, until, since, *map(str, topic_id))
    if not found.topic or found.number < 0:
        raise ValueError(f"{path} is no partition")
    return found


def parts(extent: KafkaExtent, block: int) -> list[KafkaPart]:
    """As many records each, about so many bytes."""
    records = extent.until - extent.since
    number = max(1, min(-(-extent.length // block), records))
    cuts = [extent.since + records * cut // number for cut in range(number + 1)]
    return [KafkaPart(extent.path, *pair) for pair in pairwise(cuts)]
