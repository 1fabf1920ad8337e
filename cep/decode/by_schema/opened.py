"""The codecs of a feed: that of the schema of a file, for every record the same, or those of a registry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from cep.decode.by_schema.avro_schema import SchemaError, parsed
from cep.decode.by_schema.codec import Codec, Target
from cep.decode.by_schema.codecs import file_codec


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
    if schemas.registry is None:
        return OfFile(file_codec(schemas, target))
    from cep.decode.by_schema.registered import OfRegistry
    from cep.decode.by_schema.registry import client_of

    client, avro = client_of(schemas.registry), target.feed.format == "avro"
    if not schemas.text:
        return OfRegistry(client, target)
    if avro:
        return OfRegistry(client, target, reader=parsed(schemas.text))
    return OfRegistry(client, target, of_file=file_codec(schemas, target))
