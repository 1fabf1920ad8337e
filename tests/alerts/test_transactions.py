"""A receiver of transactions gets each alert once, in order, whatever fails at whatever moment.

Its part is played by a log in memory that commits records and position together or not at all, as the model
of what brokers do (test_kafka_receiver.py has these); the dispatcher and the outbox are the real ones.
"""

from __future__ import annotations

import threading
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from log_in_memory import FATES, Fate, Log, LogReceiver
from some_alerts import raised
from stores import Schemas
from wayward_server import PATIENCE

from alerts.codes import AHEAD
from alerts.dispatch import Dispatcher
from alerts.grouping import Grouping, Manner
from alerts.lane import Schedule
from alerts.listeners import Attempt, Listeners
from alerts.outbox import BatchRecord, Outbox, OutboxError
from alerts.receivers.receiver import Transacting
from alerts.routing import Route
from alerts.settings import Settings
from alerts.sharing import Holder

SOON = Schedule(first=0.001, longest=0.002, attempts=5, probe=0.002)


def test_the_log_is_such_a_receiver() -> None:
    assert isinstance(LogReceiver(Log([])), Transacting)


class Process:
    """A program that delivers until it is drained, or crashes: then nothing of it reaches the outbox."""

    def __init__(self, outbox: Outbox, log: Log, how: Settings | None = None) -> None:
        self.reports: list[str] = []
        self.attempts: list[Attempt] = []
        settle = outbox.settle

        def settled(*args: object) -> None:
            if log.crash.is_set():
                raise OutboxError("CEP0809", "the process has ended", "")
            settle(*args)  # type: ignore[arg-type]

        outbox.settle = settled  # type: ignore[method-assign]
        self.dispatcher = Dispatcher(
            outbox, [LogReceiver(log)], schedule=SOON, poll=0.01, random=Random(1), settings=how,
            listeners=Listeners(self.attempts.append, self.reports.append),
        )  # fmt: skip
        try:
            self.dispatcher.start()
            self.drained = self.dispatcher.drain(PATIENCE, log.crash.is_set)
            assert self.drained or log.crash.is_set()
        finally:
            self.dispatcher.stop(PATIENCE)
        assert self.dispatcher.failure is None


def run(folder: str, log: Log, count: int, how: Settings | None = None) -> list[str]:
    """Has processes deliver alerts, one after another until all are; the ids in the order raised."""
    url = f"sqlite:///{folder}/outbox.db"
    box = Outbox.open(url, durable=False)
    some = [raised(n, key=f"c{n % 5}") for n in range(count)]
    recorded = box.record(BatchRecord(1, "d", {}), some, [Route("stream")])
    drained = False
    while not drained:
        log.crash.clear()
        drained = Process(box, log, how).drained
        box.close()
        box = Outbox.open(url, durable=False)
    box.close()
    return [alert.id for alert in recorded.alerts]


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.sampled_from(FATES), max_size=12), st.integers(1, 30))
def test_each_is_there_once_and_in_order(fates: list[Fate], count: int) -> None:
    log = Log(fates)
    with TemporaryDirectory() as folder:
        expected = run(folder, log, count)
    assert log.committed == [one for one in expected if one not in log.refused]


@settings(max_examples=examples(15), deadline=None)
@given(st.lists(st.sampled_from(FATES), max_size=8), st.integers(1, 20))
def test_of_each_key_they_are_in_order_where_keys_wait(fates: list[Fate], count: int) -> None:
    log = Log(fates)
    with TemporaryDirectory() as folder:
        how = Settings(manners={"stream": Manner(by_key=True)})
        expected = run(folder, log, count, how)
    assert sorted(log.committed) == sorted(one for one in expected if one not in log.refused)
    for key in range(5):
        of_key = [one for n, one in enumerate(expected) if n % 5 == key and one not in log.refused]
        assert [one for one in log.committed if one in set(of_key)] == of_key


@settings(max_examples=examples(15), deadline=None)
@given(st.lists(st.sampled_from([one for one in FATES if one != "refused"]), max_size=8))
def test_a_group_is_there_once(fates: list[Fate]) -> None:
    log = Log(fates)
    with TemporaryDirectory() as folder:
        run(
            folder,
            log,
            15,
            Settings(manners={"stream": Manner(Grouping(by=("card_id",), wait=0, interval=0))}),
        )
    assert len(log.committed) == len(set(log.committed)) == 5


def test_an_outbox_that_was_put_back_sends_again_and_says_so(tmp_path: Path) -> None:
    log = Log([])
    expected = run(str(tmp_path), log, 2)
    kept = (tmp_path / "outbox.db").read_bytes()
    box = Outbox.open(f"sqlite:///{tmp_path}/outbox.db", durable=False)
    some = [raised(n) for n in range(100, 112)]
    expected += [one.id for one in box.record(BatchRecord(2, "d", {}), some, [Route("stream")]).alerts]
    assert Process(box, log).reports == []
    box.close()
    (tmp_path / "outbox.db").write_bytes(kept)

    box = Outbox.open(f"sqlite:///{tmp_path}/outbox.db", durable=False)
    box.record(BatchRecord(2, "d", {}), some, [Route("stream")])
    (said,) = Process(box, log).reports
    box.close()
    assert AHEAD in said
    assert list(dict.fromkeys(log.committed)) == expected
    assert len(log.committed) == 2 + 12 + 8, "all but those of the last transaction came again"


@pytest.mark.slow
def test_a_dispatcher_that_hangs_behind_a_commit_is_taken_over(tmp_path: Path, schemas: Schemas) -> None:
    """It has not written down what it sent when another one goes on, and may not when it wakes up."""
    log, url = Log([]), schemas.url(tmp_path)
    log.shared = True
    boxes = [Outbox.open(url, wait=0.2, durable=False) for _ in range(2)]
    some = [raised(n) for n in range(10)]
    expected = [one.id for one in boxes[0].record(BatchRecord(1, "d", {}), some, [Route("stream")]).alerts]
    hangs, wakes = threading.Event(), threading.Event()
    reports: list[str] = []
    settle = boxes[0].settle

    def settled(*args: object) -> None:
        hangs.set()
        assert wakes.wait(PATIENCE)
        settle(*args)  # type: ignore[arg-type]

    boxes[0].settle = settled  # type: ignore[method-assign]
    first, second = (
        Dispatcher(
            box, [LogReceiver(log)], schedule=SOON, poll=0.02, random=Random(1), holder=holder,
            listeners=Listeners(report=reports.append),
        )
        for box, holder in zip(boxes, (Holder("first", 0.5), Holder("second", 30.0)), strict=True)
    )  # fmt: skip
    first.start()
    try:
        assert hangs.wait(PATIENCE)
        assert log.committed == expected[:4]
        second.start()
        assert second.drain(PATIENCE)
        wakes.set()
        expected += [
            one.id for one in boxes[1].record(BatchRecord(2, "d", {}), [raised(50)], [Route("stream")]).alerts
        ]
        second.wake()
        assert second.drain(PATIENCE)
    finally:
        wakes.set()
        for one in (first, second):
            one.stop(PATIENCE)
            assert one.failure is None
        for box in boxes:
            box.close()
    assert log.committed == expected
    assert [said for said in reports if said.startswith("outcomes of 4 deliveries are not written yet")]
