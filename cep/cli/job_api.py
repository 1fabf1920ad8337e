"""What verbs of the desk ask: operations of the API, of a job at a URL, or in this process of its outbox.

Both take the same texts and give the same JSON: filters, cursors and mistakes are those of the API.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote, urlencode, urlsplit

from cep.cli.arguments import user
from cep.cli.failure import OutsideError, UsageError

if TYPE_CHECKING:
    from cep.web.api.operation import Operation
    from cep.web.desk.desk import JobDesk

_LONGEST = 64 << 20
"""Bytes of an answer."""
_SECONDS, _LASTING = 60.0, 86_400.0
_START = "look whether the job runs and listens there: [http] listen of its job.toml"

Query = Mapping[str, str | Sequence[str] | None]
"""Parameters: a text, several, or none."""


class Api(Protocol):
    """Somebody who answers operations by name."""

    def ask(
        self,
        name: str,
        path: Mapping[str, str] | None = None,
        query: Query | None = None,
        body: object = None,
    ) -> Any:
        """The answer's JSON object. Raises UsageError and OutsideError."""


def add_target(parser: argparse.ArgumentParser) -> None:
    """Add `--job` and `--url`, of which one says which job a verb is about, and `--token-env`."""
    from pathlib import Path

    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--job", type=Path, metavar="JOB", help="the job's job.toml; it may run or not")
    which.add_argument("--url", metavar="URL", help="where the job listens: http://127.0.0.1:8090")
    parser.add_argument(
        "--token-env", metavar="NAME", help="with --url: the environment variable that holds a token"
    )


@contextmanager
def api_of(arguments: argparse.Namespace) -> Iterator[Api]:
    """Who answers for the job that the arguments name. Raises UsageError, OutsideError, DiagnosticsError."""
    if arguments.url is not None:
        if getattr(arguments, "by", None):
            raise UsageError("--by goes with --job", "with --url the name of the token is written down")
        yield AtUrl(_checked(arguments.url), _token(arguments.token_env))
        return
    if arguments.token_env is not None:
        raise UsageError("--token-env goes with --url", "with --job the outbox itself is asked")
    from cep.cli.job_outbox import job_of, outbox_of
    from cep.web.desk.desk import JobDesk

    job = job_of(arguments.job)
    with outbox_of(job) as outbox:
        yield InProcess(JobDesk(outbox, job, os.environ), getattr(arguments, "by", None) or user())


def _token(name: str | None) -> str | None:
    if name is None:
        return None
    if not (token := os.environ.get(name)):
        raise UsageError(f"the environment variable {name} is not set", f"export {name}=... with a token")
    return token


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good or parts.query or parts.fragment or parts.username is not None:
        raise UsageError("--url is no address of a job", "write http://127.0.0.1:8090")
    return url.rstrip("/").removesuffix("/api/v1")


@dataclass(frozen=True, slots=True)
class InProcess:
    """Answers from a job's outbox; `who` is written down for what is done."""

    desk: JobDesk
    who: str

    def ask(
        self,
        name: str,
        path: Mapping[str, str] | None = None,
        query: Query | None = None,
        body: object = None,
    ) -> Any:
        """The answer's JSON object."""
        from cep.web.api.answering import answer
        from cep.web.api.operation import Asked
        from cep.web.desk.acting import Actor
        from cep.web.desk.errors import DeskError

        asked = Asked(self.desk, Actor(self.who, time.time_ns()), path or {}, _listed(query))
        raw = b"" if body is None else json.dumps(body).encode()
        try:
            return answer(_operation(name), asked, raw)
        except DeskError as error:
            raise UsageError(error.message, error.help, error.code) from error


@dataclass(frozen=True, slots=True, repr=False)
class AtUrl:
    """Answers from the port of a job that runs."""

    url: str
    token: str | None

    def ask(
        self,
        name: str,
        path: Mapping[str, str] | None = None,
        query: Query | None = None,
        body: object = None,
    ) -> Any:
        """The answer's JSON object."""
        one = _operation(name)
        inside = {key: quote(text, safe="") for key, text in (path or {}).items()}
        parameters = urlencode(_listed(query), doseq=True)
        address = f"{self.url}/api/v1{one.path.format(**inside)}{'?' if parameters else ''}{parameters}"
        headers = {"accept": "application/json"}
        if self.token is not None:
            headers["authorization"] = f"Bearer {self.token}"
        raw = b"" if body is None else json.dumps(body).encode()
        status, text = _sent(one.method, address, headers, raw, _LASTING if one.lasts else _SECONDS)
        return _value(status, text, self.url)


def _operation(name: str) -> Operation:
    from cep.web.api.known import OPERATIONS

    return next(one for one in OPERATIONS if one.name == name)


def _listed(query: Query | None) -> dict[str, list[str]]:
    found = {}
    for name, value in (query or {}).items():
        if value is not None:
            found[name] = [value] if isinstance(value, str) else list(value)
    return found


def _sent(
    method: str, address: str, headers: Mapping[str, str], raw: bytes, patience: float
) -> tuple[int, bytes]:
    """Status and body of an answer, which may take so many seconds. Raises OutsideError."""
    import ssl

    import httpcore

    seconds = dict.fromkeys(("connect", "read", "write", "pool"), _SECONDS) | {"read": patience}
    given = [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
    where = f"{urlsplit(address).scheme}://{urlsplit(address).netloc}"
    try:
        with (
            httpcore.ConnectionPool(ssl_context=ssl.create_default_context()) as pool,
            pool.stream(
                method, address, headers=given, content=raw, extensions={"timeout": seconds}
            ) as answer,
        ):
            found = bytearray()
            for chunk in answer.iter_stream():
                found += chunk
                if len(found) > _LONGEST:
                    raise OutsideError(f"the answer of {where} does not end", _START)
            return answer.status, bytes(found)
    except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError) as error:
        reason = str(error) or type(error).__name__
        raise OutsideError(f"{where} does not answer: {reason}", _START) from error
    except (httpcore.UnsupportedProtocol, ssl.SSLError) as error:
        raise OutsideError(f"{where} cannot be asked: {error}", _START) from error


def _value(status: int, text: bytes, url: str) -> Any:
    """The JSON object of an answer. Raises UsageError for what was asked wrongly, else OutsideError."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise OutsideError(f"what answers at {url} is no job: HTTP {status}", _START)
    if status == 200:
        return value
    said = [str(value.get(name, "")) for name in ("title", "help", "code")]
    kind = UsageError if status in (400, 401, 403, 404, 405, 409, 410, 413) else OutsideError
    raise kind(said[0] or f"HTTP {status}", said[1] or _START, said[2])


def entries(api: Api, name: str, query: Query, most: int) -> Iterator[dict[str, Any]]:
    """The entries of a list, `most` of them at most, which stand under the name of their operation."""
    return pages(api, name, name, query, most)


def pages(api: Api, name: str, under: str, query: Query, most: int) -> Iterator[dict[str, Any]]:
    """The same of a list whose entries stand under another name; as many answers as that takes."""
    cursor: str | None = None
    while most > 0:
        answer = api.ask(name, query={**query, "limit": str(min(most, 500)), "cursor": cursor})
        yield from answer[under]
        most -= len(answer[under])
        cursor = answer["next"]
        if cursor is None:
            return
