"""An evening in virtual time: an outbox, its lanes and receivers, decided and sent a second at a time.

It may end between each pair of steps of a delivery, as a process that is killed does.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from some_alerts import SECOND, raised
from stores import outbox_url

from alerts.due import Made
from alerts.lane import Lane, Schedule
from alerts.matchers import Matchers
from alerts.outbox import BatchRecord, Held, Outbox, Settled
from alerts.outbox.deliveries import redeliver_alert
from alerts.outbox.silences import add, expire, held_counts
from alerts.receivers.receiver import Outcome
from alerts.routing import Route, Routes
from alerts.settings import Settings
from alerts.silences import Silence
from alerts.stages.inhibit import Inhibitors
from alerts.stages.notifying import Notifying

DELIVERED = Outcome("delivered", "204")
STEPS = ("before held", "before made", "after made", "after sent")
"""Where a process may end."""


class DiedError(Exception):
    """The process ended."""


@dataclass(frozen=True)
class Evenly(Schedule):
    """Tries again after five seconds."""

    def delay(self, attempt: int, random: Random) -> int:  # noqa: ARG002
        return 5 * SECOND


@dataclass(frozen=True, slots=True)
class Sent:
    """What a receiver got: at which second, under which id, the numbers of the alerts, of how many."""

    at: int
    id: str
    alerts: tuple[int, ...]
    count: int
    bodies: tuple[str, ...]

    def __str__(self) -> str:
        more = "" if self.count == len(self.alerts) else f" of {self.count}"
        return f"{self.at}: {'+'.join(map(str, self.alerts))}{more}"


@dataclass
class Desk:
    """A receiver that keeps what it is sent; `answers` may make it fail, by the numbers of the alerts."""

    name: str
    apart: bool = False
    in_flight: int = 4
    since: int = 0  # so many were tried before the process began
    tried: list[Sent] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    answers: Callable[[Sequence[int]], Outcome] = lambda _: DELIVERED

    def send(self, id_: str, body: str, now: int) -> Outcome:
        return self._take(id_, (body,), 1, now)

    def send_group(self, group: Made, now: int) -> Outcome:
        return self._take(group.id, group.bodies, group.count, now)

    def _take(self, id_: str, bodies: tuple[str, ...], count: int, now: int) -> Outcome:
        numbers = tuple(json.loads(body)["emit"]["n"] for body in bodies)
        one = Sent(now // SECOND, id_, numbers, count, bodies)
        self.tried.append(one)
        outcome = self.answers(numbers)
        if outcome.result == "delivered":
            self.sent.append(one)
        return outcome

    def close(self) -> None:
        """Has nothing to close."""


class Evening:
    """An outbox and its deliverer. `settings` count from the next restart on."""

    def __init__(self, folder: Path, settings: Settings | None = None, *desks: Desk) -> None:
        self.now, self.batches = 0, 0
        self._wait, self._wait_from = 1.0, -1
        self.url = outbox_url(folder)
        self.settings = settings or Settings()
        self.desks = {one.name: one for one in desks or (Desk("desk"), Desk("pager"))}
        self.routes: Routes = (Route("desk"),)
        self.numbers: dict[int, str] = {}
        self.retry: Schedule = Evenly()
        self.outbox = Outbox.open(self.url, durable=False, clock=lambda: self.now * SECOND)
        self.begin()

    def begin(self) -> None:
        """What a process does at its start."""
        ways = {} if self.settings.branches is None else self.outbox.ways(self.settings.branches)
        branches = [] if self.settings.branches is None else self.settings.branches.all
        of_way = {ways[n]: one.grouping for n, one in enumerate(branches, 1) if one.grouping is not None}
        self.inhibitors = Inhibitors(
            self.settings.inhibitions,
            lambda since, until: self.outbox.sources_between(self.inhibitors, since, until),
        )
        self.known: int | None = None
        self.lanes = [self._lane(one, of_way) for one in self.desks.values()]
        for desk in self.desks.values():
            desk.since = len(desk.tried)
        for lane in self.lanes:
            lane.take_up(self.outbox, self.now * SECOND)

    def _lane(self, desk: Desk, of_way: dict) -> Lane:  # type: ignore[type-arg]
        stages = Notifying(desk.name, self.settings, self.inhibitors, of_way, apart=desk.apart)
        return Lane(desk, self.retry, Random(1), stages)

    def restart(self, settings: Settings | None = None) -> None:
        """The process ends, and another begins: what it had in memory is gone."""
        self.settings = settings or self.settings
        self.outbox.close()
        self.outbox = Outbox.open(self.url, durable=False, clock=lambda: self.now * SECOND)
        self.begin()
        self._wait_from = -1

    def record(self, number: int, time: int | None = None, **what: object) -> str:
        """An alert comes into the outbox; its event time is its number, in seconds."""
        one = raised(number, time=number if time is None else time, **what)  # type: ignore[arg-type]
        self.outbox.record(BatchRecord(self.batches, f"d{self.batches}", {}), [one], self.routes)
        self.batches += 1
        self._wait_from = -1
        self.numbers[number] = one.id
        return one.id

    def records(self, *numbers: int) -> None:
        """Several alerts come."""
        for number in numbers:
            self.record(number)

    def silence(self, id_: str, start: int, end: int, *matchers: str) -> None:
        one = Silence(id_, "ann", "noise", start * SECOND, end * SECOND, Matchers.of(matchers))
        with self.outbox.writing() as connection:
            add(connection, one)

    def expire(self, id_: str) -> bool:
        with self.outbox.writing() as connection:
            self._wait_from = -1
            return expire(connection, id_, "bob", self.now * SECOND)

    def redeliver(self, number: int) -> None:
        """A person asks for an alert."""
        with self.outbox.writing() as connection:
            id_ = self.numbers[number]
            found = next(one.number for one in self.outbox.alerts() if one.alert["id"] == id_)
            self._wait_from = -1
            redeliver_alert(connection, found, None, self.now * SECOND)

    def fails(self, *numbers: int, name: str = "desk") -> None:
        """From now on whatever is about one of these alerts fails."""
        wanted = set(numbers)
        self.desks[name].answers = lambda some: (
            Outcome("rejected", "500") if wanted.intersection(some) else DELIVERED
        )

    def until(self, second: int) -> None:
        """Let time go on, to each second at which there may be something to do, and deliver."""
        while self.now < second:
            wait = self._wait if self._wait_from == self.now else 1.0
            self.now = min(second, self.now + max(1, math.ceil(wait)))
            self.deliver()
            self._wait_from = self.now

    def deliver(self, dies: str = "") -> None:
        """Decide and send what is due. Raises DiedError at the step named, if it comes to it."""
        self._wait = 3600.0
        for lane, desk in zip(self.lanes, self.desks.values(), strict=True):
            lane.stages.mute.silences = type(lane.stages.mute.silences)(
                self.outbox.silences(self.now * SECOND)
            )
            lane.look_at = 0
            while self._some(lane, desk, dies):
                pass
            self._wait = min(self._wait, lane.fill(self.outbox, self.now * SECOND, 3600.0))

    def _some(self, lane: Lane, desk: Desk, dies: str) -> bool:
        now, settled = self.now * SECOND, list[Settled]()
        lane.fill(self.outbox, now, 3600.0)
        if self.settings.inhibitions:
            self.known, found = self.outbox.sources(self.inhibitors, self.known)
            self.inhibitors.add(found)
        if makings := lane.makings(now):
            self._held(lane, dies)
            _die(dies, "before made")
            done = self.outbox.make(makings, lane.stages, now)
            _die(dies, "after made")
            lane.made(list(zip(makings, done, strict=True)), now)
        while (due := lane.take(now)) is not None:
            one = due.made
            if one is not None and one.count > 1:
                outcome = desk.send_group(one, now)
            else:
                outcome = desk.send(due.id, due.body, now)
            _die(dies, "after sent")
            settled.append(lane.settle(due, outcome, now))
        any_held = self._held(lane, dies)
        self.outbox.settle(settled)
        lane.written(settled)
        return any_held or bool(settled or makings)

    def _held(self, lane: Lane, dies: str) -> bool:
        some: list[Held] = list(lane.held)
        if some:
            _die(dies, "before held")
            self.outbox.settle([], held=some)
            lane.written(some)
            lane.held.clear()
        return bool(some)

    def sent(self, name: str = "desk") -> list[str]:
        """What a receiver got: `3: 1+2`, at second 3 alerts 1 and 2 in one notification."""
        return [str(one) for one in self.desks[name].sent]

    def held(self) -> dict[tuple[str, str], int]:
        with self.outbox.reading() as connection:
            return held_counts(connection)

    def why(self, number: int, name: str = "desk") -> str:
        """Why an alert is held back; empty: nothing does."""
        (one,) = [one for one in self.outbox.deliveries(self.numbers[number]) if one.receiver == name]
        return one.held or ""


def _die(dies: str, step: str) -> None:
    if dies == step:
        raise DiedError
