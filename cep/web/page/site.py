"""The needs of every page: the job's desk, templates, who looks, and answers made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from cep.web.desk.desk import JobDesk
from cep.web.page.busiest import Busiest
from cep.web.page.forms import local
from cep.web.page.sessions import Session
from cep.web.page.tally import Tally

if TYPE_CHECKING:
    from cep.record.read import Evidence

PAGES = (
    ("/", "Now"),
    ("/alerts", "Alerts"),
    ("/episodes", "Episodes"),
    ("/rules", "Rules"),
    ("/queries", "Queries"),
    ("/silences", "Silences"),
    ("/receivers", "Receivers"),
    ("/feeds", "Feeds"),
    ("/packs", "Packs"),
    ("/deadletters", "Dead letters"),
    ("/batches", "Batches"),
)
"""The pages that every page leads to."""

Events = Callable[[str], "Evidence"]
"""Reads the record of the events of the alert of that id."""


@dataclass(frozen=True, slots=True)
class Message:
    """The outcome of what somebody did."""

    text: str
    well: bool


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who looks at a page, at which address; `operates`: may change something."""

    job: str
    pages: tuple[tuple[str, str], ...]
    here: str
    address: str
    name: str | None
    operates: bool
    csrf: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Site:
    """The page of one job."""

    desk: JobDesk
    templates: Environment
    tally: Tally
    busiest: Busiest
    sessions: Callable[[Request], Session]
    events: Events

    def answer(self, request: Request, template: str, status: int = 200, **values: object) -> Response:
        """The page of a template."""
        viewer = self._viewer(request)
        return HTMLResponse(self.templates.get_template(template).render(viewer=viewer, **values), status)

    def done(self, request: Request, address: str, said: str, *, well: bool = True) -> Response:
        """An answer that leads on to an address of the page, which says what came of a form."""
        self.sessions(request).tell(said, well)
        return RedirectResponse(local(address), 303)

    def _viewer(self, request: Request) -> Viewer:
        session = self.sessions(request)
        path, query = request.url.path, request.url.query
        address = f"{path}?{query}" if query and request.method == "GET" else path
        first = f"/{path.split('/')[1]}"
        return Viewer(
            job=self.desk.job.name,
            pages=PAGES,
            here=first,
            address=local(address) if request.method == "GET" else "/",
            name=session.name,
            operates=session.operates,
            csrf=session.csrf,
            messages=tuple(Message(text, well) for text, well in session.told()),
        )
