"""Payloads that are too large for Spark's rows come through the job's blobs, and go with their batch."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from job_folder import JobFolder, in_process

from cep.errors import ConfigurationError
from cep.job.batches import driver
from cep.job.shipping.blobs import clear, opened
from cep.job.shipping.declared import AWAY_FROM, MISSING
from cep.job.shipping.rows import AWAY, Kind

pytestmark = pytest.mark.spark
Spark = Callable[..., Any]
Rows = Iterable[tuple[int, bytes]]

PACK = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  text: string  id id_  time at }
rule each { on e emit k, text }
rule pairs { by k  match a: e -> b: e within 1 hour  emit text = a.text }
"""


@pytest.fixture
def folder(tmp_path: Path) -> JobFolder:
    return JobFolder(tmp_path / "job", PACK, ("e",))


def _put(folder: JobFolder) -> Path:
    """Events of which each shard gets some hundred kilobytes."""
    at = "2026-01-05T09:{:02}:{:02}Z"
    return folder.put(
        "e",
        (
            {"id_": f"e{n}", "at": at.format(n // 60 % 60, n % 60), "k": f"k{n % 600}", "text": f"{n:0500}"}
            for n in range(1200)
        ),
    )


def _texts(alerts: Iterable[dict[str, object]]) -> list[str]:
    return sorted(json.dumps({k: v for k, v in a.items() if k != "batch"}, sort_keys=True) for a in alerts)


def test_large_payloads_come_whole_and_leave_nothing(
    folder: JobFolder, spark: Spark, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, sizes, kinds = _put(folder), list[int](), set[Kind]()

    def noting(blobs: Path, rows: Rows) -> Iterator[tuple[Kind, bytes]]:
        rows = list(rows)
        assert all(len(payload) < AWAY_FROM for _, payload in rows)
        kinds.update(Kind(kind - AWAY) for kind, _ in rows if kind >= AWAY)
        return opened(blobs, rows)

    def sized(blobs: Path) -> None:
        sizes.extend(one.stat().st_size for one in blobs.iterdir())
        clear(blobs)

    monkeypatch.setattr(driver, "opened", noting)
    monkeypatch.setattr(driver, "clear", sized)
    folder.once(spark, drain=True)
    assert kinds == {Kind.RAISED}, "of the driver's rows, alerts"
    assert len(sizes) > folder.shards, "a file of each shard, and of a mapper"
    assert min(sizes) >= AWAY_FROM
    assert list(folder.state.blobs.iterdir()) == []
    assert _texts(folder.alerts()) == _texts(in_process(folder, [[("e", path)]]))


def test_a_blob_that_is_gone_ends_the_job_and_the_next_start_makes_it_anew(
    folder: JobFolder, spark: Spark, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _put(folder)

    def gone(blobs: Path, rows: Rows) -> Iterator[tuple[Kind, bytes]]:
        clear(blobs)
        return opened(blobs, rows)

    with monkeypatch.context() as patched:
        patched.setattr(driver, "opened", gone)
        with pytest.raises(ConfigurationError, match=r"scratch/blobs/\S+, .* is missing") as told:
            folder.once(spark)
    assert told.value.code == MISSING
    assert folder.alerts() == []
    folder.once(spark, drain=True)
    assert _texts(folder.alerts()) == _texts(in_process(folder, [[("e", path)]]))
