"""The events of an alert, from the job's record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cep.web.desk.errors import MissingError

if TYPE_CHECKING:
    from cep.record.read import Evidence
    from cep.web.desk.desk import JobDesk


def evidence_of(desk: JobDesk, id_: str) -> Evidence:
    """What the record has of the events of the alert of that whole id. Raises MissingError."""
    from cep.record.read import events_of

    stored = desk.outbox.alert(id_)
    if stored is None:
        raise MissingError(f"there is no alert {id_}", "`cep alerts list` prints those that there are")
    return events_of(desk.job.state, stored)
