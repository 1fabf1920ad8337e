"""Alerts: those that a filter wants, and one with its way to receivers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from alerts.notation import duration, timestamp
from alerts.outbox.deliveries import states_of
from alerts.outbox.episodes import episode_of, episodes_of, ids_of
from alerts.outbox.pages import Wanted
from alerts.outbox.standings import read_standings
from alerts.outbox.stored import read_alert, read_alerts, read_deliveries
from cep.web.desk.desk import JobDesk, moment, moment_or_none
from cep.web.desk.filters import Page, alert_of, number_of
from cep.web.desk.secrets import shown

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from alerts.episodes.episode import Episode
    from alerts.outbox import Delivery, StoredAlert
    from alerts.standing import Standing


@dataclass(frozen=True, slots=True)
class AlertRow:
    """An alert in a list: `alert` is what receivers get, `deliveries` the state by receiver."""

    number: int
    batch: int
    recorded_at: str
    alert: Mapping[str, object]
    episode: str | None
    episode_state: str | None
    deliveries: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AlertPage:
    """Alerts, the newest first; `next` is the cursor of the alerts before these, None if there are none."""

    alerts: tuple[AlertRow, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class TraceLine:
    """A line of what the stages said of a delivery."""

    at: str
    said: str


@dataclass(frozen=True, slots=True)
class DeliveryView:
    """The delivery to one receiver. `held` is why a stage holds it back until `due_at`, `waits` how long a
    pending one still waits."""

    receiver: str
    route: str
    state: str
    held: str | None
    attempts: int
    due_at: str | None
    waits: str | None
    settled_at: str | None
    outcome: str
    paused: str | None
    trace: tuple[TraceLine, ...]


@dataclass(frozen=True, slots=True)
class AlertView:
    """One alert with its way: recorded with a batch, put into an episode, sent to receivers or held back."""

    number: int
    batch: int
    recorded_at: str
    alert: Mapping[str, object]
    episode: str | None
    episode_state: str | None
    deliveries: tuple[DeliveryView, ...]


def alerts_page(desk: JobDesk, wanted: Wanted, page: Page) -> AlertPage:
    """Alerts that are wanted, the newest first. Raises MistakenError and OutboxError."""
    if page.cursor is not None:
        wanted = replace(wanted, before=number_of("cursor", page.cursor))
    wanted = shown(desk, wanted)
    with desk.outbox.reading() as connection:
        found = read_alerts(connection, wanted, page.limit + 1, newest_first=True)
        rows = rows_of(connection, found[: page.limit])
    return AlertPage(rows, str(rows[-1].number) if len(found) > page.limit else None)


def alerts_after(desk: JobDesk, wanted: Wanted, after: int, limit: int) -> tuple[AlertRow, ...]:
    """Alerts that are wanted and were raised after the one of a number, the oldest first."""
    wanted = shown(desk, wanted)
    with desk.outbox.reading() as connection:
        found = read_alerts(connection, replace(wanted, after=after), limit, newest_first=False)
        return rows_of(connection, found)


def rows_of(connection: Connection, some: Sequence[StoredAlert]) -> tuple[AlertRow, ...]:
    states = states_of(connection, [one.number for one in some])
    of = episodes_of(connection, [one.number for one in some])
    ids = ids_of(connection, {one.first: one for one in of.values()}.values())
    return tuple(
        AlertRow(
            one.number,
            one.batch,
            moment(one.recorded_at),
            one.alert,
            *_told(of.get(one.number), ids),
            dict(sorted(states.get(one.number, {}).items())),
        )
        for one in some
    )


def _told(episode: Episode | None, ids: Mapping[int, str]) -> tuple[str | None, str | None]:
    return (None, None) if episode is None else (ids[episode.first], episode.standing.state)


def one_alert(desk: JobDesk, given: str) -> AlertView:
    """The alert of an id, or of the beginning of one. Raises MissingError, MistakenError and OutboxError."""
    now = desk.clock()
    with desk.outbox.reading() as connection:
        number, id_ = alert_of(connection, given)
        stored = read_alert(connection, id_)
        assert stored is not None
        episode = episode_of(connection, number)
        ids = {} if episode is None else ids_of(connection, [episode])
        deliveries, standings = read_deliveries(connection, id_), read_standings(connection)
    return AlertView(
        number,
        stored.batch,
        timestamp(stored.recorded_at),
        stored.alert,
        *_told(episode, ids),
        tuple(_delivery(one, now, standings.get(one.receiver)) for one in deliveries),
    )


def _delivery(one: Delivery, now: int, standing: Standing | None) -> DeliveryView:
    over = one.due_at is not None and one.due_at <= now
    held = one.held if one.held is not None and not over else None
    wait = None if one.due_at is None or one.due_at <= now else (one.due_at - now) // 10**9 * 10**9
    trace = (line.split(" ", 1) for line in one.trace.splitlines())
    return DeliveryView(
        receiver=one.receiver,
        route=one.way or "the receiver's own rules and severity",
        state="held" if held else one.state,
        held=held,
        attempts=one.attempts,
        due_at=moment_or_none(one.due_at),
        waits=None if wait is None else duration(wait),
        settled_at=moment_or_none(one.settled_at),
        outcome=one.outcome,
        paused=None
        if standing is None or standing.state != "paused" or one.due_at is None
        else standing.reason,
        trace=tuple(TraceLine(timestamp(int(at)), said) for at, said in trace),
    )
