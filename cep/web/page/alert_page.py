"""/alerts/ID: one alert with its events, its rule, its episode and its way to receivers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from alerts.outbox import Wanted
from alerts.outbox.episodes import episode_of
from cep.web.desk.alerts import AlertRow, AlertView, alerts_page, one_alert
from cep.web.desk.episodes import EpisodeView, ToldView, receivers_told, views_of
from cep.web.desk.filters import Page
from cep.web.page.rule_text import marked
from cep.web.page.silencing import silences_for
from cep.web.page.site import Site
from cep.web.page.timeline import AlertEvent, drawn

if TYPE_CHECKING:
    from cep.record.read import TakenEvent

OTHERS = 20
"""Alerts of its episode that are shown beside it."""


def alert_page(site: Site, request: Request) -> Response:
    """The page of one alert."""
    found = one_alert(site.desk, request.path_params["id"])
    alert: Mapping[str, Any] = found.alert
    episode, others, told_to = _episode(site, found)
    evidence = site.events(alert["id"])
    events = [_event(one) for one in evidence.events]
    text, steps = marked(site.desk, alert)
    return site.answer(
        request,
        "alert.html",
        alert=alert,
        row=found,
        runbook=_link(alert.get("runbook")),
        events=events,
        events_note=evidence.missing,
        timeline=drawn(events),
        text=text,
        steps=steps,
        episode=episode,
        others=others,
        deliveries=found.deliveries,
        trace=[*_trace(found, episode), *_told(told_to)],
        silences=silences_for(alert["pack"], alert["rule"], alert["key"]),
        now=site.desk.clock(),
    )


def _episode(
    site: Site, found: AlertView
) -> tuple[EpisodeView | None, tuple[AlertRow, ...], tuple[ToldView, ...]]:
    """Its episode, with the newest of the other alerts of that, and what receivers know of it."""
    with site.desk.outbox.reading() as connection:
        one = episode_of(connection, found.number)
        if one is None:
            return None, (), ()
        (view,) = views_of(connection, [one])
        told_to = receivers_told(connection, one.first)
    of = Wanted(pack=one.pack, rule=one.rule, key=view.key, after=one.first - 1, before=one.last + 1)
    rows = alerts_page(site.desk, of, Page(OTHERS + 1)).alerts
    return view, tuple(row for row in rows if row.number != found.number)[:OTHERS], told_to


def _told(some: Iterable[ToldView]) -> Iterator[str]:
    """Words for what receivers were told of its episode."""
    for one in some:
        yield f"of the episode {one.receiver} was told:"
        yield from one.trace
        if one.pending:
            yield f"{one.receiver} is to be told more; attempts: {one.attempts}"


def _event(taken: TakenEvent) -> AlertEvent:
    """An event that the alert names, with what the record has of it."""
    if taken.event is None:
        return AlertEvent(taken.step, taken.id)
    return AlertEvent(taken.step, taken.id, taken.event.time, dict(taken.event.fields))


def _link(runbook: str | None) -> str | None:
    """The runbook where it is an address; nothing else may be one."""
    return runbook if runbook and runbook.startswith(("https://", "http://")) else None


def _trace(found: AlertView, episode: EpisodeView | None) -> Iterator[str]:
    """The way of an alert, in words."""
    alert = found.alert
    yield f"raised by rule {alert['rule']} of pack {alert['pack']} at event time {alert['time']}"
    if alert["suppressed"]:
        yield f"alerts like it that were withheld before it: {alert['suppressed']}"
    yield f"recorded at {found.recorded_at} with batch {found.batch}"
    if episode is None:
        yield "in no episode yet"
    else:
        yield f"in episode {episode.id[:12]}, which is {episode.state}"
    if not found.deliveries:
        yield "goes to no receiver: when it was recorded, no route took it"
    for one in found.deliveries:
        yield f"to {one.receiver}, by route: {one.route}"
        for line in one.trace:
            yield f"{line.at} {line.said}"
        yield f"to {one.receiver}: {one.state}, attempts: {one.attempts}" + (
            f" ({one.outcome})" if one.outcome else ""
        )
