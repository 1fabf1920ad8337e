"""A topic that `--events` names is a feed as `--feed` writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cep.cli.failure import UsageError
from cep.cli.topic_events import with_topics
from cep.config import FeedOption, feed_option
from cep.sources.kafka.cluster import Topics
from cep.sources.kafka.kafka import Kafka


def fed(word: str, *options: str) -> FeedOption:
    """The feed of the stream `pay`, whose events are named so."""
    named = {"pay": [word], "other": ["a.jsonl"]}
    (text,) = (one for one in with_topics(options, named) if one.startswith("pay"))
    assert named == {"other": ["a.jsonl"]}
    found = feed_option(text, Path())
    assert isinstance(found, FeedOption)
    return found


def source(of: FeedOption) -> Kafka:
    assert isinstance(of.source, Kafka)
    return of.source


def test_a_topic_is_read_from_its_brokers() -> None:
    of = source(fed("kafka://b1:9092,b2:9092/payments"))
    assert (of.cluster.servers, of.topics) == ("b1:9092,b2:9092", Topics(("payments",)))


def test_several_topics_are_one_stream() -> None:
    assert source(fed("kafka://b1:9092/refunds,payments")).topics == Topics(("payments", "refunds"))


@pytest.mark.parametrize(
    "option", ['pay=format="csv", start="latest"', 'pay = { format="csv", start="latest", }']
)
def test_what_a_feed_says_holds_for_its_topic(option: str) -> None:
    found = fed("kafka://b1:9092/payments", 'other=format="csv"', option)
    assert (found.format.format, source(found).start) == ("csv", "latest")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["kafka://b1:9092"], "kafka://b1:9092 names no topic"),
        (["kafka:///payments"], "kafka:///payments names no broker"),
        (["kafka://b1:9092/payments", "a.jsonl"], "a topic stands alone"),
    ],
)
def test_what_names_no_topic_is_told(words: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        with_topics([], {"pay": words})
    assert "kafka://HOST:PORT/TOPIC" in refused.value.help
