"""Acts on deliveries: send alerts again, under their ids and with their bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from alerts.due import State
from alerts.outbox.deliveries import STATES, in_state, redeliver_alert, redeliver_some
from alerts.outbox.pages import Wanted, numbers
from cep.web.desk.acting import Actor
from cep.web.desk.desk import JobDesk
from cep.web.desk.errors import MistakenError, UnfitError
from cep.web.desk.filters import alert_of, told
from cep.web.desk.receivers import receiver_named
from cep.web.desk.secrets import shown, shown_filter

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST = 100_000
"""Alerts that a filter may want of one call."""
_STEP = 2_000
"""Deliveries that a transaction makes pending, so that a batch does not wait for longer than that takes."""


@dataclass(frozen=True, slots=True)
class Redelivered:
    """An alert that goes out again, and to whom."""

    alert: str
    receivers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Redelivery:
    """Alerts that go, or with `dry_run` would go, to a receiver again; `matched` counts those that the filter
    wants, `redelivered` those of them whose delivery is in one of the states asked for."""

    receiver: str
    matched: int
    redelivered: int
    dry_run: bool


@dataclass(frozen=True, slots=True)
class ByFilter:
    """Deliveries to send again: of the alerts wanted, to a receiver, in one of these states.

    `written` is the filter as it was given.
    """

    wanted: Wanted
    receiver: str
    states: Sequence[State]
    written: Mapping[str, str]


def redeliver_alerts(
    desk: JobDesk, given: Sequence[str], receiver: str | None, actor: Actor
) -> tuple[Redelivered, ...]:
    """Send alerts again, to one receiver or to all that each was to go to: all alerts named, or none.

    Raises MistakenError, MissingError, UnfitError and OutboxError.
    """
    done = []
    with desk.outbox.writing() as connection:
        for text in dict.fromkeys(given):
            number, id_ = alert_of(connection, text)
            receivers = redeliver_alert(connection, number, receiver, actor.at)
            if not receivers:
                to = f"to {told(receiver)}" if receiver else "to anybody"
                help_ = (
                    "`cep alerts explain` says where it went; a new receiver gets what is raised from then on"
                )
                raise UnfitError(f"alert {told(text)} was never to go {to}", help_)
            done.append(Redelivered(id_, tuple(receivers)))
        details = {"alerts": [one.alert for one in done], "receiver": receiver}
        actor.did(connection, "alert redeliver", details)
    desk.wake()
    return tuple(done)


def redeliver_by_filter(desk: JobDesk, asked: ByFilter, actor: Actor, *, dry_run: bool) -> Redelivery:
    """Send the alerts that a filter wants to a receiver again, some at a time, each time written down.

    Raises MistakenError, MissingError and OutboxError.
    """
    receiver_named(desk.job, asked.receiver)
    if wrong := [state for state in asked.states if state not in STATES] or not asked.states:
        state = told(str(wrong[0])) if isinstance(wrong, list) else "nothing"
        raise MistakenError(f"`{state}` is no state of a delivery", f"write one of {', '.join(STATES)}")
    wanted = shown(desk, asked.wanted)
    asked = replace(asked, wanted=wanted, written=shown_filter(asked.written, asked.wanted, wanted))
    with desk.outbox.reading() as connection:
        matched = numbers(connection, asked.wanted, MOST + 1, newest_first=False)
        if len(matched) > MOST:
            raise MistakenError(f"the filter wants more than {MOST:,} alerts", "narrow it: `since`, `until`")
        found = in_state(connection, asked.receiver, matched, asked.states)
    if not dry_run:
        _redeliver(desk, asked, found, actor)
    return Redelivery(asked.receiver, len(matched), len(found), dry_run)


def _redeliver(desk: JobDesk, asked: ByFilter, found: Sequence[int], actor: Actor) -> None:
    for start in range(0, len(found), _STEP):
        some = found[start : start + _STEP]
        with desk.outbox.writing() as connection:
            redeliver_some(connection, asked.receiver, some, actor.at)
            details = {
                "receiver": asked.receiver, "filter": dict(asked.written), "states": list(asked.states),
                "alerts": len(some), "first": some[0], "last": some[-1],
            }  # fmt: skip
            actor.did(connection, "alerts redeliver", details)
        desk.wake()
