"""The application of a job's port over an outbox, served on loopback, and a client of it."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from some_desk import TOKENS, made

from alerts.web_server import Certificate
from cep.job.running.port import refusing, served
from cep.sources.http.intake import Intake
from cep.web.access.attempts import Attempts
from cep.web.access.policy import Access
from cep.web.access.tokens import Tokens
from cep.web.desk.desk import JobDesk
from cep.web.metrics import Metrics
from cep.web.server import Health, application, bind, serving

PATIENCE = 60.0
AT = "/api/v1"


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class Answer:
    """An answer: `value` is its JSON, None if it is none."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def value(self) -> Any:
        return json.loads(self.text)


@dataclass(frozen=True)
class Client:
    """Asks the port; `token` names one of TOKENS."""

    port: int
    desk: JobDesk
    clock: Clock
    trust: Path | None = None

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        connection: http.client.HTTPConnection
        if self.trust is None:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        else:
            context = ssl.create_default_context(cafile=str(self.trust))
            connection = http.client.HTTPSConnection(
                "127.0.0.1", self.port, timeout=PATIENCE, context=context
            )
        sent = dict(headers or {})
        if token is not None:
            sent["authorization"] = f"Bearer {TOKENS.get(token, token)}"
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        try:
            connection.request(method, path, raw, sent)
            answer = connection.getresponse()
            text = answer.read().decode()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, text)
        finally:
            connection.close()

    def get(self, path: str, token: str | None = None) -> Answer:
        return self.ask("GET", AT + path, None, token)

    def post(self, path: str, body: object = None, token: str | None = "DESK_TOKEN") -> Answer:
        return self.ask("POST", AT + path, {} if body is None else body, token)


@contextmanager
def port(
    folder: Path,
    *,
    loopback: bool = True,
    starting: bool = False,
    certificate: Certificate | None = None,
    intakes: Mapping[str, Intake] | None = None,
) -> Iterator[Client]:
    """The port of a job that does not run; not `loopback`: as on an address that other machines reach."""
    desk, clock = made(folder), Clock()
    access = Access(Tokens.of(desk.job.tokens, TOKENS), loopback, Attempts(clock))
    health = Health(True, {"status": "running", "job": "cards"})
    more = served(access, lambda: None if starting else desk, lambda: None if starting else intakes or {})
    app = application(Metrics(), lambda: health, refusing(access), more)
    listening = bind("127.0.0.1", 0)
    number = listening.getsockname()[1]
    with serving(app, listening, certificate=certificate):
        yield Client(number, desk, clock, certificate.chain if certificate else None)
    desk.outbox.close()
