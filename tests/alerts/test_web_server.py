"""A port under attack, with real sockets: it answers others meanwhile, and holds no more than it may."""

from __future__ import annotations

import http.client
import logging
import resource
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

import psutil
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from alerts.web_server import Limits, WebServer, share

pytestmark = pytest.mark.slow

HALF = b"GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: "
CONNECTIONS = 32
MANY = 1_500
PATIENCE = 120.0
FEW = Limits(connections=CONNECTIONS)
CHUNKED = b" HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
UPGRADE = b" HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"
HASTY = Limits(connections=CONNECTIONS, request=0.3)
TLS_HELLO = bytes.fromhex("16030100c8010000c40303") + bytes(range(200))


class Port:
    """A running server: `/healthz` says ok, `/body` counts what it is sent, `/large` sends ten megabytes.

    The others keep the server or one of its threads busy, or fail.
    """

    def __init__(self, limits: Limits) -> None:
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listening.getsockname()[1]
        self.counted: list[int] = []
        self.held = threading.Event()
        self.entered = threading.Semaphore(0)
        routes = [
            Route("/healthz", lambda _: Response("ok")),
            Route("/large", lambda _: Response(b"x" * 10_000_000)),
            Route("/held", self._held),
            Route("/wrong", self._wrong),
            Route("/body", self._count, methods=["POST"]),
            Route("/blocked", self._block),
        ]
        self.server = WebServer(Starlette(routes=routes), self.listening, limits)

    def _held(self, _: Request) -> Response:
        self.entered.release()
        self.held.wait(PATIENCE)
        return Response("late")

    def _wrong(self, _: Request) -> Response:
        raise RuntimeError("a mistake of the application")

    async def _block(self, _: Request) -> Response:
        """Lets the server do nothing else until `held`, nor while it sleeps before it looks at `end`."""
        self.entered.release()
        self.held.wait(PATIENCE)
        time.sleep(0.2)
        return Response("ok")

    async def _count(self, request: Request) -> Response:
        self.counted.append(len(await request.body()))
        return Response("taken")

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def get(self, path: str = "/healthz") -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def held_by_the_process(self) -> int:
        """Connections of this port that this process has accepted and not closed."""
        return sum(
            one.laddr.port == self.port and one.status == psutil.CONN_ESTABLISHED
            for one in psutil.Process().net_connections("tcp")
        )


@contextmanager
def serving(limits: Limits) -> Iterator[Port]:
    port = Port(limits)
    port.server.start()
    try:
        yield port
    finally:
        port.held.set()
        port.server.stop()


@pytest.fixture
def few() -> Iterator[Port]:
    with serving(FEW) as port:
        yield port


@pytest.fixture
def hasty() -> Iterator[Port]:
    with serving(HASTY) as port:
        yield port


@pytest.fixture
def handles() -> Iterator[None]:
    """As many file handles as both ends of the attack need."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4 * MANY
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"this user may not have {wanted} file handles")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def ended(connection: socket.socket) -> bytes:
    """The bytes that come until the other side closes; fails if it does not."""
    connection.settimeout(PATIENCE)
    came = b""
    with suppress(ConnectionResetError, BrokenPipeError):
        while piece := connection.recv(65_536):
            came += piece
    return came


@pytest.mark.slow
@pytest.mark.usefixtures("handles")
def test_connections_that_say_nothing_more_make_room_for_others(few: Port) -> None:
    with ExitStack() as stack:
        for number in range(MANY):
            one = stack.enter_context(few.connect())
            one.sendall(HALF if number % 2 else b"")
            if number % 100 == 0:
                assert few.get() == (200, b"ok")
        assert few.get() == (200, b"ok")
        assert few.held_by_the_process() <= CONNECTIONS
    assert few.get() == (200, b"ok")


@pytest.mark.slow
@pytest.mark.usefixtures("handles")
def test_a_client_is_answered_while_others_connect_without_pause(few: Port) -> None:
    over = threading.Event()
    came = 0

    def attack() -> None:
        nonlocal came
        held: list[socket.socket] = []
        while not over.is_set():
            with suppress(OSError):
                one = few.connect()
                one.sendall(HALF)
                held.append(one)
                came += 1
            if len(held) > MANY:
                held.pop(0).close()
        for one in held:
            one.close()

    attackers = [threading.Thread(target=attack) for _ in range(2)]
    for attacker in attackers:
        attacker.start()
    answered: list[tuple[int, bytes]] = []

    def ask() -> bool:
        """Asks again where so many came after it that it made room before it had said a word."""
        with suppress(ConnectionError, http.client.BadStatusLine):
            answered.append(few.get())
        return len(answered) == 50

    until(ask)
    over.set()
    for attacker in attackers:
        attacker.join()
    assert answered == [(200, b"ok")] * 50
    assert came > CONNECTIONS


def test_the_oldest_gives_way_and_the_newest_is_served(few: Port) -> None:
    with ExitStack() as stack:
        held = [stack.enter_context(few.connect()) for _ in range(CONNECTIONS)]
        for one in held:
            one.sendall(HALF)
        assert few.get() == (200, b"ok")
        assert ended(held[0]) == b""
        held[-1].sendall(b"1\r\n\r\n")
        assert held[-1].recv(100).startswith(b"HTTP/1.1 200 OK")


def test_a_request_that_is_being_answered_does_not_give_way(few: Port) -> None:
    with few.connect() as asking, ExitStack() as stack:
        asking.sendall(b"GET /held HTTP/1.1\r\nhost: x\r\n\r\n")
        assert few.entered.acquire(timeout=PATIENCE)
        for _ in range(2 * CONNECTIONS):
            stack.enter_context(few.connect()).sendall(HALF)
        assert few.get() == (200, b"ok")
        few.held.set()
        assert asking.recv(100).startswith(b"HTTP/1.1 200 OK")


def test_clients_that_ask_without_pause_make_room_for_others(few: Port) -> None:
    with ExitStack() as stack:
        for _ in range(CONNECTIONS):
            one = stack.enter_context(few.connect())
            one.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\nGET /held HTTP/1.1\r\nhost: x\r\n\r\n")
            assert few.entered.acquire(timeout=PATIENCE)
        assert few.get() == (200, b"ok")
        few.held.set()


@pytest.mark.slow
def test_a_request_that_comes_byte_by_byte_is_ended(hasty: Port) -> None:
    with hasty.connect() as slow:
        slow.settimeout(PATIENCE)
        over = threading.Event()

        def trickle() -> None:
            with suppress(OSError):
                slow.sendall(HALF)
                while not over.wait(0.01):
                    slow.sendall(b"a")

        thread = threading.Thread(target=trickle)
        thread.start()
        came = ended(slow)
        over.set()
        thread.join()
    assert came.startswith(b"HTTP/1.1 408 ")
    answers(hasty)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/body", "/healthz"])
def test_a_body_that_never_ends_is_ended(hasty: Port, path: str) -> None:
    """Also where the answer is there before the body is."""
    with hasty.connect() as slow:
        slow.sendall(f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 10000000000\r\n\r\n".encode())
        sent = 0
        with suppress(OSError):
            while sent < 10_000_000_000:
                sent += slow.send(b"x" * 65_536)
                time.sleep(0.001)
        assert sent < 10_000_000_000
    answers(hasty)
    assert hasty.counted == []


@pytest.mark.slow
def test_an_answer_that_nobody_takes_is_ended(hasty: Port) -> None:
    with hasty.connect() as deaf:
        deaf.sendall(b"GET /large HTTP/1.1\r\nhost: x\r\n\r\n")
        with selectors.DefaultSelector() as selector:
            selector.register(deaf, selectors.EVENT_READ)
            assert selector.select(PATIENCE)
        until(lambda: hasty.held_by_the_process() == 0)
        assert len(ended(deaf)) < 10_000_000


@pytest.mark.slow
def test_many_requests_of_one_connection_are_answered_in_order(few: Port) -> None:
    with few.connect() as eager:
        eager.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n" * 499)
        eager.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        assert ended(eager).count(b"HTTP/1.1 200 OK") == 500


GARBAGE = {
    "a TLS hello": TLS_HELLO,
    "zeros": bytes(100_000),
    "no request": b"hello\r\n\r\n",
    "a long line": b"GET /" + b"a" * 1_000_000 + b" HTTP/1.1\r\nhost: x\r\n\r\n",
    "a long header": b"GET / HTTP/1.1\r\nhost: x\r\nx: " + b"a" * 1_000_000 + b"\r\n\r\n",
    "many headers": b"GET / HTTP/1.1\r\nhost: x\r\n" + b"a: b\r\n" * 100_000 + b"\r\n",
    "an answer": b"HTTP/1.1 200 OK\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "an upgrade": b"GET /healthz" + UPGRADE + b"\x81\x85",
    "a bad chunk": b"POST /body" + CHUNKED + b"zz\r\n",
    "a bad chunk after the answer": b"POST /" + CHUNKED + b"1\r\na\r\n",
    "a mistake of ours": b"GET /wrong HTTP/1.1\r\nhost: x\r\n\r\n",
}


@pytest.mark.parametrize("what", GARBAGE)
def test_nothing_is_printed_whatever_comes(
    few: Port, what: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # as in a process that keeps no log
    with few.connect() as wild:
        with suppress(OSError):
            wild.sendall(GARBAGE[what])
            if "after the answer" in what:
                wild.recv(10)
                wild.sendall(b"zz\r\n")
            wild.shutdown(socket.SHUT_WR)
        ended(wild)
    assert few.get() == (200, b"ok")
    few.server.stop()
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_it_stops_with_connections_open_and_says_nothing(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    with serving(FEW) as port, ExitStack() as stack:
        for begun in (b"", HALF, b"POST /body HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n1", TLS_HELLO):
            stack.enter_context(port.connect()).sendall(begun)
        kept = stack.enter_context(port.connect())
        kept.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
        deaf = stack.enter_context(port.connect())
        deaf.sendall(b"GET /large HTTP/1.1\r\nhost: x\r\n\r\n")
        for one in (kept, deaf):
            assert one.recv(10).startswith(b"HTTP/1.1 2")
        port.server.stop(PATIENCE)
        assert not port.server._thread.is_alive()
        assert ended(kept).endswith(b"ok")
        assert len(ended(deaf)) < 10_000_000
    assert capfd.readouterr() == ("", "")


def test_connections_that_come_as_it_stops_are_closed_and_not_waited_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with serving(FEW) as port, ExitStack() as stack:
        asking = stack.enter_context(port.connect())
        asking.sendall(b"GET /blocked HTTP/1.1\r\nhost: x\r\n\r\n")
        assert port.entered.acquire(timeout=PATIENCE)
        port.server.end()
        late = [stack.enter_context(port.connect()) for _ in range(8)]
        for one in late:
            one.sendall(HALF)
        port.held.set()
        port.server.stop(PATIENCE)
        assert not port.server._thread.is_alive()
        assert {ended(one) for one in late} == {b""}
        assert ended(asking).endswith(b"ok")
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("soft", "connections"),
    [(64, 8), (256, 32), (1_024, 128), (1_000_000, 128), (resource.RLIM_INFINITY, 128)],
)
def test_most_file_handles_are_left_to_the_process(soft: int, connections: int) -> None:
    assert share(soft) == connections


def answers(port: Port) -> None:
    """Fails if the port does not; a request that is too slow on a busy machine is made again."""

    def asked() -> bool:
        with suppress(ConnectionError, http.client.BadStatusLine):
            return port.get() == (200, b"ok")
        return False

    until(asked)


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
