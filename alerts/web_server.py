"""An HTTP server in a thread, for few clients, which no client can wear out (decision 17).

uvicorn limits what it serves and not what it accepts: a connection that never ends its request costs a
file handle for ever. Here the number of connections is bounded, the one that has waited longest makes room
for the next, and every request has an end. Nothing is printed; what goes wrong is logged.

An application may `hold` the connection of a request that it answers for hours, as a stream of events. Held
connections are bounded apart from the others and make room for none; one whose client takes nothing ends.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import MutableMapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from starlette.applications import Starlette

_AT_ONCE = 8
"""Connections that are accepted before those that are too many are closed."""
_QUEUE = 128
"""Connections that the operating system lets wait to be accepted."""
_MOST = 128
_SHARE = 8
"""One of so many file handles of the process may be a connection."""
_LINGER = 1.0
"""Seconds for which the rest of a request is read that was answered before its end."""
_CONNECTION = "alerts.connection"
"""The key of a request's connection in its scope."""
_SHUTDOWN = 2
"""Seconds that requests under way have at the end."""
_HANDSHAKE = 5.0
"""Seconds that a client has to begin TLS."""
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"

_LOGGER = logging.getLogger(__name__)
_LOGGER.setLevel(logging.ERROR)  # a client's mistakes are no news
for _name in (__name__, "uvicorn"):  # or else Python prints on stderr what nobody wants to keep
    logging.getLogger(_name).addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Limits:
    """`connections` at once, beside them `streams` that are held.

    `head`: bytes of a request's line and headers. Seconds: `request` for a whole request and for taking its
    answer, `idle` between two requests.
    """

    connections: int = _MOST
    streams: int = 2 * _MOST
    head: int = 16_384
    request: float = 10.0
    idle: int = 5


def share(handles: int) -> int:
    """The connections that a port may hold if the process may have so many file handles; -1: any number."""
    return _MOST if handles < 0 else max(_AT_ONCE, min(_MOST, handles // _SHARE))


def limits_of(handles: int) -> Limits:
    """The limits of a port whose connections, and twice as many streams, take their share of file handles."""
    return Limits(share(handles), 2 * share(handles))


def hold(scope: MutableMapping[str, Any]) -> bool:
    """Keeps the connection of a request until its answer ends; False if too many are held already.

    `scope` is the request's; one that no server of this kind serves is held by whoever does.
    """
    connection = scope.get(_CONNECTION)
    return connection is None or connection.hold()


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate with what signs it, and its key: files of PEM."""

    chain: Path
    key: Path


class WebServer:
    """Serves an application on a listening socket, which it closes, from a thread of its own.

    With a certificate it does so under TLS.
    """

    def __init__(
        self, app: Starlette, listening: socket.socket, limits: Limits, certificate: Certificate | None = None
    ) -> None:
        shaken = None if certificate is None else _Handshakes(limits.connections)
        protocol = type("Limited", (_Connection,), {"limits": limits, "ending": False, "handshakes": shaken})
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http=protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=_AT_ONCE,
            timeout_keep_alive=limits.idle,
            timeout_graceful_shutdown=_SHUTDOWN,
            h11_max_incomplete_event_size=limits.head,
            ssl_certfile=None if certificate is None else certificate.chain,
            ssl_keyfile=None if certificate is None else certificate.key,
        )
        self._listening = listening
        self._server = _Server(config, protocol)
        self._thread = threading.Thread(
            target=self._server.run, args=([listening],), name="http", daemon=True
        )

    def start(self) -> None:
        """Begins to serve; returns at once."""
        self._thread.start()

    def wait(self) -> None:
        """Returns when the server has ended."""
        self._thread.join()

    def end(self) -> None:
        """Has the server end soon. May be called by the application."""
        self._server.should_exit = True

    def stop(self, seconds: float = 5.0) -> None:
        """Finishes the requests under way, closes every connection, and waits for that at most so long."""
        self.end()
        if self._thread.ident is not None:
            self._thread.join(seconds)
        self._listening.close()


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, protocol: type[_Connection]) -> None:
        super().__init__(config)
        self._protocol = protocol

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(_log)
        if self.config.is_ssl:  # uvicorn leaves this to asyncio, which allows a minute
            allowed = partial(loop.create_server, ssl_handshake_timeout=_HANDSHAKE)
            loop.create_server = allowed  # type: ignore[method-assign]
        await super().startup(sockets)
        for one in sockets or []:
            # asyncio takes one number for both: what it accepts in one go, and what waits to be accepted
            one.listen(_QUEUE)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # uvicorn closes the connections that there are; for one that asyncio had just accepted it would wait
        self._protocol.ending = True
        await super().shutdown(sockets)
        for one in list(self.server_state.connections):  # answers that nobody takes
            cast(_Connection, one).drop()
        await asyncio.sleep(0)  # closes them


def _log(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    _LOGGER.error("%s", context.get("message"), exc_info=context.get("exception"))


class _Handshakes:
    """The handshakes of TLS under way, of which asyncio tells nothing before they are over.

    One that comes to nothing is forgotten when asyncio has given it up.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._begun: dict[int, float] = {}

    def begin(self, connection: int, now: float) -> None:
        """Raises ConnectionAbortedError if there are too many: the connection is not taken."""
        for one, at in list(self._begun.items()):
            if at >= now - _HANDSHAKE - _LINGER:
                break
            del self._begun[one]
        if len(self._begun) >= self._most:
            raise ConnectionAbortedError("too many handshakes")
        self._begun.pop(connection, None)
        self._begun[connection] = now

    def end(self, connection: int) -> None:
        """It came to something."""
        self._begun.pop(connection, None)


class _Connection(H11Protocol):
    """A connection that gives way: it waits for its client, or the application works for it."""

    limits: ClassVar[Limits]
    ending: ClassVar[bool]
    handshakes: ClassVar[_Handshakes | None]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.logger = _LOGGER
        self._since = 0.0
        self._answers = 0
        self._begun = False
        self._held = False
        self._stalled = False
        self._deadline: asyncio.TimerHandle | None = None
        app = self.app

        async def with_connection(scope: Any, receive: Any, send: Any) -> None:
            await app({**scope, _CONNECTION: self}, receive, send)

        self.app = with_connection
        if self.handshakes is not None:
            self.handshakes.begin(id(self), self.loop.time())

    @property
    def _waiting(self) -> bool:
        """True if its client has to do the next step: to end a request, or to take what is written."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # head and body of an answer are two writes: without this the body waits for the client's word that it
        # has the head, which systems hold back for 40 ms; asyncio sees to it only for sockets it made itself
        if (own := transport.get_extra_info("socket")) is not None:
            own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.handshakes is not None:
            self.handshakes.end(id(self))
        if self.ending:
            self.drop()
            return
        self._since = self.loop.time()
        self._allow(self.limits.request)
        if len(self._others) >= self.limits.connections:
            self._displaced().drop()

    @property
    def _others(self) -> list[_Connection]:
        """The other connections that are not held."""
        every = (one for one in self.connections if isinstance(one, _Connection))
        return [one for one in every if one is not self and not one._held]

    def hold(self) -> bool:
        """Keeps this connection until its answer ends, if not too many are held."""
        held = sum(isinstance(one, _Connection) and one._held for one in self.connections)
        self._held = self._held or held < self.limits.streams
        return self._held

    def _displaced(self) -> _Connection:
        """The connection that makes room for this one: if none waits, one that had answers before."""
        others = self._others
        if waiting := [one for one in others if one._waiting]:
            return min(waiting, key=lambda one: one._since)
        most = max(others, key=lambda one: one._answers, default=self)
        return most if most._answers else self

    def data_received(self, data: bytes) -> None:
        if not self._begun:
            self._begun = True
            self._allow(self.limits.request)
        super().data_received(data)

    def on_response_complete(self) -> None:
        self._held = self._stalled = False
        self._since = self.loop.time()
        self._answers += 1
        self._begun = self.cycle.more_body
        # the rest of a request is read for a moment, so that a client which sends on comes to see the answer
        self._allow(_LINGER if self._begun else self.limits.request)
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:  # there is an answer already
            self.drop()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        if self._waiting or self._held:
            self.transport.close()
        else:
            self.cycle.keep_alive = False

    def _allow(self, seconds: float) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(seconds, self._overdue)

    def _overdue(self) -> None:
        stalled, self._stalled = self._stalled, self._held and self.flow.write_paused
        if not self._waiting and not (stalled and self._stalled):
            # the application takes its time, which is no fault of the client's
            self._allow(self.limits.request)
            return
        answered = self.cycle is not None and self.cycle.response_started
        if self._begun and not answered and not self.transport.is_closing():
            self.transport.write(_TOO_SLOW)
        self.drop()

    def drop(self) -> None:
        """Closes the connection now, whatever is still to be written."""
        self.connections.discard(self)
        self.transport.abort()
