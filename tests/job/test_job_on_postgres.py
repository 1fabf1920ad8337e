"""A job whose outbox is on PostgreSQL: the server is killed, the job is killed inside its transaction and
right after it, and the alerts are those of a run that nothing disturbed, once each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from job_folder import JobFolder, RunningJob, in_process
from postgres import Server, running_server
from rules_of_tests import in_files, pack, payments
from sqlalchemy import Engine, create_engine, text

pytestmark = [pytest.mark.spark, pytest.mark.soak]


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that no other test has."""
    with running_server() as found:
        yield found


def last_batch(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.scalar(text("SELECT coalesce(max(number), -1) FROM outbox_batches")) or 0)


def kill_inside_transaction(job: RunningJob, engine: Engine) -> None:
    """Kill it while its transaction has written alerts, and waits to write the batch."""
    with engine.connect() as connection, connection.begin():
        connection.execute(text("LOCK TABLE outbox_batches IN EXCLUSIVE MODE"))
        waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE :q"

        def inside() -> bool:
            with engine.connect() as other:
                return bool(other.scalar(text(waits), {"q": "INSERT INTO outbox_batches%"}))

        job.wait_for(inside, "a transaction that writes its batch")
        job.kill()


def kill_after_transaction(job: RunningJob, engine: Engine) -> None:
    """Kill it as soon as the outbox has another batch: Spark has hardly committed it."""
    before = last_batch(engine)
    deadline = time.monotonic() + 120
    while last_batch(engine) == before:
        assert time.monotonic() < deadline, job.folder.told
    job.kill()


def test_no_kill_of_job_or_server_loses_or_adds_an_alert(
    tmp_path: Path, spark: Callable[..., Any], server: Server
) -> None:
    folder = JobFolder(tmp_path / "job", pack(), ("payment",), server=server.url())
    parts = in_files(list(payments(9, 4_000, 200)), 40)
    paths = [folder.put("payment", part) for part in parts[:10]]
    engine = create_engine(server.url(), pool_pre_ping=True)
    with folder.running() as job:
        job.wait_for(lambda: folder.commits(), "a batch")
        server.kill()
        job.wait_for(lambda: "the job waits" in folder.told, "the word that the server is away")
        paths += [folder.put("payment", part) for part in parts[10:15]]
        server.start_again()
        job.wait_for(lambda: "the outbox answers again" in folder.told, "the server")
        job.wait_until_read()
        paths += [folder.put("payment", part) for part in parts[15:20]]
        kill_inside_transaction(job, engine)
    inside = last_batch(engine)
    paths += [folder.put("payment", part) for part in parts[20:25]]
    with folder.running() as job:
        job.wait_for(lambda: last_batch(engine) > inside, "the batch that was killed")
        paths += [folder.put("payment", part) for part in parts[25:30]]
        kill_after_transaction(job, engine)
    paths += [folder.put("payment", part) for part in parts[30:]]
    told = folder.once(spark, drain=True)
    engine.dispose()
    found = folder.alerts()
    expected = {alert["id"]: alert for alert in in_process(folder, [[("payment", p)] for p in paths])}
    assert len(expected) > 100
    assert len(found) == len(expected)
    for alert in found:
        assert {k: v for k, v in alert.items() if k != "batch"} == expected[alert["id"]]
    assert "CEP0830" in folder.told
    assert "the folder is closed after batch" in told
    assert "Traceback" not in folder.told
