"""A real job whose processes are stopped, or whose clock is set: no event of any stream is late by it."""

from __future__ import annotations

import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from job_folder import PATIENCE, JobFolder, RunningJob
from rules_of_tests import BEGIN, SECOND, pack
from wall_clock import WallClock

from alerts.notation import timestamp

pytestmark = pytest.mark.spark

HOUR = 3600
IDLE = 20
OTHER = (
    f"\nstream other {{ a: string  t: timestamp  id a  time t  idle {IDLE} seconds }}\n"
    "rule o { on other emit a }\n"
)


def _stopped(job: RunningJob, _: WallClock) -> None:
    processes = job.folder.processes()
    for process in processes:
        process.send_signal(signal.SIGSTOP)
    begun = time.monotonic()
    while time.monotonic() < begun + IDLE + 1:
        time.sleep(0.1)  # the pause is what is tried
    for process in processes:
        process.send_signal(signal.SIGCONT)


def _set(ahead: int) -> Callable[[RunningJob, WallClock], None]:
    return lambda _, clock: clock.set(ahead)


STEPS = {
    "stopped": _stopped,
    "set forward": _set(HOUR),
    "set back": _set(-HOUR),
}


def _late(folder: JobFolder) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(folder.outbox)) as database, database:
        return database.execute("select stream, id from late_events").fetchall()


def _payment(id_: str, moment: int) -> dict[str, object]:
    return {"payment_id": id_, "at": timestamp(moment), "card": "c", "amount": 100.0}


def _put(job: RunningJob, id_: str, moment: int, of_other: int) -> None:
    """Puts an event into each feed, and waits until they were read."""
    job.folder.put("payment", [_payment(id_, moment)])
    job.folder.put("other", [{"a": id_, "t": timestamp(of_other)}])
    job.wait_until_read()


def test_no_pause_and_no_step_of_the_clock_makes_an_event_late(tmp_path: Path) -> None:
    clock = WallClock(tmp_path)
    text = pack(idle=f"idle {IDLE} seconds", more=OTHER)
    folder = JobFolder(tmp_path / "job", text, ("payment", "other"), "1s", environ=clock.environ)
    with folder.running() as job:
        job.wait_for_batch(0)
        for number, (name, step) in enumerate(STEPS.items()):
            moment = BEGIN + number * HOUR * SECOND
            _put(job, f"before it was {name}", moment, moment)
            step(job, clock)
            _put(job, f"after it was {name}", moment + 60 * SECOND, moment + SECOND)
        assert _late(folder) == []
        assert "as the clock was set back" in folder.told
        last = folder.watermark()
        assert last == moment + SECOND
        job.wait_for(lambda: folder.watermark() > last, "that `idle` counts again")
        assert job.stop() == 143, folder.told
    folder_ids = {alert["emit"]["a"] for alert in folder.alerts() if alert["rule"] == "o"}  # type: ignore[index]
    assert folder_ids == {f"{when} it was {name}" for name in STEPS for when in ("before", "after")}


def _seconds_until(year: int) -> int:
    return int(datetime(year, 1, 1, tzinfo=UTC).timestamp() - time.time())


@pytest.mark.parametrize(("year", "code", "when"), [(1931, 2, "before 1970"), (2300, 3, "after 2262")])
def test_no_job_starts_by_a_clock_that_cannot_be_right(
    tmp_path: Path, year: int, code: int, when: str
) -> None:
    clock = WallClock(tmp_path)
    folder = JobFolder(tmp_path / "job", pack(), ("payment",), environ=clock.environ)
    clock.set(_seconds_until(year))
    with folder.running() as job:
        assert job.process.wait(PATIENCE) == code
    assert f"the clock of this machine shows a time {when}" in folder.told
    assert "CEP0880" in folder.told
    assert "Traceback" not in folder.told
    assert not folder.state.root.exists()


@pytest.mark.soak
@pytest.mark.parametrize(("year", "when"), [(1931, "before 1970"), (2300, "after 2262")])
def test_a_clock_that_cannot_be_right_stops_the_job_which_then_goes_on(
    tmp_path: Path, year: int, when: str
) -> None:
    clock = WallClock(tmp_path)
    folder = JobFolder(tmp_path / "job", pack(), ("payment",), environ=clock.environ)
    folder.put("payment", [_payment("first", BEGIN)])
    with folder.running() as job:
        job.wait_for_batch(0)
        clock.set(_seconds_until(year))
        assert job.process.wait(PATIENCE) == 3
    assert f"error: the clock of this machine shows a time {when} (CEP0880)" in folder.told
    folder.put("payment", [_payment("second", BEGIN), _payment("third", BEGIN + 60 * SECOND)])
    clock.set(0)
    with folder.running() as job:
        job.wait_until_read()
        assert job.stop() == 143
    assert "Traceback" not in folder.told
    assert {str(alert["events"]) for alert in folder.alerts()} == {
        str({"payment": [id_]}) for id_ in ("first", "second")
    }
