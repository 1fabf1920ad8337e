"""The codecs of schemas: of Avro, of messages of Protobuf, and what such a schema cannot give a stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from cep.decode.by_schema.avro_schema import Fields, parsed
from cep.decode.by_schema.codec import Codec, Target, codec
from cep.decode.formats import FeedFormat, Schemas
from rules.typed import Stream

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor


def misfits(stream: Stream, feed: FeedFormat) -> Iterator[tuple[str, str]]:
    """The fields of a stream that the schema of a feed's file cannot give, and why."""
    given = {feed.key} | ({stream.time[0]} if feed.record_time else set())
    own = tuple(one for one in stream.fields if one.name not in given)
    target = Target(replace(stream, fields=own), feed, dict.fromkeys(dict(feed.constants)))
    if feed.schemas is not None and feed.schemas.text and own:
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
    from cep.decode.by_schema.protobuf_schema import described, message_of

    return message_codec(message_of(described(files), message), target)


def message_codec(found: Descriptor, target: Target) -> Codec:
    """The codec of a message."""
    from cep.decode.by_schema.protobuf_schema import columns
    from cep.decode.by_schema.protobuf_values import values_of

    return codec(columns(found, target.wanted), values_of(found, target.wanted), target)
