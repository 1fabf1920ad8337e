"""The codecs of a feed: of the schema that a file has, for every record the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import pyarrow as pa

from cep.decode.by_schema.avro_schema import Fields, SchemaError, parsed
from cep.decode.by_schema.codec import Codec, Target, codec
from cep.decode.formats import FeedFormat, Schemas
from rules.typed import Stream


class Opened(Protocol):
    """The codecs of a feed's records."""

    def of(self, value: bytes) -> tuple[Codec, int]:
        """The codec of a value, and where in it the record begins. Raises Malformed."""


@dataclass(frozen=True, slots=True)
class OfFile:
    """One codec for all records."""

    codec: Codec

    def of(self, _: bytes) -> tuple[Codec, int]:
        """The codec; a value has nothing before its record."""
        return self.codec, 0


def opened(target: Target) -> Opened:
    """The codecs of a feed; its schemas were looked at before. Raises SchemaError."""
    schemas = target.feed.schemas
    if schemas is None:
        raise SchemaError("is not named")
    return OfFile(file_codec(schemas, target))


def misfits(stream: Stream, feed: FeedFormat) -> Iterator[tuple[str, str]]:
    """The fields of a stream that the schema of a feed's file cannot give, and why."""
    given = {feed.key} | ({stream.time[0]} if feed.record_time else set())
    own = tuple(one for one in stream.fields if one.name not in given)
    target = Target(replace(stream, fields=own), feed, dict.fromkeys(dict(feed.constants)))
    if feed.schemas is not None and own:
        yield from target.misfits(file_codec(feed.schemas, target).columns)


def file_codec(schemas: Schemas, target: Target) -> Codec:
    """The codec of the schema of a file. Raises SchemaError."""
    if target.feed.format == "avro":
        schema = parsed(schemas.text)
        return avro_codec(schema, schema, target)
    return protobuf_codec(schemas.text, schemas.message, target)


def avro_codec(writer: Fields, reader: Fields, target: Target) -> Codec:
    """The codec of what a writer's schema wrote, as a reader's has it. Raises SchemaError."""
    from cep.decode.by_schema.avro_resolution import resolved
    from cep.decode.by_schema.avro_values import values

    plan = resolved(writer, reader, target.wanted, target.fits)
    return codec(pa.schema(list(plan.type)), lambda data, begin: values(plan, data, begin), target)


def protobuf_codec(files: bytes, message: str, target: Target) -> Codec:
    """The codec of a message of a FileDescriptorSet. Raises SchemaError."""
    from cep.decode.by_schema.protobuf_schema import columns, described, message_of
    from cep.decode.by_schema.protobuf_values import values_of

    found = message_of(described(files), message)
    return codec(columns(found, target.wanted), values_of(found, target.wanted), target)
