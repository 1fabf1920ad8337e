"""What is old goes from the outbox, and nothing else: compared with the same said over plain lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from some_alerts import SECOND, raised
from stores import outbox_url

from alerts.outbox import BatchRecord, Outbox, Settled, Wanted
from alerts.outbox.deliveries import redeliver_alert
from alerts.outbox.episodes import assign_some, read_episodes
from alerts.outbox.notifications import Making, make, settle_made, waiting_in
from alerts.outbox.retention import (
    REPLAYS,
    old_alerts,
    old_deliveries,
    old_notifications,
    receivers,
    remove_alerts,
    remove_deliveries,
    remove_notifications,
)
from alerts.outbox.trailing import index_some
from alerts.routing import Route

pytestmark = pytest.mark.usefixtures("store")

MINUTE = 60 * SECOND
ROUTES = [Route("desk"), Route("pager", frozenset("a"))]
STATES = ("open", "acknowledged", "closed")
LENGTH = 10 * SECOND
KEYS = ("x", "y", "long" * 100)


@dataclass
class Kept:
    """An outbox with what was put into it. Batches come a minute after one another."""

    outbox: Outbox
    clock: list[int]
    batch: int = 0
    alerts: list[tuple[int, str, str, int, int]] = field(default_factory=list)
    """Number, rule, key, event time, batch."""
    deliveries: dict[tuple[str, int], int | None] = field(default_factory=dict)
    """By receiver and alert: when it was settled; None: pending."""

    def record(self, *some: tuple[str, str], apart: int = 1) -> None:
        """A batch of alerts of these rules and keys, so many batches after the one before."""
        self.batch += apart
        self.clock[0] = self.batch * MINUTE
        first = len(self.alerts) + 1
        time = self.alerts[-1][3] // SECOND + 4 if self.alerts else 0
        came = [raised(first + n, rule=rule, key=key, time=time + n) for n, (rule, key) in enumerate(some)]
        self.outbox.record(BatchRecord(self.batch, f"d{self.batch}", {}), came, ROUTES)
        for n, (rule, key) in enumerate(some):
            number = first + n
            self.alerts.append((number, rule, key, (time + n) * SECOND, self.batch))
            self.deliveries["desk", number] = None
            if rule == "a":
                self.deliveries["pager", number] = None
        with self.outbox.writing() as connection:
            index_some(connection)
            assign_some(connection, lambda *_: LENGTH)

    def settle(self, receiver: str, number: int) -> None:
        at = self.clock[0]
        self.outbox.settle([Settled(receiver, number, "delivered", 1, "204", None, at)])
        self.deliveries[receiver, number] = at

    def purge(self, alerts: int, deliveries: int, most: int = 3) -> None:
        """Remove what is so many nanoseconds old, a few at a time."""
        now = self.clock[0]
        with self.outbox.reading() as connection:
            every = receivers(connection)
        for receiver in every:
            after = -1
            while after:
                with self.outbox.reading() as connection:
                    old = old_deliveries(connection, receiver, now - deliveries, max(after, 0), most)
                with self.outbox.writing() as connection:
                    remove_deliveries(connection, old)
                after = old.numbers[-1] if old.numbers else 0
        after = -1
        while after:
            with self.outbox.reading() as connection:
                found = old_alerts(connection, now - alerts, max(after, 0), most)
            with self.outbox.writing() as connection:
                remove_alerts(connection, found)
            after = found.numbers[-1] if found.numbers else 0

    def expected(self, alerts: int, deliveries: int) -> tuple[list[int], dict[tuple[str, int], int | None]]:
        """The numbers of the alerts that stay, and the deliveries."""
        now, newest = self.clock[0], len(self.alerts)
        sent = {
            one: at
            for one, at in self.deliveries.items()
            if at is None or at >= now - deliveries or self.alerts[one[1] - 1][4] * MINUTE >= now - deliveries
        }
        old = [
            number
            for number, _, _, _, batch in self.alerts
            if batch * MINUTE < now - alerts and batch < self.batch - REPLAYS and number != newest
        ]
        last = max(old, default=0)
        pending = {number for (_, number), at in sent.items() if at is None}
        living = {one[0] for one in self.episodes() if one[-1] > last}
        going = set(old) - pending - living
        return (
            [number for number, *_ in self.alerts if number not in going],
            {one: at for one, at in sent.items() if one[1] not in going},
        )

    def episodes(self) -> list[list[int]]:
        """The numbers of the alerts of each episode."""
        found: dict[tuple[str, str], list[list[int]]] = {}
        times = {number: time for number, _, _, time, _ in self.alerts}
        for number, rule, key, time, _ in self.alerts:
            of = found.setdefault((rule, key), [])
            if of and time - times[of[-1][-1]] < LENGTH:
                of[-1].append(number)
            else:
                of.append([number])
        return [one for several in found.values() for one in several]

    def stays(self) -> tuple[list[int], dict[tuple[str, int], int | None]]:
        there = self.outbox.alerts()
        sent = {
            (one.receiver, alert.number): one.settled_at
            for alert in there
            for one in self.outbox.deliveries(str(alert.alert["id"]))
        }
        return [one.number for one in there], sent


def opened(folder: Path | str) -> Kept:
    clock = [0]
    url = outbox_url(folder)
    return Kept(Outbox.open(url, durable=False, clock=lambda: clock[0]), clock)


@pytest.mark.slow
@given(st.integers(0, 2**32), st.integers(0, 40), st.integers(0, 300), st.integers(0, 300))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=examples(40))
def test_what_stays_is_what_plain_lists_say(seed: int, count: int, alerts: int, deliveries: int) -> None:
    random = Random(seed)
    with TemporaryDirectory() as folder:
        kept = opened(folder)
        for _ in range(count):
            some = [(random.choice("ab"), random.choice(KEYS)) for _ in range(random.randrange(1, 5))]
            kept.record(*some, apart=random.choice((1, 1, 30)))
            for one, at in list(kept.deliveries.items()):
                if at is None and random.random() < 0.6:
                    kept.settle(*one)
        before = kept.expected(alerts * MINUTE, deliveries * MINUTE)
        kept.purge(alerts * MINUTE, deliveries * MINUTE, random.randrange(1, 8))
        assert kept.stays() == before
        for key in KEYS:
            found = [one.number for one in kept.outbox.alerts(Wanted(key={"card_id": key}))]
            of_key = {number for number, _, own, _, _ in kept.alerts if own == key}
            assert found == [number for number in before[0] if number in of_key]
        with kept.outbox.reading() as connection:
            firsts = {one.first for one in read_episodes(connection, STATES)}
        assert firsts == {one[0] for one in kept.episodes() if one[0] in before[0]}
        kept.purge(alerts * MINUTE, deliveries * MINUTE)
        assert kept.stays() == before, "a second look finds nothing"
        kept.outbox.close()


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return opened(tmp_path)


def test_numbers_are_never_given_again(kept: Kept) -> None:
    kept.record(("b", "x"), ("b", "y"))
    kept.settle("desk", 1)
    kept.settle("desk", 2)
    kept.record(("b", "z"), apart=500)
    kept.settle("desk", 3)
    kept.record(apart=500)
    kept.purge(MINUTE, MINUTE)
    assert kept.stays()[0] == [3], "the last alert stays, however old"
    kept.record(("b", "y"))
    assert kept.stays()[0] == [3, 4]


def test_a_replay_adds_no_alert_that_was_removed(kept: Kept) -> None:
    kept.record(("b", "x"))
    kept.settle("desk", 1)
    kept.record(("b", "y"), apart=1_000)
    kept.purge(MINUTE, MINUTE)
    assert kept.stays()[0] == [2]
    again = kept.outbox.record(BatchRecord(1, "d1", {}), [raised(1, rule="b", key="x")], ROUTES)
    assert again.already
    assert kept.stays()[0] == [2]


def test_what_is_pending_stays_with_its_alert(kept: Kept) -> None:
    kept.record(("a", "x"))
    kept.settle("desk", 1)
    kept.record(("b", "y"), apart=1_000)
    kept.purge(MINUTE, MINUTE)
    assert kept.stays() == ([1, 2], {("pager", 1): None, ("desk", 2): None})


def test_what_is_made_pending_meanwhile_stays(kept: Kept) -> None:
    """Between the look and the removal somebody redelivers."""
    kept.record(("b", "x"))
    kept.settle("desk", 1)
    kept.record(("b", "y"), apart=1_000)
    now = kept.clock[0]
    with kept.outbox.reading() as connection:
        old, sent = old_alerts(connection, now, 0), old_deliveries(connection, "desk", now, 0)
    assert list(old.numbers) == list(sent.numbers) == [1]
    with kept.outbox.writing() as connection:
        assert redeliver_alert(connection, 1, None, now) == ["desk"]
    with kept.outbox.writing() as connection:
        assert remove_deliveries(connection, sent) == 0
        assert remove_alerts(connection, old) == 0
    assert kept.stays()[0] == [1, 2]


def test_an_episode_that_goes_on_keeps_its_first_alert(kept: Kept) -> None:
    for _ in range(3):
        kept.record(("b", "x"), apart=200)
        kept.settle("desk", kept.alerts[-1][0])
    kept.record(("b", "y"), apart=1)
    kept.purge(150 * MINUTE, 150 * MINUTE)
    assert kept.stays()[0] == [1, 3, 4]
    with kept.outbox.reading() as connection:
        assert {one.first for one in read_episodes(connection, STATES)} == {1, 4}


def test_a_notification_goes_after_its_deliveries(kept: Kept) -> None:
    made = []
    for batch in range(3):
        kept.record(("b", f"x{batch}"), ("b", f"y{batch}"), apart=10)
        numbers = frozenset(one[0] for one in kept.alerts[-2:])
        making = Making("desk", numbers, None, 0)
        with kept.outbox.writing() as connection:
            (members,) = waiting_in(connection, [making], kept.clock[0])
            (due,) = make(connection, [(making, members)], kept.clock[0])
            made.append(due.made)
    first, second, third = (one.number for one in made if one is not None)
    for number, at in ((first, 30), (second, 31)):
        with kept.outbox.writing() as connection:
            settle_made(connection, [Settled("desk", 0, "delivered", 1, "204", None, at * MINUTE, number)])
    kept.record(("b", "z"), apart=1)

    def old(now: int) -> list[int]:
        with kept.outbox.reading() as connection:
            return old_notifications(connection, now * MINUTE)

    assert old(99) == [], "their deliveries are there"
    for before, found in ((31, [first]), (32, [first, second])):
        with kept.outbox.writing() as connection:
            remove_deliveries(connection, old_deliveries(connection, "desk", before * MINUTE, 0))
        assert old(99) == found
    assert old(10) == []
    assert old(11) == [first]
    with kept.outbox.writing() as connection:
        assert remove_notifications(connection, [first, second, third]) == 2, "the third is pending"
    assert old(99) == []


def test_alerts_that_are_in_no_episode_yet_stay(kept: Kept) -> None:
    old = [raised(1, rule="b"), raised(2, rule="b")]
    kept.outbox.record(BatchRecord(1, "d1", {}), old, [])
    kept.clock[0] = 500 * MINUTE
    kept.outbox.record(BatchRecord(500, "d500", {}), [raised(3, rule="b")], [])
    with kept.outbox.reading() as connection:
        assert old_alerts(connection, kept.clock[0], 0).numbers == []
    with kept.outbox.writing() as connection:
        assign_some(connection, lambda *_: LENGTH)
    with kept.outbox.reading() as connection:
        assert old_alerts(connection, kept.clock[0], 0).numbers == [1, 2]
