"""Who acts on a job's alerts; each act is written down in its own transaction (alerts.outbox.audit)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from alerts.outbox.audit import note, read_audit
from cep.web.desk.desk import JobDesk, moment
from cep.web.desk.filters import Page, number_of

if TYPE_CHECKING:
    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: the name of a token, or of a user of this machine; `at` is the wall clock in ns."""

    who: str
    at: int

    def did(self, connection: Connection, what: str, details: Mapping[str, object]) -> None:
        """Write it down within the transaction that `connection` is in."""
        note(connection, self.who, what, details, self.at)


@dataclass(frozen=True, slots=True)
class Act:
    """An act that was written down."""

    number: int
    at: str
    who: str
    what: str
    details: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ActPage:
    """Acts, the newest first; `next` is the cursor of those before them."""

    acts: tuple[Act, ...]
    next: str | None


def acts_page(desk: JobDesk, page: Page) -> ActPage:
    """The acts of people, the newest first. Raises MistakenError and OutboxError."""
    before = None if page.cursor is None else number_of("cursor", page.cursor)
    with desk.outbox.reading() as connection:
        found = read_audit(connection, before, page.limit + 1)
    some = tuple(
        Act(one.number, moment(one.at), one.who, one.what, one.details) for one in found[: page.limit]
    )
    return ActPage(some, str(some[-1].number) if len(found) > page.limit else None)
