"""One broker or several that are one cluster, each a controller, too (KRaft): started, ready, ended."""

from __future__ import annotations

import base64
import random
import socket
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from broker.process import Broker, BrokerError
from broker.secured import Secured

READY = 90.0
"""Seconds for all brokers to answer."""
_POLL = 0.1
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Brokers:
    """Brokers that run. `secured` is their address with TLS and passwords, `certificate` what that shows."""

    every: tuple[Broker, ...]
    servers: str
    secured: str = ""
    certificate: Path | None = None

    def start(self) -> None:
        """Starts those that do not run, and waits until all answer. Raises BrokerError."""
        for broker in self.every:
            if broker.process is None or broker.process.poll() is not None:
                broker.start()
        self.ready()

    def ready(self) -> None:
        """Waits until each broker is known to the others. Raises BrokerError if one ends or is too slow."""
        until = time.monotonic() + READY
        while not self._all_answer():
            for broker in self.every:
                broker.check()
            if time.monotonic() > until:
                raise BrokerError(f"the brokers did not answer in {READY:.0f} s: see {self.every[0].log}")
            time.sleep(_POLL)

    def _all_answer(self) -> bool:
        for broker in self.every:
            try:
                with socket.create_connection(("127.0.0.1", broker.port), 1):
                    pass
            except OSError:
                return False
        with suppress(KafkaError), self.admin() as admin:
            return len(admin.describe_cluster()["brokers"]) == len(self.every)
        return False

    @contextmanager
    def admin(self) -> Iterator[KafkaAdminClient]:
        """A client that may do everything: topics, ACLs. Raises KafkaError."""
        client = KafkaAdminClient(bootstrap_servers=self.servers.split(","), client_id="admin")
        try:
            yield client
        finally:
            client.close()

    def stop(self) -> None:
        for broker in self.every:
            broker.stop()

    def kill(self) -> None:
        for broker in self.every:
            broker.kill()


@contextmanager
def brokers(
    folder: Path, size: int = 1, secured: Secured | None = None, more: Mapping[str, object] | None = None
) -> Iterator[Brokers]:
    """So many brokers in a folder, ready; they have ended when the block has, or when this process has.

    `more` are properties of the brokers. Raises BrokerError where Java or jars lack, or one does not start.
    """
    made = _started(folder, size, secured, more or {})
    try:
        yield made
    finally:
        made.kill()


def _started(folder: Path, size: int, secured: Secured | None, more: Mapping[str, object]) -> Brokers:
    """Brokers that answer. Another process may take a port before they do: then others are tried."""
    for left in reversed(range(_TRIES)):
        made = _made(folder, size, secured, more)
        try:
            made.start()
            return made
        except BaseException as error:
            made.kill()
            if left and isinstance(error, BrokerError) and "Address already in use" in str(error):
                continue
            raise
    raise AssertionError("the last try returns or raises")


def _made(folder: Path, size: int, secured: Secured | None, more: Mapping[str, object]) -> Brokers:
    """Brokers whose folders are made and which do not run yet."""
    ports = _free_ports(3 * size)
    plain, control, tls = ports[:size], ports[size : 2 * size], ports[2 * size :]
    folder.mkdir(parents=True, exist_ok=True)
    certificate = secured.certificate(folder) if secured else None
    cluster = (
        base64.urlsafe_b64encode(b"\0" + uuid.uuid4().bytes[1:]).decode().rstrip("=")
    )  # never begins with "-"
    voters = ",".join(f"{number}@127.0.0.1:{port}" for number, port in enumerate(control))
    every = []
    for number in range(size):
        listeners = {"PLAIN": plain[number], "CONTROL": control[number]}
        listeners |= {"SECURED": tls[number]} if secured else {}
        properties = _properties(number, size, listeners) | {"controller.quorum.voters": voters}
        properties |= (secured.properties(folder) if secured else {}) | dict(more)
        one = Broker(folder / f"broker-{number}", number, plain[number], properties)
        one.format(cluster, *(secured.options() if secured else ()))
        every.append(one)
    return Brokers(tuple(every), _addresses(plain), _addresses(tls) if secured else "", certificate)


def _properties(number: int, size: int, listeners: Mapping[str, int]) -> dict[str, object]:
    """Properties of one of so many brokers, small and quick in all that they do."""
    addresses = {name: f"{name}://127.0.0.1:{port}" for name, port in listeners.items()}
    security = {"PLAIN": "PLAINTEXT", "CONTROL": "PLAINTEXT", "SECURED": "SASL_SSL"}
    copies, needed = min(size, 3), min(size, 2)
    return {
        "process.roles": "broker,controller",
        "node.id": number,
        "listeners": ",".join(addresses.values()),
        "advertised.listeners": ",".join(one for name, one in addresses.items() if name != "CONTROL"),
        "listener.security.protocol.map": ",".join(f"{name}:{security[name]}" for name in listeners),
        "inter.broker.listener.name": "PLAIN",
        "controller.listener.names": "CONTROL",
        "auto.create.topics.enable": "false",
        "default.replication.factor": copies,
        "min.insync.replicas": needed,
        "offsets.topic.replication.factor": copies,
        "offsets.topic.num.partitions": 4,
        "transaction.state.log.replication.factor": copies,
        "transaction.state.log.min.isr": needed,
        "transaction.state.log.num.partitions": 4,
        "share.coordinator.state.topic.replication.factor": copies,
        "share.coordinator.state.topic.min.isr": needed,
        "group.initial.rebalance.delay.ms": 0,
        "log.cleaner.dedupe.buffer.size": 2 << 20,
        "num.network.threads": 2,
        "num.io.threads": 4,
        "background.threads": 2,
        "log.flush.scheduler.interval.ms": 1000,
        "broker.session.timeout.ms": 3000,
        "broker.heartbeat.interval.ms": 500,
        "controlled.shutdown.enable": "true",
    }


def _free_ports(count: int) -> list[int]:
    """Ports that nothing listens on, below those that systems hand out."""
    found: list[int] = []
    for port in random.SystemRandom().sample(range(20_000, 32_000), 1000):
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == count:
            return found
    raise BrokerError("every port is taken")


def _addresses(ports: list[int]) -> str:
    return ",".join(f"127.0.0.1:{port}" for port in ports)
