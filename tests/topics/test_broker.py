"""The broker of tests and demos keeps what it acknowledged, keeps strangers out, and is gone at the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from broker import Broker, BrokerError, Brokers, brokers
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ACL, ACLOperation, ACLPermissionType, NewTopic, ResourcePattern, ResourceType
from kafka.errors import KafkaError, TopicAuthorizationFailedError

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


def topic(kafka: Brokers, name: str, copies: int = 1) -> TopicPartition:
    with kafka.admin() as admin:
        admin.create_topics([NewTopic(name, num_partitions=1, replication_factor=copies)])
    return TopicPartition(name, 0)


def send(servers: str, to: TopicPartition, value: bytes, **options: Any) -> int:
    """The offset of a record that all copies have. Raises KafkaError."""
    producer = KafkaProducer(bootstrap_servers=servers.split(","), acks="all", **options)
    try:
        return int(producer.send(to.topic, value).get(30).offset)
    finally:
        producer.close(0)


def values(servers: str, of: TopicPartition, **options: Any) -> list[bytes]:
    consumer = KafkaConsumer(bootstrap_servers=servers.split(","), consumer_timeout_ms=20_000, **options)
    try:
        consumer.assign([of])
        consumer.seek_to_beginning(of)
        end = consumer.end_offsets([of])[of]
        return [one.value for one, _ in zip(consumer, range(end), strict=False)]
    finally:
        consumer.close()


@pytest.mark.soak
def test_what_was_acknowledged_is_there_after_a_kill(tmp_path: Path) -> None:
    with brokers(tmp_path / "kafka") as kafka:
        to = topic(kafka, "kept")
        send(kafka.servers, to, b"one")
        kafka.kill()
        kafka.start()
        send(kafka.servers, to, b"two")
        assert values(kafka.servers, to) == [b"one", b"two"]
        (process,) = (one.process for one in kafka.every)
    assert process is not None
    assert process.poll() is not None


@pytest.mark.soak
def test_of_three_brokers_one_may_be_killed(tmp_path: Path) -> None:
    with brokers(tmp_path / "kafka", size=3) as kafka:
        to = topic(kafka, "kept", copies=3)
        send(kafka.servers, to, b"one")
        with kafka.admin() as admin:
            (described,) = admin.describe_topics(["kept"])
        leader = described["partitions"][0]["leader_id"]
        kafka.every[leader].kill()
        send(kafka.servers, to, b"two")
        assert values(kafka.servers, to) == [b"one", b"two"]


@pytest.mark.parametrize("mechanism", [pytest.param("PLAIN", marks=pytest.mark.soak), "SCRAM-SHA-512"])
def test_users_may_do_what_they_were_granted(kafka: Brokers, mechanism: str) -> None:
    to = topic(kafka, f"granted-{mechanism}")
    options = {
        "security_protocol": "SASL_SSL",
        "ssl_cafile": str(kafka.certificate),
        "sasl_mechanism": mechanism,
        "sasl_plain_username": "alice",
        "sasl_plain_password": "alice-secret",
    }
    with pytest.raises(TopicAuthorizationFailedError):
        send(kafka.secured, to, b"one", **options)
    granted = ACL(
        "User:alice", "*", ACLOperation.ALL, ACLPermissionType.ALLOW,
        ResourcePattern(ResourceType.TOPIC, to.topic),
    )  # fmt: skip
    with kafka.admin() as admin:
        admin.create_acls([granted])
    send(kafka.secured, to, b"two", **options)
    assert values(kafka.servers, to) == [b"two"]
    with pytest.raises(KafkaError):
        send(kafka.secured, to, b"three", **options | {"sasl_plain_password": "guessed"})


def test_it_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    script = (
        "from pathlib import Path; from broker import brokers; import sys\n"
        "with brokers(Path(sys.argv[1])) as kafka:\n"
        "    print(kafka.every[0].process.pid, flush=True)\n"
        "    sys.stdin.read()\n"
    )
    path = os.pathsep.join(one for one in sys.path if one)
    holder = subprocess.Popen(
        [sys.executable, "-c", script, tmp_path / "kafka"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert holder.stdout is not None
    broker = psutil.Process(int(holder.stdout.readline()))
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert psutil.wait_procs([broker], timeout=60)[0] == [broker]


def test_a_broker_that_cannot_be_started_says_why(tmp_path: Path) -> None:
    with pytest.raises(BrokerError, match="Invalid value mp3 for configuration compression"):
        brokers(tmp_path, more={"compression.type": "mp3"}).__enter__()


def test_a_broker_that_ends_while_one_waits_says_why(tmp_path: Path) -> None:
    with brokers(tmp_path / "kafka") as kafka:
        kafka.kill()
        with pytest.raises(BrokerError, match="broker 0 has ended"):
            kafka.ready()


def test_one_broker_serves_many_tests(kafka: Brokers) -> None:
    (one,) = kafka.every
    assert isinstance(one, Broker)
    to = topic(kafka, "of-the-session")
    send(kafka.servers, to, b"one")
    assert values(kafka.servers, to) == [b"one"]
