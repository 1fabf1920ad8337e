"""Topics for tests, made and filled by a client that the program does not use."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from confluent_kafka import Consumer, TopicPartition
from kafka import KafkaProducer
from kafka.admin import NewTopic

if TYPE_CHECKING:
    from broker import Brokers
    from job_folder import JobFolder

Event = Mapping[str, object]


@dataclass(frozen=True)
class Topic:
    """A topic of some brokers, of its own name."""

    brokers: Brokers
    name: str

    def put(
        self,
        events: Sequence[Event | bytes | None],
        key: str = "card",
        write: Callable[[Event], bytes] = lambda one: json.dumps(one).encode(),
        headers: Sequence[tuple[str, bytes]] = (),
        **more: Any,
    ) -> None:
        """Appends events as `write` has them, those of a key in one partition; bytes and null values in the
        first."""
        with producer(self.brokers, **more) as client:
            for one in events:
                if one is None or isinstance(one, bytes):
                    client.send(self.name, value=one, key=b"k" if one is None else None, partition=0)
                else:
                    client.send(self.name, write(one), key=str(one[key]).encode(), headers=list(headers))

    def forget(self, partition: int, before: int) -> None:
        """Removes the records of a partition before an offset, as retention does."""
        from kafka import TopicPartition

        with self.brokers.admin() as admin:
            admin.delete_records({TopicPartition(self.name, partition): before})


def producer(brokers: Brokers, **more: Any) -> Any:
    """A client that sends all that it was given before its block ends."""
    return _Sending(KafkaProducer(bootstrap_servers=brokers.servers.split(","), **more))


@dataclass
class _Sending:
    client: KafkaProducer

    def __enter__(self) -> KafkaProducer:
        return self.client

    def __exit__(self, *_: object) -> None:
        self.client.flush()
        self.client.close()


def topic(brokers: Brokers, partitions: int = 3, name: str = "") -> Topic:
    """A new topic, which all brokers know."""
    name = name or f"payments-{uuid4().hex[:8]}"
    with brokers.admin() as admin:
        admin.create_topics([NewTopic(name, partitions, -1)])
        wait(lambda: len(admin.describe_topics([name])[0]["partitions"]) == partitions)
    return Topic(brokers, name)


def wait(condition: Callable[[], object]) -> None:
    """Returns when the condition holds; fails after a minute."""
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def feed(of: Topic, *more: str, stream: str = "payment") -> str:
    """[feeds.STREAM] for a topic."""
    lines = [
        f"[feeds.{stream}]",
        'source = "kafka"',
        f'servers = "{of.brokers.servers}"',
        f'topic = "{of.name}"',
    ]
    return "\n".join([*lines, *more, ""])


def describe(folder: JobFolder, *feeds: str) -> None:
    """Writes the job file of a folder whose own feeds are these."""
    folder.describe()
    head = folder.description.read_text("utf-8").partition("[feeds")[0]
    folder.description.write_text(head + "\n".join(feeds) + folder.more, "utf-8")


def without_batch(alerts: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Alerts without the number of their batch."""
    return [{name: one for name, one in alert.items() if name != "batch"} for alert in alerts]


def read_committed(servers: str, name: str, partitions: int = 1) -> list[tuple[bytes | None, dict[str, str]]]:
    """Values and headers of the records of a topic for those who read what is committed."""
    told = {"bootstrap.servers": servers, "group.id": "reader", "isolation.level": "read_committed"}
    consumer = Consumer({**told, "enable.partition.eof": True})
    consumer.assign([TopicPartition(name, number, 0) for number in range(partitions)])
    found: list[tuple[bytes | None, dict[str, str]]] = []
    ended = 0
    try:
        while ended < partitions and (record := consumer.poll(60)) is not None:
            if record.error() is not None:
                ended += 1
                continue
            named: Any = record.headers() or []
            found.append((record.value(), {header: value.decode() for header, value in named}))
    finally:
        consumer.close()
    return found
