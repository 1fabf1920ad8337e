"""Single attempts at real servers on loopback: what is sent, what counts as success, and every limit."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
import standardwebhooks
from certificates import serving, trusting
from cloudevents.core.bindings.http import HTTPMessage, from_structured_event
from ports import free_port
from some_alerts import SECOND, raised
from wayward_server import Answer, WaywardServer

from alerts.receivers.receiver import Outcome
from alerts.receivers.retry_after import retry_after
from alerts.receivers.webhook import Limits, WebhookReceiver, target
from alerts.web_server import Certificate

SECRET = "whsec_" + "A" * 32
OTHER = "whsec_" + "B" * 32
ALERT = raised(1).alert


@pytest.fixture
def server() -> Iterator[WaywardServer]:
    with WaywardServer() as wayward:
        yield wayward


def send(
    url: str, limits: Limits | None = None, now: int | None = None, secrets: tuple[str, ...] = (SECRET,)
) -> Outcome:
    receiver = WebhookReceiver("desk", url, secrets, limits=limits)
    try:
        return receiver.send(ALERT.id, ALERT.to_json(), time.time_ns() if now is None else now)
    finally:
        receiver.close()


def test_the_wire_is_read_by_the_published_packages(server: WaywardServer) -> None:
    assert send(server.url).result == "delivered"
    call = server.calls[0]
    standardwebhooks.Webhook(SECRET).verify(call.body, call.headers)
    event = from_structured_event(HTTPMessage(call.headers, call.body))
    assert event.get_data() == ALERT.as_dict()
    assert event.get_id() == call.headers["webhook-id"] == ALERT.id
    assert call.headers["content-type"].startswith("application/cloudevents+json")


def test_while_a_secret_is_replaced_both_are_used(server: WaywardServer) -> None:
    assert send(server.url, secrets=(OTHER, SECRET)).result == "delivered"
    for secret in (SECRET, OTHER):
        standardwebhooks.Webhook(secret).verify(server.calls[0].body, server.calls[0].headers)


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_2xx_is_success(server: WaywardServer, status: int) -> None:
    server.behave = lambda _: Answer(status)
    assert send(server.url) == Outcome("delivered", str(status))


@pytest.mark.parametrize("status", [400, 401, 404, 418, 429, 500, 503])
def test_any_other_answer_is_no_success_and_says_what_it_was(server: WaywardServer, status: int) -> None:
    server.behave = lambda _: Answer(status, body=b"no such\x1b[31m desk\nhere")
    assert send(server.url) == Outcome("rejected", f"{status}: no such [31m desk here")


def test_gone_has_an_outcome_of_its_own(server: WaywardServer) -> None:
    server.behave = lambda _: Answer(410)
    assert send(server.url) == Outcome("gone", "410 Gone")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(server: WaywardServer, status: int) -> None:
    with WaywardServer() as elsewhere:
        server.behave = lambda _: Answer(status, {"location": elsewhere.url})
        outcome = send(server.url)
        assert outcome.result == "rejected"
        assert "redirects are not followed" in outcome.detail
        assert elsewhere.url in outcome.detail
        assert elsewhere.calls == []


def test_retry_after_is_passed_on(server: WaywardServer) -> None:
    server.behave = lambda _: Answer(503, {"retry-after": "7"})
    assert send(server.url).retry_after == 7 * SECOND
    moment = datetime(2026, 1, 5, 9, 0, 30, tzinfo=UTC)
    server.behave = lambda _: Answer(429, {"retry-after": format_datetime(moment, usegmt=True)})
    assert send(server.url, now=(int(moment.timestamp()) - 30) * SECOND).retry_after == 30 * SECOND


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        (" 120 ", 120),
        ("Thu, 01 Jan 1970 00:02:00 GMT", 20),
        ("Thu, 01 Jan 1970 00:02:00 -0000", 20),
        ("Thursday, 01-Jan-70 00:02:00 GMT", 20),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
        ("Thu, 99 Jan 1970 00:02:00 GMT", None),
    ],
)
def test_retry_after_has_two_forms(value: str, seconds: int | None) -> None:
    assert retry_after(value, 100 * SECOND) == (None if seconds is None else seconds * SECOND)


def test_a_silent_server_is_given_up(server: WaywardServer) -> None:
    server.behave = lambda _: Answer(first=server.closing)
    outcome = send(server.url, Limits(read=0.2))
    assert outcome.result == "unreachable"
    assert "no answer in time" in outcome.detail, "the answer comes half a minute later"


@pytest.mark.slow
def test_a_server_that_trickles_is_given_up(server: WaywardServer) -> None:
    """Every single byte comes in time; together they would take a quarter of an hour."""
    for raw in ([b"H"] + [b"T"] * 18_000, [b"HTTP/1.1 200 OK\r\n"] + [b"x: y\r\n"] * 18_000):
        server.behave = lambda _, raw=raw: Answer(raw=raw, pause=0.05)
        assert send(server.url, Limits(read=5, total=0.2)).result == "unreachable"


@pytest.mark.slow
def test_the_status_counts_even_if_the_body_never_ends(server: WaywardServer) -> None:
    head = b"HTTP/1.1 202 Accepted\r\ncontent-length: 1000000\r\n\r\n"
    server.behave = lambda _: Answer(raw=[head, *[b"x"] * 18_000], pause=0.01)
    assert send(server.url, Limits(read=5, total=1)) == Outcome("delivered", "202")


def test_an_endless_answer_is_not_read(server: WaywardServer) -> None:
    sent = 0

    def pieces() -> Iterator[bytes]:
        nonlocal sent
        yield b"HTTP/1.1 500 Oh\r\ntransfer-encoding: chunked\r\n\r\n"
        while sent < 100_000_000:
            sent += 65_536
            yield b"10000\r\n" + b"a" * 65_536 + b"\r\n"

    server.behave = lambda _: Answer(raw=pieces())  # type: ignore[arg-type]
    outcome = send(server.url)
    assert outcome.result == "rejected"
    assert len(outcome.detail) < 300
    assert sent < 50_000_000


def test_a_dropped_connection_is_reported(server: WaywardServer) -> None:
    server.behave = lambda _: Answer(drop=True)
    outcome = send(server.url)
    assert outcome.result == "unreachable"
    assert outcome.detail


def test_what_is_no_http_is_reported(server: WaywardServer) -> None:
    server.behave = lambda _: Answer(raw=[b"SSH-2.0-OpenSSH_9.6\r\n"])
    assert send(server.url).result == "unreachable"


def test_nobody_listens() -> None:
    outcome = send(f"http://127.0.0.1:{free_port()}/")
    assert outcome.result == "unreachable"
    assert "refused" in outcome.detail


def test_connections_are_kept(server: WaywardServer) -> None:
    receiver = WebhookReceiver("desk", server.url, [SECRET])
    server.behave = lambda call: Answer(
        (200, 500, 204)[call.nth % 3], body=b"" if call.nth % 3 == 2 else b"words"
    )
    for _ in range(9):
        receiver.send(ALERT.id, ALERT.to_json(), time.time_ns())
    receiver.close()
    assert len(server.calls) == 9
    assert server.connections == 1


def test_attempts_of_several_threads_do_not_wait_for_each_other(server: WaywardServer) -> None:
    together = threading.Event()
    server.behave = lambda _: Answer(first=together)
    receiver = WebhookReceiver("desk", server.url, [SECRET], in_flight=4)
    threads = [
        threading.Thread(target=receiver.send, args=(str(n), ALERT.to_json(), time.time_ns()))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    server.wait_for(lambda calls: len(calls) == 4)
    together.set()
    for thread in threads:
        thread.join()
    receiver.close()


def test_proxies_of_the_environment_are_not_used(
    server: WaywardServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    assert send(server.url).result == "delivered"


def test_certificates_are_checked(certificate: Certificate) -> None:
    with WaywardServer() as server:
        server._server.socket = serving(certificate).wrap_socket(server._server.socket, server_side=True)
        url = server.url.replace("http:", "https:")
        stranger = send(url)
        assert stranger.result == "unreachable"
        assert "certificate verify failed" in stranger.detail
        receiver = WebhookReceiver("desk", url, [SECRET], tls=trusting(certificate))
        assert receiver.send(ALERT.id, ALERT.to_json(), time.time_ns()).result == "delivered"
        receiver.close()


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("ftp://host/", "begins with https"),
        ("file:///etc/passwd", "begins with https"),
        ("host/path", "begins with https"),
        ("http://", "no host"),
        ("http:///path", "no host"),
        ("http://host:99999/", "cannot be read"),
        ("http://[::1/", "cannot be read"),
        ("http://me:hunter2@host/", "user name or password"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(url: str, part: str) -> None:
    with pytest.raises(ValueError, match=part) as caught:
        WebhookReceiver("desk", url, [SECRET])
    assert "hunter2" not in str(caught.value)


def test_addresses_are_encoded() -> None:
    url = target("https://bücher.example:8443/a b/ü?q=ä b&c=%20#part")
    assert (url.host, url.port) == (b"xn--bcher-kva.example", 8443)
    assert url.target == b"/a%20b/%C3%BC?q=%C3%A4%20b&c=%20"
    assert target("http://host").target == b"/"
