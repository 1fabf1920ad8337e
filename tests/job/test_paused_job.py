"""A real job whose processes are stopped, or whose clock is set: no event of any stream is late by it."""

from __future__ import annotations

import signal
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from job_folder import JobFolder, RunningJob
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
    with sqlite3.connect(folder.outbox) as database:
        return database.execute("select stream, id from late_events").fetchall()


def _put(job: RunningJob, stream: str, id_: str, moment: int) -> None:
    """Puts an event into a feed, and waits until it was read."""
    at = timestamp(moment)
    event: dict[str, object] = {"a": id_, "t": at}
    if stream == "payment":
        event = {"payment_id": id_, "at": at, "card": "c", "amount": 100.0}
    job.folder.put(stream, [event])
    job.wait_until_read()


def test_no_pause_and_no_step_of_the_clock_makes_an_event_late(tmp_path: Path) -> None:
    clock = WallClock(tmp_path)
    text = pack(idle=f"idle {IDLE} seconds", more=OTHER)
    folder = JobFolder(tmp_path / "job", text, ("payment", "other"), environ=clock.environ)
    with folder.running() as job:
        job.wait_for_batch(0)
        for number, (name, step) in enumerate(STEPS.items()):
            moment = BEGIN + number * HOUR * SECOND
            _put(job, "payment", f"before it was {name}", moment)
            _put(job, "other", f"before it was {name}", moment)
            step(job, clock)
            _put(job, "payment", f"after it was {name}", moment + 60 * SECOND)
            _put(job, "other", f"after it was {name}", moment + SECOND)
        assert _late(folder) == []
        assert "as the clock was set back" in folder.told
        last = folder.watermark()
        assert last == moment + SECOND
        job.wait_for(lambda: folder.watermark() > last, "that silence counts again")
        assert job.stop() == 143, folder.told
    folder_ids = {alert["emit"]["a"] for alert in folder.alerts() if alert["rule"] == "o"}  # type: ignore[index]
    assert folder_ids == {f"{when} it was {name}" for name in STEPS for when in ("before", "after")}
