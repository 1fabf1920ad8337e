"""Silences: who does not want to be told of what, until when, and what that holds back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from alerts.outbox.silences import held_counts, read_silences
from alerts.silences import reason_of
from cep.web.desk.desk import JobDesk, moment

if TYPE_CHECKING:
    from alerts.silences import Silence


@dataclass(frozen=True, slots=True)
class SilenceView:
    """A silence; `state` is active, ended or "to begin", `held` the deliveries that it holds back now."""

    id: str
    state: str
    begins: str
    until: str
    who: str
    why: str
    matchers: tuple[str, ...]
    held: int


def silences_now(desk: JobDesk, *, ended: bool = False) -> tuple[SilenceView, ...]:
    """The silences that go on or are to begin, by their beginnings; those that have `ended`, too.

    Raises OutboxError.
    """
    now = desk.clock()
    with desk.outbox.reading() as connection:
        some = read_silences(connection, None if ended else now)
        counts = held_counts(connection)
    held: dict[str, int] = {}
    for (_, reason), count in counts.items():
        held[reason] = held.get(reason, 0) + count
    return tuple(view_of(one, now, held.get(reason_of(one.id), 0)) for one in some)


def view_of(one: Silence, now: int, held: int) -> SilenceView:
    """A silence as it is at `now`, wall clock in ns."""
    state = "active" if one.active(now) else "ended" if one.ends_at <= now else "to begin"
    return SilenceView(
        one.id,
        state,
        moment(one.starts_at),
        moment(one.ends_at),
        one.who,
        one.why,
        tuple(str(matcher) for matcher in one.matchers.all),
        held,
    )
