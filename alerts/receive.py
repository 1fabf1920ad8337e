"""A small receiver of signed alerts: verifies, remembers ids, keeps what it accepted.

What a desk would build to take alerts, and what `cep receive`, the demo and the tests use. An answer
2xx means that the alert is accepted, and, where a file is kept, that it is written there.
"""

from __future__ import annotations

import json
import resource
import socket
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from alerts.ledger import Ledger
from alerts.signing import ID, TIMESTAMP, TOLERANCE, SignatureError, secret_key, verify

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from alerts.web_server import WebServer

MOST_BYTES = 1_048_576
_ENDING = 10.0  # seconds


class ReceiveError(Exception):
    """The receiver cannot begin: the address is taken, or the file cannot be used. One sentence."""


@dataclass(frozen=True, slots=True)
class Received:
    """An accepted message: its id, the sender's timestamp (seconds since 1970), the body and its `data`."""

    id: str
    timestamp: int
    body: bytes
    alert: dict[str, object]


class AlertReceiver:
    """An HTTP server in a thread of its own that accepts signed alerts on any path.

    It answers 204 to an alert, also to one that it had before; 401 without a valid signature or with a
    timestamp more than `tolerance` seconds away, 400 for what is no alert, 413 beyond `most_bytes`, 405
    for another method, 408 to a request that takes longer than ten seconds, 500 if `accepted` fails, 507 if
    the file cannot take it; each with the reason as text. `counts` counts:
    accepted, repeated, and refusals by status.

    Without secrets nothing is verified. `file` gets a line for every accepted alert before the answer,
    and the ids that it holds are remembered (see Ledger).
    `accepted` is called once for every new alert, in the order of `received`; what it raises ends the
    server, and `wait` raises it. Use as a context manager, or call start and stop. A client that is slow or
    says nothing is left (alerts.web_server).
    """

    def __init__(
        self,
        secrets: Sequence[str],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        file: Path | None = None,
        accepted: Callable[[Received], None] = lambda _: None,
        clock: Callable[[], float] = time.time,
        tolerance: float = TOLERANCE,
        most_bytes: int = MOST_BYTES,
        keep: bool = True,
    ) -> None:
        self._keys = [secret_key(secret) for secret in secrets]
        self._address = host, port
        self._path = file
        self._accepted = accepted
        self._clock = clock
        self._tolerance = tolerance
        self._most_bytes = most_bytes
        self._keep = keep
        self._ids: set[str] = set()
        self._ledger: Ledger | None = None
        self._server: WebServer | None = None
        self._failure: Exception | None = None
        self.received: list[Received] = []
        self.counts: Counter[str] = Counter()
        self.port = port

    @property
    def url(self) -> str:
        """Where to send alerts."""
        host = self._address[0]
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"

    def start(self) -> None:
        """Listens; with port 0 on any free one, then found in `port`. Raises ReceiveError."""
        from starlette.applications import Starlette
        from starlette.routing import Route

        from alerts.web_server import Limits, WebServer, share

        listener = self._listen()
        if self._path is not None:
            try:
                self._ledger = Ledger(self._path)
            except OSError as error:
                listener.close()
                raise ReceiveError(f"the file {self._path} cannot be used: {error.strerror}") from error
            self._ids = self._ledger.ids
        application = Starlette(routes=[Route("/{path:path}", self._answer, methods=["POST"])])
        handles = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._server = WebServer(application, listener, Limits(share(handles)))
        self._server.start()

    def stop(self) -> None:
        """Finishes the requests under way and closes."""
        if self._server is not None:
            self._server.stop(_ENDING)
        if self._ledger is not None:
            self._ledger.close()

    def wait(self) -> None:
        """Returns when the server has ended. Raises what `accepted` raised, which ends it."""
        if self._server is not None:
            self._server.wait()
        if self._failure is not None:
            raise self._failure

    def __enter__(self) -> AlertReceiver:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _listen(self) -> socket.socket:
        host, port = self._address
        listener: socket.socket | None = None
        try:
            family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            listener = socket.socket(family, kind)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen()
        except OSError as error:
            if listener is not None:
                listener.close()
            raise ReceiveError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
        self.port = listener.getsockname()[1]
        return listener

    async def _answer(self, request: Request) -> Response:
        from starlette.requests import ClientDisconnect
        from starlette.responses import Response

        try:
            body = await self._body(request)
        except ClientDisconnect:
            self.counts["disconnected"] += 1
            return Response(status_code=400)
        status, reason = self._status_of(request, body)
        if status != 204:
            self.counts[str(status)] += 1
            return Response(reason + "\n", status_code=status, media_type="text/plain")
        return Response(status_code=204)

    async def _body(self, request: Request) -> bytes | None:
        """The body; None if it is too long."""
        pieces: list[bytes] = []
        length = 0
        async for piece in request.stream():
            length += len(piece)
            if length > self._most_bytes:
                return None
            pieces.append(piece)
        return b"".join(pieces)

    def _status_of(self, request: Request, body: bytes | None) -> tuple[int, str]:
        if body is None:
            return 413, f"an alert has at most {self._most_bytes} bytes"
        id_ = request.headers.get(ID, "")
        if self._keys:
            try:
                id_ = verify(self._keys, request.headers, body, self._clock(), self._tolerance)
            except SignatureError as error:
                return 401, str(error)
        if not id_:
            return 400, f"the header {ID} is missing"
        try:
            alert = json.loads(body.decode())["data"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return 400, "the body is no CloudEvent with data"
        if not isinstance(alert, dict):
            return 400, "the data of the CloudEvent is no alert"
        return self._accept(Received(id_, _seconds(request.headers.get(TIMESTAMP)), body, alert))

    def _accept(self, message: Received) -> tuple[int, str]:
        if message.id in self._ids:
            self.counts["repeated"] += 1
            return 204, ""
        if self._ledger is not None:
            try:
                self._ledger.append(message.id, message.timestamp, message.body)
            except OSError as error:
                return 507, f"the alert cannot be kept: {error.strerror}"
        self._ids.add(message.id)
        self.counts["accepted"] += 1
        if self._keep:
            self.received.append(message)
        return self._handed_on(message)

    def _handed_on(self, message: Received) -> tuple[int, str]:
        try:
            self._accepted(message)
        except Exception as error:
            self._failure = error
            if self._server is not None:
                self._server.end()
            if self._ledger is None:  # nobody has it, so it has to come again
                self._ids.discard(message.id)
                return 500, "the alert cannot be taken"
        return 204, ""


def serve(receiver: AlertReceiver, started: Callable[[str], None] = lambda _: None) -> None:
    """Runs a receiver until a KeyboardInterrupt, which goes on when the receiver has closed.

    `started` is called with its URL once it listens. Raises ReceiveError, and what the receiver's `accepted`
    raises.
    """
    receiver.start()
    try:
        started(receiver.url)
        receiver.wait()
    finally:
        receiver.stop()


def _seconds(text: str | None) -> int:
    return int(text) if text is not None and text.isascii() and text.isdigit() else 0
