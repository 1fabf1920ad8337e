"""What errors of Kafka come to: whether it is the topic, the user, another dispatcher, or nobody answers."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError

from alerts.codes import NO_BROKERS, NO_TOPIC, NOT_ALLOWED, SUPERSEDED, TOO_LARGE
from alerts.receivers.kafka_errors import outcome_of
from alerts.receivers.receiver import Result


@pytest.mark.parametrize(
    ("code", "heard", "result", "said", "of_code"),
    [
        (KafkaError.UNKNOWN_TOPIC_OR_PART, None, "rejected", "the topic is not there", NO_TOPIC),
        (KafkaError._FENCED, KafkaError._TRANSPORT, "unreachable", "another dispatcher", SUPERSEDED),
        (KafkaError.INVALID_PRODUCER_EPOCH, None, "unreachable", "another dispatcher", SUPERSEDED),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, None, "rejected", "does not allow it", NOT_ALLOWED),
        (KafkaError._TIMED_OUT, KafkaError._AUTHENTICATION, "rejected", "does not allow it", NOT_ALLOWED),
        (KafkaError.MSG_SIZE_TOO_LARGE, None, "rejected", "error 10", TOO_LARGE),
        (KafkaError._TIMED_OUT, None, "unreachable", "does not answer: error -185", NO_BROKERS),
        (KafkaError._STATE, KafkaError._TRANSPORT, "unreachable", "does not answer: heard", NO_BROKERS),
        (KafkaError.INVALID_TXN_STATE, None, "unreachable", "breaks off: error 48", NO_BROKERS),
    ],
)
def test_an_error_is_told_by_what_is_to_be_done(
    code: int, heard: int | None, result: Result, said: str, of_code: str
) -> None:
    connection = None if heard is None else KafkaError(heard, "heard\n of it")
    outcome = outcome_of(KafkaError(code, f"error {code}"), "b1:9092", connection)
    assert outcome.result == result
    assert said in outcome.detail
    assert outcome.detail.endswith(f"({of_code})")
    assert "\n" not in outcome.detail
