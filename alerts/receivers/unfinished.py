"""A transaction that brokers say has ended, and whose end is not in their logs.

Brokers end a transaction by a marker in each partition that it wrote to. One that is killed before, and comes
back while no partition has a leader yet, takes the partitions for deleted and leaves the markers out (4.3.1,
`TransactionMarkerChannelManager`). Then readers of what is committed wait at these partitions, and whoever
asks for the group's offset gets no answer, until a marker of the same producer comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from alerts.receivers.topic_opened import Opened, committed, left

_SOON = 3.0
"""Seconds in which brokers show the end of a transaction, once they have let the next producer begin."""


def has_unfinished(opened: Opened, anyhow: Callable[[], Any], until: float) -> bool:
    """True if the group's offset is withheld though no transaction is under way: a client that passes over
    what is not committed, as `anyhow` makes one, is answered. Raises KafkaException if neither is."""
    try:
        opened.committed(min(_SOON, left(until)))
    except KafkaException as error:
        if error.args[0].code() != KafkaError._TIMED_OUT or left(until) < _SOON:
            raise
        asking = anyhow()
        try:
            committed(asking, opened.topic, left(until) / 2)
        finally:
            asking.close()
        return True
    return False


def drop_unfinished(opened: Opened, partitions: Iterable[int], until: float) -> None:
    """Let brokers abort what the transaction wrote, in every partition: by another of the same producer that
    writes to all of them and is aborted. Raises KafkaException."""
    producer = opened.producer
    producer.begin_transaction()
    for number in partitions:
        producer.produce(opened.topic, b"", b"", partition=number)  # a compacted topic wants a key
    waiting = producer.flush(left(until))
    if opened.lost:
        raise KafkaException(opened.lost[0])
    if waiting:  # its partition would get no end, and the position would show it no more
        raise KafkaException(KafkaError(KafkaError._MSG_TIMED_OUT))
    opened.position(1, "", until)
    producer.abort_transaction(left(until))
