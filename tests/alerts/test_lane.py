"""When the next attempt is made, in virtual time: years of a receiver's life in a moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

import pytest
from some_alerts import SECOND, raised
from stores import outbox_url

from alerts.lane import Lane, Schedule
from alerts.outbox import BatchRecord, Due, Outbox
from alerts.receivers.receiver import Outcome
from alerts.routing import Route

pytestmark = pytest.mark.usefixtures("store")

DELIVERED = Outcome("delivered", "204")
REJECTED = Outcome("rejected", "500")
UNREACHABLE = Outcome("unreachable", "refused")
HOUR = 3600 * SECOND


class Desk:
    """Stands for a receiver; the attempts are made by `Life`."""

    name = "desk"
    in_flight = 8

    def send(self, id_: str, body: str, now: int) -> Outcome:
        raise NotImplementedError

    def close(self) -> None:
        """Has nothing to close."""


class Life:
    """Attempts one after the other at their times, with nothing but a clock between them."""

    def __init__(self, outbox: Outbox, clock: list[int], schedule: Schedule, seed: int = 1) -> None:
        self.outbox, self.clock = outbox, clock
        self.lane = Lane(Desk(), schedule, Random(seed))
        self.attempts: list[tuple[int, int]] = []

    def until(self, end: int, outcome: Callable[[Due, int], Outcome]) -> None:
        while self.clock[0] < end:
            now = self.clock[0]
            if self.lane.recovered:
                self.outbox.hasten("desk", now)
                self.lane.recovered, self.lane.look_at = False, 0
            wait = self.lane.fill(self.outbox, now, 3600.0)
            settled = []
            while (due := self.lane.take(now)) is not None:
                self.attempts.append((due.number, now))
                settled.append(self.lane.settle(due, outcome(due, now), now))
            if settled:
                self.outbox.settle(settled)
                self.lane.written(settled)
            else:
                self.clock[0] = min(end, now + max(1, int(wait * SECOND)))

    def of(self, number: int) -> list[int]:
        return [at for n, at in self.attempts if n == number]


@pytest.fixture
def clock() -> list[int]:
    return [1_000 * SECOND]


@pytest.fixture
def outbox(tmp_path: Path, clock: list[int]) -> Iterator[Outbox]:
    box = Outbox.open(outbox_url(tmp_path), durable=False, clock=lambda: clock[0])
    yield box
    box.close()


def fill(outbox: Outbox, count: int, first: int = 0) -> None:
    last = outbox.last_batch()
    number = last.number + 1 if last else 0
    outbox.record(BatchRecord(number, "d", {}), [raised(first + n) for n in range(count)], [Route("desk")])


@pytest.mark.slow
def test_an_alert_is_tried_for_about_three_days_and_then_kept_as_failed(
    outbox: Outbox, clock: list[int]
) -> None:
    fill(outbox, 1)
    life = Life(outbox, clock, Schedule())
    life.until(clock[0] + 6 * 24 * HOUR, lambda *_: REJECTED)
    assert len(life.attempts) == 160
    lasted = (life.attempts[-1][1] - life.attempts[0][1]) / HOUR
    assert 55 < lasted < 95, f"{lasted} hours"
    status = outbox.status()["desk"]
    assert (status.pending, status.failed) == (0, 1)
    delivery = outbox.deliveries(raised(0).alert.id)[0]
    assert (delivery.state, delivery.attempts, delivery.outcome) == ("failed", 160, "500")
    assert outbox.redeliver("desk") == 1
    assert outbox.pending("desk") == 1


def test_back_off_grows_and_is_spread() -> None:
    schedule = Schedule(first=2.0, longest=60.0)
    random = Random(7)
    for attempt in range(1, 12):
        bound = min(60.0, 2.0 * 2 ** (attempt - 1)) * SECOND
        delays = [schedule.delay(attempt, random) for _ in range(2_000)]
        assert max(delays) <= bound
        assert max(delays) > 0.95 * bound
        assert min(delays) < 0.05 * bound
        assert abs(sum(delays) / len(delays) - bound / 2) < 0.05 * bound
    assert schedule.delay(10**6, random) <= 60 * SECOND


def test_a_poisoned_alert_holds_up_none_behind_it(outbox: Outbox, clock: list[int]) -> None:
    fill(outbox, 200)
    life = Life(outbox, clock, Schedule())
    life.until(clock[0] + 1, lambda due, _: REJECTED if due.number == 1 else DELIVERED)
    assert outbox.pending("desk") == 1
    assert [n for n, _ in life.attempts] == list(range(1, 201)), "in the order raised"


@pytest.mark.slow
def test_an_alert_that_breaks_the_connection_holds_up_none_behind_it(
    outbox: Outbox, clock: list[int]
) -> None:
    fill(outbox, 1)
    life = Life(outbox, clock, Schedule())

    def breaks(due: Due, _: int) -> Outcome:
        return UNREACHABLE if due.number == 1 else DELIVERED

    life.until(clock[0] + HOUR, breaks)
    for n in range(20):
        fill(outbox, 1, 100 + n)
        life.lane.look_at = 0
        life.until(clock[0] + 1, breaks)
        assert outbox.pending("desk") == 1


@pytest.mark.slow
def test_alerts_that_break_connections_are_not_given_up_early(outbox: Outbox, clock: list[int]) -> None:
    """Several in a row look like a dead receiver, until the next alert gets through."""
    fill(outbox, 4)
    life = Life(outbox, clock, Schedule())
    for n in range(60):
        fill(outbox, 1, 100 + n)
        life.lane.look_at = 0
        life.until(clock[0] + 60 * SECOND, lambda due, _: UNREACHABLE if due.number <= 4 else DELIVERED)
    assert outbox.pending("desk") == 4
    assert all(len(life.of(number)) < 40 for number in (1, 2, 3, 4))


@pytest.mark.slow
def test_a_dead_receiver_is_probed_and_not_flooded(outbox: Outbox, clock: list[int]) -> None:
    fill(outbox, 2_000)
    life = Life(outbox, clock, Schedule())
    start = clock[0]
    life.until(start + HOUR, lambda *_: UNREACHABLE)
    assert 120 < len(life.attempts) < 600, "an hour of a probe every fifteen seconds or so"
    assert outbox.pending("desk") == 2_000


@pytest.mark.slow
def test_after_its_return_a_receiver_gets_all_that_waited(outbox: Outbox, clock: list[int]) -> None:
    fill(outbox, 300)
    life = Life(outbox, clock, Schedule())
    back = clock[0] + HOUR
    life.until(back, lambda *_: UNREACHABLE)
    life.attempts.clear()
    life.until(back + 60 * SECOND, lambda *_: DELIVERED)
    assert outbox.pending("desk") == 0
    assert len(life.attempts) == 300


def test_retry_after_holds_back_the_whole_receiver(outbox: Outbox, clock: list[int]) -> None:
    fill(outbox, 5)
    life = Life(outbox, clock, Schedule())
    start = clock[0]

    def busy(due: Due, now: int) -> Outcome:
        return Outcome("rejected", "429", 90 * SECOND) if now == start and due.number == 1 else DELIVERED

    life.until(start + 60 * SECOND, busy)
    assert [n for n, _ in life.attempts] == [1]
    life.until(start + 200 * SECOND, busy)
    assert outbox.pending("desk") == 0
    assert min(life.of(1)[1:]) >= start + 90 * SECOND


def test_retry_after_is_bounded(outbox: Outbox, clock: list[int]) -> None:
    fill(outbox, 1)
    life = Life(outbox, clock, Schedule(longest=60.0))
    start = clock[0]
    year = 365 * 24 * HOUR
    life.until(
        start + 61 * SECOND, lambda _, now: Outcome("rejected", "503", year) if now == start else DELIVERED
    )
    assert outbox.pending("desk") == 0


def test_a_receiver_that_is_gone_is_left_alone_and_its_alerts_are_kept(
    outbox: Outbox, clock: list[int]
) -> None:
    fill(outbox, 50)
    life = Life(outbox, clock, Schedule())
    life.until(clock[0] + HOUR, lambda *_: Outcome("gone", "410 Gone"))
    assert [n for n, _ in life.attempts] == [1]
    status = outbox.status()["desk"]
    assert (status.pending, status.failed) == (49, 1)


class Channel(Desk):
    """Stands for a receiver that takes several alerts in one attempt, one attempt a second."""

    in_flight = 1
    together = 5
    pace = SECOND

    def send_together(self, alerts: Sequence[tuple[str, str]], now: int) -> Outcome:
        raise NotImplementedError


def test_what_waits_goes_out_together_and_no_faster_than_the_pace(outbox: Outbox, clock: list[int]) -> None:
    fill(outbox, 12)
    lane = Lane(Channel(), Schedule(), Random(1))
    attempts: list[tuple[int, list[int]]] = []
    start = clock[0]
    while outbox.pending("desk"):
        wait = lane.fill(outbox, clock[0], 3600.0)
        if (due := lane.take(clock[0])) is not None:
            dues = [due, *lane.companions(clock[0])]
            assert lane.take(clock[0]) is None
            attempts.append(((clock[0] - start) // SECOND, [one.number for one in dues]))
            settled = lane.settle_all(dues, [DELIVERED] * len(dues), clock[0])
            outbox.settle(settled)
            lane.written(settled)
        else:
            clock[0] += max(1, int(wait * SECOND))
    assert attempts == [(0, [1, 2, 3, 4, 5]), (1, [6, 7, 8, 9, 10]), (2, [11, 12])]


def test_what_went_out_together_and_failed_is_tried_again(outbox: Outbox, clock: list[int]) -> None:
    fill(outbox, 5)
    lane = Lane(Channel(), Schedule(), Random(1))
    lane.fill(outbox, clock[0], 1.0)
    due = lane.take(clock[0])
    assert due is not None
    outcomes = [Outcome("rejected", "429", 30 * SECOND)] * 5
    settled = lane.settle_all([due, *lane.companions(clock[0])], outcomes, clock[0])
    assert [(one.number, one.state, one.attempts) for one in settled] == [
        (n, "pending", 1) for n in range(1, 6)
    ]
    assert min(one.due_at or 0 for one in settled) >= clock[0] + 30 * SECOND
