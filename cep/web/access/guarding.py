"""Requests of Starlette as the policy sees them."""

from __future__ import annotations

from starlette.requests import HTTPConnection

from cep.web.access.policy import Shown


def shown_by(request: HTTPConnection, session: str | None = None) -> Shown:
    """What a request shows of who sends it; `session` as a cookie that was checked says."""
    headers = request.headers
    client = request.client.host if request.client else ""
    return Shown(headers.get("authorization"), headers.get("host"), client, session)
