"""[feeds.STREAM] with source = "kafka"."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, cast

from pydantic import AfterValidator, BeforeValidator, Field

from cep.decode.formats import RECORD_KINDS, FeedFormat, Kind
from cep.sources import values
from cep.sources.kafka import options as consumer
from cep.sources.kafka.checks import option_mistakes
from cep.sources.kafka.cluster import Cluster, Topics
from cep.sources.kafka.kafka import BATCH_RECORDS, EARLIEST, LATEST, Kafka
from cep.sources.kafka.schemas import SchemaKeys, registry_address, schema_mistakes, schemas_of
from cep.sources.section import FeedSection, Text
from cep.sources.source import Options
from cep.sources.values import UnfitError
from rules.diagnostics import Diagnostic
from rules.instants import parse_instant
from rules.suggest import did_you_mean

# pydantic has a method of that name, from its first version, which nobody calls here
warnings.filterwarnings("ignore", 'Field name "schema" in "KafkaSection" shadows', UserWarning)

_NAMED = ("topic", "topics", "pattern")


def _pattern(text: str) -> str:
    values.filled(text)
    try:
        re.compile(text)
    except re.error as error:
        raise UnfitError(f"it is no regular expression: {error}", 'write one such as `"pay-.*"`') from None
    return text


def _start(text: str) -> str:
    if text in (EARLIEST, LATEST):
        return text
    try:
        if parse_instant(text) < 0:
            raise UnfitError("it is before 1970", "write `earliest`")
    except ValueError as error:
        if isinstance(error, UnfitError):
            raise
        help_ = did_you_mean(text, (EARLIEST, LATEST)) or "a time is written `2026-01-05T09:00:00Z`"
        raise UnfitError("it is `earliest`, `latest` or a time with its zone", help_) from None
    return text


def _format(text: str) -> str:
    if text not in RECORD_KINDS:
        help_ = did_you_mean(text, RECORD_KINDS) or 'write `format = "json"`'
        raise UnfitError(f"a record's value is one of {', '.join(RECORD_KINDS)}", help_)
    return text


def _no_header(header: bool) -> bool:
    if header:
        raise UnfitError("a record of CSV has no header: its cells are the stream's fields", "remove it")
    return header


SchemaFile = Annotated[str, AfterValidator(values.path)]
Topic = Annotated[str, AfterValidator(values.topic_name)]
Pattern = Annotated[str, AfterValidator(_pattern)]


class KafkaSection(FeedSection):
    """The options of topics."""

    source: Annotated[Literal["kafka"], Field(examples=["kafka"])]
    servers: Annotated[str, AfterValidator(values.brokers), Field(examples=["b1:9092,b2:9092"])]
    topic: Annotated[Topic | None, Field(examples=["payments"])] = None
    topics: Annotated[list[Topic] | None, Field(min_length=1, examples=[["payments", "refunds"]])] = None
    pattern: Annotated[Pattern | None, Field(examples=["pay-.*"])] = None
    start: Annotated[str, AfterValidator(_start), Field(examples=[EARLIEST])] = EARLIEST
    format: Annotated[str, AfterValidator(_format), Field(examples=["json"])] = "json"
    header: Annotated[bool, AfterValidator(_no_header), Field(examples=[False])] = False
    schema: Annotated[SchemaFile | None, Field(examples=["payment.avsc"])] = None  # type: ignore[assignment]
    registry: Annotated[
        str | None, AfterValidator(registry_address), Field(examples=["https://registry:8081"])
    ] = None
    message: Annotated[Text | None, Field(examples=["acme.Payment"])] = None
    key: Annotated[Text | None, Field(examples=["card_id"])] = None
    time: Annotated[Literal["kafka"] | None, Field(examples=["kafka"])] = None
    batch_records: Annotated[int, Field(ge=1, le=10_000_000, examples=[BATCH_RECORDS])] = BATCH_RECORDS
    group: Annotated[Text | None, Field(examples=["fraud-desk"])] = None
    options: Annotated[
        dict[str, object],
        BeforeValidator(consumer.flat),
        Field(default_factory=dict, examples=[{"client.id": "fraud"}]),
    ]

    @property
    def _schema_keys(self) -> SchemaKeys:
        return SchemaKeys(cast("Kind", self.format), self.schema, self.message, self.registry)

    def made(self, folder: Path) -> Kafka:
        """The source; paths of keys begin at the folder."""
        names = self.topics or ([self.topic] if self.topic else [])
        topics = Topics(tuple(sorted(set(names))), self.pattern or "")
        return Kafka(
            Cluster(self.servers, consumer.named(self.options, folder)),
            topics,
            self.start,
            self.batch_records,
            self.group or "",
        )

    def mistakes(self, options: Options) -> Iterator[Diagnostic]:
        """Topics that are named twice or not at all, and what a consumer cannot be told."""
        given = [name for name in _NAMED if getattr(self, name) is not None]
        if len(given) != 1:
            said = f"{' and '.join(f'`{one}`' for one in given)} are given" if given else "no topic is named"
            help_ = f"keep one of them: `{given[0]}`" if given else 'write `topic = "payments"`'
            place = options.span(given[1] if given else "")
            yield Diagnostic("CEP0753", "error", said, place, help=help_)
        yield from option_mistakes(self.options, options)
        yield from schema_mistakes(self._schema_keys, self.options, options)

    def written(self, folder: Path) -> FeedFormat:
        """The format of its events. Raises ConfigurationError where its schema is gone by now."""
        return replace(
            super().written(folder),
            format=cast("Kind", self.format),
            key=self.key or "",
            record_time=self.time is not None,
            schemas=schemas_of(self._schema_keys, folder, consumer.of_registry(self.options, folder)),
        )
