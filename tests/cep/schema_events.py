"""Random events, written as JSON, and by random schemas of Avro and Protobuf that can hold them."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any

import fastavro
from decoding import BASE_TIME, stream_of
from google.protobuf import descriptor_pb2, duration_pb2, timestamp_pb2, wrappers_pb2
from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field
from google.protobuf.message_factory import GetMessageClass

from alerts.notation import timestamp
from cep.decode import FeedFormat
from cep.decode.by_schema.protobuf_schema import described
from cep.decode.formats import Schemas
from rules.typed import Stream
from rules.types import ListOf, Record, Scalar, Type

Values = dict[str, Any]
RECORD = Record((("p", Scalar.LONG), ("q", Scalar.STRING), ("t", Scalar.TIMESTAMP)), frozenset({"q"}))
TYPES: dict[str, Type] = {
    "a": Scalar.STRING, "b": Scalar.LONG, "c": Scalar.DOUBLE, "d": Scalar.BOOLEAN, "t": Scalar.TIMESTAMP,
    "u": Scalar.DURATION, "x": Scalar.TEXT, "m": Scalar.DECIMAL, "l": ListOf(Scalar.STRING),
    "n": ListOf(Scalar.LONG), "r": RECORD, "i": ListOf(RECORD),
}  # fmt: skip
SYMBOLS = ("LOW", "MIDDLE", "HIGH")
TEXTS = ("", "a", "é€😀", "two\nlines", "x" * 31, "long " * 20, "null", "\x00", *SYMBOLS)
LONGS = (0, 1, -1, 63, 64, -65, 8191, 8192, 2**31 - 1, -(2**31), 2**31, 2**53 + 1, 2**63 - 1, -(2**63))
DOUBLES = (0.0, -0.0, 1.5, -2.25, 1e300, 5e-324, 0.1, 2.0**60, 3.0)


@dataclass(frozen=True)
class Written:
    """Events of a stream: values by field, lines of JSON, and records of a schema, with the feeds of both."""

    stream: Stream
    values: list[Values]
    lines: list[bytes]
    records: list[bytes]
    feed: FeedFormat


def value(random: Random, type_: Type) -> Any:
    """A random value: whole nanoseconds of times and lapses, decimals of two digits behind the point."""
    match type_:
        case Scalar.STRING | Scalar.TEXT:
            return random.choice(TEXTS)
        case Scalar.LONG:
            return random.choice(LONGS)
        case Scalar.DOUBLE:
            return random.choice(DOUBLES)
        case Scalar.BOOLEAN:
            return random.random() < 0.5
        case Scalar.DECIMAL:
            return Decimal(random.randrange(-(10**9), 10**9)) / 100
        case Scalar.TIMESTAMP:
            return BASE_TIME + random.randrange(-(10**9), 10**9) * 1_000_000
        case Scalar.DURATION:
            return random.randrange(0, 10**6) * 1_000_000
        case ListOf(element):
            return [value(random, element) for _ in range(random.choice((0, 1, 3, 70)))]
        case Record(fields, nullable):
            return {
                name: None if name in nullable and random.random() < 0.5 else value(random, part)
                for name, part in fields
            }
        case _:
            raise AssertionError(type_)


def as_json(given: Any, type_: Type) -> Any:
    """A value as JSON has it."""
    match type_, given:
        case _, None:
            return None
        case Scalar.DECIMAL, _:
            return format(given, "f")
        case Scalar.TIMESTAMP, _:
            return timestamp(given)
        case Scalar.DURATION, _:
            return f"PT{given // 10**9}.{given % 10**9:09d}S"
        case ListOf(element), _:
            return [as_json(one, element) for one in given]
        case Record(fields), _:
            return {name: as_json(given[name], part) for name, part in fields}
        case _:
            return given


Write = Callable[[Any], Any]
"""A value as the library of a format takes it."""


def events(random: Random, format_: str, count: int) -> Written:
    """Random events of a random stream, written in a format."""
    types = {name: one for name, one in TYPES.items() if random.random() < 0.6}
    listed = {name for name, one in types.items() if isinstance(one, ListOf) and format_ == "protobuf"}
    nullable = tuple(name for name in types if random.random() < 0.5 and name not in listed)
    stream = stream_of(types, nullable)
    whole = {one.name: one.type for one in stream.fields}
    values = []
    for number in range(count):
        one = {
            name: None if name in nullable and random.random() < 0.4 else value(random, part)
            for name, part in whole.items()
        }
        values.append(one | {"eid": f"e{number}"})
    lines = [
        json.dumps({name: as_json(one[name], part) for name, part in whole.items()}).encode()
        for one in values
    ]
    made = avro if format_ == "avro" else protobuf
    feed, write = made(random, whole, frozenset(nullable), values)
    return Written(stream, values, lines, [write(one) for one in values], feed)


def avro(
    random: Random, types: Mapping[str, Type], nullable: frozenset[str], values: list[Values]
) -> tuple[FeedFormat, Callable[[Values], bytes]]:
    """A feed whose schema can hold values, and what writes one."""
    names = iter(range(10**6))

    def node(type_: Type, some: list[Any]) -> tuple[Any, Write]:
        some = [one for one in some if one is not None]
        match type_:
            case Scalar.STRING | Scalar.TEXT if some and all(one in SYMBOLS for one in some):
                return {"type": "enum", "name": f"E{next(names)}", "symbols": list(SYMBOLS)}, lambda v: v
            case Scalar.STRING | Scalar.TEXT:
                return random.choice(["string", {"type": "string", "logicalType": "uuid2"}]), lambda v: v
            case Scalar.LONG:
                small = all(-(2**31) <= one < 2**31 for one in some)
                return ("int" if small and random.random() < 0.5 else "long"), lambda v: v
            case Scalar.DOUBLE:
                small = all(
                    struct.unpack("<f", struct.pack("<f", one))[0] == one for one in some if one < 1e38
                )
                small = small and all(abs(one) < 1e38 for one in some)
                return ("float" if small and random.random() < 0.5 else "double"), lambda v: v
            case Scalar.BOOLEAN:
                return "boolean", lambda v: v
            case Scalar.DECIMAL:
                logical = {"logicalType": "decimal", "precision": 20, "scale": random.choice([2, 5])}
                fixed = {"type": "fixed", "name": f"F{next(names)}", "size": 9, **logical}
                chosen = random.choice(["string", {"type": "bytes", **logical}, fixed])
                return chosen, (lambda v: format(v, "f")) if chosen == "string" else (lambda v: v)
            case Scalar.TIMESTAMP:
                unit = random.choice([10**6, 10**3, 1, 0])
                if not unit:
                    return "string", timestamp
                name = {10**6: "millis", 10**3: "micros", 1: "nanos"}[unit]
                kind = random.choice(["timestamp", "local-timestamp"])
                return {"type": "long", "logicalType": f"{kind}-{name}"}, lambda v: v // unit
            case Scalar.DURATION:
                if random.random() < 0.5:
                    return "string", lambda v: as_json(v, Scalar.DURATION)
                lapse = {"type": "fixed", "name": f"D{next(names)}", "size": 12, "logicalType": "duration"}
                return lapse, lambda v: struct.pack("<III", 0, *divmod(v // 10**6, 86_400_000))
            case ListOf(element):
                inner, write = node(element, [one for items in some for one in items])
                return {"type": "array", "items": inner}, lambda v: [write(one) for one in v]
            case Record(fields, missing):
                return record(dict(fields), missing, some)
            case _:
                raise AssertionError(type_)

    def record(fields: Mapping[str, Type], missing: frozenset[str], some: list[Any]) -> tuple[Any, Write]:
        made = {name: node(one, [value[name] for value in some]) for name, one in fields.items()}
        own = []
        for name, (inner, _) in made.items():
            choice = random.choice([["null", inner], [inner, "null"]])
            if name not in missing and random.random() < 0.2:
                choice = [inner, {"type": "map", "values": "int"}]
            elif name not in missing:
                choice = inner
            own.append({"name": name, "type": choice})
        if random.random() < 0.5:
            own.append({"name": "unread", "type": {"type": "map", "values": ["null", "double"]}})
        random.shuffle(own)
        writers = {name: write for name, (_, write) in made.items()}

        def write_all(one: Values) -> Values:
            values = {
                name: None if one[name] is None else write(one[name]) for name, write in writers.items()
            }
            return values | {"unread": {"k": 1.5, "é": None}}

        return {"type": "record", "name": f"R{next(names)}", "fields": own}, write_all

    schema, write = record(types, nullable, values)
    parsed = fastavro.parse_schema(json.loads(json.dumps(schema)))

    def octets(one: Values) -> bytes:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, parsed, write(one))
        return out.getvalue()

    return FeedFormat(format="avro", schemas=Schemas(json.dumps(schema).encode())), octets


_WHOLE = ("INT64", "SINT64", "SFIXED64", "WRAPPED")
_SMALL = ("INT32", "SINT32", "SFIXED32", *_WHOLE)


def protobuf(
    random: Random, types: Mapping[str, Type], nullable: frozenset[str], values: list[Values]
) -> tuple[FeedFormat, Callable[[Values], bytes]]:
    """A feed whose message can hold values, and what writes one."""
    proto3 = random.random() < 0.5
    file = descriptor_pb2.FileDescriptorProto(
        name="events.proto", package="t", syntax="proto3" if proto3 else "proto2",
        dependency=[one.DESCRIPTOR.name for one in (timestamp_pb2, duration_pb2, wrappers_pb2)],
    )  # fmt: skip
    level = file.enum_type.add(name="Level")
    for number, name in enumerate(("NONE", *SYMBOLS)):
        level.value.add(name=name, number=number)
    messages = iter(range(10**6))

    def message(fields: Mapping[str, Type], missing: frozenset[str], some: list[Any]) -> tuple[str, Write]:
        made = file.message_type.add(name=f"M{next(messages)}")
        numbers = random.sample([*range(1, 40), 2000, 2**29 - 1], len(fields))
        writers = {}
        for number, (name, type_) in zip(numbers, fields.items(), strict=True):
            own = [one[name] for one in some if one[name] is not None]
            element = type_.element if isinstance(type_, ListOf) else type_
            one = made.field.add(name=name, number=number)
            flat = [item for items in own for item in items] if isinstance(type_, ListOf) else own
            writers[name] = kind_of(one, element, flat)
            if isinstance(type_, ListOf):
                one.label = Field.LABEL_REPEATED
                if one.type not in (Field.TYPE_STRING, Field.TYPE_MESSAGE):
                    one.options.packed = random.random() < 0.5
                single = writers[name]
                writers[name] = lambda v, single=single: [single(item) for item in v]
            elif name not in missing and not proto3:
                one.label = Field.LABEL_REQUIRED
            else:
                one.label = Field.LABEL_OPTIONAL
                if proto3 and name in missing and one.type != Field.TYPE_MESSAGE:
                    one.proto3_optional, one.oneof_index = True, len(made.oneof_decl)
                    made.oneof_decl.add(name=f"_{name}")
        return f".t.{made.name}", lambda v: {
            name: write(v[name]) for name, write in writers.items() if v[name] is not None
        }

    def kind_of(field: Field, type_: Type, some: list[Any]) -> Write:
        def of(name: str) -> None:
            field.type = getattr(Field, f"TYPE_{name}")

        match type_:
            case Scalar.STRING | Scalar.TEXT if some and all(one in SYMBOLS for one in some):
                of("ENUM")
                field.type_name = ".t.Level"
                return lambda v: v
            case Scalar.STRING | Scalar.TEXT:
                of("STRING")
                return lambda v: v
            case Scalar.LONG:
                small = all(-(2**31) <= one < 2**31 for one in some)
                chosen = random.choice(_SMALL if small else _WHOLE)
                of("MESSAGE" if chosen == "WRAPPED" else chosen)
                if chosen == "WRAPPED":
                    field.type_name = ".google.protobuf.Int64Value"
                    return lambda v: {"value": v}
                return lambda v: v
            case Scalar.DOUBLE:
                of("DOUBLE")
                return lambda v: v
            case Scalar.BOOLEAN:
                of("BOOL")
                return lambda v: v
            case Scalar.DECIMAL:
                of("STRING")
                return lambda v: format(v, "f")
            case Scalar.TIMESTAMP | Scalar.DURATION:
                if random.random() < 0.3:
                    of("STRING")
                    return lambda v: as_json(v, type_)
                of("MESSAGE")
                name = "Timestamp" if type_ is Scalar.TIMESTAMP else "Duration"
                field.type_name = f".google.protobuf.{name}"
                return lambda v: {"seconds": v // 10**9, "nanos": v % 10**9}
            case Record(fields, missing):
                of("MESSAGE")
                field.type_name, write = message(dict(fields), missing, some)
                return write
            case _:
                raise AssertionError(type_)

    name, write = message(types, nullable, values)
    known = [one.DESCRIPTOR.serialized_pb for one in (timestamp_pb2, duration_pb2, wrappers_pb2)]
    files = descriptor_pb2.FileDescriptorSet()
    for one in known:
        files.file.add().ParseFromString(one)
    files.file.append(file)
    schema = files.SerializeToString()
    made = GetMessageClass(described(schema).message_types_by_name[name.removeprefix(".t.")])
    feed = FeedFormat(format="protobuf", schemas=Schemas(schema, name[1:]))
    return feed, lambda one: made(**write(one)).SerializeToString()
