"""The port on which a running job answers: its metrics and its health."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cep.errors import PORT_TAKEN, OutsideError
from cep.web.metrics import Metrics
from cep.web.server import Health, application, bind, serving

if TYPE_CHECKING:
    from cep.config.job import Listen


@contextmanager
def answering(listen: Listen | None, metrics: Metrics, health: Callable[[], Health]) -> Iterator[None]:
    """Answers within it, if the job has a port. Raises OutsideError where it cannot listen there."""
    if listen is None:
        yield
        return
    listening = bound(listen.host, listen.port)
    try:
        with serving(application(metrics, health), listening):
            yield
    finally:
        listening.close()


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
