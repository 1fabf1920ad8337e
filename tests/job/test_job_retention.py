"""A running job removes what job.toml says is old enough: alerts, deliveries, late events, dead letters."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from job_folder import JobFolder
from rules_of_tests import pack, payments
from some_alerts import raised
from sqlalchemy import func, select

from alerts.outbox import BatchRecord, Outbox, Settled
from alerts.outbox.episodes import assign_some
from alerts.outbox.retention import STEP
from alerts.outbox.small_steps import next_number
from alerts.routing import Route
from cep.config.job import Retention
from cep.decode.letters import DeadLetter
from cep.job.running.retention import EVERY, RetentionKeeper, removals
from cep.job.state_folder import dead_letters, old_letters
from cep.job.state_folder.dead_letters import LateEvent

DAY = 86_400 * 10**9
KEPT = Retention(alerts=110 * DAY, deliveries=30 * DAY, late=7 * DAY, dead_letters=30 * DAY)


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class Box:
    """An outbox, a clock, and a batch a day."""

    def __init__(self, folder: Path) -> None:
        self.now = 1_000 * DAY
        self.batch = 0
        self.outbox = Outbox.open(f"sqlite:///{folder}/outbox.db", durable=False, clock=lambda: self.now)

    def day(self, apart: int = 1) -> None:
        """The next batch, of an alert that is delivered, a dead letter and a late event."""
        self.batch, self.now = self.batch + apart, self.now + apart * DAY
        letter = DeadLetter("f", "a.jsonl", self.batch, "decode", "no", b"x")
        late = LateEvent("f", "a.jsonl", self.batch, str(self.batch), 1, "{}")
        self.outbox.record(
            BatchRecord(self.batch, f"d{self.batch}", {}),
            [raised(self.batch)],
            [Route("desk")],
            lambda connection: dead_letters.write(connection, self.batch, [letter], [late]),
        )
        number = self.outbox.alerts(newest_first=True, limit=1)[0].number
        self.outbox.settle([Settled("desk", number, "delivered", 1, "204", None, self.now)])
        with self.outbox.writing() as connection:
            assign_some(connection, lambda *_: DAY)

    def clean(self) -> None:
        list(removals(self.outbox, KEPT, self.now))

    def counts(self) -> dict[str, int]:
        with self.outbox.reading() as connection:
            found = {
                name: connection.scalar(select(func.count()).select_from(table)) or 0
                for name, table in (("dead", old_letters.LETTERS), ("late", old_letters.LATE))
            }
        there = self.outbox.alerts()
        sent = [one for alert in there for one in self.outbox.deliveries(str(alert.alert["id"]))]
        return {**found, "alerts": len(there), "deliveries": len(sent)}


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    made = Box(tmp_path)
    yield made
    made.outbox.close()


@pytest.mark.slow
def test_each_kind_stays_as_long_as_is_said(box: Box) -> None:
    for _ in range(120):
        box.day()
        box.clean()
    assert box.counts() == {"dead": 30, "late": 7, "alerts": 111, "deliveries": 31}


@pytest.mark.slow
def test_what_was_there_before_the_first_look_counts_from_it(box: Box) -> None:
    """As after an upgrade of the program: rows of years ago have no moment."""
    for _ in range(20):
        box.day()
    box.clean()
    assert (box.counts()["late"], box.counts()["dead"]) == (20, 20)
    box.now += 8 * DAY
    box.clean()
    assert (box.counts()["late"], box.counts()["dead"]) == (1, 20), "the newest stays, for its number"
    box.now += 30 * DAY
    box.clean()
    assert (box.counts()["late"], box.counts()["dead"]) == (1, 1)
    box.day()
    assert (box.counts()["late"], box.counts()["dead"]) == (2, 2)


@pytest.mark.slow
def test_marks_do_not_grow(box: Box) -> None:
    for _ in range(60):
        box.day()
        box.clean()
    with box.outbox.reading() as connection:
        found = dict(
            connection.execute(
                select(old_letters.marks.c.of, func.count()).group_by(old_letters.marks.c.of)
            ).all()
        )
    assert found == {"late_events": 7, "dead_letters": 30}


def test_a_job_without_letters_has_nothing_to_remove(box: Box) -> None:
    box.clean()
    box.clean()
    assert box.counts() == {"dead": 0, "late": 0, "alerts": 0, "deliveries": 0}


@pytest.mark.slow
def test_the_thread_looks_at_the_start_and_every_hour(box: Box) -> None:
    for _ in range(40):
        box.day()
    told: list[str] = []
    with ExitStack() as stack:
        keeper = RetentionKeeper(KEPT, lambda: box.now, told.append)
        keeper.start(box.outbox, stack)
        wait_for(lambda: box.counts()["deliveries"] == 31)
        box.now += 20 * DAY
        keeper.wake()
        wait_for(lambda: box.counts()["deliveries"] == 11)
        box.now += EVERY - 1
        keeper.wake()
    assert told == []


def test_an_outbox_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    box, told = Box(tmp_path), list[str]()
    box.outbox.close()
    (tmp_path / "outbox.db").write_bytes(b"no database" * 1_000)
    for name in ("outbox.db-wal", "outbox.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    with ExitStack() as stack:
        keeper = RetentionKeeper(KEPT, lambda: box.now, told.append)
        keeper.start(box.outbox, stack)
        wait_for(lambda: told)
    assert told[0].startswith("what is old stays in the outbox: ")


def test_transactions_are_as_large_as_their_time_allows() -> None:
    assert [next_number(50, seconds) for seconds in (0.0, 0.015, 0.03, 0.06, 0.3, 9.0)] == [
        100,
        100,
        50,
        25,
        10,
        10,
    ]
    assert next_number(400, 0.001) == STEP


@pytest.mark.spark
def test_a_job_removes_what_job_toml_says_is_old(spark: Callable[..., object], tmp_path: Path) -> None:
    more = '[retention]\ndead_letters = "1ms"\nlate = "400 days"\n'
    folder = JobFolder(tmp_path / "job", pack(), ("payment",), more=more)
    folder.put("payment", [b"{", b"}", *payments(1, 50)])
    for _ in range(3):  # read, marked, removed
        folder.once(spark)
    outbox = Outbox.open(f"sqlite:///{folder.outbox}", create=False)
    try:
        with outbox.reading() as connection:
            left = dead_letters.read(connection)
    finally:
        outbox.close()
    assert [one.number for one in left] == [2]
    assert "Traceback" not in folder.logged
