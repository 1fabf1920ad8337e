"""The job's HTTP port: /metrics for Prometheus, /healthz and /livez for whatever supervises the job."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cep.metrics import CONTENT_TYPE, Metrics


@dataclass(frozen=True, slots=True)
class Health:
    """`well` decides between 200 and 503; `told` is the JSON object that says why."""

    well: bool
    told: dict[str, object]


def application(metrics: Metrics, health: Callable[[], Health]) -> Starlette:
    """The job's web application. /livez answers as soon as there is somebody to answer, and always 200."""

    def read_metrics(_: Request) -> Response:
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    def read_health(_: Request) -> Response:
        now = health()
        return JSONResponse(now.told, 200 if now.well else 503)

    def read_life(_: Request) -> Response:
        return JSONResponse({"status": "alive"})

    return Starlette(
        routes=[Route("/metrics", read_metrics), Route("/healthz", read_health), Route("/livez", read_life)]
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
def serving(app: Starlette, listening: socket.socket) -> Iterator[None]:
    """Serves the application from a thread until the block ends; closes the socket."""
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=2
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), name="http", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(5)
        listening.close()
