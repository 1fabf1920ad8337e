"""`make demo-kafka` with fewer payments: between two topics, with a job that is killed half way."""

from __future__ import annotations

from pathlib import Path

import pytest
from fraud import on_kafka

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.soak]


def test_each_alert_of_the_engine_alone_is_on_the_topic_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kafka: object
) -> None:
    """The fixture is there for its jars; the demo starts a broker of its own."""
    assert kafka
    on_kafka.demo(tmp_path / "work", 10_000, 7)
    assert "these are the alerts of the engine alone, each once" in capsys.readouterr().out
