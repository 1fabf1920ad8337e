"""A topic that is deleted and made anew under its name is not read as if it were the old one."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from job_folder import JobFolder
from kafka.admin import NewTopic
from kafka.errors import TopicAlreadyExistsError
from rules_of_tests import pack, payments
from topics_of_tests import Topic, describe, feed, topic, wait

from cep.errors import ConfigurationError
from cep.job.running import lifecycle
from cep.sources.kafka.cluster import Cluster, Topics
from cep.sources.kafka.extents import KafkaExtent, of_row
from cep.sources.kafka.kafka import Kafka
from cep.sources.source import GoneError

if TYPE_CHECKING:
    from broker import Brokers

pytestmark = [pytest.mark.kafka]
EVENTS = list(payments(5, 400))
ANEW = "is that of a topic which was deleted and made anew"


def made_anew(of: Topic, partitions: int) -> None:
    """Deletes a topic and makes it again, which all brokers know."""
    with of.brokers.admin() as admin:
        admin.delete_topics([of.name])

        def made() -> bool:
            try:
                admin.create_topics([NewTopic(of.name, partitions, -1)])
            except TopicAlreadyExistsError:
                return False
            return True

        wait(made)
        wait(lambda: len(admin.describe_topics([of.name])[0]["partitions"]) == partitions)


def source(of: Topic) -> Kafka:
    return Kafka(Cluster(of.brokers.servers), Topics((of.name,)))


def test_an_extent_is_of_the_topic_that_was_there_when_it_was_fixed(kafka: Brokers) -> None:
    own = topic(kafka, partitions=1)
    own.put(EVENTS[:20])
    asked = source(own)
    planned = KafkaExtent("payment", f"{own.name}/0", 0, 20)
    pinned = asked.pin(planned)
    known = asked.identity(pinned)
    assert known, "the broker gives every topic an id"
    assert asked.pin(planned, known) == pinned
    assert of_row(pinned.row()) == pinned
    assert asked.difference(pinned) is None
    made_anew(own, 1)
    own.put(EVENTS[:40])
    assert (asked.difference(pinned) or "").startswith(ANEW)
    later = replace(planned, first=20, until=40)
    with pytest.raises(GoneError, match=ANEW) as refused:
        asked.pin(later, known)
    left = refused.value.left
    assert (left.since, left.until) == (0, 40), "what is left is all that the new topic has"
    assert asked.identity(left) not in ("", known)
    with pytest.raises(GoneError, match=ANEW) as refused:
        asked.pin(replace(later, until=41), known)
    assert refused.value.left is None, "the new topic has not so much"
    assert asked.pin(later).since == 20, "where no batch read the partition there is nothing to compare"


def test_an_extent_of_an_earlier_version_has_no_topic_id() -> None:
    row = ["payment", "payments/3", 4, 9, 4]
    assert of_row(row) == KafkaExtent("payment", "payments/3", 4, 9, 4, "")
    with pytest.raises(ValueError, match="whole numbers"):
        of_row(["payment", "payments/3", 4, 9, "4"])


@pytest.mark.spark
def test_a_topic_made_anew_with_as_many_records_stops_the_job_until_its_loss_is_accepted(
    kafka: Brokers, tmp_path: Path, spark: Callable[..., Any]
) -> None:
    folder = JobFolder(tmp_path / "job", pack(), ())
    own = topic(kafka, partitions=1)
    describe(folder, feed(own))
    own.put(EVENTS[:100])
    folder.once(spark)
    before = len(folder.alerts())
    made_anew(own, 1)
    own.put(EVENTS[100:300])
    for _ in range(2):
        with pytest.raises(ConfigurationError) as refused:
            folder.once(spark)
        assert re.search(f"the partition {own.name}/0 of batch [0-9]+ {ANEW}", refused.value.message)
        assert f"--accept-loss {own.name}" in refused.value.help
        assert "name a new [job] state" in refused.value.help
    accepted = frozenset({os.path.realpath(own.name)})
    told = folder.once(spark, mode=lifecycle.Mode(once=True, accepted=accepted))
    assert f"goes on with what is left of the partition {own.name}/0, which {ANEW}" in told
    with closing(sqlite3.connect(folder.outbox)) as database, database:
        rows = database.execute("select feed, file, stage from dead_letters").fetchall()
    assert rows == [("payment", f"{own.name}/0", "lost")]
    latest = max(folder.state.manifests.glob("*.files"), key=lambda path: int(path.stem))
    (read,) = json.loads(latest.read_text("utf-8"))["files"]
    assert read[:5] == ["payment", f"{own.name}/0", 100, 200, 0], "of the new topic all is read"
    assert len(folder.alerts()) > before
    own.put(EVENTS[300:])
    folder.once(spark)
