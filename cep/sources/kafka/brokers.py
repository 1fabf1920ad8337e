"""Asks the brokers of a cluster about topics, partitions and offsets, and the consumer that reads them.

A process has one consumer for each partition that it reads at a time, and keeps it from batch to batch: a
connection takes longer than a small batch. It commits nothing, and asks no group for anything that matters.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from cep.errors import ConfigurationError, OutsideError
from cep.secrets import SecretError
from cep.sources.kafka.cluster import Cluster
from cep.sources.kafka.options import revealed
from cep.sources.source import GoneError

if TYPE_CHECKING:
    from collections.abc import Mapping


PATIENCE = 30.0
"""Seconds that brokers have to say where a partition begins and ends, or which topics there are."""
GONE_AFTER = 30.0
"""Seconds for which brokers have to say that they know of no such topic: those that just began know none."""
_AGAIN = 0.2
_READER = {
    "group.id": "cep",  # librdkafka asks for one; nothing is committed under it
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "auto.offset.reset": "error",
    "isolation.level": "read_committed",
    "enable.partition.eof": True,
    "allow.auto.create.topics": False,
    "queued.max.messages.kbytes": 32 << 10,  # is read ahead of a part's end, for nothing
    "fetch.wait.max.ms": 100,
    "log_level": 4,
}
_NOT_THERE = "is not there any more"
MADE_ANEW = "is that of a topic which was deleted and made anew: records that were in the old one are gone"
_NO_ID = "A" * 22
"""The id of all topics at brokers that give none, those before Kafka 2.8."""
_OF_CONSUMERS = {  # and of no client that only asks
    "group.id",
    "enable.auto.commit",
    "enable.auto.offset.store",
    "auto.offset.reset",
    "isolation.level",
    "enable.partition.eof",
    "queued.max.messages.kbytes",
    "fetch.wait.max.ms",
    "fetch.max.bytes",
    "max.partition.fetch.bytes",
}


@dataclass(frozen=True, slots=True)
class Log:
    """The log of a partition: offsets from `begin` up to, not including, `end`; None: it is not there."""

    begin: int
    end: int

    def lacks(self, since: int, until: int) -> str | None:
        """The words for records between two offsets that it does not have; None where it has all."""
        if self.end < 0:
            return _NOT_THERE
        if until < 0:
            return "was not there when the batch was planned"
        if since < self.begin:
            gone = f"records {since:,} to {min(self.begin, until) - 1:,} are gone"
            return f"begins at offset {self.begin:,} by now: {gone}"
        if self.end < until:
            had = f"had records up to {until - 1:,}"
            return f"ends at offset {self.end:,}, and {had}: it was made anew, or lost some"
        return None


NO_LOG = Log(-1, -1)


class Brokers:
    """The brokers of a feed's servers."""

    def __init__(self, cluster: Cluster, environ: Mapping[str, str]) -> None:
        """Raises ConfigurationError where an option's value is not there, or cannot be used."""
        self._servers, self._error = cluster.servers, ""
        try:
            told = revealed(cluster.options, environ)
        except SecretError as error:
            raise ConfigurationError(str(error), error.help, "CEP0708") from error
        self._config = {**_READER, **told, "bootstrap.servers": cluster.servers, "error_cb": self._failed}
        self._consumer = self._made()
        self._free: list[Any] = [self._consumer]
        self._admin: Any = None

    def _made(self) -> Any:
        """A consumer. Raises ConfigurationError."""
        from confluent_kafka import Consumer, KafkaException

        try:
            return Consumer(self._config, logger=logging.getLogger("cep.kafka"))
        except KafkaException as error:
            said = f"the consumer of {self._servers} cannot be made: {error.args[0].str()}"
            raise ConfigurationError(said, "correct [feeds.STREAM.options]", "CEP0752") from error

    @staticmethod
    def of(cluster: Cluster) -> Brokers:
        """Those of a cluster, of which this process has one. Raises ConfigurationError."""
        return _opened(cluster)

    def _failed(self, error: Any) -> None:
        self._error = str(error.str())

    def log(self, topic: str, number: int) -> Log:
        """The log of a partition as it is now. Raises OutsideError where no broker answers."""
        from confluent_kafka import KafkaException, TopicPartition

        until = time.monotonic() + GONE_AFTER
        while True:
            try:
                begin, end = self._consumer.get_watermark_offsets(TopicPartition(topic, number), PATIENCE)
                return Log(begin, end)
            except KafkaException as error:
                if not _of_missing(error.args[0]):
                    raise self._unreachable(error.args[0]) from error
            if time.monotonic() > until:
                return NO_LOG
            time.sleep(_AGAIN)
            self._look_again(self._consumer, topic)

    def _look_again(self, consumer: Any, topic: str) -> None:
        """Have a client ask brokers for a topic: by itself it remembers that there is none."""
        from confluent_kafka import KafkaException

        try:
            consumer.list_topics(topic, PATIENCE)
        except KafkaException as error:
            raise self._unreachable(error.args[0]) from error

    @property
    def admin(self) -> Any:
        """The client that asks about more than records: an AdminClient of confluent-kafka."""
        from confluent_kafka.admin import AdminClient

        if self._admin is None:
            told: dict[str, Any] = {n: one for n, one in self._config.items() if n not in _OF_CONSUMERS}
            self._admin = AdminClient(told, logger=logging.getLogger("cep.kafka"))
        self._admin.poll(0)  # what it had to log since
        return self._admin

    def topic_id(self, topic: str) -> str:
        """The id that a topic got when it was made; "" where it is not there, or brokers give none.

        Raises OutsideError where no broker answers.
        """
        from confluent_kafka import KafkaException, TopicCollection

        (found,) = self.admin.describe_topics(TopicCollection([topic]), request_timeout=PATIENCE).values()
        try:
            name = str(found.result().topic_id)
        except KafkaException as error:
            if _of_missing(error.args[0]):
                return ""
            raise self._unreachable(error.args[0]) from error
        return "" if name == _NO_ID else name

    def topics(self) -> Mapping[str, Sequence[int]]:
        """The numbers of the partitions of every topic but Kafka's own. Raises OutsideError."""
        from confluent_kafka import KafkaException

        try:
            found = self._consumer.list_topics(timeout=PATIENCE).topics
        except KafkaException as error:
            raise self._unreachable(error.args[0]) from error
        return {name: sorted(one.partitions) for name, one in found.items() if not name.startswith("__")}

    def listed(self, names: Sequence[str], pattern: str, since: int | None) -> list[tuple[str, int, int]]:
        """The partitions of topics, each with where it begins and ends; from a time on, in ms since 1970 UTC.

        Raises OutsideError.
        """
        there = self.topics()
        chosen = [name for name in there if re.fullmatch(pattern, name)] if pattern else names
        found = []
        for name in sorted(chosen):
            for number in there.get(name, ()):
                log = self.log(name, number)
                begin = log.begin if since is None else self._at(name, number, since, log)
                found.append((f"{name}/{number}", begin, log.end))
        return found

    def _at(self, topic: str, number: int, time: int, log: Log) -> int:
        """The first offset of a time, or of a later one; the end where there is none."""
        from confluent_kafka import KafkaException, TopicPartition

        try:
            (found,) = self._consumer.offsets_for_times([TopicPartition(topic, number, time)], PATIENCE)
        except KafkaException as error:
            raise self._unreachable(error.args[0]) from error
        return int(found.offset) if found.offset >= 0 else log.end

    @contextmanager
    def assigned(self, path: str, start: int) -> Iterator[Any]:
        """A consumer that reads a partition from an offset on and nothing else, while the block lasts."""
        from confluent_kafka import TopicPartition

        topic, _, number = path.rpartition("/")
        consumer = self._free.pop() if self._free else self._made()
        consumer.assign([TopicPartition(topic, int(number), start)])
        try:
            yield consumer
        finally:
            consumer.unassign()
            self._free.append(consumer)

    def ended(self, consumer: Any, message: Any, path: str) -> bool:
        """True for the mark that a log has no more records; False for a failure of a consumer that may pass.

        Raises GoneError where records are not there, and OutsideError where this user may not read them.
        """
        from confluent_kafka import KafkaError

        error = message.error()
        match error.code():
            case KafkaError._PARTITION_EOF:
                return True
            case KafkaError._AUTO_OFFSET_RESET | KafkaError.OFFSET_OUT_OF_RANGE:
                raise GoneError(f"lacks records that were there when the batch was planned: {error.str()}")
            case _ if _of_missing(error):
                topic, _, number = path.rpartition("/")
                if self.log(topic, int(number)) == NO_LOG:
                    raise GoneError(_NOT_THERE)
                self._look_again(consumer, topic)
            case KafkaError.TOPIC_AUTHORIZATION_FAILED:
                said = f"the partition {path} may not be read: {error.str()}"
                raise OutsideError(said, "let the user of [feeds.STREAM.options] read the topic", "CEP0810")
        self._error = str(error.str())
        return False

    def _unreachable(self, error: Any) -> OutsideError:
        why = self._error or error.str()
        return OutsideError(
            f"the brokers {self._servers} do not answer: {why}",
            "see whether they run, and whether servers and options are right",
            "CEP0810",
        )


def _of_missing(error: Any) -> bool:
    """True for the error of a topic or partition that is not there."""
    from confluent_kafka import KafkaError

    return error.code() in (
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_TOPIC,
        KafkaError._UNKNOWN_PARTITION,
        KafkaError.UNKNOWN_TOPIC_ID,
    )


@lru_cache(maxsize=16)
def _opened(cluster: Cluster) -> Brokers:
    return Brokers(cluster, os.environ)
