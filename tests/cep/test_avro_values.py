"""Avro is read as its specification says, strictly: what a byte too many or too few makes of it is told."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping
from decimal import Decimal
from random import Random
from typing import Any

import fastavro
import pytest
from decoding import stream_of
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from schema_events import events
from test_by_schema import decoded

from cep.decode import FeedFormat
from cep.decode.by_schema.avro_schema import SchemaError, parsed
from cep.decode.by_schema.codec import Codec, Target
from cep.decode.by_schema.codecs import avro_codec
from cep.decode.formats import Schemas
from cep.decode.malformed import Malformed
from rules.types import ListOf, Record, Scalar, Type


def record(*fields: Mapping[str, Any], name: str = "R") -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields)}


def field(name: str, type_: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, **more}


def read(writer: Any, reader: Any, types: Mapping[str, Type], data: bytes) -> Mapping[str, Any]:
    return codec(writer, reader, types).values(data, 0)


def codec(writer: Any, reader: Any, types: Mapping[str, Type]) -> Codec:
    target = Target(stream_of(dict(types), tuple(types)), FeedFormat(format="avro"), {})
    return avro_codec(parsed(json.dumps(writer)), parsed(json.dumps(reader)), target)


def octets(schema: Any, value: Mapping[str, Any]) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(json.dumps(schema))), value)
    return out.getvalue()


LONGS = {"type": "array", "items": "long"}
DAMAGED = [
    ("long", b"", "`v`: the value ends here (byte 0 of the value)"),
    ("long", b"\x80", "`v`: the value ends here (byte 1 of the value)"),
    ("long", b"\x02\x00", "1 bytes follow the record: it was written by another schema"),
    ("long", b"\xff" * 9 + b"\x02", "`v`: a number has more than 64 bits (byte 10 of the value)"),
    ("int", b"\x80\x80\x80\x80\x10", "`v`: 2147483648 does not fit into 32 bits (byte 5 of the value)"),
    ("boolean", b"\x02", "`v`: 2 is no boolean (byte 1 of the value)"),
    ("double", b"\x02" * 7, "`v`: it says that it has 8 bytes, 7 are left (byte 0 of the value)"),
    ("string", b"\x01", "`v`: it says that it has -1 bytes, 0 are left (byte 1 of the value)"),
    ("string", b"\x04\xc3\x28", "`v`: not valid UTF-8 (byte 3 of the value)"),
    (["null", "long"], b"\x04", "`v`: its union has no branch 2 (byte 1 of the value)"),
    (["null", "long"], b"\x01", "`v`: its union has no branch -1 (byte 1 of the value)"),
    (
        {"type": "enum", "name": "E", "symbols": ["A"]},
        b"\x02",
        "`v`: its enum has no symbol 1 (byte 1 of the value)",
    ),
    (LONGS, b"\x04\x02", "`v[1]`: the value ends here (byte 2 of the value)"),
    (LONGS, b"\x01\x06\x02\x00", "`v`: a block has another size than it says (byte 3 of the value)"),
    (
        {"type": "array", "items": "null"},
        b"\xfe\xff\xff\xff\x0f\x00",
        "`v`: it says that it has 2,147,483,647 items, more than the value has bytes (byte 5 of the value)",
    ),
]
OF: dict[str, Type] = {
    "int": Scalar.LONG,
    "long": Scalar.LONG,
    "boolean": Scalar.BOOLEAN,
    "double": Scalar.DOUBLE,
}


@pytest.mark.parametrize(("type_", "data", "reason"), DAMAGED)
def test_what_is_damaged_is_told_with_field_and_byte(type_: Any, data: bytes, reason: str) -> None:
    schema = record(field("v", type_))
    wanted = OF.get(str(type_), ListOf(Scalar.LONG) if isinstance(type_, dict) else Scalar.STRING)
    with pytest.raises(Malformed) as raised:
        read(schema, schema, {"v": wanted}, data)
    assert raised.value.reason == reason


def test_a_list_that_holds_itself_is_followed_so_far() -> None:
    schema = record(field("next", ["null", "R"]), field("v", "long"))
    deep = read(schema, schema, {"v": Scalar.LONG}, b"\x02" * 10 + b"\x00" + b"\x04" * 11)
    assert deep == {"v": 2}
    with pytest.raises(Malformed, match="more than 100 values in one another"):
        read(schema, schema, {"v": Scalar.LONG}, b"\x02" * 100_000)


READ_AS = [
    ("int", 7, "long", 7),
    ("int", 7, "double", 7.0),
    ("long", 2**40, "float", 2.0**40),
    ("float", 0.5, "double", 0.5),
    ("string", "é", "bytes", "é".encode()),
    ("bytes", b"a", "string", "a"),
    ("long", 7, ["null", "long"], 7),
    (["null", "int"], None, ["null", "double"], None),
    (["int", "string"], 7, "long", 7),
    ("int", 7, ["string", "long"], 7),
    ("int", 7, ["double", "int"], 7),
]


@pytest.mark.parametrize(("written", "value", "reader", "expected"), READ_AS)
def test_a_reader_has_what_was_written_as_its_own_type(
    written: Any, value: Any, reader: Any, expected: Any
) -> None:
    data = octets(record(field("v", written)), {"v": value})
    type_ = Scalar.DOUBLE if isinstance(expected, float) else Scalar.LONG
    found = read(record(field("v", written)), record(field("v", reader)), {"v": type_}, data)
    assert found["v"] == expected
    assert type(found["v"]) is type(expected)


def test_fields_are_found_by_name_and_alias_and_have_defaults() -> None:
    level = {"type": "enum", "name": "L", "symbols": ["A", "B"]}
    known = {"type": "enum", "name": "L", "symbols": ["A", "OTHER"], "default": "OTHER"}
    money = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}
    inner = record(field("p", "long", default=3), name="I")
    writer = record(field("gone", LONGS), field("old", "long"), field("level", level))
    reader = record(
        field("level", known),
        field("new", "long", aliases=["old"]),
        field("kind", "string", default="none"),
        field("price", money, default="\x01\x00"),
        field("list", LONGS, default=[1, 2]),
        field("inner", inner, default={}),
        field("maybe", ["null", "long"], default=None),
    )
    types: dict[str, Type] = {
        "level": Scalar.STRING,
        "new": Scalar.LONG,
        "kind": Scalar.STRING,
        "price": Scalar.DECIMAL,
        "list": ListOf(Scalar.LONG),
        "inner": Record((("p", Scalar.LONG),)),
        "maybe": Scalar.LONG,
    }
    data = octets(writer, {"gone": [1, 2], "old": 5, "level": "B"})
    assert read(writer, reader, types, data) == {
        "level": "OTHER",
        "new": 5,
        "kind": "none",
        "price": Decimal("2.56"),
        "list": [1, 2],
        "inner": {"p": 3},
        "maybe": None,
    }


@pytest.mark.parametrize(
    ("writer", "reader", "reason"),
    [
        (
            record(field("v", "string")),
            record(field("v", "long")),
            "`v`: the writer's schema has string, the reader's long",
        ),
        (
            record(field("w", "string")),
            record(field("v", "long")),
            "`v`: the writer's schema has no field v, and",
        ),
        (
            record(field("v", {"type": "enum", "name": "E", "symbols": ["A"]})),
            record(field("v", {"type": "enum", "name": "E", "symbols": ["B"]})),
            "`v`: the reader's schema does not know symbol 0 of the writer's enum",
        ),
    ],
)
def test_what_a_reader_cannot_have_is_told(writer: Any, reader: Any, reason: str) -> None:
    with pytest.raises(Malformed) as raised:
        read(writer, reader, {"v": Scalar.LONG}, b"\x00")
    assert raised.value.reason.startswith(reason)


SCHEMAS = [
    ("{", "is not JSON: "),
    ('"long"', "is of long: an event is a record"),
    ("5", "has no type that there is: 5"),
    (record(field("v", "money")), "names a type that it does not define in R.v: money"),
    (record(field("v", "int"), field("v", "int")), "has a field twice: R.v"),
    (record({"name": "v"}), "has a field without name or type in record R"),
    (record(field("v", ["int", "int"])), "has a union that none can be in R.v"),
    (record(field("v", ["int", ["long"]])), "has a union that none can be in R.v"),
    (record(field("v", "int", default="a")), 'has a default that does not fit in R.v: "a"'),
    (
        record(field("v", {"type": "fixed", "name": "F", "size": -1})),
        "has a size that cannot be in fixed F: -1",
    ),
    (
        record(field("v", {"type": "enum", "name": "E", "symbols": []})),
        "has symbols that cannot be in enum E",
    ),
    (record(field("v", record(name="R"))), "defines R twice in R.v"),
    ({"type": "record", "name": "R"}, "has no fields in record R"),
    ({"type": "record", "name": "9", "fields": []}, "has a type without a name"),
    ("[" * 100 + '"int"' + "]" * 100, "has more than 64 schemas in one another"),
]


@pytest.mark.parametrize(("schema", "reason"), SCHEMAS)
def test_a_schema_that_is_wrong_is_told_with_its_place(schema: Any, reason: str) -> None:
    with pytest.raises(SchemaError) as raised:
        parsed(schema if isinstance(schema, str) else json.dumps(schema))
    assert str(raised.value).startswith(reason)


def test_names_are_found_in_their_namespace() -> None:
    inner = {"type": "fixed", "name": "F", "size": 2}
    schema = record(field("a", inner), field("b", "F"), field("c", "acme.F"), name="acme.R")
    assert len({one.node for one in parsed(json.dumps(schema)).fields}) == 1


def test_a_value_of_a_branch_that_does_not_fit_is_a_dead_letter() -> None:
    schema = record(
        field("eid", "string"), field("at", "string"), field("v", ["null", "string", "long", "double"])
    )
    feed = FeedFormat(format="avro", schemas=Schemas(json.dumps(schema).encode()))
    values = [
        octets(schema, {"eid": f"e{n}", "at": "2020-01-01T00:00:00Z", "v": one})
        for n, one in enumerate([None, "a", 5, 1.5, math.nan])
    ]
    found = decoded(stream_of({"v": Scalar.LONG}, ("v",)), feed, values)
    assert found.events.table.column("v").to_pylist() == [None, 5]
    assert [(one.offset, one.reason.partition(" (")[0]) for one in found.dead] == [
        (1, "`v`: wrong type: it is a long, the event has string"),
        (3, "`v`: wrong type: it is a long, the event has double"),
        (4, "`v`: wrong type: it is a long, the event has double"),
    ]
    found = decoded(stream_of({"v": Scalar.DOUBLE}, ("v",)), feed, values)
    assert found.events.table.column("v").to_pylist() == [None, 5.0, 1.5]


@settings(deadline=None, max_examples=examples(200))
@given(st.randoms(use_true_random=False))
def test_what_is_taken_of_damaged_records_another_library_reads_to_the_end(random: Random) -> None:
    written = events(random, "avro", 3)
    assert written.feed.schemas is not None
    schema = fastavro.parse_schema(json.loads(written.feed.schemas.text))
    values = [damaged(random, random.choice(written.records)) for _ in range(5)]
    found = decoded(written.stream, written.feed, values)
    taken = found.events.table.column("@offset").to_pylist()
    assert sorted([*taken, *(one.offset for one in found.dead)]) == list(range(5))
    for number in taken:
        source = io.BytesIO(values[number])
        fastavro.schemaless_reader(source, schema, handle_unicode_errors="replace")
        assert not source.read()


def damaged(random: Random, data: bytes) -> bytes:
    """Bytes with some changed, left out or put in."""
    found = bytearray(data)
    for _ in range(random.choice([1, 1, 3])):
        at = random.randrange(len(found) + 1)
        found[at : at + random.choice([0, 1, 1, 4])] = random.choice([b"", b"\x00", b"\xff", b"\x02\x80"])
    return bytes(found)
