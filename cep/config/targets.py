"""Where the alerts of a receiver go, by kind; secrets are still unread, templates are read.

A kind that is new is a class here, its options in `receiver_section`, and a case in
`cep.receivers_made`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal
from urllib.parse import urlsplit

from cep.secrets import Secret
from cep.sources.kafka.options import Options

_PAGERDUTY = "events.pagerduty.com"


@dataclass(frozen=True, slots=True)
class Console:
    """The standard output of the job."""

    kind: ClassVar = "console"

    @property
    def where(self) -> str:
        """Where the alerts go, without what is secret."""
        return "standard output"


@dataclass(frozen=True, slots=True)
class Webhook:
    """A URL that takes signed messages; without a secret they are not signed."""

    kind: ClassVar = "webhook"
    url: Secret
    secret: Secret | None
    format: Literal["cloudevents", "alertmanager"]
    allow_private: bool

    @property
    def where(self) -> str:
        """The host; if it stands elsewhere, the place."""
        return _host(self.url)


@dataclass(frozen=True, slots=True)
class Slack:
    """An incoming webhook of Slack; `message` is a template's text, None: as usual."""

    kind: ClassVar = "slack"
    url: Secret
    message: str | None
    allow_private: bool

    @property
    def where(self) -> str:
        """The place of the address, which is secret."""
        return self.url.written


@dataclass(frozen=True, slots=True)
class PagerDuty:
    """A service of PagerDuty by its routing key; `url` None: that of everybody."""

    kind: ClassVar = "pagerduty"
    routing_key: Secret
    url: Secret | None
    message: str | None
    allow_private: bool

    @property
    def where(self) -> str:
        """The host."""
        return _PAGERDUTY if self.url is None else _host(self.url)


@dataclass(frozen=True, slots=True)
class Email:
    """Addresses of mail and the server that takes mail for them; without a user nobody signs in."""

    kind: ClassVar = "email"
    host: str
    port: int
    tls: Literal["starttls", "tls"]
    user: str | None
    password: Secret | None
    sender: str
    to: tuple[str, ...]
    subject: str | None
    message: str | None
    html: str | None
    allow_private: bool

    @property
    def where(self) -> str:
        """The addresses, and the server."""
        return f"{', '.join(self.to)} by {self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class File:
    """A file of JSON lines; `longest` in bytes."""

    kind: ClassVar = "file"
    path: Path
    longest: int
    durable: bool

    @property
    def where(self) -> str:
        """The path."""
        return str(self.path)


@dataclass(frozen=True, slots=True)
class Kafka:
    """A topic of a cluster; `key` is a template's text, None: the key of the alert; `options` are those of a
    producer."""

    kind: ClassVar = "kafka"
    servers: str
    topic: str
    key: str | None
    mode: Literal["structured", "binary"]
    options: Options

    @property
    def where(self) -> str:
        """The topic and the brokers."""
        return f"{self.topic} at {self.servers}"


def _host(url: Secret) -> str:
    return url.written if url.refers else urlsplit(url.written).hostname or ""


Target = Console | Webhook | Slack | PagerDuty | Email | File | Kafka


def address_of(target: Target, environ: Mapping[str, str]) -> tuple[str, int] | None:
    """The host and port of a target over the network; None for others. Raises SecretError."""
    match target:
        case Webhook() | Slack():
            return _address(target.url.reveal(environ))
        case PagerDuty():
            return (_PAGERDUTY, 443) if target.url is None else _address(target.url.reveal(environ))
        case Email():
            return target.host, target.port
        case Kafka():
            host, _, port = target.servers.partition(",")[0].rpartition(":")
            return host.strip("[]"), int(port)
        case Console() | File():
            return None


def _address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
