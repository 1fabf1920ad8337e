"""The port on which a running job answers: its metrics, its health, and what a desk sees of it and does."""

from __future__ import annotations

import errno
import secrets
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse
from starlette.routing import Mount

from alerts.web_server import Certificate
from cep.errors import PORT_TAKEN, ConfigurationError, OutsideError
from cep.web.access.callers import Refusal
from cep.web.access.guarding import shown_by
from cep.web.access.policy import Access
from cep.web.api.problems import MEDIA_TYPE, headers, refused
from cep.web.desk.desk import JobDesk
from cep.web.later import Later
from cep.web.metrics import Metrics
from cep.web.server import application, bind, serving

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp

    from cep.config import Job, Listen
    from cep.job.running.health import Standing
    from cep.web.api.events import Intakes


@contextmanager
def answering(job: Job, environ: Mapping[str, str], metrics: Metrics, standing: Standing) -> Iterator[None]:
    """Answers within it, if the job has a port.

    Raises OutsideError where it cannot listen there, ConfigurationError where others would reach it without
    a token.
    """
    if job.http is None:
        yield
        return
    listening = bound(job.http.host, job.http.port)
    try:
        access = Access.of(job, environ, listening.getsockname()[0])
        if not access.open_reading and not job.tokens:
            raise ConfigurationError(*NO_TOKEN)
        more = served(access, _desk(environ, standing), lambda: standing.intakes, secure=job.http.tls)
        app = application(metrics, standing.health, refusing(access), more)
        with serving(app, listening, certificate=_certificate(job.http)):
            yield
    finally:
        listening.close()


NO_TOKEN = (
    "other machines reach the job's port, and there is no token to ask them for",
    'write [tokens.NAME], or listen on this machine alone: listen = "127.0.0.1:8090"',
    "CEP0737",
)


def served(
    access: Access,
    desk: Callable[[], JobDesk | None],
    intakes: Callable[[], Intakes | None] = dict,
    *,
    secure: bool = False,
) -> Sequence[BaseRoute]:
    """What is served besides metrics and health, under TLS if `secure`; made when somebody asks for it."""

    def api() -> ASGIApp:
        from cep.web.api.routes import application as api_application

        return api_application(access, desk, intakes)

    def page() -> ASGIApp:
        from cep.web.page.app import PageSettings
        from cep.web.page.starting import PageOfJob

        # who signed in has to do so again after a restart, for which tokens may be others
        return PageOfJob(access, desk, PageSettings(secrets.token_hex(32), secure))

    return [Mount("/api/v1", app=Later(api)), Mount("/", app=Later(page))]


def _desk(environ: Mapping[str, str], standing: Standing) -> Callable[[], JobDesk | None]:
    def desk() -> JobDesk | None:
        if standing.outbox is None or standing.driver is None:
            return None
        return JobDesk(standing.outbox, standing.job, environ, standing)

    return desk


def refusing(access: Access) -> Callable[[Request], Response | None]:
    """What gives the answer to a request that may not read; None for one that may."""

    def refuse(request: Request) -> Response | None:
        found = access.may(shown_by(request), "read")
        if not isinstance(found, Refusal):
            return None
        return JSONResponse(asdict(refused(found)), found.status, headers(found), MEDIA_TYPE)

    return refuse


def _certificate(listen: Listen) -> Certificate | None:
    if listen.certificate is None or listen.key is None:
        return None
    return Certificate(listen.certificate, listen.key)


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there. Raises OutsideError."""
    try:
        return bind(host, port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            what = f"the port {port} of {host} is taken by another program"
            raise OutsideError(what, "stop that program, or change [http] listen", PORT_TAKEN) from error
        what = f"this job cannot listen on {host}:{port}: {(error.strerror or str(error)).lower()}"
        raise OutsideError(what, "change [http] listen") from error
