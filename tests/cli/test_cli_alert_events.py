"""`cep alerts show` and `explain` with `--events`: from a stopped job's record, or why there are none."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cep_command import cep
from recording import Recording, at

from alerts.outbox import BatchRecord, Outbox

pytestmark = pytest.mark.slow

PACK = """pack p version "1"
stream pay { pid: string  ts: timestamp  card: string  amount: double  note: string  id pid  time ts }
rule twice { by card  match a: pay[amount > 5]{2} within 1 hour }
"""
JOB = """[job]
name = "j"
packs = "pack/"
state = "state/"
[feeds.pay]
source = "files"
path = "*.jsonl"
"""


def pay(pid: str, seconds: int, note: str) -> dict[str, object]:
    return {"pid": pid, "ts": at(seconds), "card": "c1", "amount": 9, "note": note}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    recording = Recording(tmp_path, PACK)
    recording.take(("pay", [pay("p1", 0, "\x1b[31m\u202e<script>")]))
    recording.take(("pay", [pay("p2", 1, "x")]))
    (tmp_path / "job.toml").write_text(JOB, "utf-8")
    outbox = Outbox.open(f"sqlite:///{recording.state.root}/outbox.db", clock=lambda: recording.clock)
    for batch, raised in enumerate(recording.raised):
        outbox.record(BatchRecord(batch, "d", {}), raised, [])
    outbox.close()
    return tmp_path


def id_of(folder: Path) -> str:
    done = cep("alerts", "list", "--format", "json", "--job", "job.toml", cwd=folder)
    return str(json.loads(done.out)["id"])


@pytest.mark.parametrize("verb", ["show", "explain"])
def test_the_events_of_an_alert(folder: Path, verb: str) -> None:
    words = ("alerts", verb, id_of(folder), "--job", "job.toml")
    assert "events:" not in cep(*words, cwd=folder).out
    done = cep(*words, "--events", cwd=folder)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    first = lines.index("events:") + 1
    assert lines[first].startswith(f'  {at(0)} a p1 {{"pid": "p1"')
    assert '"note": "\\u001b[31m\\u202e<script>"' in lines[first], "what moves a cursor is written out"
    assert lines[first + 1].startswith(f"  {at(1)} a p2 ")
    assert len(lines) == first + 2
    told = json.loads(cep(*words, "--events", "--format", "json", cwd=folder).out)
    assert [one["id"] for one in told["events"]] == ["p1", "p2"]
    assert told["events"][1]["fields"] == pay("p2", 1, "x")
    assert told["missing"] is None
    assert told["alert"]["rule"] == "twice"


def test_a_record_that_is_gone_is_told(folder: Path) -> None:
    shutil.rmtree(folder / "state" / "record")
    done = cep("alerts", "show", id_of(folder), "--events", "--job", "job.toml", cwd=folder)
    assert done.code == 0
    *_, first, second, why = done.out.splitlines()
    assert (first, second) == ("  a p1: not in the record", "  a p2: not in the record")
    assert why.startswith("2 events are not shown: nothing of these streams is recorded")
