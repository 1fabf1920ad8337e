"""The outbox's server goes away, is killed, or is cut off: what is asked again comes to the same, once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import get_args

import pytest
from postgres import Server, running_server
from some_alerts import SECOND, raised
from stores import Schemas
from tcp_proxy import Fate, TcpProxy, proxy
from wayward_server import WaywardServer

from alerts.dispatch import Dispatcher
from alerts.lane import Schedule
from alerts.listeners import Listeners
from alerts.outbox import BatchRecord, Outbox, OutboxError, Settled
from alerts.receivers.webhook import WebhookReceiver
from alerts.routing import Route
from cep.job.batches.outage import Outage, StoppedError

pytestmark = pytest.mark.slow
SECRET = "whsec_" + "A" * 32
ROUTES = [Route("desk")]
SOON = Schedule(first=0.01, longest=0.05, attempts=1_000, probe=0.05)


@pytest.fixture(scope="module")
def own_server() -> Iterator[Server]:
    """A server that no other test has."""
    with running_server() as server:
        yield server


@pytest.fixture
def network(postgres_server: Server) -> Iterator[TcpProxy]:
    with proxy(postgres_server.folder / ".s.PGSQL.5432") as found:
        yield found


def through(network: TcpProxy, url: str) -> str:
    """The address of an outbox, by way of the network."""
    before, _, options = url.partition("?")
    schema = options.partition("&")[2]
    return f"{before.replace('@/', f'@127.0.0.1:{network.port}/')}?{schema}"


class Said:
    """Sentences, and what is to happen at the first of them."""

    def __init__(self, then: threading.Event | None = None) -> None:
        self.sentences: list[str] = []
        self.then = then or threading.Event()

    def __call__(self, sentence: str) -> None:
        self.sentences.append(sentence)
        self.then.set()


class Breaks:
    """Breaks the network at what is sent as the `place`-th, counted from 1."""

    def __init__(self, fate: Fate, place: int) -> None:
        self._fate, self._left = fate, place

    def __call__(self, _: bytes) -> Fate:
        self._left -= 1
        return "pass" if self._left else self._fate


def record(outbox: Outbox, number: int, outage: Outage, said: Said) -> None:
    some = [raised(n, suppress=5) for n in range(10 * number, 10 * number + 10)]
    batch = BatchRecord(number, f"d{number}", {"n": number})
    outage.patiently(lambda: outbox.record(batch, some, ROUTES), said)


def at_once() -> Outage:
    """Asks again without a pause."""
    return Outage(lambda _: False)


def test_a_batch_is_recorded_once_wherever_the_network_breaks(
    network: TcpProxy, schemas: Schemas, tmp_path: Path
) -> None:
    """At everything that the program sends for a batch, before it arrives and after. The last is COMMIT: when
    its answer is lost, the batch is there already."""
    url = schemas.url(tmp_path)
    number = broken = 0
    with closing(Outbox.open(through(network, url))) as outbox, closing(Outbox.open(url)) as beside:
        record(outbox, number, at_once(), Said())
        for fate, place in product(get_args(Fate)[1:3], range(1, 31)):
            number, said, network.fate = number + 1, Said(), Breaks(fate, place)
            record(outbox, number, at_once(), said)
            broken += bool(said.sentences)
            network.fate = lambda _: "pass"
            assert len(beside.alerts()) == 10 * number + 10
            assert len(beside.due("desk", 2**62, 9_999)) == 10 * number + 10
            if said.sentences:
                assert "does not answer" in said.sentences[0]
                assert "answers again" in said.sentences[1]
    assert broken > 20


def test_a_job_waits_for_what_the_server_does_not_know_to_be_over(
    network: TcpProxy, schemas: Schemas, tmp_path: Path
) -> None:
    """Its transaction holds locks until the server notices; nobody else's does so for that long."""
    missed = threading.Event()
    with closing(Outbox.open(through(network, schemas.url(tmp_path)), wait=0.2)) as outbox:
        record(outbox, 0, at_once(), Said())
        attempts: list[float] = []

        def waits(seconds: float) -> bool:
            attempts.append(seconds)
            if len(attempts) == 3:
                network.forget()
            return False

        network.fate = Breaks("not known", 4)
        record(outbox, 1, Outage(waits), said := Said(missed))
        assert len(attempts) >= 3
        assert len(said.sentences) == 2
        assert len(outbox.alerts()) == 20


def test_a_job_waits_for_a_server_that_was_killed(own_server: Server) -> None:
    missed = threading.Event()
    said = Said(missed)
    with closing(Outbox.open(own_server.url())) as outbox:
        outage = Outage()
        record(outbox, 0, outage, said)
        own_server.kill()
        waiting = threading.Thread(target=record, args=[outbox, 1, outage, said])
        waiting.start()
        assert missed.wait(60)
        assert outage.since is not None
        own_server.start_again()
        waiting.join(60)
        assert not waiting.is_alive()
        assert len(outbox.alerts()) == 20
        assert [line.split(":")[0].split(",")[0] for line in said.sentences] == [
            "the job waits",
            "the outbox answers again",
        ]
        assert outage.since is None


@pytest.mark.parametrize("how", ["fast", "immediate"])
def test_a_server_that_is_restarted_is_met_again(own_server: Server, how: str) -> None:
    with closing(Outbox.open(own_server.url())) as outbox:
        before = len(outbox.alerts())
        own_server.stop(how)
        with pytest.raises(OutboxError, match="does not answer") as caught:
            outbox.alerts()
        assert (caught.value.code, caught.value.passing) == ("CEP0830", True)
        own_server.start()
        assert len(outbox.alerts()) == before


def test_a_job_that_is_stopped_waits_no_longer(network: TcpProxy, schemas: Schemas, tmp_path: Path) -> None:
    with closing(Outbox.open(through(network, schemas.url(tmp_path)))) as outbox:
        network.cut()
        with pytest.raises(StoppedError):
            record(outbox, 0, Outage(lambda _: True), Said())
        network.mend()
        record(outbox, 0, at_once(), Said())
        assert len(outbox.alerts()) == 10


def test_a_wrong_address_is_no_outage(postgres_server: Server) -> None:
    for url in ("postgresql://cep@127.0.0.1:1/x", postgres_server.url("nobodys")):
        with pytest.raises(OutboxError, match="cannot be opened") as caught:
            Outbox.open(url)
        assert (caught.value.code, caught.value.passing) == ("CEP0805", False)


def test_deliveries_go_on_when_the_network_is_back(
    network: TcpProxy, schemas: Schemas, tmp_path: Path
) -> None:
    """What was sent while the outcome could not be written is not sent again; the outage is said once."""
    with closing(Outbox.open(through(network, schemas.url(tmp_path)))) as outbox, WaywardServer() as server:
        record(outbox, 0, at_once(), Said())
        missed = threading.Event()
        said = Said(missed)
        receiver = WebhookReceiver("desk", server.url, [SECRET])
        dispatcher = Dispatcher(
            outbox, [receiver], schedule=SOON, poll=0.02, listeners=Listeners(report=said)
        )
        dispatcher.start()
        assert dispatcher.drain(60)
        network.cut()
        assert missed.wait(60)
        network.mend()
        record(outbox, 1, at_once(), Said())
        dispatcher.wake()
        assert dispatcher.drain(60)
        assert dispatcher.stop(60)
        assert sorted(call.id for call in server.calls) == sorted(
            one.alert["id"]
            for one in outbox.alerts()  # type: ignore[type-var]
        )
        assert len([one for one in said.sentences if one.startswith("deliveries")]) <= 2


def test_outcomes_are_settled_once_the_server_is_back(
    network: TcpProxy, schemas: Schemas, tmp_path: Path
) -> None:
    with closing(Outbox.open(through(network, schemas.url(tmp_path)))) as outbox:
        record(outbox, 0, at_once(), Said())
        some = [Settled("desk", n, "delivered", 1, "204", None, SECOND) for n in range(1, 11)]
        network.cut()
        with pytest.raises(OutboxError, match="does not answer"):
            outbox.settle(some)
        network.mend()
        outbox.settle(some)
        assert outbox.due("desk", 2**62, 99) == []
