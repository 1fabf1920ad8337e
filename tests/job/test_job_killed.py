"""No alert is lost, added or changed when the whole process group is killed, at whatever moment."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from job_folder import JobFolder, in_process
from rules_of_tests import in_files, pack, payments

from alerts.receive import AlertReceiver

pytestmark = pytest.mark.spark
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
KILLS = 4


@pytest.mark.parametrize(
    ("events", "cards"), [(6_000, 200), pytest.param(200_000, 5_000, marks=pytest.mark.soak)]
)
def test_no_kill_loses_or_adds_an_alert(
    tmp_path: Path, spark: Callable[..., Any], events: int, cards: int
) -> None:
    random = Random(20)
    with AlertReceiver([SECRET]) as receiver:
        folder = JobFolder(
            tmp_path / "job",
            pack(),
            ("payment",),
            trigger="50ms",
            more=f'[receivers.desk]\nkind = "webhook"\nurl = "{receiver.url}"\nsecret = "{SECRET}"\n',
        )
        parts = in_files(list(payments(9, events, cards)), 60)
        paths: list[Path] = []
        kept: list[int] = []
        share = len(parts) // (KILLS + 1)
        for life in range(KILLS):
            # a fifth of the events is there when a life begins, so that kills fall while it is worked off
            paths += [folder.put("payment", part) for part in parts[len(paths) : (life + 1) * share]]
            with folder.running() as job:
                begun = len(list(folder.state.manifests.glob("*.json")))
                # some lives end in their first batch, some while Spark commits, some later
                lasting = begun + random.randrange(1, 6)
                while len(list(folder.state.manifests.glob("*.json"))) < lasting:
                    if begun and len(paths) < (life + 2) * share and random.random() < 0.1:
                        paths.append(folder.put("payment", parts[len(paths)]))
                    assert job.process.poll() is None, folder.told
                    time.sleep(0.02)
                time.sleep(random.uniform(0, 0.4))  # at whatever moment is what is tried
                job.kill()
            kept.append(len(folder.alerts()) if folder.outbox.exists() else 0)
        paths += [folder.put("payment", part) for part in parts[len(paths) :]]
        told = folder.once(spark, drain=True)
        found = folder.alerts()
        received = [one.alert for one in receiver.received]

    expected = {alert["id"]: alert for alert in in_process(folder, [[("payment", p)] for p in paths])}
    assert len(expected) > 100
    assert kept[-1] > len(expected) / 3, f"alerts in the outbox at each kill: {kept} of {len(expected)}"
    assert sum(a < b for a, b in pairwise([0, *kept])) > 1, f"kills fell before anything was raised: {kept}"
    assert {a["id"] for a in found} == expected.keys()
    assert len(found) == len(expected)
    for alert in found:
        assert {k: v for k, v in alert.items() if k != "batch"} == expected[alert["id"]]
    assert {a["id"] for a in received} == expected.keys()
    assert "the folder is closed after batch" in told
    assert "Traceback" not in folder.told
