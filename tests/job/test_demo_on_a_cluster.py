"""`make demo-cluster` with fewer payments: a broker, a database server, and a cluster that loses a worker."""

from __future__ import annotations

from pathlib import Path

import pytest
from fraud import on_a_cluster
from postgres import need

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.soak]


def test_the_alerts_are_those_of_the_engine_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kafka: object
) -> None:
    """The fixture is there for its jars; the demo starts a broker of its own."""
    assert kafka
    need()
    on_a_cluster.demo(tmp_path / "work", 10_000, 7)
    assert "these are the alerts of the engine alone, each once" in capsys.readouterr().out
