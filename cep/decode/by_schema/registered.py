"""The codecs of a feed whose records have the ids of their schemas (Confluent's wire format).

A value begins with a zero byte and the id, four bytes, the highest first; or with a one and the 16 bytes of a
UUID, which a source puts there where the record has them in a header (IN_HEADER). In Protobuf the place of
the message in its file follows: how many numbers, then the numbers, each as a varint with the sign in its
lowest bit; a zero alone stands for the first message.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np

from cep.decode.by_schema.avro_schema import Fields, SchemaError, parsed
from cep.decode.by_schema.codec import Codec, Target
from cep.decode.by_schema.codecs import avro_codec, message_codec
from cep.decode.by_schema.laid import Laid
from cep.decode.by_schema.registry import Client, NotRegisteredError, Registered
from cep.decode.formats import IN_HEADER
from cep.decode.malformed import Malformed
from cep.decode.salvage import Indices

HEADER, _OF_UUID = 5, 17
"""Bytes before a record, or before the place of its message."""
_DEEPEST = 16
"""Messages in one another, at most."""
_AGAIN = 30.0
"""Seconds until a registry is asked again for what it did not know."""
_REMEMBERED = 10_000
"""Ids that a registry did not know, at most."""
Key = tuple[int | UUID, tuple[int, ...]]


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
        id_, begin = _id(value)
        path: tuple[int, ...] = ()
        if self.target.feed.format == "protobuf":
            path, begin = _path(value, begin)
        if self.of_file is not None:
            return self.of_file, begin
        key = id_, path
        if key not in self.known:
            self._ask(key)
        return self.known[key], begin

    def groups(self, laid: Laid, chosen: Indices) -> Iterator[tuple[Codec, Indices, Indices]]:
        """Those whose schema is there. Raises OutsideError."""
        header = HEADER + (self.target.feed.format == "protobuf")
        chosen = chosen[laid.ends[chosen] - laid.starts[chosen] >= header]
        starts, ids = laid.starts[chosen], np.zeros(len(chosen), np.int64)
        for place in range(1, HEADER):
            ids = ids << 8 | laid.octets[starts + place]
        usual = laid.octets[starts] == 0
        if header > HEADER:
            usual &= laid.octets[starts + HEADER] == 0
        for id_ in np.unique(ids[usual]):
            own = usual & (ids == id_)
            try:
                codec, _ = self.of(laid.values[int(chosen[own][0])])
            except Malformed:
                continue
            yield codec, chosen[own], starts[own] + header
        yield from self._one_by_one(laid, chosen[(laid.octets[starts] <= 1) & ~usual])

    def _one_by_one(self, laid: Laid, chosen: Indices) -> Iterator[tuple[Codec, Indices, Indices]]:
        """The same of values whose id is a UUID, or that are not of the first message of their schema."""
        found: dict[Codec, list[tuple[int, int]]] = {}
        for record in map(int, chosen):
            try:
                codec, begin = self.of(laid.values[record])
            except Malformed:
                continue
            found.setdefault(codec, []).append((record, int(laid.starts[record]) + begin))
        for codec, some in found.items():
            records, begins = np.array(some, np.int64).T
            yield codec, np.ascontiguousarray(records), np.ascontiguousarray(begins)

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
            if len(self.unknown) >= _REMEMBERED:
                self.unknown.clear()
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


def _id(value: bytes) -> tuple[int | UUID, int]:
    """The id of a value's schema, and where what follows it begins. Raises Malformed."""
    if len(value) >= HEADER and value[0] == 0:
        return int.from_bytes(value[1:HEADER], "big"), HEADER
    if len(value) >= _OF_UUID and value[0] == 1:
        return UUID(bytes=value[1:_OF_UUID]), _OF_UUID
    raise Malformed(f"has no id of a schema: a zero byte and four more before it, or the header {IN_HEADER}")


def _path(value: bytes, begin: int) -> tuple[tuple[int, ...], int]:
    """The place of a message in its file, and where the message's bytes begin. Raises Malformed."""
    count, at = _number(value, begin)
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
