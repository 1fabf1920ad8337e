"""Transactions of one producer, one after another, each with the position that it leads to."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaException, TopicPartition

from alerts.codes import NO_BROKERS, TOO_LARGE
from alerts.due import Due
from alerts.position import Position, fitting
from alerts.receivers.deadline import within
from alerts.receivers.kafka_errors import outcome_of, too_large
from alerts.receivers.receiver import Outcome
from alerts.receivers.templates import TemplateError
from alerts.receivers.topic_records import TopicRecord, TopicRecords

_MOST_BYTES = 32 << 20
"""Bytes of the records of a transaction, unless it has one: less than librdkafka holds, and soon sent."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A producer whose transactions have begun, the group that it commits offsets of, and the position that
    this had. `heard` has the last error of a connection, if there was one."""

    producer: Any
    group: Any
    servers: str
    last: Position
    heard: list[Any]


def left(until: float) -> float:
    """Seconds until a moment of the monotonic clock, some at least."""
    return max(0.1, until - time.monotonic())


class TopicSession:
    """After any failure but that of a single record it is over: what became of the last transaction, the next
    session reads from the brokers."""

    def __init__(
        self, opened: Opened, topic: str, records: TopicRecords, patience: float, *, one_by_one: bool = False
    ) -> None:
        self.last = opened.last
        self.too_large = False
        """Whether brokers refused a batch of records for its size."""
        self._opened: Opened | None = opened
        self._topic = topic
        self._records = records
        self._patience = patience
        self._one_by_one = one_by_one

    @property
    def over(self) -> bool:
        """True once it was closed, or failed."""
        return self._opened is None

    def close(self) -> None:
        """Drops the producer; brokers abort what it has begun, at the latest when the next one begins."""
        self._opened = None

    def send(self, number: int, dues: Sequence[Due], now: int) -> Sequence[Outcome]:  # noqa: ARG002
        """Writes records in the transaction of this number, of as many of the first as its note has room for.

        One that is larger than the topic takes is refused, and the others are sent. Where brokers do not say
        which one that is, nothing is sent and the session is over: in the next, records stand alone.
        """
        opened = self._opened
        if opened is None:
            return [Outcome("unreachable", "the way to the topic was closed")] * len(dues)
        until = time.monotonic() + self._patience
        records, refused = self._made(fitting(number, dues))
        count = len(records) + len(refused)
        try:
            within(self._patience + 1, lambda: self._write(opened, number, records, refused, until))
        except KafkaException as error:
            self.close()
            opened.producer.poll(0)  # hears why connections failed
            if too_large(error.args[0]) and not self._one_by_one:
                self.too_large = True
                return ()
            return [outcome_of(error.args[0], opened.servers, *opened.heard)] * count
        except TimeoutError:
            self.close()
            return [Outcome("unreachable", f"{opened.servers} does not answer ({NO_BROKERS})")] * count
        delivered = Outcome("delivered", f"transaction {number}")
        return [refused.get(due.place, delivered) for due in dues[:count]]

    def _made(self, dues: Sequence[Due]) -> tuple[list[tuple[Due, TopicRecord]], dict[int, Outcome]]:
        """The records of the first deliveries, as many as go into a transaction, and those without one by
        their places."""
        records: list[tuple[Due, TopicRecord]] = []
        refused: dict[int, Outcome] = {}
        size = 0
        for due in dues:
            try:
                record = self._records.record(due)
            except TemplateError as error:
                refused[due.place] = Outcome("refused", str(error))
                continue
            size += record.size
            if records and size > _MOST_BYTES:
                break
            records.append((due, record))
        return records, refused

    def _write(
        self,
        opened: Opened,
        number: int,
        records: Sequence[tuple[Due, TopicRecord]],
        refused: dict[int, Outcome],
        until: float,
    ) -> None:
        """Commit records but for those that turn out to be too large, which are then refused. Raises
        KafkaException."""
        while going := [one for one in records if one[0].place not in refused]:
            if self._commit(opened, number, going, refused, until):
                break

    def _commit(
        self,
        opened: Opened,
        number: int,
        going: Sequence[tuple[Due, TopicRecord]],
        refused: dict[int, Outcome],
        until: float,
    ) -> bool:
        """The same; False: brokers refused some, and nothing is committed."""
        producer = opened.producer
        producer.begin_transaction()
        sent = [due for due, record in going if self._produce(producer, due, record, refused)]
        if not sent:
            producer.abort_transaction(left(until))
            return True
        before = len(refused)
        position = Position.of(number, sent)
        offset = TopicPartition(self._topic, 0, number, metadata=position.note)
        try:
            producer.send_offsets_to_transaction([offset], opened.group, left(until))
            producer.commit_transaction(left(until))
        except KafkaException as error:
            if not (too_large(error.args[0]) and self._one_by_one):
                raise
            producer.abort_transaction(left(until))  # and hears which ones
            if len(refused) == before:
                raise
            return False
        return True

    def _produce(self, producer: Any, due: Due, record: TopicRecord, refused: dict[int, Outcome]) -> bool:
        """Hand a record over, False where it is too large. Raises KafkaException."""

        def hear(error: Any, _: Any) -> None:
            if error is not None and too_large(error):
                refused[due.place] = self._refused(record)

        on_delivery = {"on_delivery": hear} if self._one_by_one else {}
        try:
            producer.produce(self._topic, record.value, record.key, headers=record.headers, **on_delivery)
        except KafkaException as error:
            if not too_large(error.args[0]):
                raise
            refused[due.place] = self._refused(record)
            return False
        return True

    def _refused(self, record: TopicRecord) -> Outcome:
        return Outcome(
            "refused", f"its {record.size:,} bytes are more than {self._topic} takes ({TOO_LARGE})"
        )
