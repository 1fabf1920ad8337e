"""Kafka as a source: Spark's connector says how far each partition goes, and mappers read what is new."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cep.decode.formats import FeedFormat
from cep.sources.kafka.cluster import Cluster, Topics
from cep.sources.kafka.extents import KafkaExtent, KafkaPart
from cep.sources.kafka.options import for_spark, revealed
from cep.sources.source import GoneError, Options, Source
from rules.instants import parse_instant

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from cep.decode.blocks import Decoder
    from cep.decode.letters import Decoded
    from cep.secrets import Secret
    from cep.sources.checkpoint import Checkpoint
    from rules.diagnostics import Diagnostic

EARLIEST, LATEST = "earliest", "latest"
_MILLISECOND = 1_000_000
BATCH_RECORDS = 1_000_000
"""Records that one batch of a job takes from a feed, where its section says nothing else."""


@dataclass(frozen=True, slots=True)
class Kafka(Source[KafkaExtent, KafkaPart]):
    """Topics of a cluster. `start` is where a first start begins: earliest, latest, or a time.

    `batch_records` is about how many records one batch takes. `group` is a consumer group whose offsets
    follow the job, for others to look at; "": none.
    """

    cluster: Cluster
    topics: Topics
    start: str = EARLIEST
    batch_records: int = BATCH_RECORDS
    group: str = ""

    noun: ClassVar[str] = "partition"
    cure: ClassVar[str] = "name a new [job] state, with which the feed begins anew"
    connected: ClassVar[bool] = True
    counted: ClassVar[bool] = True

    def frame(self, session: SparkSession, name: str) -> DataFrame:
        """Nothing but offsets: Spark leaves out to read what cannot pass."""
        from pyspark.sql import functions as f

        told = for_spark(revealed(self.cluster.options, os.environ), _text)
        reader = (
            session.readStream.format("kafka")
            .options(**told)
            .option("kafka.bootstrap.servers", self.cluster.servers)
            .option("kafka.isolation.level", "read_committed")
            .option("failOnDataLoss", "true")
            .option("maxOffsetsPerTrigger", str(self.batch_records))
            .option(*self.topics.subscribed())
            .options(**self._starting())
        )
        offsets = reader.name(name).load()
        return offsets.where(f.lit(False)).select(f.col("offset").alias("length"))

    def _starting(self) -> dict[str, str]:
        if self.start in (EARLIEST, LATEST):
            return {"startingOffsets": self.start}
        return {
            "startingTimestamp": str(parse_instant(self.start) // _MILLISECOND),
            "startingOffsetsByTimestampStrategy": LATEST,
        }

    def planned(self, checkpoint: Checkpoint, stream: str, batch: int) -> Sequence[KafkaExtent]:
        """From the offsets that Spark wrote down for the batch before to those of this one."""
        from cep.sources.kafka.spark_log import planned

        return planned(checkpoint, stream, batch)

    def extent(self, row: Sequence[Any]) -> KafkaExtent:
        """The extent of a row. Raises TypeError and ValueError."""
        from cep.sources.kafka.extents import of_row

        return of_row(row)

    def pin(self, planned: KafkaExtent, known: str = "", /) -> KafkaExtent:
        """The extent, to be read from where its log begins if it is new. Raises GoneError."""
        from cep.sources.kafka.brokers import MADE_ANEW, Brokers

        brokers = Brokers.of(self.cluster)
        log, topic_id = brokers.log(planned.topic, planned.number), brokers.topic_id(planned.topic)
        since = planned.first if planned.first >= 0 else log.begin
        anew = bool(known and topic_id and known != topic_id)
        if why := MADE_ANEW if anew else log.lacks(since, planned.until):
            left = planned.pinned(max(log.begin, 0 if anew or log.end < since else since), topic_id)
            raise GoneError(why, left if log.end >= planned.until > left.since else None)
        return planned.pinned(since, topic_id)

    def identity(self, pinned: KafkaExtent) -> str:
        """The id of the topic."""
        return pinned.topic_id

    def lost_as(self, path: str) -> Sequence[str]:
        """The partition, or its topic."""
        return path, path.rpartition("/")[0]

    def difference(self, extent: KafkaExtent) -> str | None:
        """The words for records that are missing; None where there are none."""
        from cep.sources.kafka.brokers import MADE_ANEW, Brokers

        brokers = Brokers.of(self.cluster)
        if why := brokers.log(extent.topic, extent.number).lacks(extent.since, extent.until):
            return why
        topic_id = brokers.topic_id(extent.topic) if extent.topic_id else ""
        return MADE_ANEW if topic_id and topic_id != extent.topic_id else None

    def watch(self) -> Callable[[KafkaExtent], str | None]:
        """Nothing: who reads records that are missing is told so."""
        return _unchanged

    def listed(self, stream: str) -> Sequence[KafkaExtent]:
        """All that there is from `start` on; of a start at the latest, all."""
        from cep.sources.kafka.brokers import Brokers

        since = None if self.start in (EARLIEST, LATEST) else parse_instant(self.start) // _MILLISECOND
        found = Brokers.of(self.cluster).listed(self.topics.names, self.topics.pattern, since)
        return [KafkaExtent(stream, path, first, end, first) for path, first, end in found if end > first]

    def partition(self, extent: KafkaExtent) -> str:
        """The partition of the topic."""
        return extent.path

    def parts(self, extent: KafkaExtent, _: FeedFormat, block: int) -> Sequence[KafkaPart]:
        """Runs of offsets."""
        from cep.sources.kafka.extents import parts

        return parts(extent, block)

    def read(
        self,
        part: KafkaPart,
        decoder: Decoder,
        passed: Callable[[int], None] = lambda _: None,
        *,
        strict: bool = False,
    ) -> Iterator[Decoded]:
        """The events and dead letters of some records."""
        from cep.sources.kafka.reading import read

        return read(self.cluster, part, decoder, passed, strict=strict)

    def probe(self, part: KafkaPart, written: FeedFormat) -> None:
        """Nothing: no library opens records."""

    def ends(self, checkpoint: Checkpoint, stream: str) -> Mapping[str, int]:  # noqa: ARG002
        """Behind which offset each partition ends now. Raises OutsideError."""
        from cep.sources.kafka.brokers import Brokers

        found = Brokers.of(self.cluster).listed(self.topics.names, self.topics.pattern, None)
        return {path: end for path, _, end in found}

    def reached(self, checkpoint: Checkpoint, stream: str, batch: int) -> Mapping[str, int]:
        """Up to which offset of each partition a batch reads. Raises DamagedError."""
        from cep.sources.kafka.spark_log import of_batch

        return of_batch(checkpoint, stream, batch)

    @property
    def at_once(self) -> int:
        """As many as are set."""
        return self.batch_records

    def publish(self, reached: Mapping[str, int]) -> str | None:
        """Commits offsets under the group, where there is one."""
        from cep.sources.kafka.brokers import Brokers
        from cep.sources.kafka.groups import publish

        return publish(Brokers.of(self.cluster).admin, self.group, reached) if self.group else None

    def secrets(self) -> Mapping[str, Secret]:
        """The options that may stand elsewhere."""
        return dict(self.cluster.options)

    def check(self, options: Options) -> Iterator[Diagnostic]:
        """Brokers that do not answer, and topics that are not there."""
        from cep.sources.kafka.reach import check

        return check(self.cluster, self.topics, options)


def _text(path: str) -> str:
    return Path(path).read_text("utf-8")


def _unchanged(_: KafkaExtent) -> None:
    return None
