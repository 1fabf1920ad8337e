"""Offsets of a consumer group that follow a job, for tools that show how far behind its readers a topic is.

Nothing reads them here: how far a feed is stands in the job's state folder alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PATIENCE = 5.0
"""Seconds that brokers have."""


def publish(admin: Any, group: str, reached: Mapping[str, int]) -> str | None:
    """Commits offsets by `TOPIC/NUMBER` under a group of which no consumer is a member.

    What keeps it from that, in a sentence; None where nothing does, or only for a moment.
    """
    from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException

    offsets = [_offset(place, offset) for place, offset in reached.items()]
    if not offsets:
        return None
    wanted = [ConsumerGroupTopicPartitions(group, offsets)]
    try:
        (found,) = admin.alter_consumer_group_offsets(wanted, request_timeout=PATIENCE).values()
        errors = [one.error for one in found.result().topic_partitions if one.error is not None]
    except KafkaException as error:
        errors = [error.args[0]]
    lasting = [error for error in errors if not _passes(error)]
    return f"offsets are not committed under the group {group}: {_why(lasting[0])}" if lasting else None


def _offset(place: str, offset: int) -> Any:
    from confluent_kafka import TopicPartition

    topic, _, number = place.rpartition("/")
    return TopicPartition(topic, int(number), offset)


def _passes(error: Any) -> bool:
    """True for what the next try may not meet, and for a topic that is gone, of which the job tells."""
    from confluent_kafka import KafkaError

    passing = (
        KafkaError._TIMED_OUT,
        KafkaError._TRANSPORT,
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._WAIT_COORD,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.NOT_COORDINATOR,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.REBALANCE_IN_PROGRESS,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
    )
    return error.code() in passing


def _why(error: Any) -> str:
    from confluent_kafka import KafkaError

    match error.code():
        case KafkaError.UNKNOWN_MEMBER_ID:
            return "consumers are members of it; name one of the job's own"
        case KafkaError.GROUP_AUTHORIZATION_FAILED:
            return "the user of the feed's options needs Read on it"
    return str(error.str())
