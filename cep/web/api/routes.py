"""Operations as an application of Starlette: who asks is looked at first, then the size of what is sent."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from cep.web.access.callers import Caller, Refusal
from cep.web.access.guarding import shown_by
from cep.web.api import events, problems
from cep.web.api.answering import answer
from cep.web.api.events import Intakes
from cep.web.api.known import OPERATIONS
from cep.web.api.openapi import description
from cep.web.api.operation import Asked, Operation
from cep.web.desk.acting import Actor
from cep.web.desk.errors import NotYetError

if TYPE_CHECKING:
    from cep.config.job import Scope
    from cep.web.access.policy import Access
    from cep.web.api.problems import Problem
    from cep.web.desk.desk import JobDesk

LONGEST_BODY = 256 << 10
"""Bytes of a body."""
DESCRIPTION = "/openapi.json"
_LOGGER = logging.getLogger(__name__)
_HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
_TOO_LARGE = problems.problem(
    413, "CEP0965", f"the body has more than {LONGEST_BODY:,} bytes", "send less at a time"
)


def application(
    access: Access, desk: Callable[[], JobDesk | None], intakes: Callable[[], Intakes | None] = dict
) -> Starlette:
    """The application of the API, whose paths begin behind /api/v1.

    `desk` gives the job's, `intakes` those of its feeds, None while the job starts or ends.
    """
    routes = [Route(one.path, _endpoint(one, access, desk), methods=[one.method]) for one in OPERATIONS]
    routes.append(Route(events.PATH, events.endpoint(access, intakes), methods=["POST"]))
    routes.append(Route(DESCRIPTION, _description(access)))
    handlers = {HTTPException: _no_route, Exception: _mistake}
    return Starlette(routes=routes, exception_handlers=handlers)  # type: ignore[arg-type]


def _endpoint(one: Operation, access: Access, desk: Callable[[], JobDesk | None]) -> Callable[..., object]:
    async def endpoint(request: Request) -> Response:
        caller = access.may(shown_by(request), one.scope)
        if isinstance(caller, Refusal):
            return _refusal(caller)
        raw = await _body(request)
        if raw is None:
            return _told(_TOO_LARGE)
        return await run_in_threadpool(_answered, one, request, raw, caller, desk)

    return endpoint


def _answered(
    one: Operation, request: Request, raw: bytes, caller: Caller, desk: Callable[[], JobDesk | None]
) -> Response:
    try:
        at = desk()
        if at is None:
            raise NotYetError("the job starts, or ends", "try again in some seconds")
        query: dict[str, list[str]] = {}
        for name, text in request.query_params.multi_items():
            query.setdefault(name, []).append(text)
        asked = Asked(at, Actor(caller.name, at.clock()), request.path_params, query)
        return _json(answer(one, asked, raw))
    except Exception as error:
        found = problems.of(error)
        if found.status == 500:
            _LOGGER.exception("%s failed", one.name)
        return _told(found)


async def _body(request: Request) -> bytes | None:
    """The body; None if it is too large, of which no more is read."""
    try:
        if int(request.headers.get("content-length") or 0) > LONGEST_BODY:
            return None
        found = bytearray()
        async for chunk in request.stream():
            found += chunk
            if len(found) > LONGEST_BODY:
                return None
    except (ValueError, ClientDisconnect):
        return b""
    return bytes(found)


def _description(access: Access) -> Callable[..., object]:
    scope: Scope = "read"

    def endpoint(request: Request) -> Response:
        caller = access.may(shown_by(request), scope)
        return _refusal(caller) if isinstance(caller, Refusal) else _json(description())

    return endpoint


def _refusal(refusal: Refusal) -> Response:
    return _told(problems.refused(refusal), problems.headers(refusal))


def _told(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    return _json(asdict(problem), problem.status, problems.MEDIA_TYPE, headers or {})


def _json(
    value: object,
    status: int = 200,
    media_type: str = "application/json",
    headers: Mapping[str, str] | None = None,
) -> Response:
    return Response(json.dumps(value), status, {**_HEADERS, **(headers or {})}, media_type)


def _no_route(_: Request, error: HTTPException) -> Response:
    if error.status_code == 405:
        said, help_ = "this path has other methods", "/api/v1/openapi.json lists them"
    else:
        said, help_ = "there is no such path", "/api/v1/openapi.json lists those that there are"
    return _told(problems.problem(error.status_code, "CEP0966", said, help_), error.headers)


def _mistake(_: Request, error: Exception) -> Response:
    return _told(problems.of(error))
