"""A real SMTP server on loopback, and one that answers as a test tells it to."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any, cast

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword

USER, PASSWORD = "cep", "correct horse"
PATIENCE = 60.0


class Mailbox:
    """Keeps the mails that come; `answers` are given to RCPT by address, and in turn to the ends of mails."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.envelopes: list[Envelope] = []
        self.refused: dict[str, str] = {}
        self.answers: list[str] = []
        self.encrypted: list[bool] = []

    async def handle_RCPT(  # noqa: N802  as aiosmtpd calls it
        self, _server: object, _session: object, envelope: Envelope, address: str, _options: object
    ) -> str:
        if address in self.refused:
            return self.refused[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, _session: object, envelope: Envelope) -> str:  # noqa: N802
        if self.answers and not (answer := self.answers.pop(0)).startswith("250"):
            return answer
        content = envelope.content
        assert isinstance(content, bytes)
        self.mails.append(cast(EmailMessage, message_from_bytes(content, policy=default)))
        self.envelopes.append(envelope)
        self.encrypted.append(server.transport.get_extra_info("sslcontext") is not None)
        return "250 accepted"


def _authenticated(_server: object, _session: object, _envelope: object, _how: str, given: Any) -> AuthResult:
    assert isinstance(given, LoginPassword)
    known = (given.login, given.password) == (USER.encode(), PASSWORD.encode())
    return AuthResult(success=known, handled=False)


@contextmanager
def mail_server(
    mailbox: Mailbox, tls: ssl.SSLContext | None, how: str, *, auth: bool = True
) -> Iterator[int]:
    """The port of a server that takes mail under STARTTLS or TLS only, and with `auth` from our user only.

    With `how` "clear" it offers no encryption.
    """
    rules: dict[str, Any] = {
        "authenticator": _authenticated,
        "auth_required": auth,
        "auth_require_tls": False,
    }
    if how == "starttls":
        rules |= {"tls_context": tls, "require_starttls": True}
    elif how == "tls":
        rules |= {"ssl_context": tls}
    listening = socket.create_server(("127.0.0.1", 0))
    port: int = listening.getsockname()[1]
    listening.close()
    controller = Controller(mailbox, hostname="127.0.0.1", port=port, **rules)
    controller.start()
    try:
        yield port
    finally:
        controller.stop()


@contextmanager
def says(*pieces: bytes, pause: float = 0.0, again: bool = False) -> Iterator[int]:
    """The port of a server that says these things to everybody, whatever it hears; `again`: without end."""
    listening = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def talk(connection: socket.socket) -> None:
        with suppress(OSError), connection:
            while True:
                for piece in pieces:
                    if over.wait(pause):
                        return
                    connection.sendall(piece)
                if not again:
                    over.wait(PATIENCE)
                    return

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=talk, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listening.getsockname()[1]
    finally:
        over.set()
        listening.close()
