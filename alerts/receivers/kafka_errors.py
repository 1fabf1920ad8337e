"""The meaning of librdkafka's errors for a delivery, in words and with their codes."""

from __future__ import annotations

from typing import Any

from confluent_kafka import KafkaError

from alerts.codes import NO_BROKERS, NO_TOPIC, NOT_ALLOWED, SUPERSEDED, TOO_LARGE
from alerts.receivers.posting import printable
from alerts.receivers.receiver import Outcome

NOT_THERE = (
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError.UNKNOWN_TOPIC_ID,
)
OF_OTHERS = (KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT, KafkaError._STATE)
"""What is said of records that had to go with others."""
_FORBIDDEN = (
    KafkaError._AUTHENTICATION,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
)
_FENCED = (KafkaError._FENCED, KafkaError.INVALID_PRODUCER_EPOCH, KafkaError.PRODUCER_FENCED)
_AWAY = (
    KafkaError._TIMED_OUT,
    KafkaError._MSG_TIMED_OUT,
    KafkaError._TRANSPORT,
    KafkaError._RESOLVE,
    KafkaError._ALL_BROKERS_DOWN,
)


def outcome_of(error: Any, servers: str, heard: Any = None) -> Outcome:
    """The outcome of an attempt that ended in an error; `heard` is the last one that a connection had."""
    code, said = error.code(), printable(error.str())
    if code in NOT_THERE:
        return Outcome("rejected", f"the topic is not there: {said} ({NO_TOPIC})")
    if code in _FENCED:
        return Outcome("unreachable", f"another dispatcher has begun to write there ({SUPERSEDED})")
    for one in (error, *(() if heard is None else (heard,))):
        if one.code() in _FORBIDDEN:
            said = f"{servers} does not allow it: {printable(one.str())} ({NOT_ALLOWED})"
            return Outcome("rejected", said)
    if code == KafkaError.MSG_SIZE_TOO_LARGE:
        return Outcome("rejected", f"{said} ({TOO_LARGE})")
    if heard is None and code not in _AWAY:
        return Outcome("unreachable", f"{servers} breaks off: {said} ({NO_BROKERS})")
    why = printable(heard.str()) if heard is not None else said
    return Outcome("unreachable", f"{servers} does not answer: {why} ({NO_BROKERS})")


def too_large(error: Any) -> bool:
    """True for the error of a record that is larger than it may be."""
    return bool(error.code() == KafkaError.MSG_SIZE_TOO_LARGE)
