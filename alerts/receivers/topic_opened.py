"""A producer whose transactions have begun, with what its sessions need besides."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaException, TopicPartition

from alerts.position import Position

_NONE = Position(0)


@dataclass(frozen=True, slots=True)
class Opened:
    """A producer, a client that asks for the offsets of the group that it commits, and the position that this
    had. `heard` has the last error of a connection, if there was one, `lost` the first of records.
    `unfinished` says that a transaction was found which brokers had not ended."""

    producer: Any
    asking: Any
    servers: str
    topic: str
    heard: list[Any]
    lost: list[Any]
    last: Position = _NONE
    unfinished: bool = False

    def position(self, number: int, note: str, until: float) -> None:
        """Send a position with the transaction that is open. Raises KafkaException."""
        offset = TopicPartition(self.topic, 0, number, metadata=note)
        group = self.asking.consumer_group_metadata()
        self.producer.send_offsets_to_transaction([offset], group, left(until))

    def committed(self, seconds: float) -> tuple[int, str]:
        """The number and the note of the last position, once no transaction that has another is under way.
        Raises KafkaException."""
        return committed(self.asking, self.topic, seconds)


def committed(asking: Any, topic: str, seconds: float) -> tuple[int, str]:
    """The number and the note of the position that a client's group has, below 0 for none. What a transaction
    that is under way brings is waited for, or passed over, as the client's isolation level says. Raises
    KafkaException."""
    (kept,) = asking.committed([TopicPartition(topic, 0)], timeout=seconds)
    if kept.error is not None:
        raise KafkaException(kept.error)
    return kept.offset, kept.metadata or ""


def left(until: float) -> float:
    """Seconds until a moment of the monotonic clock, some at least."""
    return max(0.1, until - time.monotonic())
