"""When a receiver is left alone, and when it is tried again: timelines, with a clock that is passed in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from some_alerts import SECOND, raised
from stores import outbox_url
from test_lane import Desk, Life

from alerts.breaker import Breaker
from alerts.lane import Schedule
from alerts.outbox import BatchRecord, Due, Outbox
from alerts.receivers.receiver import Outcome
from alerts.routing import Route
from alerts.standing import Standing

pytestmark = pytest.mark.usefixtures("store")

DELIVERED = Outcome("delivered", "204")
REJECTED = Outcome("rejected", "500")
UNREACHABLE = Outcome("unreachable", "refused")
BUSY = Outcome("rejected", "429", 5 * SECOND)
GONE = Outcome("gone", "410 Gone")
MINUTE, HOUR, DAY = 60 * SECOND, 3_600 * SECOND, 86_400 * SECOND
PROBE, RARELY = 30 * SECOND, HOUR
START = 1_000 * DAY


def breaker(standing: Standing | None = None) -> Breaker:
    made = Breaker(lambda _: PROBE, RARELY)
    made.take_up(standing or Standing())
    return made


def told(made: Breaker, *attempts: tuple[int, Outcome], every: int = SECOND, start: int = START) -> list[str]:
    """The states after attempts for alerts of these numbers, one after the other."""
    states = []
    for n, (alert, outcome) in enumerate(attempts):
        made.note(alert, outcome, start + n * every)
        states.append(made.standing.state)
    return states


@pytest.mark.parametrize(
    ("attempts", "opens_at"),
    [
        ([(n, UNREACHABLE) for n in range(5)], 3),
        ([(n % 2, UNREACHABLE) for n in range(9)], None),
        ([(1, UNREACHABLE), (2, UNREACHABLE), (9, DELIVERED), (3, UNREACHABLE)], None),
        ([(n, REJECTED) for n in range(12)], 10),
        ([(1, REJECTED)] * 50, None),
        ([(n % 2, REJECTED) for n in range(50)], None),
        ([(n % 3, REJECTED) for n in range(12)], 10),
        ([(n, REJECTED if n % 2 else DELIVERED) for n in range(12)], 10),
        ([(n, REJECTED if n % 3 == 0 else DELIVERED) for n in range(99)], None),
        ([(n, BUSY) for n in range(50)], None),
        ([(n, DELIVERED) for n in range(90)] + [(n, REJECTED) for n in range(90, 200)], 120),
    ],
    ids=["no answer", "two alerts", "an answer between", "refused", "one alert", "two refused",
         "three refused",
         "half", "a third", "busy", "after a good minute"],
)  # fmt: skip
def test_it_opens_for_the_receiver_and_not_for_an_alert(
    attempts: list[tuple[int, Outcome]], opens_at: int | None
) -> None:
    states = told(breaker(), *attempts)
    first = next((n for n, state in enumerate(states, 1) if state == "open"), None)
    assert first == opens_at


def test_failures_of_long_ago_open_nothing() -> None:
    made = breaker()
    assert set(told(made, *((n, REJECTED) for n in range(50)), every=7 * SECOND)) == {"closed"}


def test_an_open_one_is_half_open_when_its_time_has_come_and_closes_with_a_success() -> None:
    made = breaker()
    told(made, *((n, REJECTED) for n in range(10)))
    opened = made.standing
    assert (opened.state, opened.reason, opened.since_at) == ("open", "500", START + 9 * SECOND)
    assert opened.probe_at == START + 9 * SECOND + PROBE
    assert opened.shown(opened.probe_at - 1) == "open"
    assert opened.shown(opened.probe_at) == "half-open"
    made.note(11, REJECTED, opened.probe_at)
    assert (made.standing.state, made.standing.since_at) == ("open", opened.since_at)
    assert made.standing.probe_at == opened.probe_at + PROBE
    made.note(11, DELIVERED, opened.probe_at + PROBE)
    assert made.standing == Standing()
    assert set(told(made, *((n, REJECTED) for n in range(9)))) == {"closed"}, "what was before is forgotten"


def test_an_outage_is_over_with_any_answer() -> None:
    made = breaker()
    told(made, *((n, UNREACHABLE) for n in range(9)))
    assert made.standing.state == "open"
    made.note(9, REJECTED, START + MINUTE)
    assert made.standing.state == "closed"
    assert made.recovered


@pytest.mark.parametrize("days", [4.9, 5.1])
def test_days_of_failures_only_pause_it(days: float) -> None:
    made = breaker()
    attempts = int(days * DAY / HOUR)
    states = told(made, *((n % 2, REJECTED) for n in range(attempts + 1)), every=HOUR)
    assert states[-1] == ("paused" if days > 5 else "closed")
    if days > 5:
        assert made.standing.failing_since_at == START
        assert "the last: 500" in made.standing.reason
        assert made.standing.probe_at == START + attempts * HOUR + RARELY
        assert not made.shut


def test_one_success_begins_the_days_anew() -> None:
    made = breaker()
    told(made, *((n, REJECTED) for n in range(100)), every=HOUR)
    made.note(1, DELIVERED, START + 100 * HOUR)
    states = told(made, *((1, REJECTED) for n in range(100)), every=HOUR, start=START + 101 * HOUR)
    assert "paused" not in states


def test_two_failures_with_days_between_are_no_days_of_failures() -> None:
    made = breaker()
    assert "paused" not in told(made, (1, REJECTED), (2, REJECTED), every=9 * DAY)


def test_a_paused_one_is_tried_rarely_and_resumed_by_a_success() -> None:
    made = breaker(Standing("paused", "days", START, START + HOUR, START - 5 * DAY))
    made.note(1, REJECTED, START + HOUR)
    assert (made.standing.state, made.standing.probe_at) == ("paused", START + 2 * HOUR)
    made.note(1, DELIVERED, START + 2 * HOUR)
    assert made.standing == Standing()
    assert made.recovered


def test_gone_pauses_at_once_and_nothing_but_a_person_resumes() -> None:
    made = breaker()
    made.note(1, GONE, START)
    assert made.shut
    assert made.standing.reason == "it wants no more: 410 Gone"
    for outcome in (DELIVERED, REJECTED, UNREACHABLE):  # attempts that were under way
        made.note(2, outcome, START + SECOND)
        assert made.shut
    made.resume()
    assert made.standing == Standing()
    assert made.recovered


def test_a_short_time_of_failures_is_not_written_down() -> None:
    made = breaker()
    made.note(1, REJECTED, START)
    assert made.standing == Standing()
    made.note(1, REJECTED, START + MINUTE)
    assert made.standing == replace(Standing(), failing_since_at=START)
    made.note(1, DELIVERED, START + 2 * MINUTE)
    assert made.standing == Standing()


def test_a_restart_forgets_no_days() -> None:
    before = breaker()
    told(before, *((n % 2, REJECTED) for n in range(100)), every=HOUR)
    after = breaker(before.standing)
    states = told(after, *((n % 2, REJECTED) for n in range(30)), every=HOUR, start=START + 100 * HOUR)
    assert states.index("paused") == 20


@pytest.fixture
def clock() -> list[int]:
    return [START]


@pytest.fixture
def outbox(tmp_path: Path, clock: list[int]) -> Iterator[Outbox]:
    box = Outbox.open(outbox_url(tmp_path), durable=False, clock=lambda: clock[0])
    box.record(BatchRecord(0, "d", {}), [raised(n) for n in range(300)], [Route("desk")])
    yield box
    box.close()


def answers(change: int, before: Outcome, after: Outcome) -> Callable[[Due, int], Outcome]:
    return lambda _, now: before if now < change else after


@pytest.mark.slow
def test_a_receiver_that_refuses_everything_is_spared_and_gets_everything_later(
    outbox: Outbox, clock: list[int]
) -> None:
    life = Life(outbox, clock, Schedule())
    back = START + HOUR
    life.until(back, lambda *_: REJECTED)
    assert 120 < len(life.attempts) < 600, "an hour of an attempt every fifteen seconds or so"
    life.attempts.clear()
    life.until(back + MINUTE, lambda *_: DELIVERED)
    assert outbox.pending("desk") == 0
    assert len(life.attempts) == 300


def test_after_five_days_a_receiver_is_tried_once_an_hour(outbox: Outbox, clock: list[int]) -> None:
    life = Life(outbox, clock, Schedule())
    life.lane.breaker.take_up(Standing(failing_since_at=START - 5 * DAY + MINUTE))
    life.until(START + 3 * MINUTE, lambda *_: REJECTED)
    assert life.lane.breaker.standing.state == "paused"
    life.attempts.clear()
    life.until(clock[0] + DAY, lambda *_: REJECTED)
    assert 22 <= len(life.attempts) <= 25
    life.until(clock[0] + HOUR + MINUTE, lambda *_: DELIVERED)
    assert outbox.pending("desk") == 0


def test_how_receivers_stand_is_kept(outbox: Outbox) -> None:
    one = Standing("open", "500", START, START + 1, None)
    other = Standing("paused", "410 Gone", START, None, START - 1)
    outbox.settle([], {"desk": one, "chief": other})
    assert outbox.standings() == {"desk": one, "chief": other}
    outbox.settle([], {"desk": Standing()})
    assert outbox.standings() == {"chief": other}
    assert outbox.resume("chief") == other
    assert outbox.standings() == {}
    assert outbox.resume("chief") == Standing()


def test_the_random_pause_is_that_of_the_schedule() -> None:
    from alerts.lane import Lane

    lane = Lane(Desk(), Schedule(first=1, longest=60, probe=8), Random(1))
    for n in range(60):
        lane.breaker.note(n, UNREACHABLE, START)
    assert START <= (lane.breaker.standing.probe_at or 0) <= START + 8 * SECOND
