"""PagerDuty follows episodes: what people make of one is told, once it was triggered, and never before."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from some_alerts import SECOND, raised
from sqlalchemy import func, select
from test_people import KEY, pagerduty
from wayward_server import PATIENCE, Answer, Call, WaywardServer

from alerts.dispatch import Dispatcher
from alerts.episodes.episode import EpisodeError, Standing
from alerts.lane import Schedule
from alerts.matchers import Matchers
from alerts.outbox import BatchRecord, Outbox, OutboxError
from alerts.outbox.blanking import in_episodes
from alerts.outbox.episodes import assign_some, change, close_quiet, read_episodes
from alerts.outbox.incidents import incidents, told_of
from alerts.outbox.retention import old_alerts, remove_alerts
from alerts.outbox.silences import add as add_silence
from alerts.receivers.pagerduty import PagerDutyReceiver
from alerts.routing import Route
from alerts.silences import Silence
from alerts.sought import Sought

SOON = Schedule(first=0.005, longest=0.02, attempts=10_000, probe=0.02)
ROUTES = [Route("pager")]


class Desk:
    """An outbox, what people do with its episodes, and who delivers its alerts."""

    def __init__(self, folder: Path, url: str) -> None:
        self.outbox = Outbox.open(f"sqlite:///{folder}/outbox.db", durable=False)
        self.url = url
        self.batch = 0
        self.dispatcher: Dispatcher | None = None

    def start(self) -> None:
        receiver = PagerDutyReceiver("pager", KEY, self.url)
        self.dispatcher = Dispatcher(self.outbox, [receiver], schedule=SOON, poll=0.02)
        self.dispatcher.start()

    def stop(self) -> None:
        assert self.dispatcher is not None
        assert self.dispatcher.stop(PATIENCE)

    def raise_some(self, *alerts: tuple[int, str], assigned: bool = True) -> None:
        some = [raised(n, key=key, time=n) for n, key in alerts]
        self.outbox.record(BatchRecord(self.batch, f"d{self.batch}", {}), some, ROUTES)
        self.batch += 1
        if assigned:
            self.assign()

    def assign(self) -> None:
        with self.outbox.writing() as connection:
            assign_some(connection, lambda *_: 3_600 * SECOND)

    def does(self, first: int, do: Callable[[Standing], Standing]) -> None:
        """Change the standing of an episode, where that can be done."""
        with self.outbox.writing() as connection:
            found = {one.first: one for one in read_episodes(connection, ("open", "acknowledged", "closed"))}
            if first in found:
                try:
                    change(connection, first, do(found[first].standing))
                except EpisodeError:
                    return

    def states(self) -> dict[str, str]:
        """How each episode stands, by its id."""
        with self.outbox.reading() as connection:
            found = read_episodes(connection, ("open", "acknowledged", "closed"))
        return {self.outbox.episode_id(one.first) or "": one.standing.state for one in found}


def acknowledge(at: int) -> Callable[[Standing], Standing]:
    return lambda one: one.acknowledged("ann", at)


def close(at: int) -> Callable[[Standing], Standing]:
    return lambda one: one.closed("benign", "ann", at)


def reopen(at: int) -> Callable[[Standing], Standing]:
    return lambda one: one.reopened("ann", at)


def said(calls: list[Call]) -> list[tuple[str, str]]:
    found = [json.loads(call.body) for call in calls]
    return [(one["event_action"], one["dedup_key"]) for one in found]


@contextmanager
def desk_at(folder: Path, server: WaywardServer) -> Iterator[Desk]:
    desk = Desk(folder, server.url)
    try:
        yield desk
    finally:
        if desk.dispatcher is not None:
            desk.stop()
        desk.outbox.close()


@pytest.mark.slow
def test_an_incident_goes_the_way_of_its_episode(tmp_path: Path) -> None:
    with WaywardServer(pagerduty) as server, desk_at(tmp_path, server) as desk:
        desk.raise_some((1, "c1"), (2, "c1"))
        desk.start()
        server.wait_for(lambda calls: len(calls) >= 2)
        for number, do in enumerate((acknowledge(5), close(6), reopen(7), close(8)), 3):
            desk.does(1, do)
            server.wait_for(lambda calls, number=number: len(calls) >= number)
        assert desk.dispatcher is not None
        assert desk.dispatcher.drain(PATIENCE)
        episode = raised(1, key="c1").alert.id
        assert said(server.calls) == [
            (what, episode) for what in ("trigger", "trigger", "acknowledge", "resolve", "trigger", "resolve")
        ]
        with desk.outbox.reading() as connection:
            (told,) = told_of(connection, 1)
        assert (told.told, told.pending, told.outcome) == ("resolve", False, "202")
        lines = [line.partition(" ")[2] for line in told.trace.splitlines()]
        assert lines == [f"{what}: 202" for what, _ in said(server.calls)]


def test_an_alert_waits_until_it_belongs_to_an_episode(tmp_path: Path) -> None:
    with WaywardServer(pagerduty) as server, desk_at(tmp_path, server) as desk:
        desk.raise_some((1, "c1"))
        desk.raise_some((2, "c2"), assigned=False)
        desk.start()
        server.wait_for(lambda calls: len(calls) == 1)
        assert desk.outbox.waiting(["pager"])
        desk.assign()
        server.wait_for(lambda calls: len(calls) == 2)
        assert said(server.calls)[1] == ("trigger", raised(2, key="c2").alert.id)


def test_who_was_never_told_of_an_episode_is_not_told_of_its_end(tmp_path: Path) -> None:
    with WaywardServer(pagerduty) as server, desk_at(tmp_path, server) as desk:
        with desk.outbox.writing() as connection:
            matchers = Matchers.of(["card_id = c1"])
            add_silence(connection, Silence("s1", "ann", "why", 0, 2**62, matchers))
        desk.raise_some((1, "c1"), (2, "c2"))
        desk.start()
        server.wait_for(lambda calls: len(calls) == 1)
        desk.does(1, acknowledge(5))
        desk.does(1, close(6))
        desk.does(2, close(7))
        server.wait_for(lambda calls: len(calls) == 2)
        assert desk.dispatcher is not None
        assert desk.dispatcher.drain(PATIENCE)
        second = raised(2, key="c2").alert.id
        assert said(server.calls) == [("trigger", second), ("resolve", second)]


def test_what_the_job_closes_is_resolved(tmp_path: Path) -> None:
    with WaywardServer(pagerduty) as server, desk_at(tmp_path, server) as desk:
        desk.raise_some((1, "c1"), (2, "c2"))
        desk.start()
        server.wait_for(lambda calls: len(calls) == 2)
        assert desk.dispatcher is not None
        assert desk.dispatcher.drain(PATIENCE)
        with desk.outbox.writing() as connection:
            assert close_quiet(connection, 4_000 * SECOND, 9) == 2
        desk.dispatcher.wake()
        server.wait_for(lambda calls: len(calls) == 4)
        assert sorted(said(server.calls)[2:]) == sorted(
            ("resolve", raised(n, key=f"c{n}").alert.id) for n in (1, 2)
        )


@pytest.mark.slow
def test_what_is_old_goes_with_its_episode(tmp_path: Path) -> None:
    with WaywardServer(pagerduty) as server, desk_at(tmp_path, server) as desk:
        desk.raise_some((1, "c1"))
        desk.start()
        server.wait_for(lambda calls: len(calls) == 1)
        assert desk.dispatcher is not None
        assert desk.dispatcher.drain(PATIENCE)
        for n in range(2, 200):
            desk.raise_some((n, f"c{n}"))
        assert desk.dispatcher.drain(PATIENCE)
        with desk.outbox.writing() as connection:
            old = old_alerts(connection, 2**62, 0, 50)
            assert remove_alerts(connection, old) > 0
            assert told_of(connection, 1) == []


def test_what_is_erased_leaves_no_incident(tmp_path: Path) -> None:
    with WaywardServer(pagerduty) as server, desk_at(tmp_path, server) as desk:
        desk.raise_some((1, "c1"), (2, "c2"))
        desk.start()
        server.wait_for(lambda calls: len(calls) == 2)
        assert desk.dispatcher is not None
        assert desk.dispatcher.drain(PATIENCE)
        with desk.outbox.writing() as connection:
            in_episodes(connection, Sought({"card_id": "c1"}), None).write(connection)
            assert told_of(connection, 1) == []
            assert len(told_of(connection, 2)) == 1
            assert connection.scalar(select(func.count()).select_from(incidents)) == 1


class Incidents:
    """PagerDuty's side: what its incidents are after the events that it took, in order."""

    def __init__(self) -> None:
        self.states: dict[str, str] = {}
        self.failing = False
        self.wrong: list[str] = []

    def __call__(self, call: Call) -> Answer:
        answer = pagerduty(call)
        if answer.status != 202 or self.failing:
            return Answer(503) if self.failing else answer
        event = json.loads(call.body)
        key, action = event["dedup_key"], event["event_action"]
        if action == "trigger":
            if self.states.get(key) != "acknowledged":
                self.states[key] = "open"
        elif key not in self.states:
            self.wrong.append(f"{action} before its trigger")
        elif self.states[key] != "closed":
            self.states[key] = "acknowledged" if action == "acknowledge" else "closed"
        return answer


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.slow
def test_whatever_breaks_incidents_come_to_stand_as_episodes_do(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outcomes that are lost, as by a kill between answer and row; failures; restarts; acts of people."""
    random, theirs = Random(seed), Incidents()
    with WaywardServer(theirs) as server, desk_at(tmp_path, server) as desk:
        settle = desk.outbox.settle

        def lost(*_: object, **__: object) -> None:
            raise OutboxError("CEP0901", "the outbox is locked", None)

        desk.start()
        for step in range(60):
            act = random.choice(
                ("raise", "raise", "ack", "close", "close", "reopen", "fail", "kill", "start")
            )
            first = random.randrange(1, desk.batch + 2)
            if act == "raise":
                desk.raise_some((step + 1, f"c{random.randrange(4)}"), assigned=random.random() < 0.7)
            elif act in ("ack", "close", "reopen"):
                desk.does(first, {"ack": acknowledge, "close": close, "reopen": reopen}[act](step))
            elif act == "fail":
                theirs.failing = not theirs.failing
            elif act == "kill":
                before = len(server.calls)
                monkeypatch.setattr(desk.outbox, "settle", lost)
                desk.raise_some((1_000 + step, f"k{step}"))
                server.wait_for(lambda calls, before=before: len(calls) > before)
                desk.stop()
                monkeypatch.setattr(desk.outbox, "settle", settle)
                desk.start()
            else:
                desk.stop()
                desk.start()
        theirs.failing = False
        desk.assign()
        assert desk.dispatcher is not None
        desk.dispatcher.wake()
        assert desk.dispatcher.drain(PATIENCE)
        assert theirs.wrong == []
        states = desk.states()
    assert theirs.states.keys() == states.keys()
    # an incident that is acknowledged stays so at PagerDuty, whatever comes, but for its end
    differing = {key for key in states if theirs.states[key] != states[key]}
    assert all((theirs.states[key], states[key]) == ("acknowledged", "open") for key in differing)
