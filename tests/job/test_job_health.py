"""A probe gets the stage of a job, since when it is in that, and soon an answer at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from job_folder import JobFolder, get
from ports import free_port
from rules_of_tests import pack

from alerts.outbox import OutboxError
from cep.batch.clock import Seen
from cep.cli.run import first_packs
from cep.config import load_job
from cep.errors import JobError
from cep.job.batches.driver import FinishedBatch
from cep.job.running import lifecycle
from cep.job.running.health import Standing
from cep.job.running.progress import Progress
from cep.job.running.stopping import Stop
from cep.job.state_folder.manifest import Manifest
from cep.job.workers.outcome import BatchOutcome
from cep.web.server import Health

SECOND = 1_000_000_000
BEGIN = 1_767_600_000 * SECOND


class Clock:
    """Seconds since the job began."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def wall(self) -> int:
        return BEGIN + int(self.seconds * SECOND)

    def steady(self) -> float:
        return 77.0 + self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def standing(tmp_path: Path, clock: Clock) -> Standing:
    folder = JobFolder(tmp_path / "job", pack(), ("payment",), trigger="1 second")
    stop = Stop(clock=clock.wall)
    return Standing(load_job(folder.description, {}).need(), stop, clock.wall, clock.steady)


def _batch(number: int, ended: int) -> FinishedBatch:
    outcome = BatchOutcome(BEGIN, Seen(), (), (), (), {}, {}, 0, {})
    return FinishedBatch(number, None, Manifest(number, {}, 1, 0), outcome, {}, {}, False, 0.1, {}, ended)  # type: ignore[arg-type]


def _ran(standing: Standing, number: int, clock: Clock) -> None:
    batch = _batch(number, clock.wall())
    standing.driver = SimpleNamespace(last=batch, running=SimpleNamespace(revisions={"desk": "r1"}))  # type: ignore[assignment]
    standing.batch(batch)


def _said(health: Health) -> tuple[bool, object, object]:
    return health.well, health.told["status"], health.told["since"]


def test_a_job_is_ready_from_its_first_batch_on(standing: Standing, clock: Clock) -> None:
    clock.seconds = 500
    assert _said(standing.health()) == (False, "starting", "2026-01-05T08:00:00Z")
    assert standing.health().told["batch"] is None
    assert standing.health().told["seconds_since_batch"] is None
    _ran(standing, 4, clock)
    clock.seconds = 501.25
    assert _said(standing.health()) == (True, "running", "2026-01-05T08:08:20Z")
    assert standing.health().told["batch"] == 4
    assert standing.health().told["seconds_since_batch"] == 1.2
    assert standing.health().told["packs"] == {"desk": "r1"}


def test_batches_that_do_not_go_on_make_it_stuck_since_the_last_one(standing: Standing, clock: Clock) -> None:
    _ran(standing, 0, clock)
    clock.seconds = 60
    _ran(standing, 1, clock)
    clock.seconds = 60 + 121
    assert _said(standing.health()) == (True, "running", "2026-01-05T08:00:00Z")
    clock.seconds += 0.5
    assert _said(standing.health()) == (False, "stuck", "2026-01-05T08:01:00Z")
    _ran(standing, 2, clock)
    assert standing.health().well


def test_a_job_that_stops_or_fails_is_not_ready(standing: Standing, clock: Clock) -> None:
    _ran(standing, 0, clock)
    clock.seconds = 10
    standing._stop.ask()
    assert _said(standing.health()) == (False, "stopping", "2026-01-05T08:00:10Z")
    clock.seconds = 20
    standing.failed()
    assert _said(standing.health()) == (False, "failed", "2026-01-05T08:00:20Z")


def test_an_outbox_that_cannot_be_asked_is_told(standing: Standing, clock: Clock) -> None:
    class Broken:
        def status(self) -> dict[str, object]:
            raise OutboxError("CEP0802", "there is no room left", "free space")

    _ran(standing, 0, clock)
    standing.outbox = Broken()  # type: ignore[assignment]
    health = standing.health()
    assert (health.well, health.told["status"], health.told["outbox"]) == (
        False,
        "failed",
        "there is no room left",
    )


def test_the_port_answers_while_spark_starts(tmp_path: Path) -> None:
    port = free_port()
    folder = JobFolder(tmp_path / "job", pack(), ("payment",), more=f'[http]\nlisten = "127.0.0.1:{port}"\n')
    job = load_job(folder.description, {}).need()
    answers: list[tuple[int, Any]] = []

    class EnoughError(Exception):
        pass

    @contextmanager
    def spark(*_: object) -> Iterator[Any]:
        found = [get(f"http://127.0.0.1:{port}/{path}") for path in ("livez", "healthz")]
        answers.extend((status, json.loads(text)["status"]) for status, text in found)
        assert get(f"http://127.0.0.1:{port}/metrics")[0] == 200
        raise EnoughError
        yield

    running: Callable[..., Any] = spark
    launch = lifecycle.Launch(job, lambda: first_packs(job), dict(os.environ), lifecycle.Mode())
    with pytest.raises(JobError), (tmp_path / "told").open("w") as told:
        lifecycle.run(launch, Progress(told), running)
    assert answers == [(200, "alive"), (503, "starting")]
    assert get(f"http://127.0.0.1:{port}/livez")[0] == 0
