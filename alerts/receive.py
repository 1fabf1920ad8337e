"""A small receiver of signed alerts: verifies, remembers ids, keeps what it accepted.

What a desk would build to take alerts, and what `cep receive`, the demo and the tests use. An answer
2xx means that the alert is accepted, and, where a file is kept, that it is written there.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from alerts.ledger import Ledger
from alerts.signing import ID, TIMESTAMP, TOLERANCE, SignatureError, secret_key, verify

if TYPE_CHECKING:
    import uvicorn
    from starlette.requests import Request
    from starlette.responses import Response

MOST_BYTES = 1_048_576
_STARTING = 10.0  # seconds


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
    for another method, 507 if the file cannot take it; each with the reason as text. `counts` counts:
    accepted, repeated, and refusals by status.

    Without secrets nothing is verified. `file` gets a line for every accepted alert before the answer,
    and the ids that it holds are remembered (see Ledger).
    `accepted` is called once for every new alert, in the order of `received`. Use as a context manager,
    or call start and stop.
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
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None
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
        import uvicorn
        from starlette.applications import Starlette
        from starlette.routing import Route

        listener = self._listen()
        if self._path is not None:
            try:
                self._ledger = Ledger(self._path)
            except OSError as error:
                listener.close()
                raise ReceiveError(f"the file {self._path} cannot be used: {error.strerror}") from error
            self._ids = self._ledger.ids
        application = Starlette(routes=[Route("/{path:path}", self._answer, methods=["POST"])])
        config = uvicorn.Config(application, log_config=None, access_log=False, lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listener]}, name="receive", daemon=True
        )
        self._thread.start()
        end = time.monotonic() + _STARTING
        while not self._server.started:
            if time.monotonic() > end or not self._thread.is_alive():
                raise ReceiveError(f"the receiver on port {self.port} did not start")
            self._thread.join(0.005)

    def stop(self) -> None:
        """Finishes the requests under way and closes."""
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join(_STARTING)
        if self._ledger is not None:
            self._ledger.close()

    def wait(self) -> None:
        """Returns when the server has ended."""
        if self._thread is not None:
            self._thread.join()

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
        status, reason = self._judge(request, body)
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

    def _judge(self, request: Request, body: bytes | None) -> tuple[int, str]:
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
        self._accepted(message)
        return 204, ""


def serve(receiver: AlertReceiver, started: Callable[[str], None] = lambda _: None) -> None:
    """Runs a receiver until a KeyboardInterrupt, which goes on when the receiver has closed.

    `started` is called with its URL once it listens. Raises ReceiveError.
    """
    receiver.start()
    try:
        started(receiver.url)
        receiver.wait()
    finally:
        receiver.stop()


def _seconds(text: str | None) -> int:
    return int(text) if text is not None and text.isascii() and text.isdigit() else 0
