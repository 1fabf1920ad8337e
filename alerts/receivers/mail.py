"""Alerts by mail: text with an HTML alternative, those about the same thing in one thread.

RFC 5322, 3.6.4, Message-ID, In-Reply-To and References.
"""

from __future__ import annotations

import smtplib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from hashlib import sha256

import httpcore

from alerts.due import Made
from alerts.receivers import default_messages
from alerts.receivers.notification import Notification, thread
from alerts.receivers.posting import printable, words
from alerts.receivers.receiver import Outcome
from alerts.receivers.smtp import Server, Session, SmtpWire
from alerts.receivers.templates import Message, TemplateError

_SUBJECT = 200  # characters
_POLICY = SMTP.clone(
    max_line_length=200
)  # ids of threads stay on one line: some programs read no folded ones


@dataclass(frozen=True, slots=True)
class Letter:
    """Who writes to whom, and the templates of a mail; None: the usual ones. An own `text` without `html` has
    no alternative."""

    sender: str
    to: Sequence[str]
    subject: str | None = None
    text: str | None = None
    html: str | None = None


class MailReceiver:
    """Sends one mail for every alert. Raises TemplateError."""

    in_flight = 1
    apart = False

    def __init__(self, name: str, server: Server, letter: Letter, wire: SmtpWire | None = None) -> None:
        self.name = name
        self._server = server
        self._letter = letter
        self._wire = wire or SmtpWire()
        self._subject = Message("`subject`", letter.subject or default_messages.SUBJECT, "text", _SUBJECT)
        self._text = Message("the message", letter.text or default_messages.TEXT)
        html = letter.html or (None if letter.text else default_messages.HTML)
        self._html = None if html is None else Message("`html`", html, "html")

    def send(self, id_: str, body: str, now: int) -> Outcome:
        """Sends the mail in a session of its own. What the server takes for one address is delivered."""
        return self._send(id_, Notification.of(self.name, [body]), now)

    def send_group(self, group: Made, now: int) -> Outcome:
        """Sends one mail about the alerts of a notification."""
        return self._send(group.id, Notification.of_group(self.name, group), now)

    def send_of(self, episode: str | None, group: Made, now: int) -> Outcome:
        """Sends one mail about alerts; those of one episode are one thread."""
        return self._send(group.id, Notification.of_group(self.name, group), now, episode)

    def _send(self, id_: str, notification: Notification, now: int, episode: str | None = None) -> Outcome:
        try:
            mail = self.mail(id_, notification, now, episode)
        except TemplateError as error:
            return Outcome("rejected", str(error))
        try:
            session = Session(self._server, self._wire)
            try:
                refused = session.send_message(mail)
                with suppress(OSError, smtplib.SMTPException):
                    session.quit()  # whatever it says, it has the mail
            finally:
                session.close()
        except (OSError, smtplib.SMTPException, httpcore.NetworkError, httpcore.TimeoutException) as error:
            return _failed(error)
        return Outcome("delivered", _accepted(len(self._letter.to), refused))

    def mail(
        self, id_: str, notification: Notification, now: int, episode: str | None = None
    ) -> EmailMessage:
        """The mail. Its id is the alert's, or that of the group, so that one that comes twice is known. The
        thread's is that of no mail: programs show mails that refer to it together, whichever comes first."""
        domain = self._letter.sender.rpartition("@")[2]
        told_in = sha256(thread(notification, episode).encode("utf-8", "replace")).hexdigest()[:32]
        mail = EmailMessage(_POLICY)
        mail["From"] = self._letter.sender
        mail["To"] = ", ".join(self._letter.to)
        mail["Subject"] = " ".join(_sound(self._subject.written(notification)).split())
        mail["Date"] = format_datetime(datetime.fromtimestamp(now // 1_000_000_000, UTC))
        mail["Message-ID"] = f"<{id_}@{domain}>"
        mail["In-Reply-To"] = mail["References"] = f"<thread.{told_in}@{domain}>"
        mail["Auto-Submitted"] = "auto-generated"  # RFC 3834: no notices of absence, please
        mail.set_content(_sound(self._text.written(notification)) + "\n")
        html = None if self._html is None else self._html.whole(notification)
        if html is not None:
            mail.add_alternative(_sound(html) + "\n", subtype="html")
        return mail

    def close(self) -> None:
        """Nothing is open between mails."""


def _sound(text: str) -> str:
    """A text that has UTF-8."""
    return text.encode("utf-8", "replace").decode()


def _accepted(addresses: int, refused: dict[str, tuple[int, bytes]]) -> str:
    if not refused:
        return "accepted"
    code, said = next(iter(refused.values()))
    return f"accepted, but for {len(refused)} of {addresses} addresses: {code} {_said(said)}"


def _failed(error: Exception) -> Outcome:
    match error:
        case smtplib.SMTPAuthenticationError():
            # without its text: a server may repeat what it was given
            return Outcome("rejected", f"{error.smtp_code}: the server takes neither user nor password so")
        case smtplib.SMTPRecipientsRefused():
            code, said = next(iter(error.recipients.values()))
            return Outcome("rejected", f"{code}: {_said(said)}")
        case smtplib.SMTPResponseException() if error.smtp_code > 0:
            return Outcome("rejected", f"{error.smtp_code}: {_said(error.smtp_error)}")
        case smtplib.SMTPNotSupportedError():
            return Outcome("rejected", words(error))
        case TimeoutError() | httpcore.TimeoutException():
            return Outcome("unreachable", f"no answer in time: {words(error)}")
        case _:
            return Outcome("unreachable", words(error))


def _said(reply: bytes | str) -> str:
    return printable(reply.decode(errors="replace") if isinstance(reply, bytes) else reply)
