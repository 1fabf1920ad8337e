"""Windows in the Spark job: over many starts it raises what the engine raises in process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from job_folder import JobFolder, in_process
from rules_of_tests import WINDOWS, in_files, pack, payments

pytestmark = pytest.mark.spark


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
