"""Host names to addresses within a limit of time, which the operating system's resolver does not take."""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

import httpcore

Lookup = Callable[..., list[tuple[Any, ...]]]
"""As socket.getaddrinfo."""


class Names:
    """Looks names up with `lookup`, in a thread that is left behind when it takes too long.

    There is one such thread for a name at most: whoever asks meanwhile waits for the same answer.
    """

    def __init__(self, lookup: Lookup = socket.getaddrinfo) -> None:
        self._lookup = lookup
        self._lock = threading.Lock()
        self._pending: dict[tuple[str, int], Future[list[str]]] = {}

    def addresses(self, host: str, port: int, seconds: float | None) -> list[str]:
        """The addresses of a host, in the order to try them. Raises ConnectError and ConnectTimeout."""
        with suppress(ValueError):
            return [str(ipaddress.ip_address(host))]
        with self._lock:
            found = self._pending.get((host, port))
            if found is None:
                found = Future()
                asking = threading.Thread(
                    target=self._find, args=(host, port, found), name="resolve", daemon=True
                )
                try:
                    asking.start()
                except RuntimeError as error:  # this process may have no more threads
                    raise httpcore.ConnectError(str(error)) from error
                self._pending[host, port] = found
        try:
            return found.result(seconds)
        except TimeoutError:
            raise httpcore.ConnectTimeout(f"the name {host} is still being looked up") from None
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(str(error)) from error

    def _find(self, host: str, port: int, found: Future[list[str]]) -> None:
        error: BaseException | None = None
        addresses: list[str] = []
        try:
            answers = self._lookup(host, port, type=socket.SOCK_STREAM)
            addresses = list(dict.fromkeys(answer[4][0] for answer in answers))
        except BaseException as raised:
            error = raised
        with self._lock:  # before it is told: whoever asks from now on gets an answer of their own
            del self._pending[host, port]
        if error is not None:
            found.set_exception(error)
        else:
            found.set_result(addresses)
