"""A limit for a whole HTTP exchange, however slowly the other side sends.

HTTP libraries limit each single read; a server that sends a byte now and then can hold such a client
for ever. Here every network operation gets no more than what is left of the exchange's time.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpcore
from httpcore import SOCKET_OPTION

_PIECE = 16_384  # what is written at once, since a single write may stretch over several timeouts


class DeadlineBackend(httpcore.NetworkBackend):
    """Network operations for httpcore's connection pool, within the limit that the calling thread has set.

    Names are resolved by the operating system, whose own limit holds.
    """

    def __init__(self) -> None:
        self._sockets = httpcore.SyncBackend()
        self._thread = threading.local()

    @contextmanager
    def limit(self, seconds: float) -> Iterator[None]:
        """The exchanges that this thread begins and ends inside have so much time in all."""
        self._thread.end = time.monotonic() + seconds
        try:
            yield
        finally:
            self._thread.end = None

    def left(self, timeout: float | None) -> float | None:
        """The lesser of a timeout and what is left. Raises ReadTimeout when nothing is."""
        end: float | None = getattr(self._thread, "end", None)
        if end is None:
            return timeout
        rest = end - time.monotonic()
        if rest <= 0:
            raise httpcore.ReadTimeout("the time for the whole exchange is over")
        return rest if timeout is None else min(timeout, rest)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """A connection whose operations keep the limit."""
        stream = self._sockets.connect_tcp(host, port, self.left(timeout), local_address, socket_options)
        return _DeadlineStream(stream, self)


class _DeadlineStream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, backend: DeadlineBackend) -> None:
        self._stream = stream
        self._backend = backend

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._backend.left(timeout))

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
        return _DeadlineStream(stream, self._backend)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
