"""Episodes: the queue that a desk works through, one with its alerts, and what verdicts say of rules."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from alerts.alert import SEVERITIES
from alerts.notation import duration, timestamp
from alerts.outbox.episodes import counted, episode_of, ids_of, precisions, read_episodes
from alerts.outbox.found import is_erased
from alerts.outbox.incidents import told_of
from alerts.outbox.pages import Wanted
from alerts.outbox.stored import read_alerts, read_batch
from cep.web.desk.desk import JobDesk, moment, moment_or_none
from cep.web.desk.errors import MissingError
from cep.web.desk.filters import Page, gone, named_by, place_among_episodes, told

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from alerts.episodes.episode import Episode, State
    from alerts.outbox.incidents import Told


@dataclass(frozen=True, slots=True)
class EpisodeView:
    """An episode, under the id of its first alert; `quiet`: nothing that comes now can belong to it."""

    id: str
    pack: str
    rule: str
    key: Mapping[str, object]
    severity: str
    state: str
    quiet: bool
    alerts: int
    began: str
    ended: str
    episode: str
    verdict: str | None
    note: str
    by: str
    at: str | None


@dataclass(frozen=True, slots=True)
class ToldView:
    """A receiver's knowledge of an episode: it was `told` trigger, acknowledge or resolve last.

    `pending`: it is to be told more, after `attempts` attempts. `outcome` is that of the last one, at `at`;
    `trace` has every one.
    """

    receiver: str
    told: str
    pending: bool
    attempts: int
    at: str | None
    outcome: str
    trace: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EpisodePage:
    """Episodes by state, then the worst first, then the oldest; `states` counts all, `next` is a cursor."""

    episodes: tuple[EpisodeView, ...]
    states: Mapping[str, int]
    next: str | None


@dataclass(frozen=True, slots=True)
class EpisodeAlerts:
    """An episode and its alerts, in the order raised; `more` of them, the oldest, are left out.

    `told` is what receivers that follow episodes know of it.
    """

    episode: EpisodeView
    alerts: tuple[Mapping[str, object], ...]
    more: int
    told: tuple[ToldView, ...]


@dataclass(frozen=True, slots=True)
class RulePrecision:
    """The verdicts on a rule's episodes; `precision` is the share of true positives, None without any."""

    pack: str
    rule: str
    true_positive: int
    false_positive: int
    benign: int
    duplicate: int
    precision: float | None


@dataclass(frozen=True, slots=True)
class EpisodeFilter:
    """The episodes wanted: in one of these states, of a pack, of a rule; None: of any."""

    states: Sequence[State]
    pack: str | None = None
    rule: str | None = None


def episodes_page(desk: JobDesk, wanted: EpisodeFilter, page: Page, most: int | None = None) -> EpisodePage:
    """Episodes that are wanted. Raises MistakenError and OutboxError.

    With `most`, of more episodes in a state no more than one more is counted.
    """
    after = None if page.cursor is None else place_among_episodes(page.cursor)
    with desk.outbox.reading() as connection:
        found = read_episodes(
            connection, wanted.states, pack=wanted.pack, rule=wanted.rule, limit=page.limit + 1, after=after
        )
        some = found[: page.limit]
        views, states = views_of(connection, some), states_counted(connection, most)
    last = f"{some[-1].standing.state}.{some[-1].worst}.{some[-1].first}" if some else None
    return EpisodePage(views, states, last if len(found) > page.limit else None)


def one_episode(desk: JobDesk, given: str, most: int) -> EpisodeAlerts:
    """The episode of an id, its own or that of one of its alerts, with its newest alerts, `most` at most.

    Raises MissingError, MistakenError and OutboxError.
    """
    with desk.outbox.reading() as connection:
        one = meant(connection, given)
        (view,) = views_of(connection, [one])
        of = Wanted(pack=one.pack, rule=one.rule, key=view.key, after=one.first - 1, before=one.last + 1)
        alerts = read_alerts(connection, of, most, newest_first=True)
        told_to = receivers_told(connection, one.first)
    shown = tuple(stored.alert for stored in reversed(alerts))
    return EpisodeAlerts(view, shown, max(0, one.alerts - len(shown)), told_to)


def receivers_told(connection: Connection, first: int) -> tuple[ToldView, ...]:
    """Receivers' knowledge of the episode that begins with the alert of that number."""
    return tuple(_told(one) for one in told_of(connection, first))


def _told(one: Told) -> ToldView:
    lines = (line.partition(" ") for line in one.trace.splitlines())
    trace = tuple(f"{moment(int(at))} {words}" for at, _, words in lines)
    at = moment_or_none(one.settled_at)
    return ToldView(one.receiver, one.told, one.pending, one.attempts, at, one.outcome, trace)


def states_counted(connection: Connection, most: int | None = None) -> dict[str, int]:
    """The number of episodes in each state; with `most`, of more no more than one more is counted."""
    return {str(state): count for state, count in counted(connection, most).items()}


def precision_of_rules(desk: JobDesk) -> tuple[RulePrecision, ...]:
    """The verdicts of each rule that has any, by pack and rule."""
    with desk.outbox.reading() as connection:
        found = precisions(connection)
    return tuple(
        RulePrecision(
            one.pack, one.rule, one.true_positive, one.false_positive, one.benign, one.duplicate, one.share
        )
        for one in found
    )


def meant(connection: Connection, given: str) -> Episode:
    """The episode of an id, its own or that of one of its alerts. Raises MissingError, GoneError and
    MistakenError."""
    number, _ = named_by(connection, given)
    one = episode_of(connection, number)
    if one is None and is_erased(connection, number):
        raise gone(given)
    if one is None:
        raise MissingError(
            f"alert {told(given)} belongs to no episode",
            "the job assigns alerts after their batch; those of before this version have no episode",
        )
    return one


def views_of(connection: Connection, some: Sequence[Episode]) -> tuple[EpisodeView, ...]:
    """Episodes as they stand at the watermark of the last batch."""
    ids, now = ids_of(connection, some), event_time(connection)
    return tuple(_view(one, ids[one.first], now) for one in some)


def event_time(connection: Connection) -> int | None:
    """The watermark after the last batch, by which episodes are quiet; None if it is not known."""
    record = read_batch(connection, None)
    found = None if record is None else record.result.get("watermark")
    return found if isinstance(found, int) else None


def _view(one: Episode, id_: str, now: int | None) -> EpisodeView:
    said = one.standing
    return EpisodeView(
        id=id_,
        pack=one.pack,
        rule=one.rule,
        key=json.loads(one.key),
        severity=SEVERITIES[one.worst],
        state=said.state,
        quiet=now is not None and one.quiet(now),
        alerts=one.alerts,
        began=timestamp(one.began),
        ended=timestamp(one.ended),
        episode=duration(one.length),
        verdict=said.verdict,
        note=said.note,
        by=said.by,
        at=moment_or_none(said.at),
    )
