"""POST requests to one URL, and what their answers mean to a delivery.

Nothing that the other side says makes us call anybody else: redirects are not followed, proxies of the
environment not used, cookies not kept, and no more than a little of an answer is read, as it comes: what is
compressed stays so.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from urllib.parse import quote, urlsplit

import httpcore

from alerts.receivers.egress import Egress
from alerts.receivers.exchange import BoundedBackend, Bounds, TooLongError
from alerts.receivers.names import Names
from alerts.receivers.receiver import Outcome
from alerts.receivers.retry_after import retry_after

_ANSWER = 16_384  # bytes of an answer's body that are read
_PIECES = 64  # of the body, which may come in chunks of a byte
_SHOWN = 200  # characters of it that an outcome shows
_KEEP_ALIVE = 4.0  # seconds: many servers close idle connections after five


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds: to connect, for each wait for data, and for the whole exchange."""

    connect: float = 5.0
    read: float = 10.0
    total: float = 20.0


@dataclass(frozen=True, slots=True)
class Wire:
    """The way to receivers: limits, certificates that count, names, addresses; None: as usual."""

    limits: Limits | None = None
    tls: ssl.SSLContext | None = None
    names: Names | None = None
    egress: Egress | None = None


class Posting:
    """Posts to one URL over connections that are kept, `in_flight` of them at most.

    Outcomes show none of the texts that are `secret`, nor the query of the URL, whatever an answer repeats.
    Raises ValueError for a URL that cannot be used.
    """

    def __init__(
        self, url: str, wire: Wire | None = None, *, in_flight: int = 1, secret: Iterable[str] = ()
    ) -> None:
        wire = wire or Wire()
        self._url = target(url)
        self._secret = [text for text in (*secret, urlsplit(url).query) if text]
        self._limits = wire.limits or Limits()
        self._network = BoundedBackend(wire.names, wire.egress)
        tls = wire.tls
        if tls is None and self._url.scheme == b"https":
            tls = httpcore.default_ssl_context()  # or else each connection reads all certificates again
        self._pool = httpcore.ConnectionPool(
            ssl_context=tls,
            max_connections=in_flight,
            keepalive_expiry=_KEEP_ALIVE,
            network_backend=self._network,
        )

    def post(self, headers: Iterable[tuple[str, str]], content: bytes, now: int) -> Outcome:
        """Posts once, at `now` (wall clock, ns); any 2xx is success, whatever comes after the status."""
        headers = [("user-agent", "cep"), ("accept-encoding", "identity"), *headers]
        limits = self._limits
        timeout = {
            "connect": limits.connect,
            "read": limits.read,
            "write": limits.read,
            "pool": limits.total,
        }
        try:
            with (
                self._network.within(Bounds(limits.total, body=_ANSWER)),
                self._pool.stream(
                    "POST", self._url, headers=headers, content=content, extensions={"timeout": timeout}
                ) as response,
            ):
                return _outcome(response, now, self._hidden)
        except httpcore.TimeoutException as error:
            return Outcome("unreachable", f"no answer in time: {words(error)}")
        except (httpcore.NetworkError, httpcore.ProtocolError) as error:
            return Outcome("unreachable", words(error))

    def _hidden(self, text: str) -> str:
        """A text of the other side's, on one line and without what is secret."""
        for secret in self._secret:
            text = text.replace(secret, "…")
        return printable(text)

    def close(self) -> None:
        """Closes its connections."""
        self._pool.close()


def target(url: str) -> httpcore.URL:
    """The URL, checked and with its parts encoded. Raises ValueError with a sentence about it."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
        encoded = (host or "").encode("idna")
    except ValueError as error:
        raise ValueError(f"the URL cannot be read: {error}") from None
    if parts.scheme not in ("http", "https"):
        raise ValueError("the URL of a webhook begins with https:// or http://")
    if not host:
        raise ValueError("the URL has no host")
    if parts.username is not None or parts.password is not None:
        raise ValueError("the URL holds a user name or password: messages are signed with `secret` instead")
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~")
    if parts.query:
        path += "?" + quote(parts.query, safe="/%:@!$&'()*+,;=~?")
    return httpcore.URL(scheme=parts.scheme, host=encoded, port=port, target=path)


def _outcome(response: httpcore.Response, now: int, shown: Callable[[str], str]) -> Outcome:
    status = response.status
    answer = _answer(response, shown)
    if 200 <= status < 300:
        return Outcome("delivered", str(status))
    found = {name.lower(): value.decode("latin-1") for name, value in response.headers}
    if 300 <= status < 400:
        location = shown(found.get(b"location", ""))
        return Outcome("rejected", f"{status}: redirects are not followed (to {location or 'nowhere'})")
    if status == 410:
        return Outcome("gone", f"410 Gone: {answer}".removesuffix(": "))
    wait = retry_after(found[b"retry-after"], now) if b"retry-after" in found else None
    return Outcome("rejected", f"{status}: {answer}".removesuffix(": "), wait)


def _answer(response: httpcore.Response, shown: Callable[[str], str]) -> str:
    """The beginning of the body. Read to its end if it is short, so that the connection can be kept."""
    body = b""
    try:
        for piece in islice(response.iter_stream(), _PIECES):
            body += piece
    except TooLongError:
        pass
    except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as error:
        return f"{shown(body.decode(errors='replace'))} ({words(error)})".lstrip()
    return shown(body.decode(errors="replace"))


def words(error: Exception) -> str:
    """The text of an error of the network, on one line; without any, its kind."""
    return printable(str(error)) or type(error).__name__


def printable(text: str) -> str:
    """The beginning of a text of somebody else's, on one line."""
    shown = "".join(c if c.isprintable() else " " for c in text[: _SHOWN * 4])
    shown = " ".join(shown.split())
    return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"
