"""Acts of forms of the page: each leads back to where it was sent from, which says what came of it."""

from __future__ import annotations

from typing import cast
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response

from alerts.due import State
from alerts.episodes.episode import Verdict
from cep.web.desk.acting import Actor
from cep.web.desk.delivery_acts import ByFilter, redeliver_alerts, redeliver_by_filter
from cep.web.desk.episode_acts import Does, EpisodeAct, change_episodes
from cep.web.desk.errors import MistakenError
from cep.web.desk.filters import wanted
from cep.web.desk.letter_replays import replay_feed, replay_letters
from cep.web.desk.receiver_acts import resume_receiver, try_receiver
from cep.web.desk.silence_acts import NewSilence, add_silence, expire_silences
from cep.web.page.alert_list import filters_of
from cep.web.page.forms import Form
from cep.web.page.site import Site
from rules.instants import parse_duration
from rules.nouns import counted

_DONE = {"acknowledge": "acknowledged", "close": "closed", "reopen": "open again"}


def change(site: Site, request: Request, form: Form) -> Response:
    """Acknowledge, close or reopen episodes."""
    does = cast(Does, request.path_params["does"])
    if does not in _DONE:
        raise MistakenError("episodes are acknowledged, closed or reopened", "choose one of these")
    verdict = cast("Verdict | None", form.one("verdict") or None) if does == "close" else None
    act = EpisodeAct(does, verdict, form.one("note").strip())
    found = change_episodes(site.desk, form.every("id"), act, actor(site, request))
    return site.done(request, form.one("next"), f"{counted(len(found), 'episode')} {_DONE[does]}.")


def silence(site: Site, request: Request, form: Form) -> Response:
    """Begin a silence."""
    try:
        length = parse_duration(form.one("length"))
    except ValueError as error:
        said = f"`for how long` is no length of time: {error}"
        raise MistakenError(said, "write a number and a unit: `30m`, `2 hours`") from error
    matchers = [line.strip() for line in form.one("matchers").splitlines() if line.strip()]
    new = NewSilence(matchers, form.one("why"), length=length)
    view = add_silence(site.desk, new, actor(site, request))
    return site.done(request, form.one("next"), f"Silence {view.id} holds back {', '.join(view.matchers)}.")


def expire(site: Site, request: Request, form: Form) -> Response:
    """Take a silence back."""
    expire_silences(site.desk, [request.path_params["id"]], actor(site, request))
    return site.done(request, form.one("next"), "The silence is taken back; what it held goes out.")


def redeliver(site: Site, request: Request, form: Form) -> Response:
    """Send one alert again."""
    receiver = form.one("receiver") or None
    (done,) = redeliver_alerts(site.desk, [request.path_params["id"]], receiver, actor(site, request))
    return site.done(request, form.one("next"), f"It goes to {', '.join(done.receivers)} again.")


def redeliver_filtered(site: Site, request: Request, form: Form) -> Response:
    """Send what a filter wants again, or count it."""
    given = filters_of(dict(parse_qsl(form.one("filter"))))
    states: tuple[State, ...] = ("failed",) if form.one("failed") else ("failed", "delivered")
    asked = ByFilter(wanted(given), form.one("receiver"), states, given)
    only_count = form.one("do") != "redeliver"
    found = redeliver_by_filter(site.desk, asked, actor(site, request), dry_run=only_count)
    of = f"{found.redelivered:,} of the {counted(found.matched, 'alert')} that the filter wants"
    said = (
        f"{of} would go to {found.receiver} again." if only_count else f"{of} go to {found.receiver} again."
    )
    return site.done(request, form.one("next"), said)


def replay(site: Site, request: Request, form: Form) -> Response:
    """Have dead letters read again: those that are named, one with other bytes, or all of a feed."""
    who, given = actor(site, request), form.every("number")
    if form.one("do") == "mended":
        text = form.one("text").replace("\r\n", "\n").rstrip("\n")
        found = replay_letters(site.desk, given, who, data=text.encode())
    elif given:
        found = replay_letters(site.desk, given, who)
    elif form.one("do") in ("all", "count"):
        found = replay_feed(site.desk, form.one("feed") or None, who, dry_run=form.one("do") == "count")
    else:
        raise MistakenError("no dead letter is chosen", "mark those that are to be read again")
    what = "Can be read again" if found.dry_run else "The next batches read again"
    said = f"{what}: {found.replayed:,} of {counted(found.matched, 'dead letter')}."
    left = (f" {number:,} not: each {reason}." for reason, number in found.left.items())
    return site.done(request, form.one("next"), said + "".join(left))


def resume(site: Site, request: Request, form: Form) -> Response:
    """Attempt deliveries to a receiver again."""
    done = resume_receiver(site.desk, request.path_params["name"], actor(site, request))
    return site.done(request, form.one("next"), f"{done.receiver} was {done.before}; it is tried again now.")


def test(site: Site, request: Request, form: Form) -> Response:
    """Send a receiver a notification that is marked as a test."""
    tried = try_receiver(site.desk, request.path_params["name"], actor(site, request))
    well = tried.outcome == "delivered"
    said = f"A test to {tried.receiver}: {tried.outcome}{f', {tried.detail}' if tried.detail else ''}."
    return site.done(request, form.one("next"), said, well=well)


def actor(site: Site, request: Request) -> Actor:
    """Who acts: whoever is signed in."""
    name = site.sessions(request).name
    assert name is not None
    return Actor(name, site.desk.clock())
