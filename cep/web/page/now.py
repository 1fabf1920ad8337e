"""/: the state of the job at one look, and whether somebody must act."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from alerts.alert import SEVERITIES
from alerts.outbox.silences import held_counts
from cep.web.desk.alerts import alerts_page
from cep.web.desk.desk import JobDesk
from cep.web.desk.feeds import feeds_now
from cep.web.desk.filters import Page, wanted
from cep.web.desk.rules import rules_now
from cep.web.desk.status import JobStatus, status_now
from cep.web.page.busiest import KEYS_OF
from cep.web.page.forms import query_of
from cep.web.page.rendering import MOST, count, seconds, up_to
from cep.web.page.site import Site
from cep.web.page.tally import DAY, STEPS, Counted

_SHOWN = 8
_QUARTER = 15


def now(site: Site, request: Request) -> Response:
    """The page."""
    desk = site.desk
    counted, clock = site.tally.counted(STEPS), desk.clock()
    severities = list(_severities(counted, clock))
    by_window = {
        said: {str(one["name"]): one[column] for one in severities}
        for said, column in (("15 minutes", "quarter"), ("24 hours", "day"))
    }
    status = status_now(desk, by_window, MOST)
    return site.answer(
        request,
        "now.html",
        now=clock,
        must=[{"said": said, "address": _where(said)} for said in status.to_do],
        well=_well(status),
        tiles=list(_tiles(status)),
        severities=severities,
        counted=counted.whole,
        held=_held(desk),
        series=counted.series(60, clock),
        streams=[
            {"name": one.stream, "lag": "–" if one.lag_seconds is None else seconds(one.lag_seconds)}
            for one in feeds_now(desk)
        ],
        firing=_firing(counted, clock),
        silent=_silent(desk, counted, clock),
        keys_of=KEYS_OF,
        busiest=_busiest(site),
        rows=alerts_page(desk, wanted({}), Page(10)).alerts,
    )


def _where(said: str) -> str | None:
    """The page on which a person does what there is to do."""
    if "episodes" in said:
        return "/episodes"
    if "event time waits" in said:
        return "/feeds"
    return "/receivers" if "paused" in said or "take alerts" in said else None


def _well(status: JobStatus) -> str:
    return f"The job is {status.status}, receivers take what is sent, and no episode is open."


def _tiles(status: JobStatus) -> Iterator[Mapping[str, str]]:
    def tile(name: str, value: str) -> Mapping[str, str]:
        return {"name": name, "value": value}

    yield tile(f"the job, batch {count(status.batch)}", status.status)
    took = "–" if status.batch_seconds is None else seconds(status.batch_seconds)
    yield tile(f"the last batch took; one begins every {seconds(status.trigger_seconds)}", took)
    yield tile("the oldest delivery waits", seconds(status.outbox_age_seconds))
    yield tile("open episodes", up_to(status.episodes.get("open", 0)))
    yield tile("receivers paused", count(sum(one.state == "paused" for one in status.receivers)))
    yield tile("dead letters and late events kept", count(status.dead_letters))
    for pack, revision in status.packs.items():
        yield tile(f"pack {pack}, revision", revision[:12])


def _severities(counted: Counted, clock: int) -> Iterator[Mapping[str, Any]]:
    found = {"quarter": counted.over(_QUARTER, clock), "day": counted.over(DAY, clock)}
    for name in SEVERITIES:
        sums = {
            column: sum(n for of, n in some.items() if of.severity == name) for column, some in found.items()
        }
        yield {"name": name, **sums}


def _held(desk: JobDesk) -> list[Mapping[str, object]]:
    with desk.outbox.reading() as connection:
        found = held_counts(connection)
    return [
        {"why": reason, "receiver": receiver, "count": number}
        for (receiver, reason), number in sorted(found.items(), key=lambda one: -one[1])[:_SHOWN]
    ]


def _firing(counted: Counted, clock: int) -> list[Mapping[str, object]]:
    most = sorted(counted.by_rule(clock).items(), key=lambda one: (-one[1], one[0]))[:_SHOWN]
    return [{"pack": pack, "rule": rule, "count": number} for (pack, rule), number in most]


def _silent(desk: JobDesk, counted: Counted, clock: int) -> list[Mapping[str, object]]:
    """Rules without an alert in a day: those that never had one first, then by their last."""
    silent = [one for one in rules_now(desk, counted.by_rule(clock)) if not one.alerts_day]
    silent.sort(key=lambda one: (one.last_alert or "", one.pack, one.rule))
    return [{"pack": one.pack, "rule": one.rule, "last": one.last_alert} for one in silent[:_SHOWN]]


def _busiest(site: Site) -> list[Mapping[str, Any]]:
    with site.desk.outbox.reading() as connection:
        found = site.busiest.most(connection, _SHOWN)
    return [
        {"key": json.loads(key), "count": times, "address": f"/alerts{query_of({'key': key})}"}
        for key, times in found
    ]
