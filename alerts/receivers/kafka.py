"""Alerts to a topic of Kafka, in transactions: whoever reads what is committed gets each of them once.

A session is one producer with the transactional id of the outbox and the receiver. Brokers let the newest
such producer write and no other. Each transaction commits the records together with an offset of a group of
the same name, whose number is the transaction's, and whose note says which deliveries it took. The next
session begins with reading that: it knows what was committed, whenever the one before has ended. What is
delivered is so once that can be read: from then on brokers cannot forget the transaction's end.

https://cwiki.apache.org/confluence/display/KAFKA/KIP-98+-+Exactly+Once+Delivery+and+Transactional+Messaging
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic

from confluent_kafka import Consumer, KafkaException, Producer

from alerts.codes import NO_BROKERS, NO_TOPIC, TOO_LARGE
from alerts.due import Due
from alerts.position import Item, Position
from alerts.receivers.deadline import within
from alerts.receivers.kafka_errors import NOT_THERE, OF_OTHERS, outcome_of
from alerts.receivers.receiver import Outcome
from alerts.receivers.topic_opened import Opened, left
from alerts.receivers.topic_records import Mode, TopicRecords
from alerts.receivers.topic_session import TopicRecord, TopicSession
from alerts.receivers.unfinished import drop_unfinished, has_unfinished

PATIENCE = 15.0
"""Seconds for an attempt."""
PREFIX = "cep."
"""How transactional ids and groups begin."""
_LOG = logging.getLogger("cep.kafka")
_PRODUCER: Mapping[str, object] = {
    "linger.ms": 5,
    "compression.type": "lz4",
    "partitioner": "murmur2_random",  # as Kafka's own client in Java: a key is where others put it
    "retry.backoff.ms": 20,  # after a commit brokers refuse the next transaction for some milliseconds
    "transaction.timeout.ms": 20_000,  # for so long one that was killed keeps readers waiting
    "delivery.report.only.error": True,
    "log_level": 4,
}
_READER: Mapping[str, object] = {
    "enable.auto.commit": False,
    "isolation.level": "read_committed",  # offsets of a transaction under way are waited for
    "allow.auto.create.topics": False,
    "retry.backoff.ms": 20,
    "log_level": 4,
}
_ANYHOW: Mapping[str, object] = {"isolation.level": "read_uncommitted"}
OF_PRODUCERS = ("batch.size", "compression.type", "linger.ms", "message.max.bytes", "partitioner")
"""Options that a client which only asks is not told."""
_LOST = 10  # errors of records that are kept
_ONE_BY_ONE: Mapping[str, object] = {"batch.num.messages": 1}


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of a cluster; `options` are those of librdkafka, with secrets."""

    servers: str
    name: str
    options: Mapping[str, str]

    def __repr__(self) -> str:
        return f"Topic({self.servers!r}, {self.name!r})"

    @property
    def of_readers(self) -> dict[str, object]:
        """The options of a client that only asks."""
        mine = {name: one for name, one in self.options.items() if name not in OF_PRODUCERS}
        return {**_READER, **mine, "bootstrap.servers": self.servers}

    @property
    def of_producers(self) -> dict[str, object]:
        """The options of one that writes."""
        return {**_PRODUCER, **self.options, "bootstrap.servers": self.servers}


class TopicWay(Generic[Item]):
    """The way of some sort of deliveries to a topic: sessions, one after another."""

    def __init__(
        self, name: str, topic: Topic, record: Callable[[Item], TopicRecord], patience: float = PATIENCE
    ) -> None:
        self._name = name
        self._topic = topic
        self._record = record
        self._patience = patience
        self._session: TopicSession[Item] | None = None
        self._one_by_one = False

    def open(self, id_: str) -> TopicSession[Item] | Outcome:
        """The session of the transactional id `cep.ID.NAME`; no other of that id can commit any more."""
        if self._session is not None:
            self._one_by_one = self._one_by_one or self._session.too_large
            self._session.close()
        more = _ONE_BY_ONE if self._one_by_one else {}
        until = time.monotonic() + self._patience
        transactional = f"{PREFIX}{id_}.{self._name}"
        try:
            found = within(self._patience + 1, lambda: _opened(transactional, self._topic, more, until))
        except TimeoutError:
            return Outcome("unreachable", f"{self._topic.servers} does not answer ({NO_BROKERS})")
        if isinstance(found, Outcome):
            return found
        self._session = TopicSession(
            found, self._topic.name, self._record, self._patience, one_by_one=self._one_by_one
        )
        return self._session

    def close(self) -> None:
        """Ends its session."""
        if self._session is not None:
            self._session.close()


class KafkaReceiver:
    """Writes alerts to a topic, up to `together` in a transaction. `key` is a template's text; None: the key
    of an alert is that of its record. Raises TemplateError for a template.
    """

    in_flight = 1
    together = 5_000

    def __init__(
        self,
        name: str,
        topic: Topic,
        key: str | None = None,
        mode: Mode = "structured",
        *,
        patience: float = PATIENCE,
    ) -> None:
        self.name = name
        self._way = TopicWay(name, topic, TopicRecords(name, key, mode).record, patience)

    def open(self, id_: str) -> TopicSession[Due] | Outcome:
        """The session of an outbox, as TopicWay has it."""
        return self._way.open(id_)

    def send(self, id_: str, body: str, now: int) -> Outcome:
        """Writes one alert, a test, in a transaction of an id that no outbox has."""
        opened = self.open("test")
        if isinstance(opened, Outcome):
            return opened
        try:
            outcomes = opened.send(opened.last.number + 1, [Due(1, id_, body, 0, now)], now)
        finally:
            opened.close()
        if not outcomes:
            return Outcome("rejected", f"larger than the topic takes ({TOO_LARGE})")
        (outcome,) = outcomes
        return replace(outcome, result="rejected") if outcome.result == "refused" else outcome

    def close(self) -> None:
        """Ends its session."""
        self._way.close()


def _opened(id_: str, topic: Topic, more: Mapping[str, object], until: float) -> Opened | Outcome:
    """The producer of a transactional id, after all others of that id have ended."""
    heard: list[Any] = []
    lost: list[Any] = []

    def hear(error: Any) -> None:
        heard[:] = [error]

    def lose(error: Any, _: Any) -> None:
        if len(lost) < _LOST and error.code() not in OF_OTHERS:
            lost.append(error)

    mine = {"group.id": id_, "error_cb": hear}
    asking = Consumer({**topic.of_readers, **mine}, logger=_LOG)
    try:
        found = asking.list_topics(topic.name, timeout=left(until)).topics[topic.name]
        if found.error is not None:
            raise KafkaException(found.error)
        writing = {"transactional.id": id_, "error_cb": hear, "on_delivery": lose}
        producer = Producer({**topic.of_producers, **more, **writing}, logger=_LOG)
        producer.init_transactions(left(until))
        opened = Opened(producer, asking, topic.servers, topic.name, heard, lost)
        anyhow = {**topic.of_readers, **_ANYHOW, **mine}
        if unfinished := has_unfinished(opened, lambda: Consumer(anyhow, logger=_LOG), until):
            drop_unfinished(opened, sorted(found.partitions), until)
        offset, note = opened.committed(left(until))
        last = Position.read(offset, note) if offset > 0 else Position(0)
        return replace(opened, last=last, unfinished=unfinished)
    except KafkaException as error:
        asking.close()  # which tells what its connections met
        if error.args[0].code() in NOT_THERE:
            return Outcome("rejected", f"there is no topic {topic.name} at {topic.servers} ({NO_TOPIC})")
        return outcome_of(error.args[0], topic.servers, *heard)
    except ValueError as error:
        said = f"the group {id_} at {topic.servers} was not written by this program: {error}"
        return Outcome("rejected", said)
