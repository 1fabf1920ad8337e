"""Windows in the Spark job: through kills and starts it raises what the engine raises in process."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from job_folder import JobFolder, in_process
from rules_of_tests import in_files, pack, payments

pytestmark = pytest.mark.spark

WINDOWS = """
rule burst {
  by card  over payment[amount < 50] sliding 30s  having count() > 5  limit 50 events
  emit card, n = count(), mean = avg(amount), spread = stddev(amount), before = previous(sum(amount))
}
rule minute {
  by card  over payment tumbling 1m  having count() > 0
  emit n = count(), total = sum(amount), most = max(amount), p90 = percentile(amount, 0.9)
}
rule hops {
  over payment hopping 1m every 10s  having sum(amount) > ago(sum(amount), 30s)
  emit cards = distinct(card), s = sum(amount)
}
rule session {
  by card  over payment session gap 9s max 2m  having count() > 3
  emit a = start(), b = end(), last = last(payment_id)
}
rule latest {
  by card  over payment last 5 events  having last(amount) > 2 * avg(amount)  emit was = previous(avg(amount))
}
rule limit {
  by card  over payment tumbling 5m early  having sum(amount) > 900  emit s = sum(amount)
}
"""
KILLS = 3


def test_windows_go_on_whenever_the_job_is_killed(spark: Callable[..., Any], tmp_path: Path) -> None:
    random = Random(16)
    folder = JobFolder(tmp_path / "job", pack(more=WINDOWS), ("payment",), trigger="50ms")
    parts = in_files(list(payments(5, 3_000, 25)), 30)
    paths: list[Path] = []
    share = len(parts) // (KILLS + 1)
    for life in range(KILLS):
        paths += [folder.put("payment", part) for part in parts[len(paths) : (life + 1) * share]]
        with folder.running() as job:
            lasting = len(list(folder.state.manifests.glob("*.json"))) + random.randrange(1, 4)
            while len(list(folder.state.manifests.glob("*.json"))) < lasting:
                if len(paths) < (life + 2) * share and random.random() < 0.1:
                    paths.append(folder.put("payment", parts[len(paths)]))
                assert job.process.poll() is None, folder.told
                time.sleep(0.02)
            time.sleep(random.uniform(0, 0.4))  # at whatever moment is what is tried
            job.kill()
    paths += [folder.put("payment", part) for part in parts[len(paths) :]]
    folder.once(spark, drain=True)
    assert "Traceback" not in folder.told
    assert_as_in_process(folder, [[("payment", path)] for path in paths])


def test_windows_of_starts_over_files_that_come(spark: Callable[..., Any], tmp_path: Path) -> None:
    folder = JobFolder(tmp_path / "job", pack(more=WINDOWS), ("payment",), shards=3)
    batches = []
    for part in in_files(list(payments(6, 1_500, 12)), 4):
        batches.append([("payment", folder.put("payment", part))])
        folder.once(spark)
    folder.once(spark, drain=True)
    assert_as_in_process(folder, batches)


def assert_as_in_process(folder: JobFolder, batches: list[list[tuple[str, Path]]]) -> None:
    """Its alerts are those that the engine raises, every rule has some, and none came twice."""
    found = [{name: value for name, value in one.items() if name != "batch"} for one in folder.alerts()]
    expected = in_process(folder, batches)
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert {alert["rule"] for alert in found} >= {"burst", "minute", "hops", "session", "latest", "limit"}
