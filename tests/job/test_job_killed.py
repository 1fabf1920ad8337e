"""Whenever its process group is killed, a job loses, adds and changes no alert, and nothing it recorded."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest
from job_folder import JobFolder, command, in_process
from rules_of_tests import WINDOWS, in_files, pack, payments

from alerts.outbox import Outbox
from alerts.receive import AlertReceiver
from cep.record.layout import folder_of
from cep.record.read import events_of

pytestmark = pytest.mark.spark
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
KILLS = 4
Event = dict[str, object]


def recorded(folder: JobFolder) -> dict[str, bytes]:
    """The files of the record by name, without those that are being written."""
    root = folder_of(folder.state.record, "payment")
    return {path.name: path.read_bytes() for path in sorted(root.rglob("[!.]*.parquet"))}


def assert_every_event_is_recorded(folder: JobFolder, events: list[Event]) -> None:
    """Each once, and alerts of every rule find theirs."""
    paths = folder_of(folder.state.record, "payment").rglob("*.parquet")
    ids = [id_ for path in paths for id_ in pq.read_table(path).column("payment_id").to_pylist()]
    by_id = {str(one["payment_id"]): one for one in events}
    assert sorted(ids) == sorted(by_id)
    outbox = Outbox.open(f"sqlite:///{folder.outbox}", create=False)
    try:
        stored = outbox.alerts()
    finally:
        outbox.close()
    for rule in {one.alert["rule"] for one in stored}:
        of_rule = [one for one in stored if one.alert["rule"] == rule]
        for one in of_rule[:: -(-len(of_rule) // 40)]:
            evidence = events_of(folder.state, one)
            assert evidence.missing == ""
            assert evidence.events
            for taken in evidence.events:
                assert taken.event is not None
                assert taken.event.fields == by_id[taken.id]
    shown = command("alerts", "show", stored[0].alert["id"], "--events", "--job", folder.description)
    assert shown.returncode == 0, shown.stderr
    assert "events:\n  20" in shown.stdout


@pytest.mark.parametrize(
    ("number", "cards", "windows"),
    [(3_000, 40, WINDOWS), pytest.param(200_000, 5_000, "", marks=pytest.mark.soak)],
)
def test_no_kill_loses_or_adds_an_alert(
    tmp_path: Path, spark: Callable[..., Any], number: int, cards: int, windows: str
) -> None:
    random = Random(20)
    events = list(payments(9, number, cards))
    before: dict[str, bytes] = {}
    with AlertReceiver([SECRET]) as receiver:
        folder = JobFolder(
            tmp_path / "job",
            pack(more=windows),
            ("payment",),
            trigger="50ms",
            more=f'[receivers.desk]\nkind = "webhook"\nurl = "{receiver.url}"\nsecret = "{SECRET}"\n',
        )
        parts = in_files(events, 60)
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
            now = recorded(folder)
            assert {name: now[name] for name in before} == before
            before = now
        paths += [folder.put("payment", part) for part in parts[len(paths) :]]
        told = folder.once(spark, drain=True)
        assert {name: recorded(folder)[name] for name in before} == before
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
    assert before, "something was recorded when it was killed last"
    assert {alert["rule"] for alert in found} >= set(re.findall(r"rule (\w+)", folder.pack))
    assert "Traceback" not in folder.told
    assert_every_event_is_recorded(folder, events)
