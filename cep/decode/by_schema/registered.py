"""The codecs of a feed whose records have the ids of their schemas (Confluent's wire format).

A value begins with a zero byte and the id, four bytes, the highest first. In Protobuf the place of the
message in its file follows: how many numbers, then the numbers, each as a varint with the sign in its lowest
bit; a zero alone stands for the first message.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from cep.decode.by_schema.avro_schema import Fields, SchemaError, parsed
from cep.decode.by_schema.codec import Codec, Target
from cep.decode.by_schema.codecs import avro_codec, message_codec
from cep.decode.by_schema.registry import Client, NotRegisteredError, Registered
from cep.decode.malformed import Malformed

HEADER = 5
_DEEPEST = 16
"""Messages in one another, at most."""
_AGAIN = 30.0
"""Seconds until a registry is asked again for what it did not know."""
Key = tuple[int, tuple[int, ...]]


@dataclass(slots=True)
class OfRegistry:
    """One codec for each schema and message, made when the first record has it.

    `reader` is the record that a file's schema describes, for Avro; `of_file` the codec of a file's message,
    for Protobuf: then no schema is asked for.
    """

    client: Client
    target: Target
    reader: Fields | None = None
    of_file: Codec | None = None
    known: dict[Key, Codec] = field(default_factory=dict)
    unknown: dict[Key, tuple[float, str]] = field(default_factory=dict)

    def of(self, value: bytes) -> tuple[Codec, int]:
        """The codec of a value, and where its record begins. Raises Malformed, OutsideError."""
        if len(value) < HEADER or value[0]:
            raise Malformed("has no id of a schema before its record: a zero byte and four more")
        id_, begin = int.from_bytes(value[1:HEADER], "big"), HEADER
        path: tuple[int, ...] = ()
        if self.target.feed.format == "protobuf":
            path, begin = _path(value)
        if self.of_file is not None:
            return self.of_file, begin
        key = id_, path
        if key not in self.known:
            self._ask(key)
        return self.known[key], begin

    def _ask(self, key: Key) -> None:
        """Makes a codec known. Raises Malformed, OutsideError."""
        asked, why = self.unknown.get(key, (0.0, ""))
        if not why or time.monotonic() - asked > _AGAIN:
            try:
                self.known[key] = self._codec(self.client.schema(key[0]), key[1])
                return
            except NotRegisteredError as error:
                why = f"schema {key[0]}: {error}"
            except SchemaError as error:
                why = f"schema {key[0]} {error}"
            self.unknown[key] = (time.monotonic(), why)
        raise Malformed(why)

    def _codec(self, found: Registered, path: tuple[int, ...]) -> Codec:
        """Raises SchemaError."""
        wanted = str(self.target.feed.format).upper()
        if found.kind != wanted:
            raise SchemaError(f"is of {found.kind}, and the feed's format is {wanted}")
        if wanted == "AVRO":
            writer = parsed(found.text, tuple(found.before.values()))
            return avro_codec(writer, self.reader or writer, self.target)
        from cep.decode.by_schema.protobuf_schema import described, message_at
        from cep.decode.by_schema.schema_files import compiled

        files = compiled({**found.before, _ROOT: found.text}, _ROOT)
        return message_codec(message_at(described(files), path), self.target)


_ROOT = "registered.proto"


def _path(value: bytes) -> tuple[tuple[int, ...], int]:
    """The place of a message in its file, and where the message's bytes begin. Raises Malformed."""
    count, at = _number(value, HEADER)
    if not 0 <= count <= _DEEPEST:
        raise Malformed(f"says that its message stands {count} messages deep")
    found = []
    for _ in range(count):
        number, at = _number(value, at)
        found.append(number)
    return tuple(found) or (0,), at


def _number(value: bytes, at: int) -> tuple[int, int]:
    """The number at a place, and its end. Raises Malformed."""
    found = shift = 0
    while at < len(value) and shift < 35:
        byte = value[at]
        at += 1
        found |= (byte & 0x7F) << shift
        if byte < 0x80:
            return found >> 1 ^ -(found & 1), at
        shift += 7
    raise Malformed("does not say which message of its schema it is")
