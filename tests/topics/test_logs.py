"""A partition is gone when brokers say so for a while, not at once: those that just began know of none."""

from __future__ import annotations

from threading import Timer
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from kafka.admin import NewTopic

from cep.sources.kafka import brokers
from cep.sources.kafka.brokers import NO_LOG, Log
from cep.sources.kafka.brokers import Brokers as Asked
from cep.sources.kafka.cluster import Cluster

if TYPE_CHECKING:
    from broker import Brokers

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


@pytest.mark.parametrize("times", [1, 2])
def test_a_topic_that_is_known_a_moment_later_is_there(kafka: Brokers, times: int) -> None:
    """Also where the client has learned of another one, or of this one, that there is none."""
    asked = Asked(Cluster(kafka.servers), {})
    for _ in range(times):
        name = f"late-{uuid4().hex[:8]}"
        Timer(1, _make, (kafka, name)).start()
        assert asked.log(name, 0) == Log(0, 0)


def _make(kafka: Brokers, name: str) -> None:
    with kafka.admin() as admin:
        admin.create_topics([NewTopic(name, 1, -1)])


def test_one_that_stays_unknown_is_gone(kafka: Brokers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brokers, "GONE_AFTER", 0.5)
    assert Asked.of(Cluster(kafka.servers)).log(f"never-{uuid4().hex[:8]}", 0) == NO_LOG
