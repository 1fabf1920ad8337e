"""A real HTTP server that misbehaves as a test tells it to."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

PATIENCE = 120.0
"""Seconds after which what does not come is a failure; machines that run tests may be slow."""


@dataclass
class Call:
    """A request as it came: the n-th of its webhook-id, from 0."""

    id: str
    headers: dict[str, str]
    body: bytes
    nth: int
    path: str = ""


@dataclass
class Answer:
    """An answer: a status with headers and body, or instead something else.

    `first` is waited for before anything is said; `raw` is sent as it is, piece by piece, with `pause`
    seconds between the pieces; `drop` closes the connection without a word.
    """

    status: int = 204
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    first: threading.Event | None = None
    raw: list[bytes] | None = None
    pause: float = 0.0
    drop: bool = False


class WaywardServer:
    """Answers every POST with what `behave` says; `calls` are all requests in the order they came."""

    def __init__(self, behave: Callable[[Call], Answer] = lambda _: Answer(), port: int = 0) -> None:
        self.behave = behave
        self.calls: list[Call] = []
        self.connections = 0
        self.closing = threading.Event()
        self._came = threading.Condition()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self) -> None:
                super().setup()
                outer.connections += 1

            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                body = self.rfile.read(length)
                if len(body) < length:  # the client died while it sent
                    self.close_connection = True
                    return
                self._say(outer._take({k.lower(): v for k, v in self.headers.items()}, body, self.path))

            def _say(self, answer: Answer) -> None:
                if answer.first is not None:
                    answer.first.wait(30)
                if answer.drop:
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                if answer.raw is not None:
                    self.close_connection = True
                    for piece in answer.raw:
                        if outer.closing.wait(answer.pause):
                            return
                        self.connection.sendall(piece)
                    return
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                if answer.status != 204:
                    self.send_header("content-length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *_: object) -> None:
                """The client may go when it likes."""

        self._server = Server(("127.0.0.1", port), Handler)
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def _take(self, headers: dict[str, str], body: bytes, path: str) -> Answer:
        with self._came:
            id_ = headers.get("webhook-id", "")
            call = Call(id_, headers, body, sum(c.id == id_ for c in self.calls), path)
            self.calls.append(call)
            self._came.notify_all()
        return self.behave(call)

    def wait_for(self, condition: Callable[[list[Call]], bool], timeout: float = PATIENCE) -> None:
        """Returns when the calls satisfy the condition; fails after `timeout` seconds."""
        with self._came:
            fulfilled = self._came.wait_for(lambda: condition(self.calls), timeout)
        assert fulfilled, f"after {timeout} s there were only {[(c.id[:8], c.nth) for c in self.calls]}"

    def __enter__(self) -> WaywardServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
