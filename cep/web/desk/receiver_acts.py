"""Acts on receivers: try one, and end a pause."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from alerts.outbox.deliveries import Status, hasten
from alerts.outbox.standings import read_standings, write_standings
from alerts.receivers.notification import trial
from alerts.standing import Standing
from cep.web.desk.acting import Actor
from cep.web.desk.desk import JobDesk
from cep.web.desk.receivers import receiver_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from alerts.receivers.receiver import Outcome
    from cep.config import Receiver


@dataclass(frozen=True, slots=True)
class Tried:
    """The answer of a receiver to a test: `outcome` is delivered, rejected, unreachable or gone."""

    receiver: str
    id: str
    outcome: str
    detail: str


@dataclass(frozen=True, slots=True)
class Resumed:
    """A receiver that is attempted again, how it stood `before`, and the deliveries that wait for it now."""

    receiver: str
    before: str
    pending: int
    failed: int


def resume_receiver(desk: JobDesk, name: str, actor: Actor) -> Resumed:
    """Attempt deliveries to a receiver again, now. Raises MissingError and OutboxError."""
    receiver_named(desk.job, name)
    with desk.outbox.writing() as connection:
        before = read_standings(connection).get(name, Standing())
        write_standings(connection, {name: Standing()})
        hasten(connection, name, actor.at)
        actor.did(connection, "receiver resume", {"receiver": name, "before": before.state})
    desk.wake()
    mine = desk.outbox.status().get(name, Status(0, 0, None))
    return Resumed(name, before.state, mine.pending, mine.failed)


def try_receiver(desk: JobDesk, name: str, actor: Actor, console: TextIO | None = None) -> Tried:
    """Send one notification that is marked as a test. Raises MissingError, SecretError and OutboxError."""
    receiver = receiver_named(desk.job, name)
    with desk.outbox.writing() as connection:
        actor.did(connection, "receiver test", {"receiver": name})
    id_, outcome = send_test(receiver, desk.environ, actor.at, console or sys.stdout)
    return Tried(name, id_, outcome.result, outcome.detail)


def send_test(
    receiver: Receiver, environ: Mapping[str, str], now: int, console: TextIO
) -> tuple[str, Outcome]:
    """The id of a test that is sent at `now`, wall clock in ns, and what came of it. Raises SecretError."""
    from cep.receivers_made import receiver_made

    made = receiver_made(receiver, environ, console)
    alert = trial(receiver.name, now)
    try:
        return alert.id, made.send(alert.id, alert.to_json(), now)
    finally:
        made.close()
