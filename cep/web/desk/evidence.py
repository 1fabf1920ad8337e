"""The events of an alert, from the job's record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from alerts.notation import timestamp
from cep.web.desk.errors import MissingError
from cep.web.desk.filters import alert_of

if TYPE_CHECKING:
    from cep.record.read import Evidence, TakenEvent
    from cep.web.desk.desk import JobDesk


@dataclass(frozen=True, slots=True)
class PlaceView:
    """The place of an event in its feed."""

    partition: str
    file: str
    offset: int


@dataclass(frozen=True, slots=True)
class EventView:
    """An event that an alert lists. Of one that is not `recorded` the step and the id are known, no more."""

    step: str
    id: str
    recorded: bool
    stream: str | None = None
    time: str | None = None
    fields: dict[str, Any] | None = None
    batch: int | None = None
    arrived_at: str | None = None
    place: PlaceView | None = None


@dataclass(frozen=True, slots=True)
class AlertEvents:
    """The events of an alert, in the order in which it lists them. `missing` says why the record has not all
    of them; None: it has."""

    events: tuple[EventView, ...]
    missing: str | None


def evidence_of(desk: JobDesk, id_: str) -> Evidence:
    """The events of the alert of that whole id, as far as the record has them. Raises MissingError."""
    from cep.job.state_folder.folder import StateFolder
    from cep.record.read import events_of

    stored = desk.outbox.alert(id_)
    if stored is None:
        raise MissingError(f"there is no alert {id_}", "`cep alerts list` prints those that there are")
    return events_of(StateFolder.of(desk.job, desk.environ), stored)


def alert_events(desk: JobDesk, given: str) -> AlertEvents:
    """The events of the alert of an id, or of the beginning of one. Raises MissingError, MistakenError."""
    with desk.outbox.reading() as connection:
        _, id_ = alert_of(connection, given)
    found = evidence_of(desk, id_)
    return AlertEvents(tuple(_view(one) for one in found.events), found.missing or None)


def _view(taken: TakenEvent) -> EventView:
    one = taken.event
    if one is None:
        return EventView(taken.step, taken.id, False)
    return EventView(
        taken.step,
        taken.id,
        True,
        one.stream,
        timestamp(one.time),
        dict(one.fields),
        one.batch,
        timestamp(one.arrival),
        PlaceView(one.partition, one.file, one.offset),
    )
