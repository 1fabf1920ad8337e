"""At least once, under one id: so effectively once for a receiver that remembers ids."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

import crashing_job
import pytest
from some_alerts import raised
from stores import outbox_url
from wayward_server import Answer, Call, WaywardServer

from alerts.outbox import Outbox
from alerts.receive import AlertReceiver
from alerts.receivers.webhook import WebhookReceiver

pytestmark = pytest.mark.usefixtures("store")

SECRET = "whsec_" + "A" * 32
BATCHES = 20


def expected() -> set[str]:
    numbers = range(BATCHES * crashing_job.ALERTS)
    return {raised(n, key=f"k{n}").alert.id for n in numbers if n % 4 != 3}


def job(folder: Path, url: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, crashing_job.__file__, outbox_url(folder), url, SECRET, str(BATCHES)],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )


def run_and_kill(folder: Path, url: str, kills: list[int]) -> None:
    """Runs the job, kills it after so many lines of each of its lives, and lets it finish in the end."""
    for lines in kills:
        with job(folder, url) as process:
            assert process.stdout is not None
            for _, _ in zip(range(lines), process.stdout, strict=False):
                pass
            process.kill()
    with job(folder, url) as process:
        output = process.communicate(timeout=120)[0]
    assert output.endswith("drained\n"), output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "kills"), [(1, 2), *(pytest.param(seed, 4, marks=pytest.mark.soak) for seed in (2, 3, 4))]
)
def test_kills_lose_no_alert_and_change_no_body(tmp_path: Path, seed: int, kills: int) -> None:
    random = Random(seed)
    refuse = Random(seed + 1)

    def sometimes(_: Call) -> Answer:
        return Answer(503) if refuse.random() < 0.2 else Answer(drop=refuse.random() < 0.05)

    with WaywardServer(sometimes) as server:
        run_and_kill(tmp_path, server.url, [random.randrange(1, 8) for _ in range(kills)])
        bodies = {(call.id, call.body) for call in server.calls}
        assert {call.id for call in server.calls} == expected()
        assert len(bodies) == len(expected()), "one id had two bodies"
    outbox = Outbox.open(outbox_url(tmp_path), create=False)
    stored = outbox.alerts()
    assert {s.alert["id"] for s in stored} == expected()
    assert len(stored) == len(expected())
    outbox.close()


@pytest.mark.slow
@pytest.mark.parametrize("kills", [pytest.param([7], marks=pytest.mark.soak), [7, 1, 4]])
def test_a_receiver_that_remembers_ids_has_every_alert_once(tmp_path: Path, kills: list[int]) -> None:
    """Also if the receiver itself is restarted in between."""
    file = tmp_path / "received.jsonl"
    with AlertReceiver([SECRET], file=file) as receiver:
        run_and_kill(tmp_path, receiver.url, kills)
        assert Counter(r.id for r in receiver.received) == Counter(expected())
        port = receiver.port
    one = raised(0, key="k0").alert
    with AlertReceiver([SECRET], port=port, file=file) as receiver:
        webhook = WebhookReceiver("desk", receiver.url, [SECRET])
        assert webhook.send(one.id, one.to_json(), time.time_ns()).result == "delivered"
        webhook.close()
        assert receiver.counts == {"repeated": 1}
    assert len(file.read_text().splitlines()) == len(expected())
