"""Transactions of one producer, one after another, each with the position that it leads to."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Generic, NamedTuple

from confluent_kafka import KafkaException

from alerts.codes import NO_BROKERS, TOO_LARGE, UNFINISHED
from alerts.position import Item, Position, fitting
from alerts.receivers.deadline import within
from alerts.receivers.kafka_errors import OF_OTHERS, outcome_of, too_large
from alerts.receivers.receiver import Outcome
from alerts.receivers.templates import TemplateError
from alerts.receivers.topic_opened import Opened, left

_LOOK = 0.1
"""Seconds between looks for records that brokers refuse."""
_MOST_BYTES = 32 << 20
"""Bytes of the records of a transaction, unless it has one: less than librdkafka holds, and soon sent."""


_UNFINISHED = "brokers had lost the end of a transaction: what it wrote was aborted, and is sent again"


class TopicRecord(NamedTuple):
    """A record; `key` None: it may be in any partition."""

    key: bytes | None
    value: bytes
    headers: list[tuple[str, bytes]]

    @property
    def size(self) -> int:
        """The bytes of key and value."""
        return len(self.value) + len(self.key or b"")


class TopicSession(Generic[Item]):
    """`record` makes the record of a delivery, and raises TemplateError where it has none.

    After any failure but that of a single record it is over: what became of the last transaction, the next
    session reads from the brokers."""

    def __init__(
        self,
        opened: Opened,
        topic: str,
        record: Callable[[Item], TopicRecord],
        patience: float,
        *,
        one_by_one: bool = False,
    ) -> None:
        self.last = opened.last
        self.too_large = False
        """Whether brokers refused a batch of records for its size."""
        self._notice = f"{_UNFINISHED} ({UNFINISHED})" if opened.unfinished else ""
        self._opened: Opened | None = opened
        self._topic = topic
        self._record = record
        self._patience = patience
        self._one_by_one = one_by_one

    @property
    def notice(self) -> str:
        """A sentence about its opening that people should read; empty where there is none."""
        return self._notice

    @property
    def over(self) -> bool:
        """True once it was closed, or failed."""
        return self._opened is None

    def close(self) -> None:
        """Drops the producer; brokers abort what it has begun, at the latest when the next one begins."""
        self._opened = None

    def send(self, number: int, dues: Sequence[Item], now: int) -> Sequence[Outcome]:  # noqa: ARG002
        """Writes records in the transaction of this number, of as many of the first as its note has room for.

        One that is larger than the topic takes is refused, and the others are sent. Where brokers do not say
        which one that is, nothing is sent and the session is over: in the next, records stand alone.
        """
        opened = self._opened
        if opened is None:
            return [Outcome("unreachable", "the way to the topic was closed")] * len(dues)
        until = time.monotonic() + self._patience
        dues, refused = fitting(number, dues), dict[int, Outcome]()
        try:
            count = within(self._patience + 1, lambda: self._write(opened, number, dues, refused, until))
        except KafkaException as error:
            self.close()
            return self._failed(opened, error.args[0], len(dues))
        except TimeoutError:
            self.close()
            return [Outcome("unreachable", f"{opened.servers} does not answer ({NO_BROKERS})")] * len(dues)
        delivered = Outcome("delivered", f"transaction {number}")
        return [refused.get(due.place, delivered) for due in dues[:count]]

    def _failed(self, opened: Opened, error: Any, count: int) -> Sequence[Outcome]:
        """The outcomes of an attempt that ended in an error: what comes of a transaction is often only that
        it failed, and its records say why."""
        with suppress(KafkaException):  # of one that is fenced
            opened.producer.poll(0)
        if any(map(too_large, opened.lost)) and not self._one_by_one:
            self.too_large = True
            return ()
        cause = opened.lost[0] if opened.lost else error
        return [outcome_of(cause, opened.servers, *opened.heard)] * count

    def _write(
        self, opened: Opened, number: int, dues: Sequence[Item], refused: dict[int, Outcome], until: float
    ) -> int:
        """The number of the first deliveries that are committed, but for those that turn out to be too large,
        or to have no record: they are refused. Raises KafkaException."""
        producer = opened.producer
        while True:
            producer.begin_transaction()
            count, sent = self._produce(opened, dues, refused)
            if not sent:
                producer.abort_transaction(left(until))
                return count
            before = len(refused)
            while producer.flush(_LOOK) and not opened.lost and len(refused) == before:
                if time.monotonic() > until:
                    break  # what comes next fails, and says why
            if opened.lost:
                raise KafkaException(opened.lost[0])
            if len(refused) == before:
                opened.position(number, Position.of(number, sent).note, until)
                producer.commit_transaction(left(until))
                opened.committed(left(until))  # brokers have agreed to it, and now it is in their logs
                return count
            producer.abort_transaction(left(until))  # others wait behind what was refused, for ever

    def _produce(
        self, opened: Opened, dues: Sequence[Item], refused: dict[int, Outcome]
    ) -> tuple[int, list[Item]]:
        """Hand over the records of the first deliveries, as many as go into a transaction: their number, and
        those that have one which is not known to be too large. Raises KafkaException."""
        sent: list[Item] = []
        size = 0
        for count, due in enumerate(dues):
            if refused and due.place in refused:
                continue
            try:
                record = self._record(due)
            except TemplateError as error:
                refused[due.place] = Outcome("refused", str(error))
                continue
            before, size = size, size + record.size
            if sent and size > _MOST_BYTES:
                return count, sent
            try:
                asking = self._asking(opened, due, record, refused) if self._one_by_one else {}
                opened.producer.produce(
                    self._topic, record.value, record.key, headers=record.headers, **asking
                )
            except KafkaException as error:
                if not too_large(error.args[0]):
                    raise
                refused[due.place], size = self._refused(record), before
                continue
            sent.append(due)
        return len(dues), sent

    def _asking(
        self, opened: Opened, due: Item, record: TopicRecord, refused: dict[int, Outcome]
    ) -> dict[str, Any]:
        """Arguments by which one hears that brokers refuse a record for its size, where each stands alone."""

        def hear(error: Any, _: Any) -> None:
            if error is not None and too_large(error):
                refused[due.place] = self._refused(record)
            elif error is not None and error.code() not in OF_OTHERS:
                opened.lost.append(error)

        return {"on_delivery": hear}

    def _refused(self, record: TopicRecord) -> Outcome:
        return Outcome(
            "refused", f"its {record.size:,} bytes are more than {self._topic} takes ({TOO_LARGE})"
        )
