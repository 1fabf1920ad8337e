"""The job's HTTP port: /metrics for Prometheus, /healthz and /livez for whatever supervises the job."""

from __future__ import annotations

import resource
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from alerts.web_server import Certificate, Limits, WebServer, limits_of
from cep.web.metrics import CONTENT_TYPE, Metrics


@dataclass(frozen=True, slots=True)
class Health:
    """`well` decides between 200 and 503; `told` is the JSON object that says why."""

    well: bool
    told: dict[str, object]


def application(
    metrics: Metrics,
    health: Callable[[], Health],
    refuse: Callable[[Request], Response | None] = lambda _: None,
    more: Sequence[BaseRoute] = (),
) -> Starlette:
    """The job's web application, with `more` behind its own routes.

    /livez answers as soon as there is somebody to answer, and always 200. `refuse` gives the answer to a
    request that may not read: probes, which have no token, get one word of /healthz.
    """

    def read_metrics(request: Request) -> Response:
        return refuse(request) or Response(metrics.text(), media_type=CONTENT_TYPE)

    def read_health(request: Request) -> Response:
        now = health()
        told = now.told if refuse(request) is None else {"status": now.told.get("status")}
        return JSONResponse(told, 200 if now.well else 503)

    async def read_liveness(_: Request) -> Response:  # waits for no thread, so for no other answer
        return JSONResponse({"status": "alive"})

    return Starlette(
        routes=[
            Route("/metrics", read_metrics),
            Route("/healthz", read_health),
            Route("/livez", read_liveness),
            *more,
        ]
    )


def bind(host: str, port: int) -> socket.socket:
    """A listening socket, bound before anything slow begins. Raises OSError, e.g. for a busy port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(128)
    except OSError:
        bound.close()
        raise
    return bound


@contextmanager
def serving(
    app: Starlette,
    listening: socket.socket,
    limits: Limits | None = None,
    certificate: Certificate | None = None,
) -> Iterator[None]:
    """Serves the application from a thread until the block ends, with a certificate under TLS; closes the
    socket.

    Without `limits` the port holds no more connections than its share of the process's file handles.
    """
    limits = limits or limits_of(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    server = WebServer(app, listening, limits, certificate)
    server.start()
    try:
        yield
    finally:
        server.stop()
