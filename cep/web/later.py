"""An application that is made when it is first asked for: a job that nobody looks at does not pay for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class Later:
    """The application that `make` makes, once, in a thread, with the first request."""

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        self._make = make
        self._made: ASGIApp | None = None
        self._lock = threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        app = self._made if self._made is not None else await run_in_threadpool(self._app)
        await app(scope, receive, send)

    def _app(self) -> ASGIApp:
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made
