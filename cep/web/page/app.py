"""The application of the page: its addresses, and what each asks for (`ROUTES`).

Reading asks for the scope `read`, whatever changes something for `operate` and for the text that forms of the
session carry; style, scripts and the way to sign in ask for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, cast

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from alerts.outbox import OutboxError
from alerts.web_server import hold
from cep.web.access.callers import Refusal
from cep.web.access.policy import Access
from cep.web.desk.desk import JobDesk
from cep.web.desk.errors import DeskError, GoneError, MissingError, NotYetError, UnfitError
from cep.web.desk.evidence import evidence_of
from cep.web.desk.filters import number_of, wanted
from cep.web.desk.secrets import shown
from cep.web.page import acts, alert_list, queries, sign_in
from cep.web.page.alert_page import alert_page
from cep.web.page.busiest import Busiest
from cep.web.page.episode_queue import episode_queue
from cep.web.page.forms import Form, form_of, query_of
from cep.web.page.headers import GuardedHeaders
from cep.web.page.live import Live, Pace
from cep.web.page.live_rows import rows_drawn
from cep.web.page.now import now
from cep.web.page.rendering import environment
from cep.web.page.sessions import COOKIE, LASTS, session_of
from cep.web.page.site import Events, Site
from cep.web.page.static_files import StaticFiles
from cep.web.page.tables import (
    batches,
    dead_letter,
    dead_letters,
    feeds,
    packs,
    receivers,
    rule,
    rules,
    silences,
)
from cep.web.page.tally import Tally

if TYPE_CHECKING:
    from starlette.types import ExceptionHandler

Asks = Literal["nothing", "read", "operate"]
View = Callable[[Site, Request], Response]
Act = Callable[[Site, Request, Form], Response]

VIEWS: tuple[tuple[str, View], ...] = (
    ("/", now),
    ("/alerts", alert_list.alert_list),
    ("/alerts.csv", alert_list.alerts_as_csv),
    ("/alerts.jsonl", alert_list.alerts_as_lines),
    ("/alerts/{id}", alert_page),
    ("/episodes", episode_queue),
    ("/rules", rules),
    ("/rules/{pack}/{rule}", rule),
    ("/queries", queries.queries),
    ("/silences", silences),
    ("/receivers", receivers),
    ("/feeds", feeds),
    ("/packs", packs),
    ("/deadletters", dead_letters),
    ("/deadletters/{number}", dead_letter),
    ("/batches", batches),
)
ACTS: tuple[tuple[str, Act], ...] = (
    ("/episodes/{does}", acts.change),
    ("/silences", acts.silence),
    ("/silences/{id}/expire", acts.expire),
    ("/alerts/{id}/redeliver", acts.redeliver),
    ("/redeliver", acts.redeliver_filtered),
    ("/deadletters/replay", acts.replay),
    ("/receivers/{name}/resume", acts.resume),
    ("/receivers/{name}/test", acts.test),
)
READING_ACTS: tuple[tuple[str, Act], ...] = (("/queries/try", queries.try_text),)
"""Forms that change nothing: who may read may send them, with the text of the session."""
STREAM = "/alerts/stream"
_HEADINGS = {404: "There is nothing here", 410: "This alert was erased"}
STREAMS_EACH = 20
"""Streams of new alerts that a client may have: a token, or without one an address."""
_MANY_STREAMS = "CEP0975"
_STATUS = {MissingError: 404, GoneError: 410, UnfitError: 409, NotYetError: 503}


@dataclass(frozen=True, slots=True)
class PageSettings:
    """`key` signs cookies, which go over TLS alone if `secure`. `events` gives those of an alert; None: the
    job's record does. `streams_each` is how many streams of new alerts a client may have."""

    key: str
    secure: bool = False
    events: Events | None = None
    pace: Pace | None = None
    streams_each: int = STREAMS_EACH


def page(desk: JobDesk, access: Access, settings: PageSettings) -> Starlette:
    """The application."""
    static = StaticFiles()
    templates = environment(static.address)
    site = Site(
        desk,
        templates,
        Tally(desk.outbox, desk.clock),
        Busiest(),
        lambda request: session_of(access, request),
        settings.events or partial(evidence_of, desk),
    )
    live = Live(desk.outbox, rows_drawn(desk, templates), settings.pace)
    app = Starlette(
        routes=[
            static.route,
            Route("/sign-in", _viewing(site, sign_in.ask, "nothing")),
            Route("/sign-in", _acting(site, sign_in.sign_in, "nothing"), methods=["POST"]),
            Route("/sign-out", _acting(site, sign_in.sign_out, "nothing"), methods=["POST"]),
            Route(STREAM, _streaming(site, live, settings.streams_each)),
            *(Route(path, _viewing(site, view, "read")) for path, view in VIEWS),
            *(Route(path, _acting(site, act, "read"), methods=["POST"]) for path, act in READING_ACTS),
            *(Route(path, _acting(site, act, "operate"), methods=["POST"]) for path, act in ACTS),
        ],
        middleware=[
            Middleware(GuardedHeaders),
            Middleware(
                SessionMiddleware,
                secret_key=settings.key,
                session_cookie=COOKIE,
                max_age=LASTS,
                same_site="strict",
                https_only=settings.secure,
            ),
        ],
        exception_handlers={HTTPException: cast("ExceptionHandler", _not_found(site))},
    )
    app.state.live = live
    return app


def _viewing(site: Site, view: View, asks: Asks) -> Callable[..., object]:
    async def endpoint(request: Request) -> Response:
        def answered() -> Response:
            refused = _refused(site, request, asks)
            return refused or _answered(site, request, lambda: view(site, request))

        return await run_in_threadpool(answered)

    return endpoint


def _acting(site: Site, act: Act, asks: Asks) -> Callable[..., object]:
    async def endpoint(request: Request) -> Response:
        if (refused := _refused(site, request, asks)) is not None:
            return refused
        try:
            form = await form_of(request)
        except DeskError as error:
            return _problem(site, request, error, 413)
        if not site.sessions(request).sent(form.one("csrf")):
            said = Refusal(
                403, "CEP0961", "this form is not one of your session", "load the page, then send it"
            )
            return _refusal(site, request, said)
        return await run_in_threadpool(_acted, site, request, act, form)

    return endpoint


def _acted(site: Site, request: Request, act: Act, form: Form) -> Response:
    def run() -> Response:
        try:
            return act(site, request, form)
        except DeskError as error:  # said where the form was
            return site.done(
                request, form.one("next"), f"{_sentence(error.message)} {_sentence(error.help)}", well=False
            )

    return _answered(site, request, run)


def _streaming(site: Site, live: Live, most: int) -> Callable[..., object]:
    async def endpoint(request: Request) -> Response:
        if (refused := _refused(site, request, "read")) is not None:
            return refused
        given = request.query_params
        after = request.headers.get("last-event-id") or given.get("after", "0")
        try:
            matches = alert_list.matches_of(shown(site.desk, wanted(alert_list.filters_of(given))))
            number = number_of("after", after)
        except DeskError as error:
            return _problem(site, request, error, 400)
        client = _client(site, request)
        if live.watching(client) >= most:
            said = (
                f"you have {most} streams open, as many as a client may ({_MANY_STREAMS}): close some tabs\n"
            )
            return Response(said, 429, {"retry-after": "30"}, "text/plain")
        if not hold(request.scope):
            said = "as many streams are open as this port holds\n"
            return Response(said, 503, {"retry-after": "30"}, "text/plain")
        headers = {"x-accel-buffering": "no"}
        return StreamingResponse(
            live.stream(matches, number, client), media_type="text/event-stream", headers=headers
        )

    return endpoint


def _client(site: Site, request: Request) -> str:
    """Who has a stream: a token, or an address."""
    name = site.sessions(request).name
    return f"token {name}" if name else request.client.host if request.client else ""


def _answered(site: Site, request: Request, view: Callable[[], Response]) -> Response:
    try:
        return view()
    except DeskError as error:
        return _problem(site, request, error, _STATUS.get(type(error), 400))
    except OutboxError as error:
        return site.answer(
            request, "problem.html", 503, heading="The outbox cannot be read", said=_sentence(error.message),
            help=_sentence(error.help or ""), code=error.code,
        )  # fmt: skip


def _refused(site: Site, request: Request, asks: Asks) -> Response | None:
    if asks == "nothing":
        return None
    found = site.sessions(request).may(asks)
    return _refusal(site, request, found) if isinstance(found, Refusal) else None


def _refusal(site: Site, request: Request, refusal: Refusal) -> Response:
    if refusal.status == 401 and request.method == "GET" and site.sessions(request).name is None:
        return RedirectResponse(f"/sign-in{query_of({'next': request.url.path})}", 303)
    return site.answer(
        request, "problem.html", refusal.status, heading="Not allowed", said=_sentence(refusal.message),
        help=_sentence(refusal.help), code=refusal.code,
    )  # fmt: skip


def _problem(site: Site, request: Request, error: DeskError, status: int) -> Response:
    heading = _HEADINGS.get(status, "That cannot be meant")
    return site.answer(
        request, "problem.html", status, heading=heading, said=_sentence(error.message),
        help=_sentence(error.help), code=error.code,
    )  # fmt: skip


def _not_found(site: Site) -> Callable[..., object]:
    async def handler(request: Request, error: HTTPException) -> Response:
        heading = "There is no such page" if error.status_code == 404 else str(error.detail)
        return site.answer(
            request, "problem.html", error.status_code, heading=heading, said=f"{heading}.",
            help="The pages that there are stand at the top.", code="",
        )  # fmt: skip

    return handler


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text and not text.endswith(".") else text
