"""The job that `cep new` makes, and `cep doctor`, with Spark."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import pytest
from job_folder import command

from alerts.receive import AlertReceiver
from cep.new_job.writing import SECRET, write_job

pytestmark = pytest.mark.spark


def test_a_new_job_delivers_its_alerts(tmp_path: Path) -> None:
    folder = tmp_path / "fraud"
    write_job(folder)
    file = folder / "job.toml"
    with AlertReceiver([(folder / SECRET).read_text("utf-8").strip()]) as receiver:
        text = file.read_text("utf-8").replace("http://127.0.0.1:8091/", receiver.url)
        file.write_text(text.replace("127.0.0.1:8090", "127.0.0.1:0"), "utf-8")
        ran = command("run", file, "--once", "--drain")
        assert ran.returncode == 0, ran.stderr
        assert sorted(one.alert["rule"] for one in receiver.received) == [
            "card_testing",
            "fast_spending",
            "very_large",
        ]

        looked = command("doctor", "--job", file, "--format", "json")
    checks = {one["check"]: one for one in json.loads(looked.stdout)["checks"]}
    assert looked.returncode == 0, looked.stdout
    assert checks["Spark"]["message"].startswith(f"{version('pyspark')}; started")
    assert "was drained" in checks["state folder"]["message"]
    assert "0 deliveries wait" in checks["outbox"]["message"]
