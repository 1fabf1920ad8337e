"""Events that come by POST: what was answered with 202 raises its alerts once, whatever is killed."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from job_folder import PATIENCE, JobFolder, command, in_process
from ports import free_port
from posting import TOKEN, by_http, send, until_taken
from rules_of_tests import in_files, pack, payments

pytestmark = pytest.mark.spark


def _job(root: Path, port: int) -> JobFolder:
    more = by_http(("payment",), port)
    return JobFolder(root, pack(), (), trigger="50ms", more=more, environ={"SHOP": TOKEN})


OTHER = """pack more version "1"
stream other { a: string  t: timestamp  id a  time t }
rule o { on other  emit a }
"""


def bring_a_feed(folder: JobFolder) -> None:
    """Deploys a pack with a stream that comes by HTTP, too."""
    text = folder.description.read_text("utf-8")
    folder.description.write_text(text.replace("[http]", '[feeds.other]\nsource = "http"\n[http]'), "utf-8")
    more = folder.root / "more"
    more.mkdir()
    (more / "more.rules").write_text(OTHER, "utf-8")
    deployed = command("deploy", more, "--job", folder.description, environ=folder.environment)
    assert deployed.returncode == 0, deployed.stderr


@pytest.mark.parametrize("kills", [2, pytest.param(8, marks=pytest.mark.soak)])
def test_no_kill_loses_or_adds_an_alert(tmp_path: Path, spark: Callable[..., Any], kills: int) -> None:
    random, port = Random(kills), free_port()
    folder = _job(tmp_path / "job", port)
    parts = in_files(list(payments(9, 3_000, 100)), 40)
    sent = 0
    for life in range(kills):
        with folder.running() as job:
            share = len(parts) * (life + 1) // (kills + 1)
            while sent < share:
                until_taken(port, "payment", parts[sent])
                sent += 1
            job.wait_for(lambda: folder.outbox.exists(), "the outbox")
            time.sleep(random.uniform(0, 0.6))  # at whatever moment is what is tried
            send(port, "payment", parts[sent])  # its answer may not come: it is sent again
            job.kill()
    with folder.running() as job:
        for part in parts[sent:]:
            until_taken(port, "payment", part)
        bring_a_feed(folder)
        until_taken(port, "other", [{"a": "1", "t": "2026-01-05T09:00:00Z"}])
        job.kill()  # whatever it has read by now
    with folder.running("--once") as job:  # takes all that was kept
        assert job.process.wait(PATIENCE) == 0, folder.told
    folder.once(spark, drain=True)
    found = folder.alerts()
    (other,) = [one for one in found if one["rule"] == "o"]
    assert other["emit"] == {"a": "1"}
    found.remove(other)

    folder.root.joinpath("inbox", "payment").mkdir(parents=True, exist_ok=True)
    paths = [[("payment", folder.put("payment", part))] for part in parts]
    expected = {alert["id"]: alert for alert in in_process(folder, paths)}
    assert len(expected) > 100
    assert len(found) == len(expected)
    assert {one["id"]: {k: v for k, v in one.items() if k != "batch"} for one in found} == expected
    assert "Traceback" not in folder.told
