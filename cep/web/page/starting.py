"""The page of a job that may still be starting: a word of that, until there is a desk to show."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse

from cep.web.access.policy import Access
from cep.web.desk.desk import JobDesk
from cep.web.page.app import PageSettings, page
from cep.web.page.headers import GuardedHeaders

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.types import Receive, Scope, Send

_STARTING = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>The job is starting</title></head>
<body><main><h1>The job is starting</h1>
<p>This page loads itself again in two seconds.</p></main></body></html>
"""


class PageOfJob:
    """The application of the page, made as soon as there is a desk. `desk` gives it, or None before."""

    def __init__(self, access: Access, desk: Callable[[], JobDesk | None], settings: PageSettings) -> None:
        self._access = access
        self._desk = desk
        self._settings = settings
        self._made: Starlette | None = None
        self._starting = GuardedHeaders(HTMLResponse(_STARTING, 503, {"refresh": "2", "retry-after": "2"}))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if self._made is None and (found := self._desk()) is not None:
            self._made = page(found, self._access, self._settings)
        await (self._made or self._starting)(scope, receive, send)
