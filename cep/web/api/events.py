"""POST /events/STREAM: events that come by HTTP are taken when they are on disk, or in the state's bucket.

A body is JSON lines, or one or several CloudEvents (https://github.com/cloudevents/spec, version 1.0.2, HTTP
binding, structured and batched modes). Of lines, those that are no JSON are refused by number and the rest is
kept. Who asks is looked at first, then the size of what is sent, also where it is compressed.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from alerts.outbox import OutboxError
from cep.sources.http.intake import FullError, Intake
from cep.web.access.callers import Refusal
from cep.web.access.guarding import shown_by
from cep.web.api import problems
from cep.web.desk.filters import told
from rules.suggest import meant

if TYPE_CHECKING:
    from cep.config.job import Scope
    from cep.web.access.policy import Access
    from cep.web.api.problems import Problem

Intakes = Mapping[str, Intake]

PATH = "/events/{stream}"
SCOPE: Scope = "ingest"
LONGEST = 16 << 20
"""Bytes of a body, also of what a compressed one holds."""
SHOWN = 20
"""Lines that are named where more are refused."""
_LATER = 1
"""Seconds to wait where too much waits to be read: a batch may have read some by then."""
_INLINE = 64 << 10
"""Bytes that are looked through at once; of more another thread does it."""
_SPACE = b" \t\r\n"
LINES = ("application/x-ndjson", "application/jsonl", "application/json-lines")
_BATCH, _ONE = "application/cloudevents-batch+json", "application/cloudevents+json"
TYPES = (*LINES, _BATCH, _ONE)
_CONTEXT = ("id", "source", "type", "subject", "time")
_SEND_ALL = "send all of them again: with an `id` in their stream, those that were kept after all count once"
_AGAIN = ("the job starts, or ends", "send it again in some seconds")


class _RefusedError(Exception):
    """The answer to a body of which nothing is kept."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.title)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Sorted:
    """A body's lines to be kept, whole, with how many they are, and the numbers of those that are no JSON."""

    lines: bytes
    number: int
    refused: tuple[int, ...]


def endpoint(access: Access, intakes: Callable[[], Intakes | None]) -> Callable[..., object]:
    """The endpoint. `intakes` gives those of the job's feeds by stream, None while it starts or ends."""

    async def take(request: Request) -> Response:
        caller = access.may(shown_by(request), SCOPE)
        if isinstance(caller, Refusal):
            return _told(problems.refused(caller), problems.headers(caller))
        try:
            intake = _intake(intakes(), str(request.path_params["stream"]))
            kind = _kind(request)
            body = await _body(request)
            sort = _of_lines if kind in LINES else _of_cloud_events
            sorted_ = sort(body) if len(body) <= _INLINE else await run_in_threadpool(sort, body)
            await _kept(intake, sorted_)
        except _RefusedError as error:
            wait = {"retry-after": str(_LATER)} if error.problem.status in (429, 503, 507) else {}
            return _told(error.problem, wait)
        if not sorted_.refused:
            return _json({"taken": sorted_.number}, 202)
        return _json({**asdict(_no_json(sorted_)), "taken": sorted_.number}, 400, problems.MEDIA_TYPE)

    return take


def _intake(intakes: Intakes | None, stream: str) -> Intake:
    if intakes is None:
        raise _RefusedError(problems.problem(503, "CEP0968", *_AGAIN))
    if stream not in intakes:
        help_ = (
            meant(stream[:100], intakes, "feeds") if intakes else 'write source = "http" in [feeds.STREAM]'
        )
        said = f"the job takes no events of `{told(stream)}` here"
        raise _RefusedError(problems.problem(404, "CEP0966", said, help_))
    return intakes[stream]


def _kind(request: Request) -> str:
    """The type of the body, without its parameters."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given not in TYPES:
        said = f"a body of type `{told(given)}` is not taken" if given else "the body has no type"
        help_ = f"send Content-Type: {LINES[0]}, {_ONE} or {_BATCH}"
        raise _RefusedError(problems.problem(415, "CEP0964", said, help_))
    return given


async def _body(request: Request) -> bytes:
    """The body, inflated. Raises _RefusedError."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip"):
        said = f"a body in `{told(encoding)}` is not taken"
        raise _RefusedError(problems.problem(415, "CEP0964", said, "send it as it is, or in gzip"))
    inflating = zlib.decompressobj(wbits=31) if encoding == "gzip" else None
    found = bytearray()
    try:
        if int(request.headers.get("content-length") or 0) > LONGEST:
            raise _RefusedError(_TOO_LARGE)
        async for chunk in request.stream():
            room = LONGEST + 1 - len(found)
            found += chunk if inflating is None else inflating.decompress(chunk, room)
            if len(found) > LONGEST or (inflating is not None and inflating.unconsumed_tail):
                raise _RefusedError(_TOO_LARGE)
    except (ValueError, ClientDisconnect) as error:
        said = "the body did not come whole"
        raise _RefusedError(problems.problem(400, "CEP0964", said, "send it again")) from error
    except zlib.error as error:
        raise _RefusedError(_NO_GZIP) from error
    if inflating is not None and not inflating.eof:
        raise _RefusedError(_NO_GZIP)
    return bytes(found)


_TOO_LARGE = problems.problem(
    413, "CEP0965", f"the body holds more than {LONGEST:,} bytes", "send fewer events at a time"
)
_NO_GZIP = problems.problem(
    400, "CEP0964", "the body is no whole gzip", "send the whole of it, or leave Content-Encoding out"
)


async def _kept(intake: Intake, found: Sorted) -> None:
    """Waits until the lines are there for good. Raises _RefusedError where they cannot be kept."""
    if not found.number:
        return
    try:
        await asyncio.wrap_future(intake.take(found.lines))
    except FullError as error:
        said = f"{error.waiting:,} bytes that came before wait to be read"
        help_ = "send it again later, or give the feed a larger `backlog`"
        raise _RefusedError(problems.problem(429, "CEP0976", said, help_)) from error
    except OutboxError as error:
        raise _RefusedError(problems.problem(503, error.code, error.message, error.help)) from error
    except OSError as error:
        if not isinstance(intake.folder, Path):
            said = f"the events could not be written: {error.strerror}"
            raise _RefusedError(problems.problem(503, "CEP0978", said, _SEND_ALL)) from error
        said = f"the events could not be written: {(error.strerror or str(error)).lower()}"
        help_ = "none of them is kept: see the disk of the state folder, then send them again"
        raise _RefusedError(problems.problem(507, "CEP0978", said, help_)) from error


def _of_lines(body: bytes) -> Sorted:
    """The lines of a body; those of space alone count for nothing."""
    kept, refused = [], []
    for number, line in enumerate(body.split(b"\n"), 1):
        line = line.strip(_SPACE)
        if not line:
            continue
        try:
            json.loads(line, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            refused.append(number)
        else:
            kept.append(line)
    return Sorted(b"".join(line + b"\n" for line in kept), len(kept), tuple(refused))


def _no_constant(name: str) -> object:
    """Python would take NaN and Infinity."""
    raise ValueError(name)


def _of_cloud_events(body: bytes) -> Sorted:
    """CloudEvents, one or an array, as lines. Raises _RefusedError where one is none; then none is kept."""
    try:
        found = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        said = f"the body is no JSON: {error}"
        help_ = "send one CloudEvent, or an array of some"
        raise _RefusedError(problems.problem(400, "CEP0977", said, help_)) from error
    events = found if isinstance(found, list) else [found]
    lines = [_line(number, event) for number, event in enumerate(events, 1)]
    return Sorted(b"".join(lines), len(lines), ())


def _line(number: int, event: Any) -> bytes:
    """The data of a CloudEvent with its context as `ce_id` and so on, where the data has none of these."""
    if not isinstance(event, dict) or not isinstance(event.get("data"), dict):
        said = f"event {number} is no CloudEvent whose `data` is an object"
        help_ = "send events in structured mode, with JSON as their data"
        raise _RefusedError(problems.problem(400, "CEP0977", said, help_))
    context: Iterator[tuple[str, Any]] = ((f"ce_{name}", event[name]) for name in _CONTEXT if name in event)
    text = json.dumps({**dict(context), **event["data"]}, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass") + b"\n"


def _no_json(found: Sorted) -> Problem:
    named = ", ".join(f"{number:,}" for number in found.refused[:SHOWN])
    left = len(found.refused) - SHOWN
    which = f"{named} and {left:,} more" if left > 0 else named
    said = f"of {found.number + len(found.refused):,} lines these are no JSON: {which}"
    return problems.problem(
        400, "CEP0977", said, "the others are kept: send these again, mended, and no others"
    )


def _told(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    return _json(asdict(problem), problem.status, problems.MEDIA_TYPE, headers)


def _json(
    value: object,
    status: int,
    media_type: str = "application/json",
    headers: Mapping[str, str] | None = None,
) -> Response:
    return Response(json.dumps(value), status, {"cache-control": "no-store", **(headers or {})}, media_type)
