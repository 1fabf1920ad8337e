"""SMTP within the limits that every receiver has: the address looked at, one deadline, no endless answers.

The protocol is smtplib's; this gives it a connection that was made to a checked address, and lines that are
read within what is left of the time and of the bytes.
"""

from __future__ import annotations

import smtplib
import socket
import ssl
import time
from dataclasses import dataclass
from typing import Any, Literal

from alerts.receivers.egress import Egress
from alerts.receivers.names import Names

Tls = Literal["starttls", "tls"]

_READ = 65_536  # bytes of a session's replies
_PIECE = 4_096


@dataclass(frozen=True, slots=True)
class Server:
    """A mail server: where it is, when TLS begins, and who we are to it; without a user, nobody.

    The password is not in the repr.
    """

    host: str
    port: int
    tls: Tls = "starttls"
    user: str | None = None
    password: str | None = None

    def __repr__(self) -> str:
        return f"Server({self.host}:{self.port}, {self.tls})"


@dataclass(frozen=True, slots=True)
class SmtpWire:
    """The way to mail servers: seconds to connect and for a session, certificates, names, addresses."""

    connect: float = 5.0
    total: float = 30.0
    tls: ssl.SSLContext | None = None
    names: Names | None = None
    egress: Egress | None = None


class TooMuchError(OSError):
    """A server that answers more than anybody wants to read."""


class Session(smtplib.SMTP):
    """One session with a server, encrypted and signed in. Use as a context manager.

    Raises OSError, smtplib.SMTPException, and httpcore's errors of names and addresses.
    """

    def __init__(self, server: Server, wire: SmtpWire) -> None:
        self._end = time.monotonic() + wire.total
        self._read = 0
        self._wire = wire
        self._context = wire.tls or ssl.create_default_context()
        self._server = server
        super().__init__(server.host, server.port, local_hostname=_own_name(), timeout=wire.total)
        try:
            self._sign_in()
        except BaseException:
            self.close()
            raise

    def _sign_in(self) -> None:
        if self._server.tls == "starttls":
            self.starttls(
                context=self._context
            )  # raises where it is not offered: nothing is sent in the clear
        if self._server.user is not None:
            self.login(self._server.user, self._server.password or "")

    def left(self) -> float:
        """The seconds that are left. Raises TimeoutError when none are."""
        rest = self._end - time.monotonic()
        if rest <= 0:
            raise TimeoutError("the time for the whole session is over")
        return rest

    def count(self, length: int) -> None:
        """Notes bytes that were read. Raises TooMuchError."""
        self._read += length
        if self._read > _READ:
            raise TooMuchError(f"its answers have more than {_READ} bytes")

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:  # noqa: ARG002
        """A connection to the first address that answers; of smtplib, which calls it to connect."""
        names = self._wire.names or Names()
        addresses = names.addresses(host, port, min(self._wire.connect, self.left()))
        (self._wire.egress or Egress()).check(host, addresses)
        failure: OSError = OSError(f"the host {host} has no address")
        for address in addresses:
            try:
                found = socket.create_connection((address, port), min(self._wire.connect, self.left()))
            except OSError as error:
                failure = error
                continue
            return self._encrypted(found, host) if self._server.tls == "tls" else found
        raise failure

    def _encrypted(self, connection: socket.socket, host: str) -> socket.socket:
        try:
            connection.settimeout(self.left())
            return self._context.wrap_socket(connection, server_hostname=host)
        except OSError:
            connection.close()
            raise

    def getreply(self) -> tuple[int, bytes]:
        """The next reply; of smtplib."""
        if self.file is None and self.sock is not None:
            self.file = _Lines(self, self.sock)
        return super().getreply()

    def send(self, s: Any) -> None:
        """Sends within what is left of the time; of smtplib."""
        if self.sock is not None:
            self.sock.settimeout(self.left())
        super().send(s)


def _own_name() -> str:
    """The name to say hello by. smtplib's own would be looked up, however long that takes."""
    name = socket.gethostname()
    return name if "." in name else "[127.0.0.1]"


class _Lines:
    """The lines of one connection, read as smtplib reads a file. STARTTLS begins with a new one: what came
    before the handshake in the clear is not taken for an answer."""

    def __init__(self, session: Session, connection: socket.socket) -> None:
        self._session = session
        self._connection = connection
        self._rest = b""

    def readline(self, limit: int) -> bytes:
        """The next line with its end, or as much of it as the limit; b"" at the end."""
        while b"\n" not in self._rest and len(self._rest) < limit:
            self._connection.settimeout(self._session.left())
            piece = self._connection.recv(_PIECE)
            if not piece:
                break
            self._session.count(len(piece))
            self._rest += piece
        end = self._rest.find(b"\n") + 1 or len(self._rest)
        line, self._rest = self._rest[: min(end, limit)], self._rest[min(end, limit) :]
        return line

    def close(self) -> None:
        """Nothing is open but the connection."""
