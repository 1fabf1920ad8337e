"""Receivers that mean harm: each costs itself an attempt, of bounded size, and the others nothing."""

from __future__ import annotations

import gzip
import itertools
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import httpcore
import pytest
from some_alerts import raised
from wayward_server import PATIENCE, Answer, WaywardServer

from alerts.dispatch import Dispatcher
from alerts.lane import Schedule
from alerts.outbox import BatchRecord, Outbox
from alerts.receivers.egress import Egress
from alerts.receivers.exchange import BoundedBackend, Bounds
from alerts.receivers.names import Names
from alerts.receivers.pagerduty import PagerDutyReceiver
from alerts.receivers.slack import SlackReceiver
from alerts.receivers.webhook import Limits, WebhookReceiver
from alerts.routing import Route

SECRET = "whsec_" + "A" * 32
ALERTS = 60
SHORT = Limits(connect=0.3, read=0.3, total=0.6)
SOON = Schedule(first=0.01, longest=0.05, attempts=1_000, probe=0.05)
GIGABYTES = 10_000_000_000
BOMB = gzip.compress(bytes(50_000_000))

OK = b"HTTP/1.1 200 OK\r\n"
BROKEN = b"HTTP/1.1 500 Oh\r\n"
LENGTH = b"content-length: %d\r\n\r\n"
CHUNKED = b"transfer-encoding: chunked\r\n\r\n"


@dataclass(frozen=True)
class Harm:
    """The pieces of an answer, seconds between them, and what is written down of the attempt."""

    pieces: Callable[[], Iterator[bytes]]
    outcome: str
    pause: float = 0.0


def endless(piece: bytes, *before: bytes) -> Callable[[], Iterator[bytes]]:
    return lambda: itertools.chain(before, itertools.repeat(piece))


def just(*pieces: bytes) -> Callable[[], Iterator[bytes]]:
    return lambda: iter(pieces)


LONG = "the head of its answer has more than 16384 bytes"
MANY = "more than 10 informational replies (1xx)"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
HARMS = {
    "100 Continue without end": Harm(endless(CONTINUE * 500), MANY),
    "one 100 Continue after the other": Harm(endless(CONTINUE), MANY),
    "early hints without end": Harm(
        endless(b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"), MANY
    ),
    "headers of a 100 without end": Harm(
        endless(b"a: b\r\n" * 100, b"HTTP/1.1 100 Continue\r\n"), LONG
    ),
    "headers without end": Harm(endless(b"a: b\r\n", OK), LONG),
    "a header without end": Harm(endless(b"a" * 999, OK, b"a: "), LONG),
    "a status line without end": Harm(endless(b"a", OK[:-2]), LONG),
    "a byte now and then": Harm(endless(b"a", OK, b"a: "), "no answer in time", 0.05),
    "a 100 now and then": Harm(endless(CONTINUE), "no answer in time", 0.25),
    "a body now and then": Harm(endless(b"1\r\na\r\n", BROKEN, CHUNKED), "500: a", 0.05),
    "silence": Harm(lambda: iter(lambda: b"", 1), "no answer in time", 0.05),
    "ten gigabytes of success": Harm(endless(b"a" * 65_536, OK, LENGTH % GIGABYTES), "200"),
    "ten gigabytes of failure": Harm(endless(b"a" * 65_536, BROKEN, LENGTH % GIGABYTES), "500: aaaa"),
    "chunks without end": Harm(endless(b"10000\r\n" + b"a" * 65_536 + b"\r\n", BROKEN, CHUNKED), "500: aaaa"),
    "chunks of a byte": Harm(endless(b"1\r\na\r\n" * 1_000, BROKEN, CHUNKED), "500: aaaa"),
    "a chunk size without end": Harm(endless(b"0" * 999, BROKEN, CHUNKED), "500"),
    "trailers without end": Harm(endless(b"a: b\r\n" * 99, OK, CHUNKED, b"0\r\n"), "200"),
    "a compressed bomb": Harm(
        just(OK, b"content-encoding: gzip\r\n", LENGTH % len(BOMB), BOMB), "200"
    ),
    "a compressed bomb of failure": Harm(
        just(BROKEN, b"content-encoding: gzip\r\n", LENGTH % len(BOMB), BOMB), "500: "
    ),
    "a redirect to itself": Harm(
        just(b"HTTP/1.1 307 Go\r\nconnection: close\r\nlocation: /hook\r\n", LENGTH % 0),
        "307: redirects are not followed (to /hook)",
    ),
    "an end before the head's": Harm(just(OK), "Server disconnected without sending a response"),
    "an end within the body": Harm(just(BROKEN, LENGTH % 100, b"a"), "500: a (peer closed connection"),
    "another protocol": Harm(
        just(b"HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n" + b"x" * 10_000), "without a pending proposal"
    ),
    "a negative length": Harm(just(OK, b"content-length: -1\r\n\r\n"), "bad Content-Length"),
    "no HTTP": Harm(endless(b"\x00\xff" * 500), "illegal request line"),
    "empty lines": Harm(endless(b"\r\n" * 500), "no response line received"),
}  # fmt: skip


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    box = Outbox.open(f"sqlite:///{tmp_path}/outbox.db", durable=False)
    yield box
    box.close()


@contextmanager
def delivering(outbox: Outbox, *receivers: WebhookReceiver) -> Iterator[Dispatcher]:
    dispatcher = Dispatcher(outbox, receivers, schedule=SOON, poll=0.05, random=Random(1))
    dispatcher.start()
    try:
        yield dispatcher
    finally:
        assert dispatcher.stop(PATIENCE)
        assert dispatcher.failure is None


def record(outbox: Outbox, number: int = 0) -> list[str]:
    some = [raised(number * ALERTS + n) for n in range(ALERTS)]
    recorded = outbox.record(BatchRecord(number, "d", {}), some, [Route("good"), Route("hostile")])
    return [alert.id for alert in recorded.alerts]


def assert_the_other_has_its_alerts(
    outbox: Outbox,
    hostile: WebhookReceiver,
    attempted: Callable[[int], None],
    outcome: str,
    *,
    limits: Limits | None = SHORT,
) -> None:
    """While the hostile one is being attempted, which is recorded with the outcome, over two batches."""
    with WaywardServer() as server:
        good = WebhookReceiver("good", server.url, [SECRET])
        ids = record(outbox)
        with delivering(outbox, good, hostile) as dispatcher:
            attempted(1)
            server.wait_for(lambda calls: {call.id for call in calls} == set(ids))
            ids += record(outbox, 1)
            dispatcher.wake()
            attempted(4)
            server.wait_for(lambda calls: {call.id for call in calls} == set(ids))
        assert len(server.calls) == 2 * ALERTS
    assert outbox.pending("good") == 0
    told = {
        one.outcome
        for id_ in ids
        for one in outbox.deliveries(id_)
        if one.receiver == "hostile" and one.attempts
    }
    assert any(outcome in str(one) for one in told), told
    # a machine may be too busy for the half of a second that an attempt has
    others = {str(one) for one in told if outcome not in str(one)}
    late = all("in time" in one or "timed out" in one for one in others)
    assert not others or (limits is SHORT and late), told


@pytest.mark.slow
@pytest.mark.parametrize("what", HARMS)
def test_it_costs_the_other_receiver_nothing(outbox: Outbox, what: str) -> None:
    harm = HARMS[what]
    with WaywardServer(lambda _: Answer(raw=harm.pieces(), pause=harm.pause)) as server:
        limits = SHORT if harm.pause else None
        hostile = WebhookReceiver("hostile", server.url, [SECRET], limits=limits)
        assert_the_other_has_its_alerts(
            outbox,
            hostile,
            lambda n: server.wait_for(lambda calls: len(calls) >= n),
            harm.outcome,
            limits=limits,
        )


@pytest.mark.slow
@pytest.mark.parametrize("what", HARMS)
def test_what_is_read_of_an_attempt_is_bounded(what: str) -> None:
    harm = HARMS[what]
    backend = BoundedBackend()
    with (
        WaywardServer(lambda _: Answer(raw=harm.pieces(), pause=harm.pause)) as server,
        httpcore.ConnectionPool(network_backend=backend) as pool,
        backend.within(Bounds(1.0)) as exchange,
    ):
        with (
            suppress(httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError),
            pool.stream("POST", server.url, headers={"content-length": "1"}, content=b"x") as response,
        ):
            for _ in response.iter_stream():
                pass
        assert exchange.informational <= 11
        assert exchange.read <= 3 * 16_384, "a head, a body, and a piece too many"


WORDS = {
    "script": "<script>alert(1)</script>",
    "markup": '"><img src=x onerror=alert(1)>',
    "a terminal's cursor": "\x1b[2J\x1b[31m\x00\x07",
    "lines": "a\r\nb\n\n2026-01-01 ERROR the job has failed\n",
    "directions": "\u202egnp.exe\u2066\u200f\ufeff\u2028",
    "no UTF-8": "\udcff\udcfe",
    "a megabyte": "x" * 1_000_000,
}


@pytest.mark.parametrize("what", WORDS)
def test_what_a_receiver_says_is_one_short_line(what: str) -> None:
    """In its body, whatever its status, and in its headers."""
    body = WORDS[what].encode("utf-8", "surrogateescape")
    header = WORDS[what].replace("\r", "").replace("\n", "").encode("utf-8", "surrogateescape")[:5_000]
    raw = b"HTTP/1.1 %d No\r\nlocation: %s\r\nretry-after: %s\r\ncontent-length: %d\r\n\r\n%s"
    for status in (200, 307, 400, 410, 429, 503):
        said = raw % (status, header, header, len(body), body)
        with WaywardServer(lambda _, said=said: Answer(raw=[said])) as server:  # type: ignore[misc]
            for receiver in (
                WebhookReceiver("desk", server.url, [SECRET]),
                SlackReceiver("desk", server.url),
                PagerDutyReceiver("desk", "0" * 32, server.url),
            ):
                outcome = receiver.send("m1", raised(1).alert.to_json(), 0)
                receiver.close()
                assert outcome.result in ("delivered", "rejected", "gone", "unreachable")
                assert len(outcome.detail) < 400
                assert outcome.detail.isprintable(), repr(outcome.detail)
                assert len(outcome.detail.splitlines()) <= 1
            assert len(server.calls) == 3


class Accepts:
    """A server that takes connections and says what it is told to, before anybody asks."""

    def __init__(self, said: bytes) -> None:
        self._said = said
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._came = threading.Condition()
        self._held: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                one, _ = self._listening.accept()
                with self._came:
                    self._held.append(one)
                    self._came.notify_all()
                with suppress(OSError):
                    one.sendall(self._said)

    def wait_for(self, number: int) -> None:
        with self._came:
            assert self._came.wait_for(lambda: len(self._held) >= number, PATIENCE)

    def __enter__(self) -> Accepts:
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.close()
        for one in self._held:
            one.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (b"\x16\x03\x03\x40\x00" + bytes(20_000), "SSL"),
        (b"HTTP/1.1 400 Bad\r\n\r\n", "SSL"),
        (b"", "in time"),
    ],
)
def test_what_is_no_tls_costs_the_other_receiver_nothing(outbox: Outbox, said: bytes, outcome: str) -> None:
    with Accepts(said) as server:
        url = f"https://127.0.0.1:{server.port}/"
        limits = None if said else SHORT
        hostile = WebhookReceiver("hostile", url, [SECRET], limits=limits)
        assert_the_other_has_its_alerts(outbox, hostile, server.wait_for, outcome, limits=limits)


@pytest.mark.slow
def test_a_name_that_is_looked_up_for_ever_costs_the_other_receiver_nothing(outbox: Outbox) -> None:
    asked, over = threading.Semaphore(0), threading.Event()
    threads: list[threading.Thread] = []

    def lookup(*_: Any, **__: Any) -> list[tuple[Any, ...]]:
        threads.append(threading.current_thread())
        asked.release()
        over.wait(60)
        raise OSError("too late")

    def attempted(_: int) -> None:
        if not threads:
            assert asked.acquire(timeout=PATIENCE)

    hostile = WebhookReceiver("hostile", "http://desk.example/", [SECRET], limits=SHORT, names=Names(lookup))
    assert_the_other_has_its_alerts(outbox, hostile, attempted, "in time: the name desk.example is still")
    assert len(threads) == 1, "all attempts wait for the same answer"
    over.set()
    threads[0].join()


def test_all_addresses_of_a_name_are_tried() -> None:
    """As for a host whose IPv6 address nobody listens on."""
    with WaywardServer() as server:

        def lookup(*_: Any, **__: Any) -> list[tuple[Any, ...]]:
            return [(0, 0, 0, "", (address, server.port)) for address in ("127.0.0.2", "127.0.0.1")]

        url = f"http://desk.example:{server.port}/"
        receiver = WebhookReceiver("desk", url, [SECRET], names=Names(lookup), egress=Egress(private=True))
        assert receiver.send("m1", raised(1).alert.to_json(), 0).result == "delivered"
        assert server.calls[0].headers["host"] == f"desk.example:{server.port}"
        receiver.close()


def test_a_look_up_that_got_no_thread_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    names = Names(lambda *_, **__: [(0, 0, 0, "", ("127.0.0.1", 9))])

    def none_left(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", none_left)
        with pytest.raises(httpcore.ConnectError, match="can't start new thread"):
            names.addresses("desk.example", 9, 1)
    assert names.addresses("desk.example", 9, 1) == ["127.0.0.1"]


def test_a_name_that_nobody_knows_is_reported() -> None:
    def lookup(*_: Any, **__: Any) -> list[tuple[Any, ...]]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    receiver = WebhookReceiver("desk", "http://desk.example/", [SECRET], names=Names(lookup))
    for _ in range(2):
        outcome = receiver.send("m1", raised(1).alert.to_json(), 0)
        assert (outcome.result, outcome.detail) == ("unreachable", "[Errno -2] Name or service not known")
    receiver.close()


def test_ten_informational_replies_are_none_too_many() -> None:
    answer = CONTINUE * 10 + OK + LENGTH % 0
    with WaywardServer(lambda _: Answer(raw=[answer])) as server:
        receiver = WebhookReceiver("desk", server.url, [SECRET])
        assert receiver.send("m1", raised(1).alert.to_json(), 0).result == "delivered"
        receiver.close()
