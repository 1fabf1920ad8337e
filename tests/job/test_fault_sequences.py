"""Random sequences of faults: the alerts are those of a run that nothing disturbed, each recorded once,
delivered under its id, and once on its topic; so is what was malformed."""

from __future__ import annotations

import json
import os
from collections import Counter, deque
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from effort import examples
from faults import FAULTS, World, world
from job_folder import PATIENCE, JobFolder, in_process
from rules_of_tests import in_files, payments
from topics_of_tests import read_committed, without_batch

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.soak]
PARTS = 12
TRIES = 5
"""Last runs, of which one has to come to its end."""


def test_no_sequence_of_faults_loses_adds_or_changes_an_alert(tmp_path: Path) -> None:
    seed, counted = int(os.environ.get("CEP_SEED", "1")), Counter[str]()
    for number in range(examples(200)):
        with world(tmp_path / str(number), Random(f"{seed} {number}")) as at:
            _sequence(at, number, counted)
    print(f"seeds from {seed}: {', '.join(f'{count:,} {what}' for what, count in counted.items())}")


def _sequence(at: World, number: int, counted: Counter[str]) -> None:
    events = list(payments(at.random.randrange(1_000), 3_000, 100))
    parts: deque[list[Any]] = deque(map(list, in_files(events, PARTS)))
    faults = at.random.choices(FAULTS, k=at.random.randrange(3, 8))
    print(f"sequence {number}: {', '.join(one.__name__ for one in faults)}", flush=True)
    wrong = [b"malformed %d" % n for n in range(len(parts))]
    for part, one in zip(parts, wrong, strict=True):
        part.insert(at.random.randrange(len(part)), one)
    at.topic.put(parts.popleft())
    for fault in faults:
        at.runs()
        if at.random.random() < 0.6:
            at.progress()
        at.pause(2)
        for _ in range(min(at.random.randrange(3), len(parts))):
            at.topic.put(parts.popleft())
        fault(at)
    for part in parts:
        at.topic.put(part)
    at.network.fate = lambda _: "pass"
    at.progress()
    at.runs().stop()
    at.gone()
    _ended(at)
    found, expected = without_batch(at.folder.alerts()), _undisturbed(at.folder, events)
    assert len(expected) > 50
    assert len(found) == len({str(one["id"]) for one in found})
    assert {str(one["id"]): one for one in found} == expected
    assert {one.id for one in at.receiver.received} == expected.keys()
    assert all(one.alert == expected[one.id] for one in at.receiver.received)
    on_topic = [headers["id"] for _, headers in read_committed(at.kafka.servers, at.alerts.name, 3)]
    assert sorted(on_topic) == sorted(expected)
    letters = [value for value, _ in read_committed(at.kafka.servers, at.letters.name, 3)]
    assert sorted(letters) == sorted(wrong)
    assert "Traceback" not in at.folder.told
    counted.update(
        sequences=1, faults=len(faults), starts=at.starts, ended=sum(at.ended.values()), alerts=len(found)
    )


def _ended(at: World) -> None:
    """The job has read and delivered all; a run that ends by what a fault left behind is tried again."""
    for _ in range(TRIES):
        with at.folder.running("--once", "--drain") as last:
            code = last.process.wait(PATIENCE)
        if code == 0:
            return
        assert code == 3, at.folder.told
    raise AssertionError(at.folder.told)


def _undisturbed(folder: JobFolder, events: list[Any]) -> Mapping[str, Any]:
    file = folder.root / "all.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in events), "utf-8")
    return {str(one["id"]): one for one in in_process(folder, [[("payment", file)]])}
