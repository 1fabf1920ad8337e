"""Limits for a whole HTTP exchange, whatever the other side sends and however slowly.

HTTP libraries limit each single read, and read on as long as something comes: a server that sends a byte now
and then, or one `100 Continue` after the other, can hold such a client for ever. Here every network
operation gets no more than what is left of the exchange's time, and an answer that is longer than its head
may be, or has more informational replies before it, is not read on.
"""

from __future__ import annotations

import re
import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpcore
from httpcore import SOCKET_OPTION

from alerts.receivers.egress import Egress
from alerts.receivers.names import Names

_PIECE = 16_384
"""Bytes that are read at once, and written, since a single write may stretch over several timeouts."""
_HEAD_END = re.compile(rb"\n\r?\n")
_INFORMATIONAL = re.compile(rb"\s*HTTP/\d\.\d 1(?!01)\d\d")  # after 101 no other reply follows


class TooLongError(httpcore.RemoteProtocolError):
    """The body of an answer is longer than anybody wants to read."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Of one exchange: `seconds` in all, bytes of all its heads and of its body, informational replies."""

    seconds: float
    head: int = 16_384
    body: int = 16_384
    informational: int = 10


class Exchange:
    """The state of one exchange so far; `read` counts bytes, `informational` replies 1xx."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._end = time.monotonic() + bounds.seconds
        self._head: bytes | None = b""
        self._body = 0
        self.read = 0
        self.informational = 0

    def left(self, timeout: float | None) -> float:
        """The lesser of a timeout and what is left. Raises ReadTimeout when nothing is."""
        rest = self._end - time.monotonic()
        if rest <= 0:
            raise httpcore.ReadTimeout("the time for the whole exchange is over")
        return rest if timeout is None else min(timeout, rest)

    def take(self, data: bytes) -> None:
        """Looks at what was read, before anybody else does. Raises RemoteProtocolError beyond a bound."""
        self.read += len(data)
        if self._head is None:
            self._body += len(data)
        else:
            self._look(self._head + data, max(0, len(self._head) - 2))
        if self._body > self._bounds.body:
            raise TooLongError(f"its answer has more than {self._bounds.body} bytes")

    def _look(self, data: bytes, seen: int) -> None:
        """Takes informational replies away; what follows the head of the answer is its body.

        No head ends in the first bytes that were `seen` before.
        """
        while end := _HEAD_END.search(data, seen):
            if not _INFORMATIONAL.match(data):
                self._head, self._body = None, len(data) - end.end()
                return
            self.informational += 1
            if self.informational > self._bounds.informational:
                raise httpcore.RemoteProtocolError(
                    f"it sends more than {self._bounds.informational} informational replies (1xx)"
                )
            data, seen = data[end.end() :], 0
        self._head = data
        if self.read > self._bounds.head:
            raise httpcore.RemoteProtocolError(
                f"the head of its answer has more than {self._bounds.head} bytes"
            )


class BoundedBackend(httpcore.NetworkBackend):
    """Network operations for httpcore's connection pool, within the bounds that the thread has set, to
    addresses that `egress` lets pass."""

    def __init__(self, names: Names | None = None, egress: Egress | None = None) -> None:
        self._names = names or Names()
        self._egress = egress or Egress()
        self._sockets = httpcore.SyncBackend()
        self._thread = threading.local()

    @contextmanager
    def within(self, bounds: Bounds) -> Iterator[Exchange]:
        """A scope: all that this thread reads inside belongs to one exchange."""
        exchange = self._thread.exchange = Exchange(bounds)
        try:
            yield exchange
        finally:
            self._thread.exchange = None

    @property
    def exchange(self) -> Exchange | None:
        """The exchange that this thread is in."""
        return getattr(self._thread, "exchange", None)

    def left(self, timeout: float | None) -> float | None:
        """The lesser of a timeout and what is left. Raises ReadTimeout when nothing is."""
        return timeout if self.exchange is None else self.exchange.left(timeout)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """A connection whose operations keep the bounds, to the first address of the host that answers.

        Raises RefusedError, before anything is sent, if one of its addresses is not to be reached.
        """
        failure: Exception = httpcore.ConnectError(f"the host {host} has no address")
        addresses = self._names.addresses(host, port, self.left(timeout))
        self._egress.check(host, addresses)
        for address in addresses:
            try:
                stream = self._sockets.connect_tcp(
                    address, port, self.left(timeout), local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return _BoundedStream(stream, self)
        raise failure


class _BoundedStream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, backend: BoundedBackend) -> None:
        self._stream = stream
        self._backend = backend

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = self._stream.read(min(max_bytes, _PIECE), self._backend.left(timeout))
        if self._backend.exchange is not None:
            self._backend.exchange.take(data)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _PIECE):
            self._stream.write(buffer[start : start + _PIECE], self._backend.left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, self._backend.left(timeout))
        return _BoundedStream(stream, self._backend)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
