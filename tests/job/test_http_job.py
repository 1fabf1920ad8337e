"""Events that come by POST: what was answered with 202 raises its alerts once, whatever is killed."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
from job_folder import PATIENCE, JobFolder, in_process
from ports import free_port
from rules_of_tests import in_files, pack, payments

pytestmark = pytest.mark.spark
TOKEN = "shop-0123456789-0123456789"


def _job(root: Path, port: int) -> JobFolder:
    folder = JobFolder(root, pack(), ("payment",), trigger="50ms", environ={"SHOP": TOKEN})
    text = folder.description.read_text("utf-8")
    start = text.index('source = "files"')
    folder.description.write_text(
        f'{text[:start]}source = "http"\n[http]\nlisten = "127.0.0.1:{port}"\n'
        '[tokens.shop]\nsecret = "${SHOP}"\nscopes = ["ingest"]\n',
        "utf-8",
    )
    return folder


def _send(port: int, events: Sequence[object]) -> int:
    """The status of the answer; 0 where none came."""
    body = b"".join(json.dumps(one).encode() + b"\n" for one in events)
    headers = {"content-type": "application/x-ndjson", "authorization": f"Bearer {TOKEN}"}
    with suppress(OSError, http.client.HTTPException):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("POST", "/api/v1/events/payment", body, headers)
        return connection.getresponse().status
    return 0


def _until_taken(port: int, events: Sequence[object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while _send(port, events) != 202:
        assert time.monotonic() < deadline
        time.sleep(0.05)


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
                _until_taken(port, parts[sent])
                sent += 1
            job.wait_for(lambda: folder.outbox.exists(), "the outbox")
            time.sleep(random.uniform(0, 0.6))  # at whatever moment is what is tried
            _send(port, parts[sent])  # its answer may not come: it is sent again
            job.kill()
    with folder.running() as job:
        for part in parts[sent:]:
            _until_taken(port, part)
        job.kill()  # whatever it has read by now
    with folder.running("--once") as job:  # takes all that was kept
        assert job.process.wait(PATIENCE) == 0, folder.told
    folder.once(spark, drain=True)
    found = folder.alerts()

    folder.root.joinpath("inbox", "payment").mkdir(parents=True, exist_ok=True)
    paths = [[("payment", folder.put("payment", part))] for part in parts]
    expected = {alert["id"]: alert for alert in in_process(folder, paths)}
    assert len(expected) > 100
    assert len(found) == len(expected)
    assert {one["id"]: {k: v for k, v in one.items() if k != "batch"} for one in found} == expected
    assert "Traceback" not in folder.told
