"""Where receivers may be: hostile addresses and names reach nothing, whoever answers for a name."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from certificates import serving, trusting
from some_alerts import raised
from wayward_server import WaywardServer

from alerts.receivers.addresses import forbidden, nature
from alerts.receivers.egress import Egress, RefusedError
from alerts.receivers.names import Names
from alerts.receivers.receiver import Outcome
from alerts.receivers.webhook import Limits, WebhookReceiver
from alerts.web_server import Certificate

ALERT = raised(1).alert

PUBLIC = ["9.9.9.9", "192.88.99.1", "2620:fe::fe", "::ffff:9.9.9.9", "64:ff9b::909:909", "2002:909:909::1"]
PRIVATE = [
    "10.0.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "198.18.0.1", "192.0.2.1",
    "fc00::1", "fd12:3456::1", "fec0::1", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "2002:a00:1::1",
    "2001:0:909:909::f6f6:f6f6", "2620:fe::5efe:192.168.1.1",
]  # fmt: skip
LOOPBACK = [
    "127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1", "::127.0.0.1", "::ffff:0:127.0.0.1",
    "64:ff9b::127.0.0.1", "2002:7f00:1::1", "2620:fe::200:5efe:127.0.0.1",
]  # fmt: skip
FORBIDDEN = [
    "169.254.169.254", "169.254.170.2", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254",
    "fd20:ce::254", "0.0.0.0", "0.1.2.3", "::", "224.0.0.1", "239.255.255.250", "240.0.0.1",
    "255.255.255.255", "fe80::1", "fe80::1%eth0", "ff02::1",
    "::ffff:169.254.169.254", "::169.254.169.254", "::ffff:0.0.0.0",
    "::ffff:0:169.254.169.254", "64:ff9b::169.254.169.254", "64:ff9b:1:a9fe:a9:fe00::", "2002:a9fe:a9fe::1",
    "2001:0:a9fe:a9fe::1", "2001:0:909:909::5601:5601", "2620:fe::5efe:169.254.169.254",
]  # fmt: skip
"""Those of Teredo hold the server's address, and the client's with all bits turned."""

AS_NUMBERS = ["2130706433", "0x7f.1", "0177.0.0.1", "127.1", "017700000001", "0x7f000001", "0", "127.0.0.1."]
"""Names to us, which the system's resolver takes for addresses of this machine."""


class Resolver:
    """Answers as told, one answer after the other, and counts who asked."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.asked = 0

    def __call__(self, _host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return [(0, 0, 0, "", (address, port)) for address in answer]


@pytest.fixture
def server() -> Iterator[WaywardServer]:
    with WaywardServer() as one:
        yield one


def send(url: str, resolver: Resolver | None = None, egress: Egress | None = None) -> Outcome:
    names = None if resolver is None else Names(resolver)
    receiver = WebhookReceiver("desk", url, [], names=names, egress=egress, limits=Limits(connect=2))
    try:
        return receiver.send(ALERT.id, ALERT.to_json(), 0)
    finally:
        receiver.close()


@pytest.mark.parametrize(
    ("addresses", "expected"),
    [(PUBLIC, "public"), (PRIVATE, "private"), (LOOPBACK, "loopback"), (FORBIDDEN, "forbidden")],
)
def test_an_address_is_the_worst_of_what_it_holds(addresses: list[str], expected: str) -> None:
    assert {address: nature(address) for address in addresses} == dict.fromkeys(addresses, expected)


@pytest.mark.parametrize("address", PRIVATE + LOOPBACK + FORBIDDEN)
def test_a_name_of_a_hostile_address_reaches_nothing(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    connected: list[object] = []
    monkeypatch.setattr(socket, "create_connection", lambda *where, **_: connected.append(where))
    outcome = send("http://desk.example/", Resolver([address]))
    assert outcome.result == "unreachable"
    assert f"desk.example is {address}, which is " in outcome.detail
    assert connected == []


@pytest.mark.parametrize("address", FORBIDDEN)
def test_what_is_no_receiver_s_stays_so_whatever_the_job_file_says(address: str) -> None:
    with pytest.raises(RefusedError, match="no address of a receiver"):
        Egress(private=True).check("desk.example", [address])
    with pytest.raises(RefusedError, match="no address of a receiver"):
        Egress(private=True).check(address, [address])
    assert forbidden(address)


@pytest.mark.parametrize("host", AS_NUMBERS)
def test_an_address_in_another_notation_is_a_name(server: WaywardServer, host: str) -> None:
    outcome = send(f"http://{host}:{server.port}/")
    assert outcome.result == "unreachable"
    assert server.connections == 0


def test_one_hostile_answer_among_good_ones_is_enough(server: WaywardServer) -> None:
    resolver = Resolver(["9.9.9.9", "127.0.0.1"])
    assert (
        "desk.example is 127.0.0.1, which is loopback"
        in send(f"http://desk.example:{server.port}/", resolver).detail
    )
    assert server.connections == 0


def test_the_connection_goes_to_the_address_that_was_looked_at(server: WaywardServer) -> None:
    """A name that means another address at each look-up: nobody looks it up again."""
    resolver = Resolver(["127.0.0.1"], ["169.254.169.254"])
    url = f"http://desk.example:{server.port}/"
    assert send(url, resolver, Egress(private=True)).result == "delivered"
    assert resolver.asked == 1
    assert server.calls[0].headers["host"] == f"desk.example:{server.port}"


def test_a_name_that_turns_hostile_is_refused_at_the_next_connection(server: WaywardServer) -> None:
    server.behave = lambda _: server_closes()
    resolver = Resolver(["127.0.0.1"], ["169.254.169.254"])
    names, url = Names(resolver), f"http://desk.example:{server.port}/"
    receiver = WebhookReceiver("desk", url, [], names=names, egress=Egress(private=True))
    assert receiver.send(ALERT.id, ALERT.to_json(), 0).result == "delivered"
    outcome = receiver.send(ALERT.id, ALERT.to_json(), 0)
    receiver.close()
    assert "desk.example is 169.254.169.254, which is no address of a receiver" in outcome.detail
    assert len(server.calls) == 1


def server_closes() -> Any:
    from wayward_server import Answer

    return Answer(raw=[b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"])


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST"])
def test_the_host_that_a_job_file_names_may_be_this_machine(server: WaywardServer, host: str) -> None:
    assert send(f"http://{host}:{server.port}/", Resolver(["127.0.0.1"])).result == "delivered"


def test_localhost_is_this_machine_and_no_other() -> None:
    with pytest.raises(RefusedError, match=r"localhost is 10\.0\.0\.1, which is private"):
        Egress().check("localhost", ["127.0.0.1", "10.0.0.1"])


def test_a_certificate_of_another_name_is_refused(server: WaywardServer, certificate: Certificate) -> None:
    """Whatever address a name has: who answers must prove to be the name."""
    server._server.socket = serving(certificate).wrap_socket(server._server.socket, server_side=True)
    outcomes = {}
    for host in ("desk.example", "other.example"):
        receiver = WebhookReceiver(
            "desk", f"https://{host}:{server.port}/", [], tls=trusting(certificate),
            names=Names(Resolver(["127.0.0.1"])), egress=Egress(private=True),
        )  # fmt: skip
        outcomes[host] = receiver.send(ALERT.id, ALERT.to_json(), 0)
        receiver.close()
    assert outcomes["desk.example"].result == "delivered"
    assert outcomes["other.example"].result == "unreachable"
    assert "not valid for 'other.example'" in outcomes["other.example"].detail
